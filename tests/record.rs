//! The record: what is written is read back, what is damaged costs only itself, and the fold takes anything.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

mod common;
#[path = "common/records.rs"]
mod records;

use std::fmt::Write as _;
use std::path::Path;

use common::{Place, fold};
use proptest::prelude::*;
use proptest::sample::Index;
use records::{a_plan, any_record, implausible, plausible, severity};
use shakedown::analysis::detect::redetect;
use shakedown::analysis::state::State;
use shakedown::analysis::verdict::judge;
use shakedown::session::reader::{Item, ReadError, Reader};
use shakedown::view::headless::verdict_block;
use shakedown::view::words;
use shakedown::vocab::event::{Event, Record};
use shakedown::vocab::finding::{Finding, Kind};
use shakedown::vocab::line;
use shakedown::vocab::moment::Moment;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1.jsonl");

fn written(records: &[Record]) -> String {
    records.iter().map(|record| line::encode(record).unwrap()).collect()
}

fn read_back(text: &str) -> Vec<Record> {
    text.split_inclusive('\n').map(|line| line::decode(line.as_bytes()).unwrap()).collect()
}

/// The same state, numbers that are none included.
fn same(left: &State, right: &State) -> Result<(), TestCaseError> {
    prop_assert_eq!(format!("{left:?}"), format!("{right:?}"));
    Ok(())
}

/// What a reader makes of these bytes as a file: the records and how many lines are damaged, or why it is no session.
fn reading(directory: &Path, bytes: &[u8]) -> Result<(Vec<Record>, usize), ReadError> {
    let path = directory.join("s.jsonl");
    std::fs::write(&path, bytes).unwrap();
    let mut damaged = 0;
    let records = Reader::open(&path)?.filter_map(|item| match item {
        Item::Record(record) => Some(*record),
        Item::Damaged(..) => {
            damaged += 1;
            None
        }
    });
    let records = records.collect();
    Ok((records, damaged))
}

