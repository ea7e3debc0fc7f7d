//! `/proc/mdstat` through the sampler of `md`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("proc/mdstat", "md", data));
