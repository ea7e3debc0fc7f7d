//! A baseline: what is taken is printed, and reads back the same.
#![no_main]

use shakedown::cli::baseline::{parse, print};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Ok(profile) = parse("fuzz", &text) {
        let printed = print(&profile).expect("a baseline that was read can be written");
        assert_eq!(parse("fuzz", &printed).expect("what was written is a baseline"), profile);
    }
});
