//! `/proc/interrupts` through the sampler of `interrupts`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shakedown_fuzz::sample("proc/interrupts", "interrupts", data));
