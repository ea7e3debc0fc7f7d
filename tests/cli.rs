//! The command line: exit codes, what goes to which stream, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

mod common;

use std::path::Path;

use common::{Place, plan, skip, synthetic};
use serde_json::Value;

const FLOOR: &str =
    "(of: \"r.mb_per_s\", at_least: Absolute(\"80 MB/s\"), decide: Point), (of: \"r\", no_findings: [Collapse, Stall])";

fn healthy() -> String {
    plan(&[synthetic("r", "600 ms", "Level", "")], FLOOR)
}

fn collapsing() -> String {
    plan(&[synthetic("r", "1200 ms", "Collapse(after: \"60MB\", to: \"1 MB/s\")", "")], FLOOR)
}

#[test]
fn a_healthy_plan_passes_with_0_and_a_collapse_fails_with_1() {
    let place = Place::new();
    let (pass, _) = place.session("pass", &healthy(), &[]).finish(common::PATIENCE);
    assert_eq!((pass.code, pass.err.as_str()), (Some(0), ""), "{}", pass.out);
    assert!(pass.out.ends_with("\nVERDICT: PASS\n"), "{}", pass.out);
    let (fail, _) = place.session("fail", &collapsing(), &[]).finish(common::PATIENCE);
    assert_eq!((fail.code, fail.err.as_str()), (Some(1), ""), "{}", fail.out);
    assert!(fail.out.ends_with("\nVERDICT: FAIL\n") && fail.out.contains("COLLAPSE: fell"), "{}", fail.out);
    for (name, code) in [("pass", 0), ("fail", 1)] {
        let judged = place.run(&["judge", place.path(&format!("{name}.jsonl")).to_str().unwrap()]);
        assert_eq!(judged.code, Some(code), "judge says as the run did: {}", judged.out);
    }
}

#[test]
fn the_rows_of_a_contract_are_judged_with_the_session_and_again() {
    let place = Place::new();
    let header = "clause,figure,statistic,at,limit,unit,rounding,severity";
    let write = |name: &str, rows: &str| {
        let path = place.path(name);
        std::fs::write(&path, format!("{header}\r\n{rows}\r\n")).unwrap();
        path.display().to_string()
    };
    let met = write("met.csv", "4.2.1,r.mb_per_s,mean,at least,76.29,MiB/s,2 decimals,must");
    let (pass, records) = place.session("met", &healthy(), &["--limits", &met]).finish(common::PATIENCE);
    assert_eq!((pass.code, pass.err.as_str()), (Some(0), ""), "{}", pass.out);
    assert!(
        pass.out.contains("at least 76.29 MiB/s: ") && pass.out.contains("clause 4.2.1 (met.csv:2); "),
        "{}",
        pass.out
    );
    assert!(
        pass.out.contains("rounded to steps of 0.01, a half away from zero; decided by the number itself"),
        "{}",
        pass.out
    );
    assert_eq!(common::fold(&records).opening.unwrap().plan.checks.len(), 3, "besides those of the preset");
    let session = place.path("met.jsonl").display().to_string();
    let again = place.run(&["judge", &session]);
    assert!(
        again.code == Some(0) && again.out.contains("clause 4.2.1 (met.csv:2)"),
        "the record has them: {}",
        again.out
    );
    let missed = write("missed.csv", "5,r.mb_per_s,mean,at least,1,GB/s,,must");
    let judged = place.run(&["judge", &session, "--limits", &missed]);
    assert!(judged.code == Some(1) && judged.out.contains("at least 1 GB/s"), "{}", judged.out);
    let should = write("should.csv", "5,r.mb_per_s,mean,at least,1,GB/s,,should");
    assert_eq!(place.run(&["judge", &session, "--limits", &should]).code, Some(0), "told only");
    let unknown = write("unknown.csv", "5,s.mb_per_s,mean,at least,1,GB/s,,");
    let refused = place.run(&["judge", &session, "--limits", &unknown]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(3), ""));
    assert!(
        refused
            .err
            .ends_with("unknown.csv:2:3: figure: there is no run `s` in this plan; did you mean `r`? there are: r\n"),
        "{}",
        refused.err
    );
    assert!(place.run(&["judge", &session, "--limits", "/no/such.csv"]).err.contains("/no/such.csv: No such file"));
}

