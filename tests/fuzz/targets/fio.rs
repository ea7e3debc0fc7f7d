//! A log of fio.
#![no_main]

use shakedown::log::Reading;
use shakedown::log::fio::{Fio, Log};
use shakedown::log::lines::Lines;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut fio = Fio::new(Lines::new(data), Log::Bandwidth, None);
    let (mut reading, mut last) = (Reading::default(), None);
    while let Ok(true) = fio.read(&mut reading) {
        assert!(reading.value.is_finite());
        assert!(reading.begins || last.is_some_and(|last| last < reading.at), "time goes on");
        last = Some(reading.at);
    }
});
