//! `/proc/stat` through the sampler of `cpu`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("proc/stat", "cpu", data));
