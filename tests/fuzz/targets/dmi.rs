//! The SMBIOS tables through inventory.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::look("sys/firmware/dmi/tables/DMI", data));