#[test]
fn what_was_ordered_is_held_against_the_node() {
    let place = Place::new();
    let ordered = |order: &str| healthy().replacen("about:", &format!("ordered: {order}, about:"), 1);
    let (pass, _) = place.session("there", &ordered("(cpu: (sockets: 1))"), &[]).finish(common::PATIENCE);
    let told = ["PASS       inventory.cpu.sockets", "NOT PROVEN inventory.cpu.sockets"];
    assert!(told.iter().any(|told| pass.out.contains(told)), "{}", pass.out);
    let (fail, _) = place.session("more", &ordered("(cpu: (threads: 1000000))"), &[]).finish(common::PATIENCE);
    assert_eq!(fail.code, Some(1), "{}", fail.out);
    assert!(fail.out.contains("x FAIL       inventory.cpu.threads      ordered 1000000: "), "{}", fail.out);
    assert!(fail.out.contains(" of 1000000 missing") && fail.out.contains("\nordered: FAIL\n"), "{}", fail.out);
    let session = place.path("there.jsonl").display().to_string();
    let preset = place.preset("other", &ordered("(cpu: (threads: 1000000))"));
    assert_eq!(place.run(&["judge", &session, "--preset", &preset]).code, Some(1), "of the recorded inventory");
    let printed = place.run(&["inventory", "--ordered"]);
    assert_eq!((printed.code, printed.err.as_str()), (Some(0), ""));
    let order = printed.out.split_once("ordered: ").unwrap().1.trim_end().trim_end_matches(',');
    let own = place.preset("own", &ordered(order));
    let checked = place.run(&["presets", "check", &own]);
    assert_eq!(checked.code, Some(0), "{}{}", printed.out, checked.err);
    let judged = place.run(&["judge", &session, "--preset", &own]);
    assert!(!judged.out.contains("FAIL       inventory"), "a node meets its own order: {}", judged.out);
}

#[test]
fn a_smoke_test_that_holds_is_no_acceptance() {
    let place = Place::new();
    let smoke = healthy().replacen("about:", "smoke: true, about:", 1);
    let (finished, _) = place.session("smoke", &smoke, &[]).finish(common::PATIENCE);
    assert_eq!(finished.code, Some(0));
    assert!(finished.out.ends_with("\nVERDICT: SMOKE OK, not an acceptance\n"), "{}", finished.out);
}

