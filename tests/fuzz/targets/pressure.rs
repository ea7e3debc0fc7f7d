//! `/proc/pressure/io` through the sampler of `pressure`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("proc/pressure/io", "pressure", data));
