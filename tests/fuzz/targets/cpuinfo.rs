//! `/proc/cpuinfo` through inventory, conditions, survey and resources.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::look("proc/cpuinfo", data));