#[test]
fn what_cannot_be_run_is_one_line_and_3() {
    let place = Place::new();
    let preset = place.preset("p", &healthy());
    let missing = place.path("missing.jsonl").display().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&["run", "no-such-preset", "--headless"], "there is no preset `no-such-preset`; there are: "),
        (&["run", "no/such/file.ron", "--headless"], "no/such/file.ron: No such file"),
        (&["run", &preset, "--headless", "--set", "r.rat=1"], "--set r.rat=1: run `r` has no parameter `rat`"),
        (&["run", &preset, "--headless", "--set", "s.rate=1"], "--set s.rate=1: there is no run `s`"),
        (&["run", &preset, "--headless", "--set", "r.rate=fast"], "--set r.rate=fast: `fast` is not a number"),
        (&["run", &preset, "--headless", "--set", "r.iterations=0"], "runs[0].iterations: 0 would measure nothing"),
        (&["run", &preset, "--headless", "--set", "r"], "--set r: expected RUN.PARAM=VALUE"),
        (&["run", &preset, "--headless", "--roof", "cpu"], "--roof cpu: expected NAME=VALUE"),
        (&["run", &preset, "--headless", "--roof", "cpu=much"], "--roof cpu=much: `much` is not a number"),
        (&["run", &preset, "--headless", "--only", "s"], "--only s: there is no such run; there are: r"),
        (
            &["run", &preset, "--headless", "--session", "/no/such/dir/s.jsonl"],
            "/no/such/dir/s.jsonl cannot be created",
        ),
        (&["watch", "no-such-session"], "there is no session `no-such-session`"),
        (&["judge", &missing], "missing.jsonl: No such file"),
        (&["judge", &preset], "is no session"),
        (&["presets", "show", "no-such-preset"], "there is no preset"),
        (&["compare", &missing, &missing], "missing.jsonl: No such file"),
        (&["compare", &preset, &preset], "no baseline: "),
        (&["compare", "/dev/null", &preset], "/dev/null is empty; expected a session or a baseline"),
        (&["compare", "/", &preset], "/: Is a directory"),
        (&["baseline", &missing, "-o", &preset], "p.ron exists; --force writes over it"),
        (&["baseline", &missing, "--force", "-o", "/dev/null"], "/dev/null: there is something that is no file"),
    ];
    for (arguments, expected) in cases {
        let finished = place.run(arguments);
        assert_eq!(finished.code, Some(3), "{arguments:?}: {}{}", finished.out, finished.err);
        assert!(
            finished.err.starts_with("shakedown: ") && finished.err.contains(expected),
            "{arguments:?}: {}",
            finished.err
        );
        assert_eq!((finished.err.lines().count(), finished.err.ends_with('\n')), (1, true), "{}", finished.err);
    }
    let files = std::fs::read_dir(place.path("state/shakedown")).into_iter().flatten().count();
    assert_eq!(files, 0, "no session was begun");
}

#[test]
fn two_sessions_are_compared_and_several_make_a_baseline() {
    let place = Place::new();
    let plan = |rate: u32| {
        let kernel = format!("Synthetic(rate: \"{rate} MB/s\", time: \"200 ms\", noise: 0.01)");
        let checks = if rate == 100 { "(of: \"r.mb_per_s\", at_least: Absolute(\"500 MB/s\"))" } else { "" };
        plan(&[format!("(name: \"r\", kernel: {kernel}, iterations: 3)")], checks)
    };
    for (name, rate) in [("one", 100), ("two", 101), ("three", 99), ("slow", 40)] {
        let (finished, _) = place.session(name, &plan(rate), &[]).finish(common::PATIENCE);
        assert_eq!(finished.code, Some(i32::from(name == "one")), "{}{}", finished.out, finished.err);
    }
    let file = |name: &str| place.path(name).display().to_string();
    let (one, two, three, slow) = (file("one.jsonl"), file("two.jsonl"), file("three.jsonl"), file("slow.jsonl"));
    let compared = place.run(&["compare", &one, &format!("lame={slow}")]);
    assert_eq!((compared.code, compared.err.as_str()), (Some(0), ""), "{}", compared.out);
    assert!(compared.out.contains("  lame ") && compared.out.contains("SIGNIFICANT"), "{}", compared.out);
    assert!(compared.out.contains("one, lame there is one session"), "{}", compared.out);

    let good = file("good.ron");
    let made = place.run(&["baseline", &one, &two, &three, "-o", &good]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    assert!(made.out.ends_with("good.ron: a baseline of 3 sessions, 1 figure\n"), "{}", made.out);
    let warned = "one.jsonl: its verdict is FAIL; a baseline is meant to be of good nodes";
    assert!(made.err.contains(warned) && made.err.lines().count() == 1, "{}", made.err);
    let compared = place.run(&["compare", &good, &slow, "--json"]);
    let json: Value = serde_json::from_str(&compared.out).unwrap();
    let cell = &json["figures"][0]["cells"][1];
    assert_eq!((json["machines"][0]["sessions"].as_u64(), cell["n"].as_u64()), (Some(3), Some(3)));
    assert_eq!(cell["against"]["told"], "Significant", "{cell}");
    assert!(cell["against"]["chance"]["sessions"].as_f64().is_some_and(|p| p < 0.05), "{cell}");
    assert!(place.run(&["compare", &good, &slow, "--markdown"]).out.contains("| r.mb_per_s | slow | 3 |"));

    let twice = place.run(&["baseline", &one, &one, "-o", &file("twice.ron")]);
    assert_eq!(twice.code, Some(3));
    assert!(twice.err.ends_with("is a session that was given before; it would count twice\n"), "{}", twice.err);
    assert!(!place.path("twice.ron").exists());
    let alone = place.run(&["compare", &one]);
    assert!(alone.code == Some(3) && alone.err.contains("nothing to compare it with"), "{}", alone.err);
    let again = place.run(&["baseline", &two, "-o", &good]);
    assert!(again.code == Some(3) && again.err.ends_with("good.ron exists; --force writes over it\n"), "{}", again.err);
    assert_eq!(place.run(&["baseline", &two, "-o", &good, "--force"]).code, Some(0));
    let left: Vec<_> = std::fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".good")), "{left:?}");
}

