//! `/proc/diskstats` through the sampler of `disk`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("proc/diskstats", "disk", data));
