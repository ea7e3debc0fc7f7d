//! One line of a session.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(record) = shakedown::vocab::line::decode(data) {
        let again = shakedown::vocab::line::encode(&record).map(|line| shakedown::vocab::line::decode(line.as_bytes()));
        assert_eq!(again, Ok(Ok(record)));
    }
});
