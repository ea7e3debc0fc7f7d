//! `shakedown detect`: what it reads, what it says where, exit codes, and what it refuses.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

mod common;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{Place, plan, synthetic};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/invalid/series");

/// A healthy table: 100 readings of 100 to 102 at 10 Hz.
fn table(header: &str) -> String {
    let mut text = header.to_owned();
    for i in 1..=100 {
        let _ = writeln!(text, "{:.1},{}", f64::from(i) / 10.0, 100 + i * 7 % 3);
    }
    text
}

fn file(place: &Place, name: &str, text: &str) -> String {
    let path = place.path(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_healthy_series_is_0_and_one_line() {
    let place = Place::new();
    let path = file(&place, "healthy.csv", &table("t_s,mb_s\n"));
    let finished = place.run(&["detect", &path, "--unit", "MB/s"]);
    assert_eq!((finished.code, finished.err.as_str()), (Some(0), ""), "{}", finished.out);
    assert_eq!(finished.out, "nothing found in 100 readings from 100 ms to 10.0 s\n");
    let json = place.run(&["detect", &path, "--json"]);
    assert_eq!((json.code, json.out.as_str(), json.err.as_str()), (Some(0), "", ""));
}

#[test]
fn standard_input_is_read_and_rows_that_are_left_out_are_told() {
    let place = Place::new();
    let mut command = place.command(common::PROGRAM, &["detect", "-", "--time", "2", "--value", "1"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\xef\xbb\xbf# from a pipe\r\n5;0,1\r\n".as_slice()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "shakedown: standard input:2: column 2: `0,1` is no time; expected a number or 2026-01-31T12:00:00Z\n"
    );
    let gaps = file(&place, "gaps.csv", &(table("t,v\n") + "10.1,\n10.2,NaN\n10.3,101\n"));
    let finished = place.run(&["detect", &gaps]);
    assert_eq!(finished.code, Some(0), "{}", finished.err);
    let expected = format!("shakedown: {gaps}: 2 rows left out (2 without a value), the first in line 102\n");
    assert_eq!(finished.err, expected);
}

#[test]
fn a_log_of_fio_is_known_by_its_shape_and_its_kind_by_its_name() {
    let place = Place::new();
    let mut log = String::new();
    for i in 1..=60 {
        let _ = writeln!(log, "{}, {}, 1, 0, 0", i * 500, 100_000 + 1000 * (i % 3));
    }
    let path = file(&place, "job_bw.1.log", &log);
    let finished = place.run(&["detect", &path]);
    assert_eq!((finished.code, finished.err.as_str()), (Some(0), ""), "{}", finished.out);
    assert_eq!(finished.out, "nothing found in 60 readings from 500 ms to 30.0 s\n");
    let twice = file(&place, "twice_iops.log", &format!("{log}{log}"));
    let finished = place.run(&["detect", &twice]);
    assert!(finished.out.starts_with("job 1: ") && finished.out.contains("\njob 2: "), "{}", finished.out);
    let both = file(&place, "both_lat.log", "1, 5, 0, 0\n2, 5, 1, 0\n");
    let finished = place.run(&["detect", &both]);
    assert_eq!(finished.code, Some(3));
    assert!(finished.err.ends_with("choose with --direction read or --direction write\n"), "{}", finished.err);
    assert_eq!(place.run(&["detect", &both, "--direction", "read"]).code, Some(0));
    let unnamed = file(&place, "x.log", &log);
    assert!(place.run(&["detect", &unnamed]).err.ends_with("say --fio=bw, --fio=iops or --fio=lat\n"));
    assert_eq!(place.run(&["detect", &unnamed, "--fio=bw"]).code, Some(0));
}

#[test]
fn a_session_is_looked_at_again() {
    let place = Place::new();
    let collapsing = plan(&[synthetic("r", "1200 ms", "Collapse(after: \"60MB\", to: \"1 MB/s\")", "")], "");
    let (_, _) = place.session("fallen", &collapsing, &[]).finish(common::PATIENCE);
    let path = place.path("fallen.jsonl");
    let session = path.to_str().unwrap();
    let finished = place.run(&["detect", session]);
    assert_eq!((finished.code, finished.err.as_str()), (Some(1), ""), "{}", finished.out);
    assert!(finished.out.contains("COLLAPSE: fell"), "{}", finished.out);
    let json = place.run(&["detect", session, "--json"]);
    let first: serde_json::Value = serde_json::from_str(json.out.lines().next().unwrap()).unwrap();
    assert_eq!((&first["kind"], &first["run"], &first["unit"]), (&"COLLAPSE".into(), &"r".into(), &"MB/s".into()));
    assert!(first["onset"].as_f64().unwrap() < first["said_at"].as_f64().unwrap(), "{first}");
    let refused = place.run(&["detect", session, "--value", "2"]);
    assert_eq!(refused.err, "shakedown: --value does not go with a session; its runs tell all of that\n");
}

#[test]
fn what_cannot_be_read_is_one_line_and_3() {
    let place = Place::new();
    let path = file(&place, "t.csv", &table("t_s,mb_s\n"));
    let cases: &[(&[&str], &str)] = &[
        (&["/no/such/file.csv"], "/no/such/file.csv: No such file"),
        (&[&path, "--value", "iops"], "t.csv:1: --value iops: there is no such column; there are: `t_s`, `mb_s`"),
        (&[&path, "--counter", "steal"], "--counter steal: expected NAME=COL"),
        (&[&path, "--counter", "cpu steal=steal"], "--counter steal: there is no such column"),
        (&[&path, "--unit", "parsecs"], "--unit parsecs: no such unit"),
        (&[&path, "--reference", "fast"], "--reference fast: `fast` is not a number"),
        (&[&path, "--floor", "80 MB/s"], "--floor 80 MB/s: the values have no unit; give it with --unit"),
        (&[&path, "--time-unit", "h"], "--time-unit h: expected s, ms or us"),
        (&[&path, "--direction", "read"], "--direction goes with the logs of fio"),
        (&[&path, "--fio=net"], "--fio=net: expected bw, iops, lat or lat-us"),
    ];
    for (arguments, expected) in cases {
        let finished = place.run(&[&["detect"], *arguments].concat());
        assert_eq!((finished.code, finished.out.as_str()), (Some(3), ""), "{arguments:?}: {}", finished.err);
        assert!(finished.err.starts_with("shakedown: ") && finished.err.contains(expected), "{}", finished.err);
        assert_eq!(finished.err.lines().count(), 1, "{}", finished.err);
    }
}

/// Files with one error each, and beside each the line that is said of it.
#[test]
fn every_faulty_series_is_refused_as_written_beside_it() {
    let place = Place::new();
    let entries = std::fs::read_dir(CORPUS).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_none_or(|e| e != "txt")).collect();
    files.sort();
    assert!(files.len() >= 15, "a corpus, not {} files", files.len());
    let mut wrong = String::new();
    for file in &files {
        let name = file.to_str().unwrap();
        let finished = place.run(&["detect", name]);
        let said = finished.err.replace(name, "FILE");
        let beside = Path::new(name).with_extension("txt");
        let expected = std::fs::read_to_string(beside).unwrap_or_default();
        if finished.code != Some(3) || said != format!("shakedown: {expected}") {
            let _ = writeln!(wrong, "{name}: {:?}\n  expected {expected}  said     {said}", finished.code);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
