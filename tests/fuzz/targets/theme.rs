//! A theme file.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let path = shakedown_fuzz::file("theme.ron", data);
    let _ = shakedown::view::theme::Theme::load(&path.display().to_string(), None);
});
