//! Tests repeated after a repair: every attempt stays, the last one decides, and it is the same machine or proves nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

mod common;

use std::path::Path;

use common::{PATIENCE, Place, fold, plan, records, send, synthetic};
use rustix::process::Signal;
use shakedown::analysis::detect::redetect;
use shakedown::analysis::verdict::judge;
use shakedown::vocab::event::{Event, Outcome};
use shakedown::vocab::verdict::Decision;

/// A host that says its serial number, and nothing else.
fn machine(place: &Place, serial: &str) -> String {
    let root = place.path("machine");
    std::fs::create_dir_all(root.join("sys/class/dmi/id")).unwrap();
    std::fs::write(root.join("sys/class/dmi/id/product_serial"), format!("{serial}\n")).unwrap();
    root.display().to_string()
}

/// A session of two runs, of which the second was killed.
fn with_a_killed_run(place: &Place, root: &str) -> String {
    let checks = "(of: \"whole.mb_per_s\", at_least: Absolute(\"50 MB/s\"), decide: Point), \
                  (of: \"killed.mb_per_s\", at_least: Absolute(\"50 MB/s\"), decide: Point)";
    let runs = [synthetic("whole", "300 ms", "Level", ""), synthetic("killed", "4 s", "Level", "")];
    let mut session = place.session("first", &plan(&runs, checks), &["--root", root]);
    session.wait_for_work("killed");
    send(session.agent_and_worker().1, Signal::KILL);
    let file = session.file.display().to_string();
    let (finished, _) = session.finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}", finished.out);
    file
}

fn amend<'a>(first: &'a str, root: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--headless", "--amend", first, "--root", root], more].concat()
}

#[test]
fn a_killed_run_is_repeated_and_the_whole_is_judged() {
    let place = Place::new();
    let root = machine(&place, "S1");
    let first = with_a_killed_run(&place, &root);
    let evidence = std::fs::read(&first).unwrap();
    let second = place.path("second.jsonl").display().to_string();
    let again = place.run(&amend(&first, &root, &["--only", "killed", "--session", &second]));
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    assert_eq!(std::fs::read(&first).unwrap(), evidence, "the record that is amended is not touched");
    let first_line = |text: &str| again.out.lines().position(|line| line.contains(text)).unwrap_or(usize::MAX);
    assert!(
        first_line("nothing that is known of has changed since") < first_line("killed           begins"),
        "{}",
        again.out
    );
    for told in [
        "killed           attempt 1 in ",
        "; repeated",
        "; counts",
        "attempt 2 of killed",
        "(NOT PROVEN) killed",
        "attempt 1 of 2",
        "serial number S1",
    ] {
        assert!(again.out.contains(told), "{told}: {}", again.out);
    }
    let replayed = records(Path::new(&second));
    let (state, anew) = (fold(&replayed), redetect(&replayed));
    let verdict = state.verdict.clone().unwrap();
    assert_eq!(verdict.decision, Decision::Pass);
    assert_eq!(judge(&state.opening.as_ref().unwrap().plan, &state), verdict, "replayed as live");
    assert_eq!(format!("{:?}", state.findings), format!("{:?}", anew.findings));
    assert_eq!(state.lost + state.earlier.as_ref().unwrap().lost, 0);
    // It can be moved and judged alone.
    std::fs::remove_file(&first).unwrap();
    let judged = place.run(&["judge", &second, "--redetect"]);
    assert_eq!(judged.code, Some(0), "{}", judged.out);
    assert!(judged.out.starts_with("\namends ") && judged.out.contains("Findings: as recorded."), "{}", judged.out);
    let watched = place.run(&["watch", &second]);
    assert!(
        watched.out.contains("attempt 2 of 2, 1 iteration, sound") && watched.out.contains("VERDICT: PASS"),
        "{}",
        watched.out
    );
    let compared = place.run(&["compare", &second, &second, "--json"]);
    assert!(
        compared.out.contains("whole.mb_per_s") && compared.out.contains("killed.mb_per_s"),
        "{}{}",
        compared.out,
        compared.err
    );
    let detected = place.run(&["detect", &second]);
    assert_eq!(detected.code, Some(0), "{}{}", detected.out, detected.err);
    // An amendment is amended like any other session, by its name as well.
    let third = place.path("third.jsonl").display().to_string();
    let again = place.run(&amend(&second, &root, &["--only", "whole", "--session", &third]));
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    assert!(again.out.contains("attempt 2 of whole") && again.out.contains("attempt 2 of killed"), "{}", again.out);
}

