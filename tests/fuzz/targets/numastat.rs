//! `/sys/devices/system/node/node0/numastat` through the sampler of `numa`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("sys/devices/system/node/node0/numastat", "numa", data));
