//! What `MegaCli64` answers.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let answer = String::from_utf8_lossy(data).into_owned();
    let _ = shakedown::agent::inventory::raid::parse("MegaCli64", &[answer.clone(), answer.clone(), answer]);
});
