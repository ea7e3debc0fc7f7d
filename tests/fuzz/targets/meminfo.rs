//! `/proc/meminfo` through the sampler of `memory`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("proc/meminfo", "memory", data));
