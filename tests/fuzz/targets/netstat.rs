//! `/proc/net/netstat` through the sampler of `tcp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("proc/net/netstat", "tcp", data));
