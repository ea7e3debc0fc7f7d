//! A table of readings: the first byte says which columns are asked for, the rest is the text.
#![no_main]

use shakedown::log::Reading;
use shakedown::log::lines::Lines;
use shakedown::log::table::{Asked, Table};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (head, text) = data.split_at(data.len().min(1));
    let choice = head.first().copied().unwrap_or(0);
    let column = |bits: u8| (bits > 0).then(|| bits.to_string());
    let asked = Asked { time: column(choice & 3), value: column(choice >> 2 & 3), in_flight: column(choice >> 4 & 3), ..Asked::default() };
    let Ok(mut table) = Table::open(Lines::new(text), &asked) else { return };
    let (mut reading, mut last) = (Reading::default(), None);
    while let Ok(true) = table.read(&mut reading) {
        assert!(reading.value.is_finite());
        assert!(last.is_none_or(|last| last <= reading.at), "time goes on");
        last = Some(reading.at);
    }
});
