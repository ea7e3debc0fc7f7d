//! What `ssacli` answers.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let answer = String::from_utf8_lossy(data).into_owned();
    let _ = shakedown::agent::inventory::raid::parse("ssacli", &[answer.clone(), answer.clone(), answer]);
});
