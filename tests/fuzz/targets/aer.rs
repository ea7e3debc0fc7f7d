//! `/sys/bus/pci/devices/0000:00:01.0/aer_dev_correctable` through the sampler of `aer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("sys/bus/pci/devices/0000:00:01.0/aer_dev_correctable", "aer", data));