/// A file cut behind so many bytes holds the records of its whole lines; a line without its newline is whole.
fn check_cut(directory: &Path, lines: &[String], records: &[Record], cut: usize) -> Result<(), TestCaseError> {
    let bytes = lines.concat().into_bytes();
    let mut end = 0;
    let whole = lines.iter().take_while(|line| {
        end += line.len();
        end - 1 <= cut
    });
    let whole = whole.count();
    let before: usize = lines[..whole].iter().map(String::len).sum();
    match reading(directory, &bytes[..cut]) {
        Ok((read, damaged)) => {
            prop_assert_eq!(&read[..], &records[..whole]);
            prop_assert_eq!(damaged, usize::from(cut > before), "cut at {}", cut);
        }
        Err(error) => {
            prop_assert!(whole == 0 && matches!(error, ReadError::NoSession { .. }), "cut at {}: {}", cut, error);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_line_reads_back_to_its_record(record in any_record()) {
        let line = line::encode(&record).unwrap();
        prop_assert_eq!((line.matches('\n').count(), line.ends_with('\n')), (1, true));
        prop_assert_eq!(line::decode(line.as_bytes()).unwrap(), record.clone());
        prop_assert_eq!(line::encode(&line::decode(line.as_bytes()).unwrap()).unwrap(), line);
    }

    #[test]
    fn replay_equals_live_in_batches_of_any_size(records in plausible(), size in 1_usize..20) {
        let live = fold(&records);
        let mut batches = State::default();
        for batch in read_back(&written(&records)).chunks(size) {
            batch.iter().for_each(|record| batches.apply(record));
        }
        same(&live, &batches)?;
        same(&redetect(&records), &redetect(&read_back(&written(&records))))?;
        prop_assert_eq!(judge(&a_plan(), &live), judge(&a_plan(), &batches));
    }

    #[test]
    fn the_fold_takes_records_in_any_order(records in implausible()) {
        let state = fold(&records);
        let _ = redetect(&records);
        let _ = judge(&a_plan(), &state);
        let _ = (words::findings(&state), state.remaining());
        same(&state, &fold(&read_back(&written(&records))))?;
    }

    #[test]
    fn a_finding_never_makes_a_verdict_better(
        records in plausible(),
        severity in severity(),
        stall in any::<bool>(),
        run in prop_oneof!["r", "s"],
        at in any::<Index>(),
    ) {
        let without = judge(&a_plan(), &fold(&records));
        let mut with = records.clone();
        let kind = if stall { Kind::Stall } else { Kind::Collapse };
        let finding = Finding {
            id: 1000,
            kind,
            severity,
            run: Some(run.as_str().into()),
            iteration: 1,
            onset: Moment(1),
            said: Moment(1),
            closed: None,
            from: None,
            to: None,
            work_before: None,
            lost: None,
            again: 0,
            held_by: Vec::new(),
            causes: Vec::new(),
            evidence: vec![],
            sentence: "found".to_owned(),
        };
        let place = 1 + at.index(records.len());
        let seq = with[place - 1].seq + 1;
        let found = Record { seq, at: with[place - 1].at, node: "a".into(), event: Event::Found(finding) };
        with[place..].iter_mut().for_each(|record| record.seq += 1);
        with.insert(place, found);
        let with = judge(&a_plan(), &fold(&with));
        prop_assert!(with.decision >= without.decision, "{:?} became {:?}", without.decision, with.decision);
        prop_assert_eq!(with.lines.len(), without.lines.len());
        for (after, before) in with.lines.iter().zip(&without.lines) {
            prop_assert!(after.decision >= before.decision, "{:?} became {:?}", before, after);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_cut_anywhere_holds_its_whole_lines(records in plausible(), cuts in prop::collection::vec(any::<Index>(), 8)) {
        let directory = tempfile::tempdir().unwrap();
        let lines: Vec<String> = records.iter().map(|record| line::encode(record).unwrap()).collect();
        for cut in cuts {
            check_cut(directory.path(), &lines, &records, cut.index(lines.concat().len() + 1))?;
        }
    }

    #[test]
    fn a_damaged_byte_costs_only_its_lines(records in plausible(), places in prop::collection::vec((any::<Index>(), 1_u8..), 8)) {
        let directory = tempfile::tempdir().unwrap();
        let bytes = written(&records).into_bytes();
        for (place, flip) in places {
            let mut damaged = bytes.clone();
            let place = place.index(bytes.len());
            damaged[place] ^= flip;
            match reading(directory.path(), &damaged) {
                Ok((read, lines)) => {
                    let lost = records.len() - read.len();
                    // A lost newline costs the lines on both sides, a new one makes two pieces of one line.
                    prop_assert!(lost <= 2 && (1..=2).contains(&lines), "{} lost, {} damaged", lost, lines);
                    let mut rest = records.iter();
                    prop_assert!(read.iter().all(|r| rest.any(|original| original == r)), "only what was written, in order");
                }
                Err(_) => prop_assert!(place < bytes.iter().position(|b| *b == b'\n').unwrap() + 1, "byte {}", place),
            }
        }
    }
}

#[test]
fn the_beginning_of_a_real_file_can_be_cut_at_every_byte() {
    let directory = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(GOLDEN).unwrap();
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    // The shortest lines after the first, so that every kind of place is cut in little time.
    lines[1..].sort_by_key(String::len);
    lines.truncate(12);
    let records = read_back(&lines.concat());
    for cut in 0..=lines.concat().len() {
        check_cut(directory.path(), &lines, &records, cut).unwrap();
    }
}

/// Figures, findings and verdict of the golden session, as text.
fn golden_text(state: &State) -> String {
    let mut text = String::new();
    for run in &state.runs {
        for iteration in &run.done {
            for figure in &iteration.figures {
                let _ = writeln!(
                    text,
                    "{} {} {}: {} {:?}",
                    run.node, run.name, iteration.number, figure.name, figure.value
                );
            }
        }
    }
    let verdict = judge(&state.opening.as_ref().unwrap().plan, state);
    text + &words::findings(state) + &verdict_block(&verdict, false)
}

#[test]
fn the_golden_session_of_version_1_reads_as_ever() {
    let records = common::records(Path::new(GOLDEN));
    let (recorded, again) = (fold(&records), redetect(&records));
    let mut pairs = recorded.findings.values().zip(again.findings.values());
    let same = recorded.findings.len() == again.findings.len() && pairs.all(|(then, now)| then.means(now));
    assert!(same, "today's detectors find what was found then: {:?} {:?}", recorded.findings, again.findings);
    assert_eq!(recorded.lost, 0);
    let mut verdict = judge(&recorded.opening.as_ref().unwrap().plan, &recorded);
    // Its record is older than the numbers that stand beside the words now.
    verdict.lines.iter_mut().for_each(|line| line.numbers = None);
    assert_eq!(recorded.verdict.as_ref(), Some(&verdict));
    let expected = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1.txt")).unwrap();
    let text = golden_text(&recorded);
    assert!(text == expected, "it says now:\n{text}");
    let judged = Place::new().run(&["judge", GOLDEN, "--redetect"]);
    assert_eq!(judged.code, Some(1), "{}", judged.out);
    assert!(judged.out.contains("Findings: as recorded."), "{}", judged.out);
}

#[test]
fn a_newer_format_is_refused_whatever_else_it_says() {
    let text = std::fs::read_to_string(GOLDEN).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let body = first.split_once(",\"crc\"").unwrap().0.replacen("\"format\":1", "\"format\":2,\"new\":true", 1);
    let newer = format!("{body},\"crc\":\"{:08x}\"}}\n{rest}", crc32c::crc32c(body.as_bytes()));
    let place = Place::new();
    let path = place.path("newer.jsonl");
    std::fs::write(&path, newer).unwrap();
    for verb in ["judge", "watch"] {
        let refused = place.run(&[verb, path.to_str().unwrap()]);
        let message = "has record format 2, this version reads up to 1: use a newer shakedown\n";
        assert_eq!((refused.code, refused.out.as_str()), (Some(3), ""), "{verb}");
        assert!(refused.err.ends_with(message) && refused.err.lines().count() == 1, "{verb}: {}", refused.err);
    }
}
