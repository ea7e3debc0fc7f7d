//! A preset file.
#![no_main]

use shakedown::shelf::Book;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data).into_owned();
    let _ = shakedown::cli::presets::parse(&Book { name: "fuzz".to_owned(), path: None, text });
});
