//! The loop itself, with keys and records from a script and a screen in memory.

use std::collections::VecDeque;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::super::How;
use super::super::screen::Dialog;
use super::super::terminal::{Input, World};
use super::*;
use crate::session::client::Client;
use crate::session::heard::Heard;
use crate::session::replay::{Leap, Pace};
use crate::vocab::moment::Moment;
use crate::vocab::order::Command;

/// Gives one input after the other, each when everything before it has been done; then none any more.
struct Script {
    inputs: VecDeque<Input>,
    titles: Vec<String>,
    kept: Vec<(String, String)>,
}

impl World for Script {
    async fn next(&mut self) -> Input {
        // Records come first here, so that a script can count on them.
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        match self.inputs.pop_front() {
            Some(input) => input,
            None => std::future::pending().await,
        }
    }

    fn size(&self) -> (u16, u16) {
        (80, 24)
    }

    fn title(&mut self, text: &str) {
        self.titles.push(text.to_owned());
    }

    fn keep(&mut self, name: &str, text: &str) -> std::io::Result<std::path::PathBuf> {
        self.kept.push((name.to_owned(), text.to_owned()));
        Ok(format!("{name}.txt").into())
    }

    async fn suspend(&mut self) -> std::io::Result<()> {
        self.titles.push("suspended".to_owned());
        Ok(())
    }
}

struct Played {
    how: How,
    commands: Vec<Command>,
    shown: String,
    titles: Vec<String>,
    kept: Vec<(String, String)>,
}

fn client(story: &story::Story, live: bool) -> (Client, Sender<Heard>, Receiver<Command>) {
    let (sender, heard) = channel(story.records.len().max(1));
    story.records.iter().for_each(|r| sender.try_send(Heard::Record(Box::new(r.clone()))).unwrap());
    let (commands, asked) = channel(8);
    (Client::new(heard, commands, live), sender, asked)
}

/// Plays a script against a session; a session that is not live ends after its records.
fn play(story: &story::Story, is_live: bool, inputs: &[Input]) -> Played {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let (mut client, sender, mut asked) = client(story, is_live);
        let sender = is_live.then_some(sender);
        let mut live = live(State::default(), "default", Glyphs::Braille);
        live.title = Some("shakedown".to_owned());
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let mut script = Script { inputs: inputs.iter().copied().collect(), titles: vec![], kept: vec![] };
        let how = live.follow(&mut terminal, &mut script, &mut client).await;
        drop(sender);
        let commands = std::iter::from_fn(|| asked.try_recv().ok()).collect();
        Played { how, commands, shown: text(terminal.backend().buffer()), titles: script.titles, kept: script.kept }
    })
}

fn press(c: char) -> Input {
    Input::Key(key(KeyCode::Char(c)))
}

fn control(c: char) -> Input {
    Input::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))
}

#[test]
fn q_asks_and_the_session_goes_on_or_stops() {
    let story = story::running("node07");
    let played = play(&story, true, &[press('q'), press('l')]);
    assert_eq!((played.how, played.commands), (How::Left, vec![]));
    let played = play(&story, true, &[press('q'), press('s'), press('q'), Input::Gone]);
    assert_eq!((played.how, played.commands), (How::HungUp, vec![Command::StopSession]));
}

#[test]
fn q_leaves_at_once_when_nothing_is_left_to_stop() {
    assert_eq!(play(&story::ended("node07"), true, &[press('q')]).how, How::Ended);
    assert_eq!(play(&story::running("node07"), false, &[press('q')]).how, How::Ended);
}

#[test]
fn ctrl_c_stops_cleanly_and_the_second_time_at_once() {
    for interrupt in [control('c'), Input::Interrupt] {
        let played = play(&story::running("node07"), true, &[interrupt, interrupt]);
        assert_eq!((played.how, played.commands), (How::Stopped, vec![Command::StopSession, Command::StopNow]));
        assert_eq!(play(&story::ended("node07"), true, &[interrupt]).how, How::Ended);
    }
}

