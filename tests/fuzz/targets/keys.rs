//! A key map.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(keys) = shakedown::view::tui::Keys::read("keys.ron", &String::from_utf8_lossy(data)) {
        assert!(keys.table().contains("Ctrl-C"));
    }
});