#[test]
fn what_is_no_session_and_no_baseline_is_one_line() {
    let place = Place::new();
    let cases: &[(&[u8], &str)] = &[
        (b"\xff\xfe\x00garbage", "is neither a session nor a baseline: it is no text"),
        (b"{\"no\": \"session\"}\n", "is no session"),
        (b"(sessions: 1)", "no baseline: "),
        (b"(sessions: 1, figures: {\"a.b\": (unit: \"IOPS\", values: [])})", "`a.b` has no values"),
        (b"lat, 1\n2, 3\n", "no baseline: "),
    ];
    for (bytes, expected) in cases {
        let path = place.path("x");
        std::fs::write(&path, bytes).unwrap();
        let shown = path.display().to_string();
        for arguments in [&["compare", &shown, &shown][..], &["baseline", &shown, "-o", "/no/such/place"]] {
            let finished = place.run(arguments);
            assert_eq!((finished.code, finished.out.as_str()), (Some(3), ""), "{arguments:?}");
            assert!(finished.err.contains(expected) && finished.err.contains(&shown), "{}", finished.err);
            assert_eq!(finished.err.lines().count(), 1, "{}", finished.err);
        }
    }
}

#[test]
fn usage_is_3_and_help_is_0() {
    let place = Place::new();
    for wrong in [
        &["--no-such-option"][..],
        &["run"],
        &["run", "quick", "--json"],
        &["watch", "--speed", "0"],
        &["judge"],
        &["compare"],
        &["baseline", "x"],
    ] {
        let finished = place.run(wrong);
        assert_eq!((finished.code, finished.out.as_str()), (Some(3), ""), "{wrong:?}");
        assert!(finished.err.starts_with("error: "), "{wrong:?}: {}", finished.err);
    }
    for right in [
        &["--help"][..],
        &["--version"],
        &["run", "--help"],
        &["detect", "--help"],
        &["compare", "--help"],
        &["baseline", "--help"],
        &["presets"],
        &["presets", "show", "quick"],
        &["presets", "check", "quick"],
    ] {
        let finished = place.run(right);
        assert_eq!((finished.code, finished.err.as_str()), (Some(0), ""), "{right:?}");
        assert!(!finished.out.is_empty(), "{right:?}");
    }
}

#[test]
fn a_target_in_memory_is_refused() {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    if !mounts.lines().any(|line| line.split(' ').nth(1) == Some("/dev/shm") && line.contains(" tmpfs ")) {
        return skip("a_target_in_memory_is_refused", "/dev/shm is no tmpfs here");
    }
    let place = Place::new();
    let kernel = "Disk(pattern: Write, block: \"1MiB\", direct: false, size: \"16MiB\", time: \"1 s\")";
    let preset = place.preset("disk", &plan(&[format!("(name: \"disk\", kernel: {kernel})")], ""));
    let file = place.path("disk.jsonl");
    let arguments = ["run", &preset, "--headless", "--target", "/dev/shm", "--session", file.to_str().unwrap()];
    let refused = place.run(&arguments);
    assert_eq!((refused.code, refused.out.as_str()), (Some(3), ""), "{}", refused.err);
    assert!(refused.err.contains("target /dev/shm lies in memory (tmpfs)"), "{}", refused.err);
    assert!(refused.err.contains("--target DIR"), "it says what to do: {}", refused.err);
    assert!(!file.exists(), "no session was begun");
    let planned = place.run(&["run", &preset, "--plan", "--target", "/dev/shm"]);
    assert_eq!(planned.code, Some(3));
    assert!(planned.out.contains("refused: target /dev/shm lies in memory"), "{}", planned.out);
}

