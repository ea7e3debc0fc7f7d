//! `/proc/net/dev` through the sampler of `net`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("proc/net/dev", "net", data));