#[test]
fn a_repeat_that_breaks_does_not_fall_back_to_what_held() {
    let place = Place::new();
    let root = machine(&place, "S1");
    let run = synthetic("r", "3 s", "Level", "");
    let session = place.session(
        "first",
        &plan(&[run], "(of: \"r.mb_per_s\", at_least: Absolute(\"50 MB/s\"), decide: Point)"),
        &["--root", &root],
    );
    let first = session.file.display().to_string();
    assert_eq!(session.finish(PATIENCE).0.code, Some(0));
    let file = place.path("second.jsonl");
    let shown = file.display().to_string();
    let started = place.start(common::PROGRAM, &amend(&first, &root, &["--only", "r", "--session", &shown]));
    let mut session = common::Session { started, file };
    session.wait_for_work("r");
    send(session.agent_and_worker().1, Signal::KILL);
    let (finished, records) = session.finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}", finished.out);
    assert!(
        finished.out.contains("(PASS)     r                          attempt 1 of 2: 100 MB/s"),
        "{}",
        finished.out
    );
    let ends = common::ends(&records);
    assert!(matches!(&ends[..], [(_, Outcome::Broken(_))]), "{ends:?}");
    assert!(records.iter().any(|record| matches!(record.event, Event::Earlier(_))));
}

#[test]
fn what_cannot_be_amended_is_refused_in_one_line() {
    let place = Place::new();
    let root = machine(&place, "S1");
    let run = synthetic("r", "200 ms", "Level", "");
    let session = place.session("first", &plan(&[run], ""), &["--root", &root]);
    let first = session.file.display().to_string();
    let preset = place.path("first.ron").display().to_string();
    session.finish(PATIENCE);
    let damaged = place.path("damaged.jsonl").display().to_string();
    let text = std::fs::read_to_string(&first).unwrap();
    std::fs::write(&damaged, text.replacen("\"RunStarted\"", "\"RunStartec\"", 1)).unwrap();
    let cut = place.path("cut.jsonl").display().to_string();
    std::fs::write(&cut, &text[..text.len() - 9]).unwrap();
    let other = |serial: &str| {
        let place = Place::new();
        let root = machine(&place, serial);
        (place, root)
    };
    let ((_kept, stranger), (_too, unknown)) = (other("S2"), other("Default string"));
    let refused: &[(&str, &str, &[&str], &str)] = &[
        (&first, &root, &[], "say with --only RUN[,RUN] what is to be repeated; r: sound"),
        (&first, &root, &["--only", "s"], "--only s: there is no such run in the session; there are: r"),
        (&first, &root, &["--only", "r", &preset], "leave out the preset"),
        (&first, &root, &["--only", "r", "--set", "r.iterations=2"], "--set does not go with --amend"),
        (&first, &root, &["--only", "r", "--limits", "l.csv"], "--limits does not go with --amend"),
        (&first, &stranger, &["--only", "r"], "this is another machine (serial number S1 before, S2 now)"),
        (&preset, &root, &["--only", "r"], "is no session"),
        (&damaged, &root, &["--only", "r"], "a record with damaged lines is not amended"),
        ("no-such-session", &root, &["--only", "r"], "there is no session `no-such-session`"),
    ];
    for (session, root, more, expected) in refused {
        let finished = place.run(&amend(session, root, more));
        assert_eq!(finished.code, Some(3), "{expected}: {}{}", finished.out, finished.err);
        assert!(finished.err.contains(expected) && finished.err.lines().count() == 1, "{expected}: {}", finished.err);
    }
    // A record that was cut off is amended; a machine that says nothing of itself proves nothing.
    let again =
        place.run(&amend(&cut, &root, &["--only", "r", "--session", &place.path("a.jsonl").display().to_string()]));
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    assert!(again.out.contains("was not finished: its record ends without a verdict"), "{}", again.out);
    let again = place.run(&amend(
        &first,
        &unknown,
        &["--only", "r", "--session", &place.path("b.jsonl").display().to_string()],
    ));
    assert_eq!(again.code, Some(2), "{}{}", again.out, again.err);
    assert!(again.out.contains("that it is the same machine cannot be shown"), "{}", again.out);
}