#[test]
fn ctrl_c_is_heeded_while_a_question_is_open() {
    for open in ['q', 'x', 'n', '?'] {
        let played = play(&story::running("node07"), true, &[press(open), control('c'), control('c')]);
        assert_eq!(played.how, How::Stopped, "{open}");
    }
}

#[test]
fn a_run_is_stopped_after_a_yes_only() {
    let story = story::running("node07");
    let gone = Input::Gone;
    assert_eq!(play(&story, true, &[press('x'), press('n'), gone]).commands, []);
    assert_eq!(play(&story, true, &[press('x'), press('y'), gone]).commands, [Command::StopRun]);
}

#[test]
fn a_remark_is_typed_and_sent() {
    let typed = "nq x".chars().map(press);
    let rest = [Input::Key(key(KeyCode::Backspace)), press('y'), Input::Key(key(KeyCode::Enter)), Input::Gone];
    let inputs: Vec<Input> = typed.chain(rest).collect();
    assert_eq!(play(&story::running("node07"), true, &inputs).commands, [Command::Note("q y".to_owned())]);
}

#[test]
fn a_picture_is_kept_with_whose_and_when_it_is_and_the_footer_says_where() {
    let played = play(&story::collapsed("node07"), true, &[press('f'), press('s'), Input::Gone]);
    let [(name, text)] = &played.kept[..] else { panic!("{:?}", played.kept) };
    assert_eq!(name, "node07-standard-20260301T112903-findings-113053");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("shakedown 0.1.0, session node07-standard-20260301T112903"));
    assert_eq!(lines.next(), Some("host node07, Acme R640, serial 7K2X9Q1"));
    assert_eq!(lines.next(), Some("taken at 2026-03-01 11:30:53 UTC, 01:50 into the session"));
    assert!(text.contains("COLLAPSE") && text.lines().all(|l| l.trim_end() == l), "{text}");
    let said = "picture in node07-standard-20260301T112903-findings-113053.txt";
    assert!(played.shown.contains(said), "{}", played.shown);
}

#[test]
fn a_picture_is_written_over_no_other_file() {
    let directory = tempfile::tempdir().unwrap();
    let keep = |text| super::super::picture::keep(directory.path(), "a", text).unwrap();
    let paths = [keep("one"), keep("two")];
    assert_eq!(paths.clone().map(|p| std::fs::read_to_string(p).unwrap()), ["one", "two"]);
    assert!(paths[1].ends_with("a-2.txt"));
}

#[test]
fn the_end_is_drawn_and_named() {
    let played = play(&story::ended("node07"), true, &[Input::Resize, press('j'), Input::Gone]);
    assert!(played.shown.contains("the session is over, q leaves"), "{}", played.shown);
    assert!(played.titles.last().is_some_and(|t| t == "shakedown: FAIL"), "{:?}", played.titles);
}

#[test]
fn a_record_that_breaks_off_is_said_to() {
    let story = story::running("node07");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let (mut client, sender, _asked) = client(&story, true);
        drop(sender);
        let mut live = live(State::default(), "default", Glyphs::Braille);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let mut script = Script { inputs: [press('j'), press('j'), Input::Gone].into(), titles: vec![], kept: vec![] };
        live.follow(&mut terminal, &mut script, &mut client).await;
        assert!(text(&drawn(&mut live, (80, 24))).contains("rec CUT OFF"));
    });
}

#[test]
fn redrawn_after_a_resize_the_screen_is_as_if_fresh() {
    let mut live = live(story::collapsed("node07").state(), "default", Glyphs::Braille);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    live.draw(&mut terminal).unwrap();
    super::super::live::anew(&mut terminal, (80, 24)).unwrap();
    live.draw(&mut terminal).unwrap();
    assert_eq!(terminal.backend().buffer(), &drawn(&mut live, (80, 24)));
}

