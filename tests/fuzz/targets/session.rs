//! A whole session file: read, folded, detected anew and judged.
#![no_main]

use shakedown::analysis::{detect, verdict};
use shakedown::session::reader::{Item, Reader};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let path = shakedown_fuzz::file("session.jsonl", &shakedown_fuzz::sealed(data));
    let Ok(reader) = Reader::open(&path) else { return };
    let records: Vec<_> = reader.filter_map(|item| if let Item::Record(record) = item { Some(*record) } else { None }).collect();
    let state = detect::redetect(&records);
    if let Some(opening) = &state.opening {
        let _ = verdict::judge(&opening.plan, &state);
    }
});