#[test]
fn a_plan_is_told_and_nothing_is_begun() {
    let place = Place::new();
    let finished = place.run(&["run", "synthetic-collapse", "--plan", "--set", "disk-write.iterations=3"]);
    assert_eq!((finished.code, finished.err.as_str()), (Some(0), ""));
    assert!(finished.out.contains("disk-write") && finished.out.contains("x 3"), "{}", finished.out);
    assert!(finished.out.contains("about 1:00; up to 0 B of memory, 0 B of disk, 0 B written"), "{}", finished.out);
    assert!(!place.path("state/shakedown").exists(), "no session was begun");
    place.is_deserted(std::time::Duration::from_secs(2));
}

#[test]
fn json_is_the_file_and_nothing_else() {
    let place = Place::new();
    let (finished, records) = place.session("json", &collapsing(), &["--json"]).finish(common::PATIENCE);
    assert_eq!((finished.code, finished.err.as_str()), (Some(1), ""));
    let file = std::fs::read_to_string(place.path("json.jsonl")).unwrap();
    assert!(finished.out == file, "standard output and the file are the same bytes");
    assert_eq!(file.lines().count(), records.len());
    for (number, line) in file.lines().enumerate() {
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["seq"].as_u64(), Some(number as u64 + 1));
        let names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names.len(), 5, "{names:?}");
        let (_, crc) = line.rsplit_once(",\"crc\":\"").unwrap();
        let digits = crc.strip_suffix("\"}").unwrap();
        assert!(digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{crc}");
    }
}

#[test]
fn without_a_terminal_it_runs_headless_and_says_so() {
    let place = Place::new();
    let finished = place.run(&["run", &place.preset("p", &collapsing())]);
    assert_eq!(finished.code, Some(1), "the verdict's code");
    assert_eq!(finished.err, "shakedown: no terminal here: running headless\n");
    assert!(finished.out.contains("VERDICT: FAIL"), "{}", finished.out);
    let short = place.run(&[&place.preset("p", &healthy())]);
    assert_eq!(short.code, Some(0), "without the verb, too: {}", short.err);
    let file = short.out.lines().next().unwrap().strip_prefix("file").unwrap().trim();
    let file = Path::new(file);
    let is_session = file.starts_with(place.path("state/shakedown")) && file.extension().is_some_and(|e| e == "jsonl");
    assert!(is_session, "{}", file.display());
    assert!(common::is_closed(&common::records(file)));
}

#[test]
fn without_a_terminal_and_a_preset_there_is_a_list_and_3() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("config/shakedown/presets")).unwrap();
    place.preset("config/shakedown/presets/mine", &healthy());
    let finished = place.run(&[]);
    assert_eq!((finished.code, finished.out.as_str()), (Some(3), ""));
    assert!(
        finished.err.ends_with(
            "there are: burn-in, cpu, disk, disk-collapse, disk-railway, disk-steady, memory, mine, openstack-vm, quick, \
             railway-private-cloud, synthetic-collapse\n"
        ),
        "{}",
        finished.err
    );
    let listed = place.run(&["presets"]);
    assert!(listed.out.contains("mine                 a plan for a test\n"), "{}", listed.out);
}

