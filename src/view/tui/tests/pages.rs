//! The screens beside the live one: whole pictures, as text and as roles, and what the keys do there.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::How;
use super::super::keys;
use super::super::page::PAGES;
use super::super::screen::{Effect, Zoom};
use super::super::sight::Home;
use super::machine::Machine;
use super::screens::{SMALL, snapshot};
use super::*;
use crate::analysis::verdict::judge;
use crate::vocab::event::{Event, Outcome, Record};
use crate::vocab::figure::Figure;
use crate::vocab::finding::{Finding, Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;
use crate::vocab::plan::Reference;
use crate::vocab::reference::Values;
use crate::vocab::unit::Unit;

const SIZES: [(u16, u16); 3] = [SMALL, (120, 40), (200, 60)];
const LOOKS: [(&str, Glyphs); 4] =
    [("default", Glyphs::Braille), ("ansi16", Glyphs::Block), ("mono", Glyphs::Braille), ("mono", Glyphs::Ascii)];

/// A session that is over, judged by the judge, beside a reference.
fn finished(host: &str) -> State {
    let mut told = story::collapsed(host);
    told.figure("disk-write", 3, Figure::new("mb_per_s", 1.1, Unit::MegabytesPerSecond));
    told.end("disk-write", Outcome::Sound);
    told.end("disk-read", Outcome::Stopped);
    let mut state = told.state();
    let mut other = crate::analysis::reference::profile(&state, &host.into());
    (other.from, other.sessions) = ("good-20260228".to_owned(), 1);
    for values in other.figures.values_mut() {
        values.values.iter_mut().for_each(|value| *value *= 1.3);
    }
    let unit = Unit::MegabytesPerSecond;
    other.figures.insert("disk-read.mb_per_s".to_owned(), Values { unit, values: vec![200.0; 3] });
    if let Some(opening) = &mut state.opening {
        opening.plan.references.insert("good".to_owned(), Reference::Known(Box::new(other)));
        let plan = opening.plan.clone();
        let mut verdict = judge(&plan, &state);
        for line in &mut verdict.lines {
            if line.numbers.is_some() {
                line.section = "real-time computing".to_owned();
            }
        }
        let event = Event::SessionClosed { verdict };
        let (seq, at) = (state.seq + 1, Moment(state.now.0 + 100_000));
        state.apply(&Record { seq, at, node: NodeName::default(), event });
    }
    state
}

fn states() -> [(&'static str, State); 5] {
    let mut stale = story::collapsed("node07").state();
    let (seq, at) = (stale.seq + 1, Moment(stale.now.0 + 7_000_000));
    stale.apply(&Record { seq, at, node: NodeName::default(), event: Event::Tick });
    [
        ("empty", State::default()),
        ("running", story::running("node07").state()),
        ("failing", story::collapsed("node07").state()),
        ("finished", finished("node07")),
        ("stale", stale),
    ]
}

fn opened(state: &State, home: Home, (theme, glyphs): (&str, Glyphs)) -> Live {
    let mut live = live(state.clone(), theme, glyphs);
    live.screen.home = home;
    live
}

fn press(live: &mut Live, code: KeyCode) -> Effect {
    live.press(key(code), SMALL)
}

fn shown(live: &mut Live) -> String {
    text(&drawn(live, SMALL))
}

#[test]
fn every_screen_in_every_size_and_state() {
    let states = states();
    for page in PAGES {
        let mut pictures = String::new();
        for (name, state) in &states {
            let sizes = if *name == "finished" { &SIZES[..] } else { &SIZES[..1] };
            for size in sizes {
                let picture = text(&drawn(&mut opened(state, page.home, LOOKS[0]), *size));
                let _ = writeln!(pictures, "{name} {}x{}\n{picture}", size.0, size.1);
            }
            if *name == "finished" {
                let picture = text(&drawn(&mut opened(state, page.home, ("mono", Glyphs::Ascii)), SMALL));
                let _ = writeln!(pictures, "{name} 80x24 ASCII\n{picture}");
                let mut live = opened(state, page.home, LOOKS[0]);
                let buffer = drawn(&mut live, SMALL);
                let _ = writeln!(pictures, "{name} 80x24 roles\n{}", roles(&buffer, &live.look));
            }
        }
        snapshot(&format!("screen-{}", page.name), &pictures);
    }
}

#[test]
fn every_cell_of_every_screen_has_a_role_and_a_sign_that_its_terminal_has() {
    for (name, state) in states() {
        for page in PAGES {
            for look in LOOKS {
                for size in SIZES {
                    let mut live = opened(&state, page.home, look);
                    let buffer = drawn(&mut live, size);
                    let (text, roles) = (text(&buffer), roles(&buffer, &live.look));
                    let what = format!("{name} {} {} {size:?}", page.name, look.0);
                    assert!(!roles.contains('?'), "{what}: a style that no role has\n{roles}");
                    assert!(look.1 != Glyphs::Ascii || text.is_ascii(), "{what}\n{text}");
                    assert!(text.lines().all(|l| format::width(l) == usize::from(size.0) + 1), "{what}\n{text}");
                }
            }
        }
    }
}

#[test]
fn a_picture_of_every_screen_says_whose_and_when_it_is() {
    let state = finished("node07");
    for page in PAGES {
        let shown = shown(&mut opened(&state, page.home, LOOKS[0]));
        for evidence in ["node07", "SN 7K2X9Q1", "node07-standard-20260301T1129", "11:3"] {
            assert!(shown.contains(evidence), "{}: {evidence} is not in\n{shown}", page.name);
        }
    }
}

#[test]
fn names_from_outside_break_no_columns() {
    let state = finished("节点七e\u{301}\u{1b}[2J\u{202e}");
    for page in PAGES {
        for size in SIZES {
            let shown = text(&drawn(&mut opened(&state, page.home, LOOKS[0]), size));
            assert!(shown.lines().all(|l| format::width(l) == usize::from(size.0) + 1), "{}\n{shown}", page.name);
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{}", page.name);
        }
    }
}

#[test]
fn every_screen_opens_with_its_key_and_closes_with_it_and_with_escape() {
    let mut live = live(finished("node07"), "default", Glyphs::Braille);
    for key in keys::KEYS.iter().filter(|key| key.place == keys::Place::Any) {
        let (keys::Action::Show(home), [code]) = (key.action, key.codes) else { continue };
        for close in [*code, KeyCode::Esc] {
            press(&mut live, *code);
            assert_eq!(live.screen.home, home);
            press(&mut live, close);
            assert_eq!(live.screen.home, Home::Live, "{home:?} {close:?}");
        }
    }
    press(&mut live, KeyCode::Char('f'));
    press(&mut live, KeyCode::Char('v'));
    assert_eq!(live.screen.home, Home::Verdict, "from one to another");
    assert_eq!(press(&mut live, KeyCode::Char('q')), Effect::Leave(How::Ended));
}

fn many_findings() -> State {
    let mut told = story::collapsed("node07");
    let onset = told.at();
    for id in 2..60 {
        let kind = if id % 7 == 0 { Kind::Drift } else { Kind::Spike };
        let sentence = format!("{kind}: number {id}");
        told.say(Event::Found(Finding {
            id,
            kind,
            severity: Severity::Info,
            sentence,
            closed: (id % 2 == 0).then_some(onset + Span::seconds(1)),
            onset,
            ..story::collapse(&told, onset)
        }));
    }
    told.state()
}

#[test]
fn a_list_is_moved_through_filtered_and_opened() {
    let mut live = opened(&many_findings(), Home::Findings, LOOKS[0]);
    let first = shown(&mut live);
    assert!(first.contains("COLLAPSE: fell 99 %"), "the one that matters most is chosen\n{first}");
    press(&mut live, KeyCode::Char('G'));
    assert!(shown(&mut live).contains("LATENCY SPIKE: number 59"), "{}", shown(&mut live));
    press(&mut live, KeyCode::Char('j'));
    press(&mut live, KeyCode::Char('k'));
    assert_eq!(live.screen.sight.at, Some(57), "no further than the last");
    press(&mut live, KeyCode::PageUp);
    assert_eq!(live.screen.sight.at, Some(47));
    press(&mut live, KeyCode::Char('g'));
    assert_eq!(live.screen.sight.at, Some(0));
    for c in "/drift".chars() {
        press(&mut live, KeyCode::Char(c));
    }
    let typing = shown(&mut live);
    assert!(typing.contains("/drift_") && !typing.contains("LATENCY"), "{typing}");
    press(&mut live, KeyCode::Enter);
    press(&mut live, KeyCode::Down);
    assert!(shown(&mut live).contains("DRIFT: number 14"), "{}", shown(&mut live));
    press(&mut live, KeyCode::Enter);
    let open = shown(&mut live);
    assert!(open.contains("Esc closes") && open.contains("storcli64 /c0/vall show"), "{open}");
    for expected in [Home::Findings, Home::Findings, Home::Live] {
        press(&mut live, KeyCode::Esc);
        assert_eq!(live.screen.home, expected, "the entry, the filter, the screen");
    }
}

#[test]
fn a_text_is_scrolled_to_its_end_and_no_further() {
    let mut live = opened(&finished("node07"), Home::Inventory, LOOKS[0]);
    assert!(shown(&mut live).contains("System"));
    for _ in 0..9 {
        press(&mut live, KeyCode::PageDown);
    }
    let end = shown(&mut live);
    assert!(!end.contains("more below"), "{end}");
    press(&mut live, KeyCode::Char('j'));
    assert_eq!(shown(&mut live), end);
    press(&mut live, KeyCode::Char('g'));
    assert!(shown(&mut live).contains("System"));
}

#[test]
fn the_log_follows_its_end_until_somebody_looks_back() {
    let mut told = story::collapsed("node07");
    let mut live = opened(&told.state(), Home::Log, LOOKS[0]);
    assert!(shown(&mut live).contains("follows the end"));
    told.say(Event::Noted("a late remark".to_owned()));
    live.state = told.state();
    assert!(shown(&mut live).contains("a late remark"));
    press(&mut live, KeyCode::Char('g'));
    let first = shown(&mut live);
    assert!(first.contains("plan standard: Baseline") && first.contains("G follows the end"), "{first}");
    press(&mut live, KeyCode::Char('G'));
    assert_eq!(live.screen.sight.at, None);
}

#[test]
fn an_entry_leads_to_its_time_on_the_chart_of_its_run() {
    let state = story::collapsed("node07").state();
    let onset = state.findings[&1].onset;
    let mut live = opened(&state, Home::Findings, LOOKS[0]);
    press(&mut live, KeyCode::Char('t'));
    let screen = &live.screen;
    assert_eq!((screen.home, screen.cursor, screen.zoom), (Home::Live, Some(onset), Zoom::Run));
    assert_eq!(screen.run(&live.state).map(|r| r.name.to_string()).as_deref(), Some("disk-write"));
    assert!(shown(&mut live).contains("at cursor"));
    let mut live = opened(&state, Home::Verdict, LOOKS[0]);
    press(&mut live, KeyCode::Char('t'));
    assert!(shown(&mut live).contains("this has no time of its own"));
}

#[test]
fn before_the_end_the_verdict_says_what_is_left() {
    let running = shown(&mut opened(&story::running("node07").state(), Home::Verdict, LOOKS[0]));
    for words in ["Verdict so far", "PASS 3  FAIL 0  NOT PROVEN 0  left 3", "+73.7 %"] {
        assert!(running.contains(words), "{words} is not in\n{running}");
    }
    let finished = shown(&mut opened(&finished("node07"), Home::Verdict, LOOKS[0]));
    for words in ["Verdict: NOT PROVEN", "real-time computing: ", "-14.8 %"] {
        assert!(finished.contains(words), "{words} is not in\n{finished}");
    }
}

#[test]
fn without_a_reference_the_comparison_says_how_to_give_one() {
    let shown = shown(&mut opened(&story::running("node07").state(), Home::Compare, LOOKS[0]));
    assert!(shown.contains("--reference NAME=FILE"), "{shown}");
    let mut state = finished("node07");
    let unread = Reference::Session("elsewhere.jsonl".into());
    state.opening.as_mut().unwrap().plan.references = [("other".to_owned(), unread)].into();
    let shown = text(&drawn(&mut opened(&state, Home::Compare, LOOKS[0]), SMALL));
    assert!(shown.contains("elsewhere.jsonl") && shown.contains("was not read"), "{shown}");
}

#[test]
fn the_network_is_counted_in_bits_on_request_and_devices_are_filtered() {
    let mut live = opened(&Machine::of_size(2, 30, 16).pass(6).state, Home::Host, LOOKS[0]);
    let bytes = text(&drawn(&mut live, (120, 40)));
    assert!(bytes.contains("rxMB/s") && bytes.contains(" 30 "), "{bytes}");
    press(&mut live, KeyCode::Char('b'));
    let bits = text(&drawn(&mut live, (120, 40)));
    assert!(bits.contains("rxMb/s") && bits.contains(" 240 "), "{bits}");
    for c in "/eth1".chars() {
        press(&mut live, KeyCode::Char(c));
    }
    press(&mut live, KeyCode::Enter);
    let few = text(&drawn(&mut live, (120, 40)));
    assert!(few.contains("eth15") && !few.contains("eth3 "), "{few}");
}

#[test]
fn the_log_stays_at_a_hit_when_its_filter_is_taken_away_and_at_an_entry_while_more_is_said() {
    let mut live = opened(&story::ended("node07").state(), Home::Log, LOOKS[0]);
    for c in "/iteration 1:".chars() {
        press(&mut live, KeyCode::Char(c));
    }
    press(&mut live, KeyCode::Enter);
    press(&mut live, KeyCode::Char('g'));
    press(&mut live, KeyCode::Esc);
    let chosen = |live: &mut Live| {
        let shown = shown(live);
        let row = shown.lines().find(|line| line.starts_with("│▸")).map(str::to_owned);
        row.unwrap_or_else(|| panic!("nothing is chosen\n{shown}"))
    };
    let hit = chosen(&mut live);
    assert!(hit.contains("iteration 1:"), "{hit}");
    let run = live.state.runs.iter_mut().rev().find(|run| !run.phases.is_empty()).unwrap();
    let at = run.phases.back().unwrap().2;
    (0..2_000).for_each(|i| run.phases.push_back((9, crate::vocab::event::Phase::Measure, at + Span(i))));
    assert_eq!(chosen(&mut live), hit);
}

/// What a person may do at a keyboard.
fn any_key() -> impl Strategy<Value = KeyCode> {
    let codes: Vec<KeyCode> = keys::KEYS.iter().flat_map(|k| k.codes.iter().copied()).collect();
    prop::sample::select(codes)
}

fn any_state() -> impl Strategy<Value = State> {
    let machine = (0usize..40, 0usize..12, 0usize..12);
    prop_oneof![
        prop::sample::select(states().to_vec()).prop_map(|(_, state)| state),
        Just(many_findings()),
        machine.prop_map(|(cpus, disks, nics)| Machine::of_size(cpus, disks, nics).pass(3).state),
        ("\\PC{0,12}", 0usize..400).prop_map(|(name, cut)| {
            let told = story::collapsed(&name);
            let mut state = State::default();
            told.records.iter().take(cut).for_each(|record| state.apply(record));
            state
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_pressed_at_any_size_breaks_a_screen(
        state in any_state(),
        look in prop::sample::select(LOOKS.to_vec()),
        pressed in prop::collection::vec((any_key(), 0u16..=130, 0u16..=50), 1..24),
    ) {
        let mut live = opened(&state, Home::Live, look);
        for (code, columns, rows) in pressed {
            live.press(key(code), (columns, rows));
            drawn(&mut live, (columns, rows));
        }
    }
}
