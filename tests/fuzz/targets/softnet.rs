//! `/proc/net/softnet_stat` through the sampler of `softnet`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("proc/net/softnet_stat", "softnet", data));