#[test]
fn one_of_a_group_is_not_repeated_without_the_load_beside_it() {
    let place = Place::new();
    let root = machine(&place, "S1");
    let beside = |name: &str| synthetic(name, "200 ms", "Level", ", together: \"load\"");
    let runs = [beside("one"), beside("two"), synthetic("alone", "200 ms", "Level", "")];
    let session = place.session("first", &plan(&runs, ""), &["--root", &root]);
    let first = session.file.display().to_string();
    session.finish(PATIENCE);
    let again = |only: &str, file: &str| {
        let file = place.path(file).display().to_string();
        place.run(&amend(&first, &root, &["--only", only, "--session", &file]))
    };
    let refused = again("alone,two", "a.jsonl");
    assert_eq!(refused.code, Some(3), "{}{}", refused.out, refused.err);
    assert!(
        refused.err.contains("--only two: it goes together with one, and alone it would be another test")
            && refused.err.contains("--only alone,two,one"),
        "{}",
        refused.err
    );
    for (only, file) in [("one,two", "b.jsonl"), ("alone", "c.jsonl")] {
        let repeated = again(only, file);
        assert_eq!(repeated.code, Some(0), "{only}: {}{}", repeated.out, repeated.err);
    }
}

#[test]
fn output_that_cannot_be_written_is_no_success() {
    let place = Place::new();
    let session = place.session("s", &plan(&[synthetic("r", "200 ms", "Level", "")], ""), &[]);
    let file = session.file.display().to_string();
    let preset = place.path("s.ron").display().to_string();
    session.finish(PATIENCE);
    for arguments in [
        &["judge", &file][..],
        &["presets"],
        &["run", &preset, "--plan"],
        &["detect", &file],
        &["inventory"],
        &["watch"],
    ] {
        let mut command = place.command(common::PROGRAM, arguments);
        let output = command.stdout(std::fs::File::create("/dev/full").unwrap()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {told}");
        assert_eq!(told.lines().count(), 1, "{arguments:?}: {told}");
        assert!(
            told.starts_with("shakedown: standard output cannot be written: No space left"),
            "{arguments:?}: {told}"
        );
        let quiet =
            place.command("sh", &["-c", "\"$0\" \"$@\" | true", common::PROGRAM]).args(arguments).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&quiet.stderr), "", "{arguments:?}");
    }
}

#[test]
fn a_file_without_lines_is_not_read_into_memory() {
    let place = Place::new();
    let path = place.path("long.jsonl").display().to_string();
    std::fs::write(&path, vec![b'x'; (16 << 20) + 2]).unwrap();
    let judged = place.run(&["judge", &path]);
    assert_eq!(judged.code, Some(3));
    assert!(
        judged.err.ends_with("is no session: line 1 is longer than 16777216 bytes, which no record is\n"),
        "{}",
        judged.err
    );
}

#[test]
fn a_verdict_by_other_rules_says_so() {
    let place = Place::new();
    let run = [synthetic("r", "200 ms", "Level", "")];
    let check = |floor: &str| format!("(of: \"r.mb_per_s\", at_least: Absolute(\"{floor} MB/s\"), decide: Point)");
    let session = place.session("s", &plan(&run, &check("50")), &[]);
    let file = session.file.display().to_string();
    session.finish(PATIENCE);
    let strict = place.preset("strict", &plan(&run, &check("500")));
    let judged = place.run(&["judge", &file, "--preset", &strict]);
    assert_eq!(judged.code, Some(1), "{}", judged.out);
    assert!(
        judged
            .out
            .contains("strict.ron, not the session's own: FAIL\nWhen the session was closed the verdict was PASS.\n"),
        "{}",
        judged.out
    );
}
