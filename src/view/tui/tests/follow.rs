//! The loop itself, with keys and records from a script and a screen in memory.

use std::collections::VecDeque;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::super::How;
use super::super::terminal::{Input, World};
use super::*;
use crate::session::client::{Client, Heard};
use crate::vocab::order::Command;

/// Gives one input after the other, each when everything before it has been done; then none any more.
struct Script {
    inputs: VecDeque<Input>,
    titles: Vec<String>,
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
        let mut script = Script { inputs: inputs.iter().copied().collect(), titles: vec![] };
        let how = live.follow(&mut terminal, &mut script, &mut client).await;
        drop(sender);
        let commands = std::iter::from_fn(|| asked.try_recv().ok()).collect();
        Played { how, commands, shown: text(terminal.backend().buffer()), titles: script.titles }
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
        let mut script = Script { inputs: [press('j'), press('j'), Input::Gone].into(), titles: vec![] };
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