#[test]
fn a_check_of_a_preset_tells_what_it_takes_and_what_it_can_never_decide() {
    let place = Place::new();
    let checks =
        "(of: \"r.mb_per_s\", at_least: Absolute(\"80 MB/s\")), (of: \"r.iops\", at_least: Absolute(\"1 IOPS\"))";
    let preset = place.preset("p", &plan(&[synthetic("r", "2 s", "Level", "")], checks));
    let checked = place.run(&["presets", "check", &preset]);
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = checked.out.lines().collect();
    let expected = [
        format!("{preset}: 1 run, 2 checks"),
        "  r                  about 2.0 s".to_owned(),
        "  in all about 2.0 s; up to 0 B of memory, 0 B of disk, 0 B written".to_owned(),
    ];
    assert_eq!(lines[..3], expected);
    assert!(lines[3].contains(": checks[0].statistic: 1 iteration is too few for the mean"), "{}", checked.out);
    assert!(lines[4].contains(": checks[1].of: no run gives `iops`; r gives mb_per_s"), "{}", checked.out);
    assert!(lines[3].starts_with(&format!("warning: {preset}:1:")) && lines.len() == 5, "{}", checked.out);
    let planned = place.run(&["run", &preset, "--plan"]);
    assert!(planned.out.contains("\nwarning: checks[1].of: no run gives `iops`"), "{}", planned.out);
}

/// What a preset leaves to the command line is meant; nothing else is.
#[test]
fn the_presets_that_are_compiled_in_say_what_they_need_and_no_more() {
    let place = Place::new();
    let checked = place.run(&["presets", "check"]);
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""));
    let meant = |line: &str| {
        line.contains("proves nothing without --roof") || line.contains("proves nothing without --reference")
    };
    let others: Vec<&str> = checked.out.lines().filter(|l| l.starts_with("warning:") && !meant(l)).collect();
    assert!(others.is_empty(), "{others:#?}");
    let of = |name: &str| checked.out.lines().filter(|l| l.starts_with(&format!("warning: {name}.ron:"))).count();
    assert_eq!(["burn-in", "cpu", "disk", "memory", "openstack-vm", "quick"].map(of), [0, 0, 4, 0, 7, 0]);
}

#[test]
fn a_dumb_terminal_in_the_c_locale_gets_ascii() {
    let place = Place::new();
    let preset = place.preset("p", &collapsing());
    let file = place.path("ascii.jsonl").display().to_string();
    for arguments in [
        &["run", &preset, "--headless", "--session", &file][..],
        &["judge", &file, "--redetect"],
        &["detect", &file],
        &["detect", "--help"],
        &["compare", "--help"],
        &["baseline", "--help"],
        &["watch", &file],
        &["run", &preset, "--plan"],
        &["inventory"],
        &["presets"],
        &["--help"],
    ] {
        let mut command = place.command("env", &["TERM=dumb", "LC_ALL=C", common::PROGRAM]);
        let output = command.args(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        assert!(!text.is_empty(), "{arguments:?}");
        let strange = text.iter().find(|b| !(matches!(**b, b'\n') || (b' '..=b'~').contains(*b)));
        assert_eq!(strange, None, "{arguments:?}: {}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn a_reference_that_no_check_names_is_for_the_screen_and_no_slip_of_the_pen() {
    let place = Place::new();
    place.session("first", &healthy(), &[]).finish(common::PATIENCE);
    let first = place.path("first.jsonl").display().to_string();
    let other = format!("other={first}");
    let (shown, records) = place.session("shown", &healthy(), &["--reference", &other]).finish(common::PATIENCE);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(common::fold(&records).opening.unwrap().plan.references.contains_key("other"));
    let judged = place.run(&["judge", &first, "--reference", &other]);
    assert_eq!(judged.code, Some(3));
    assert!(judged.err.ends_with("no check of this plan names `other`\n"), "{}", judged.err);
    let held = "( of: \"r.mb_per_s\", at_least: OfReference(\"cloud\", 0.5) ),";
    let (refused, _) = place
        .session("refused", &plan(&[synthetic("r", "600 ms", "Level", "")], held), &["--reference", &other])
        .finish(common::PATIENCE);
    assert_eq!(refused.code, Some(3));
    assert!(refused.err.ends_with("no check of this plan names `other`; there are `cloud`\n"), "{}", refused.err);
}
