//! A table of limits: a check a row, or one line that says where it is wrong.
#![no_main]

use std::collections::BTreeMap;

use shakedown::vocab::unit::Unit;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let known = [("r.mb_per_s", Unit::MegabytesPerSecond), ("r.lat_p99_us", Unit::Microseconds), ("r.residual", Unit::Count)];
    let known: BTreeMap<String, Unit> = known.into_iter().map(|(name, unit)| (name.to_owned(), unit)).collect();
    match shakedown::cli::limits::parse("fuzz.csv", data, &known) {
        Ok(checks) => assert!(checks.iter().all(|check| check.clause.is_some() && check.clause_fault().is_none())),
        Err(why) => assert!(why.starts_with("fuzz.csv:") && why.lines().count() == 1, "{why}"),
    }
});
