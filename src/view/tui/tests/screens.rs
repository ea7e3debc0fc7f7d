//! Whole screens, as text and as roles. A changed snapshot is to be looked at before it is accepted.

use super::super::screen::{Dialog, Zoom};
use super::super::{dialog, keys};
use super::*;
use crate::view::tui::look::Brush;
use crate::vocab::event::{Event, Outcome, Phase, Prepared, Progress};
use crate::vocab::finding::{Finding, Severity};
use crate::vocab::moment::Span;
use crate::vocab::reference::{Profile, Reference, Values};
use crate::vocab::unit::Unit;
use ratatui::layout::Rect;

pub(super) fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../../tests/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

pub(super) const SMALL: (u16, u16) = (80, 24);

fn stories() -> [(&'static str, State); 5] {
    [
        ("empty", State::default()),
        ("opened", story::opened("node07").state()),
        ("running", story::running("node07").state()),
        ("collapse", story::collapsed("node07").state()),
        ("ended", story::ended("node07").state()),
    ]
}

#[test]
fn every_story_in_every_size() {
    for (name, state) in stories() {
        for size in [SMALL, (120, 40), (200, 60)] {
            let mut live = live(state.clone(), "default", Glyphs::Braille);
            snapshot(&format!("{name}-{}x{}", size.0, size.1), &text(&drawn(&mut live, size)));
        }
    }
}

#[test]
fn every_theme_gives_every_cell_its_role() {
    for (name, state) in stories() {
        for theme in ["default", "ansi16", "mono"] {
            let mut live = live(state.clone(), theme, Glyphs::Braille);
            let buffer = drawn(&mut live, SMALL);
            let roles = roles(&buffer, &live.look);
            assert!(!roles.contains('?'), "{name} {theme}: a style that no role has\n{roles}");
            snapshot(&format!("{name}-{theme}-roles"), &roles);
        }
    }
}

#[test]
fn consoles_get_ascii_alone() {
    for (name, state) in stories() {
        let mut ascii = live(state.clone(), "mono", Glyphs::Ascii);
        let shown = text(&drawn(&mut ascii, SMALL));
        assert!(shown.is_ascii(), "{name}\n{shown}");
        snapshot(&format!("{name}-ascii"), &shown);
        let mut block = live(state, "ansi16", Glyphs::Block);
        let shown = text(&drawn(&mut block, SMALL));
        assert!(!shown.chars().any(|c| ('\u{2800}'..='\u{28ff}').contains(&c)), "{name}\n{shown}");
        snapshot(&format!("{name}-block"), &shown);
    }
}

#[test]
fn a_terminal_that_is_too_small_says_so_and_no_size_fails() {
    let state = story::ended("node07").state();
    for glyphs in [Glyphs::Braille, Glyphs::Block, Glyphs::Ascii] {
        let mut live = live(state.clone(), "default", glyphs);
        for dialog in [Dialog::None, Dialog::Help, Dialog::Leave, Dialog::Note("节点".repeat(60))] {
            live.screen.dialog = dialog;
            for columns in (0..130).step_by(3) {
                for rows in 0..45 {
                    let shown = text(&drawn(&mut live, (columns, rows)));
                    let small = columns < 60 || rows < 16;
                    assert!(!small || columns < 40 || rows == 0 || shown.starts_with("terminal too small"), "{shown}");
                }
            }
        }
    }
    let mut live = live(state, "default", Glyphs::Braille);
    assert!(text(&drawn(&mut live, (59, 15))).starts_with("terminal too small 59x15, need 60x16 "));
}

#[test]
fn names_from_outside_are_measured_and_harmless() {
    let mut live = live(story::collapsed("节点七\u{1b}[2J\u{202e}").state(), "default", Glyphs::Braille);
    let shown = text(&drawn(&mut live, SMALL));
    assert!(shown.starts_with(" 节点七?[2J?  SN"), "{shown}");
    assert!(shown.lines().all(|l| format::width(l) == 81), "{shown}");
}

#[test]
fn the_help_lists_every_key_of_the_screen() {
    let mut live = live(story::running("node07").state(), "default", Glyphs::Braille);
    live.screen.dialog = Dialog::Help;
    snapshot("help", &text(&drawn(&mut live, SMALL)));
    // What has no room is scrolled to.
    let tops: Vec<String> = (0..10)
        .map(|_| {
            live.press(key(KeyCode::PageDown), (80, 16));
            text(&drawn(&mut live, (80, 16)))
        })
        .collect();
    live.screen.scrolled = 0;
    let shown = text(&drawn(&mut live, (80, 16))) + &tops.concat();
    for key in keys::KEYS.iter().filter(|k| matches!(k.place, keys::Place::Screen | keys::Place::Any)) {
        assert!(shown.contains(key.name) && shown.contains(key.does), "{} is not in\n{shown}", key.name);
    }
}

#[test]
fn dialogs_show_the_keys_that_answer_them() {
    for (name, open) in
        [("leave", Dialog::Leave), ("stop-run", Dialog::StopRun), ("note", Dialog::Note("swapped 电池".to_owned()))]
    {
        let mut live = live(story::running("node07").state(), "default", Glyphs::Braille);
        live.screen.dialog = open;
        snapshot(&format!("dialog-{name}"), &text(&drawn(&mut live, SMALL)));
    }
    let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
    let look = Look { theme: Theme::load("default", None).unwrap(), glyphs: Glyphs::Braille };
    let area = buffer.area;
    let lines = ["load average 3.2 on 8 CPUs: something else is running, figures may be low", "not root"];
    let mut brush = Brush::new(&mut buffer, &look);
    let keys = super::super::keymap::Keys::default();
    dialog::question(area, ("Start in spite of this?", &lines), (&keys, keys::Place::Ask), &mut brush);
    snapshot("dialog-confirm", &text(&buffer));
}

#[test]
fn the_cursor_shows_what_was_at_that_instant() {
    let mut live = live(story::collapsed("node07").state(), "default", Glyphs::Braille);
    live.screen.cursor = live.state.findings.values().next().map(|f| f.onset - Span::seconds(5));
    let shown = text(&drawn(&mut live, SMALL));
    assert!(shown.contains("at cursor") && !shown.contains("464 ms"), "{shown}");
    snapshot("cursor", &shown);
}

#[test]
fn a_window_on_the_past_keeps_its_length() {
    let mut live = live(story::collapsed("node07").state(), "default", Glyphs::Braille);
    live.screen.zoom = Zoom::Last(0);
    live.screen.key(key(KeyCode::Left), &live.state);
    let run = live.screen.run(&live.state).unwrap();
    let axis = live.screen.window(&live.state, run, 10);
    assert_eq!(axis.length(), Span::seconds(10));
    assert_eq!(live.state.node_now(&run.node).since(axis.to), Span::milliseconds(500));
    assert!(text(&drawn(&mut live, SMALL)).contains("BACK IN TIME"));
    live.screen.key(key(KeyCode::End), &live.state);
    assert_eq!(live.screen.until, None);
}

#[test]
fn how_a_run_ended_is_said_in_its_place() {
    let mut told = story::running("node07");
    told.end("disk-write", Outcome::Corrupt("block 7 read back differs".to_owned()));
    let shown = text(&drawn(&mut live(told.state(), "default", Glyphs::Braille), SMALL));
    assert!(shown.contains("corrupt: block 7 read back differs") && shown.contains("✗ disk-write  bad"), "{shown}");
    let mut told = story::running("node07");
    told.say(Event::NodeLost { why: "exit status 9".to_owned() });
    let shown = text(&drawn(&mut live(told.state(), "default", Glyphs::Braille), (120, 40)));
    assert!(shown.contains("NODE LOST: exit status 9") && shown.contains("broken"), "{shown}");
}

#[test]
fn losses_are_shown() {
    let mut live = live(story::running("node07").state(), "default", Glyphs::Braille);
    live.state.lost = 12;
    live.screen.damaged = 1;
    assert!(text(&drawn(&mut live, SMALL)).contains("rec LOST 13"));
}

#[test]
fn many_runs_keep_the_chosen_one_in_sight() {
    let mut state = story::running("node07").state();
    let one = state.runs[3].clone();
    for i in 0..30 {
        let mut run = one.clone();
        run.name = format!("extra-{i}").as_str().into();
        state.runs.push(run);
    }
    let mut live = live(state, "default", Glyphs::Braille);
    live.screen.chosen = Some(33);
    let shown = text(&drawn(&mut live, SMALL));
    assert!(shown.matches("extra-29").count() >= 2, "{shown}");
}

#[test]
fn limits_that_name_a_roof_are_drawn_at_their_share() {
    let mut live = live(story::running("node07").state(), "default", Glyphs::Braille);
    live.screen.chosen = Some(0);
    assert!(text(&drawn(&mut live, (120, 40))).contains("floor 52.5 = 75 % nominal"));
}

#[test]
fn a_frozen_view_shows_what_was_known() {
    let mut live = live(story::running("node07").state(), "default", Glyphs::Braille);
    live.screen.key(key(KeyCode::Char(' ')), &live.state);
    live.state = story::collapsed("node07").state();
    let shown = text(&drawn(&mut live, SMALL));
    assert!(shown.contains("FROZEN") && shown.contains("no findings"), "{shown}");
    live.screen.key(key(KeyCode::Char(' ')), &live.state);
    assert!(text(&drawn(&mut live, SMALL)).contains("COLLAPSE"));
    let outlook = crate::view::tui::outlook::Outlook::default();
    let signs = live.look.signs();
    let view = crate::view::tui::pane::View::new((&live.state, &outlook), &live.screen, &live.zone, signs);
    assert_eq!(view.finding.map(|f| f.id), Some(1));
}

#[test]
fn what_needs_a_look_is_shaded_and_what_is_only_told_is_marked_alone() {
    let shown = |severity: Severity| {
        let mut story = story::running("node07");
        let onset = story.at();
        story.pass("disk-write", 60, (100.0, Unit::MegabytesPerSecond), story::WRITING);
        story.say(Event::Found(Finding { severity, ..story::collapse(&story, onset) }));
        let mut live = live(story.state(), "default", Glyphs::Ascii);
        let buffer = drawn(&mut live, (120, 40));
        let axis = text(&buffer).lines().find(|line| line.contains("t min:s")).unwrap().to_owned();
        let shaded = roles(&buffer, &live.look).lines().any(|line| line.contains('%'));
        (shaded, axis.contains("^^^"), axis.contains("..."))
    };
    assert_eq!(shown(Severity::Info), (false, false, true));
    assert_eq!(shown(Severity::Warn), (true, true, false));
}

#[test]
fn what_another_machine_did_is_a_line_of_its_own() {
    let shown = |sessions: u32, values: Vec<f64>| {
        let mut live = live(story::running("node07").state(), "default", Glyphs::Ascii);
        let figures = [("cpu-float.gflops".to_owned(), Values { unit: Unit::Gflops, values })].into();
        let profile = Profile { sessions, figures, ..Profile::default() };
        let plan = &mut live.state.opening.as_mut().unwrap().plan;
        plan.references.insert("bare-metal".to_owned(), Reference::Known(Box::new(profile)));
        live.screen.chosen = Some(0);
        text(&drawn(&mut live, (120, 40)))
    };
    let ghosts = |shown: &str| -> Vec<usize> {
        let rows = shown.lines().map(|line| line.matches('~').count()).filter(|n| *n > 10);
        rows.collect()
    };
    let level = shown(5, vec![20.0, 22.0, 24.0]);
    assert!(level.contains("bare-metal 22") && ghosts(&level).len() == 1, "{level}");
    let session = shown(1, vec![20.0, 40.0]);
    assert!(
        session.contains("bare-metal 40") && ghosts(&session).len() == 2,
        "one step for each iteration it has: {session}"
    );
    assert!(ghosts(&level)[0] > ghosts(&session).iter().sum(), "the third iteration has none: {session}");
}

#[test]
fn how_far_the_layout_of_a_file_is_stands_in_the_header() {
    let mut told = story::running("node07");
    told.phase("disk-write", 2, Phase::Prepare);
    let prepared = Some(Prepared { done: 3_000_000_000, of: 8_000_000_000 });
    let progress =
        Progress { run: "disk-write".into(), done: vec![0], in_flight: 8, oldest: None, latency: None, prepared };
    told.say(Event::Progress(progress));
    let shown = text(&drawn(&mut live(told.state(), "default", Glyphs::Braille), SMALL));
    assert!(shown.contains("PREPARE 37%"), "{shown}");
}

#[test]
fn a_frozen_view_does_not_call_a_record_cut_off_whose_end_it_does_not_show() {
    let mut live = live(story::collapsed("node07").state(), "default", Glyphs::Braille);
    live.screen.frozen = Some(Box::new(live.state.clone()));
    (live.screen.ended, live.screen.closed) = (true, true);
    let shown = text(&drawn(&mut live, SMALL));
    assert!(shown.lines().next().unwrap().contains("rec closed"), "{shown}");
    live.screen.closed = false;
    assert!(text(&drawn(&mut live, SMALL)).contains("rec CUT OFF"), "a record that ends without a verdict");
}

#[test]
fn zooming_keeps_the_instant_under_the_cursor_in_sight() {
    let mut live = live(story::collapsed("node07").state(), "default", Glyphs::Braille);
    let started = live.screen.run(&live.state).and_then(|run| run.started).unwrap();
    live.screen.cursor = Some(started + Span::seconds(1));
    for _ in 0..3 {
        live.screen.key(key(KeyCode::Char('+')), &live.state);
        let axis = live.screen.window(&live.state, live.screen.run(&live.state).unwrap(), 50);
        assert!(axis.column(started + Span::seconds(1)).is_some(), "{axis:?}");
    }
}