#[test]
#[should_panic(expected = "asked to panic at draw 2")]
fn the_hook_panics_at_the_draw_it_was_given() {
    let mut live = live(story::opened("node07").state(), "default", Glyphs::Braille);
    live.panic_at = Some(2);
    drawn(&mut live, (80, 24));
    drawn(&mut live, (80, 24));
}

/// Plays a script against a replay; gives what was asked of the one who tells, and what is shown.
fn replayed(story: &story::Story, inputs: &[Input]) -> (Pace, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let (mut client, sender, _asked) = client(story, false);
        let (pace, paced) = tokio::sync::watch::channel(Pace::default());
        client.pace = Some(pace);
        let telling = tokio::spawn(async move { sender.send(Heard::End).await.map(|()| sender) });
        let mut live = live(State::default(), "default", Glyphs::Braille);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let inputs = inputs.iter().copied().chain([Input::Resize, press('+'), Input::Gone]).collect();
        let mut script = Script { inputs, titles: vec![], kept: vec![] };
        live.follow(&mut terminal, &mut script, &mut client).await;
        drop(telling);
        (*paced.borrow(), text(terminal.backend().buffer()))
    })
}

#[test]
fn a_replay_that_is_over_plays_again_from_the_cursor_or_its_run() {
    let story = story::ended("node07");
    let state = story.state();
    let begun = |run: usize| state.runs[run].started.unwrap().since(state.opened);
    let (pace, _) = replayed(&story, &[press('1'), press(' ')]);
    assert_eq!(pace, Pace { speed: Some(1.0), paused: false, leap: Leap { number: 1, to: begun(0) } });
    let (pace, _) = replayed(&story, &[press(']'), press(' '), press('>')]);
    let onset = state.findings.values().map(|f| f.onset).min().unwrap();
    assert_eq!(pace, Pace { speed: Some(2.0), paused: false, leap: Leap { number: 1, to: onset.since(state.opened) } });
}

#[test]
fn findings_are_gone_to_in_the_order_of_their_onsets() {
    let state = story::ended("node07").state();
    let mut live = live(state, "default", Glyphs::Braille);
    let onsets: Vec<Moment> = live.state.findings.values().map(|f| f.onset).collect();
    live.screen.key(key(KeyCode::Char(']')), &live.state);
    assert_eq!(live.screen.cursor, onsets.iter().min().copied());
    for _ in 0..onsets.len() {
        live.screen.key(key(KeyCode::Char(']')), &live.state);
    }
    assert_eq!(live.screen.cursor, onsets.iter().max().copied());
    assert_eq!(live.screen.said.as_deref(), Some("no finding that way"));
    for _ in 0..onsets.len() {
        live.screen.key(key(KeyCode::Char('[')), &live.state);
    }
    assert_eq!(live.screen.cursor, onsets.iter().min().copied());
    assert!(text(&drawn(&mut live, (80, 24))).contains("COLLAPSE"));
}

#[test]
fn a_question_that_the_end_answers_is_closed() {
    let played = play(&story::ended("node07"), true, &[Input::Resize, press('q')]);
    assert_eq!(played.how, How::Ended);
    let mut story = story::ended("node07");
    let last = story.records.pop().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let (mut client, sender, _asked) = client(&story, true);
        let mut live = live(State::default(), "default", Glyphs::Braille);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let mut script = Script { inputs: [press('q'), Input::Gone].into(), titles: vec![], kept: vec![] };
        live.follow(&mut terminal, &mut script, &mut client).await;
        assert_eq!(live.screen.dialog, Dialog::Leave);
        let mut script = Script { inputs: [Input::Gone].into(), titles: vec![], kept: vec![] };
        sender.send(Heard::Record(Box::new(last))).await.unwrap();
        live.follow(&mut terminal, &mut script, &mut client).await;
        assert_eq!(live.screen.dialog, Dialog::None);
    });
}
