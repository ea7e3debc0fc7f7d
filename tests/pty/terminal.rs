//! A pseudo-terminal, what is written to it, and what a person would see of that.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;
use rustix::termios::{LocalModes, Termios, tcgetattr};
use vt100::{Parser, Screen};

use super::{House, becomes, starting, wait_until};

/// Written by the test itself behind the last byte of the program; a terminal shows nothing of it.
const END: &[u8] = b"\x1b]9999;end\x07";
/// Rows above the screen that can still be read.
const SCROLLBACK: usize = 200;

/// A terminal as a test wants it.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    /// Columns and rows; 0 by 0 does not know its size.
    pub size: (u16, u16),
    /// Variables that are set, or with an empty value are not.
    pub env: &'a [(&'a str, &'a str)],
    /// A shell line that starts the program, which it gets as `"$0" "$@"`; empty starts it directly.
    pub shell: &'a str,
}

impl Default for Window<'_> {
    fn default() -> Self {
        Self { size: (80, 24), env: &[], shell: "" }
    }
}

struct Seen {
    parser: Parser,
    bytes: Vec<u8>,
}

/// A window with the program in it.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keyboard: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
    seen: Arc<Mutex<Seen>>,
    reader: Option<JoinHandle<()>>,
    enough: Arc<AtomicBool>,
    /// The program's end of the line, held open so that the last words are never lost.
    line: File,
    before: Termios,
}

/// What is left when the program has ended.
pub struct Ended {
    /// The exit code.
    pub code: u32,
    /// Everything it wrote.
    pub bytes: Vec<u8>,
    /// The screen at the end.
    pub contents: String,
}

impl Terminal {
    pub(super) fn open(house: &House, window: &Window<'_>, arguments: &[&str]) -> Self {
        let program = env!("CARGO_BIN_EXE_shakedown");
        let mut command = if window.shell.is_empty() {
            CommandBuilder::new(program)
        } else {
            let mut shell = CommandBuilder::new("/bin/sh");
            shell.args(["-c", window.shell, program]);
            shell
        };
        command.args(arguments);
        command.env_clear();
        command.cwd(house.path("home"));
        house.environment().iter().for_each(|(name, value)| command.env(name, value));
        for (name, value) in window.env {
            if value.is_empty() { command.env_remove(name) } else { command.env(name, value) }
        }
        let _alone = starting();
        let pair = native_pty_system().openpty(pty_size(window.size)).unwrap();
        let name = pair.master.tty_name().unwrap();
        let line =
            File::from(rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap());
        let before = tcgetattr(&line).unwrap();
        let (rows, columns) = cells(window.size);
        let parser = Parser::new(rows, columns, SCROLLBACK);
        let seen = Arc::new(Mutex::new(Seen { parser, bytes: Vec::new() }));
        let enough = Arc::new(AtomicBool::new(false));
        let output = pair.master.try_clone_reader().unwrap();
        let (to, until) = (Arc::clone(&seen), Arc::clone(&enough));
        let reader = Some(std::thread::spawn(move || read(output, &to, &until)));
        let child = pair.slave.spawn_command(command).unwrap();
        Self { master: pair.master, keyboard: None, child, seen, reader, enough, line, before }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("the terminal itself has failed")
    }

    /// Looks at the screen.
    pub fn look<T>(&self, at: impl FnOnce(&Screen) -> T) -> T {
        at(self.seen().parser.screen())
    }

    /// The text on the screen.
    pub fn contents(&self) -> String {
        self.look(Screen::contents)
    }

    pub fn shows(&self, text: &str) -> bool {
        self.contents().contains(text)
    }

    /// Everything that was written so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.seen().bytes.clone()
    }

    /// The first process in the window: the program, or the shell before it.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.process_id().unwrap() as i32).unwrap()
    }

    /// Waits until the screen is so.
    pub fn wait(&self, what: &str, mut so: impl FnMut(&Screen) -> bool) {
        assert!(becomes(|| self.look(&mut so)), "waited in vain for {what} on this screen:\n{}", self.contents());
    }

    pub fn wait_for(&self, text: &str) {
        self.wait(&format!("`{text}`"), |screen| screen.contents().contains(text));
    }

    pub fn wait_until_gone(&self, text: &str) {
        self.wait(&format!("the end of `{text}`"), |screen| !screen.contents().contains(text));
    }

    /// Presses keys.
    pub fn send(&mut self, keys: &str) {
        let keyboard = self.keyboard.get_or_insert_with(|| self.master.take_writer().unwrap());
        keyboard.write_all(keys.as_bytes()).and_then(|()| keyboard.flush()).unwrap();
    }

    /// Gives the window another size, in columns and rows.
    pub fn resize(&self, size: (u16, u16)) {
        let (rows, columns) = cells(size);
        self.seen().parser.set_size(rows, columns);
        self.master.resize(pty_size(size)).unwrap();
    }

    /// Waits for the end of the program, and for its last byte.
    pub fn end(&mut self) -> Ended {
        let mut status = None;
        let ended = becomes(|| {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        assert!(ended, "the program does not end; its screen:\n{}", self.contents());
        self.line.write_all(END).unwrap();
        let length = || self.bytes().windows(END.len()).position(|w| w == END);
        wait_until("the last byte is read", || length().is_some());
        let mut bytes = self.bytes();
        bytes.truncate(length().unwrap());
        Ended { code: status.unwrap().exit_code(), bytes, contents: self.contents() }
    }

    /// Waits for the end with this exit code; the terminal is as it was before.
    pub fn ends_given_back(&mut self, code: u32) -> Ended {
        let ended = self.end();
        assert_eq!(ended.code, code, "exit code; the screen:\n{}", ended.contents);
        self.is_given_back();
        ended
    }

    /// Cooked, on its main screen, with its cursor.
    pub fn is_given_back(&self) {
        let after = tcgetattr(&self.line).unwrap();
        assert!(after.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG), "not cooked");
        let modes = |t: &Termios| (t.input_modes, t.output_modes, t.control_modes, t.local_modes);
        assert_eq!(modes(&after), modes(&self.before), "the terminal's modes are not those from before");
        self.look(|screen| {
            assert!(!screen.alternate_screen(), "still on the alternate screen");
            assert!(!screen.hide_cursor(), "the cursor is still hidden");
            assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None, "the mouse is still ours");
            assert!(!screen.bold() && !screen.inverse(), "text is still bold or reversed");
            assert_eq!((screen.fgcolor(), screen.bgcolor()), (vt100::Color::Default, vt100::Color::Default));
        });
    }

    /// Whether the first process in the window has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Closes the window, as a connection that breaks does; the program is left behind.
    pub fn close(mut self) -> Box<dyn Child + Send + Sync> {
        assert!(self.keyboard.is_none(), "a keyboard that goes away presses keys; use a window without");
        self.enough.store(true, Ordering::SeqCst);
        // The reader waits in a read; this ends it.
        self.line.write_all(b" ").unwrap();
        self.reader.take().map(JoinHandle::join).unwrap().unwrap();
        self.child
    }
}

fn read(mut output: Box<dyn Read + Send>, seen: &Mutex<Seen>, enough: &AtomicBool) {
    let mut buffer = [0; 1 << 14];
    while let Ok(n @ 1..) = output.read(&mut buffer) {
        let Ok(mut seen) = seen.lock() else { return };
        seen.bytes.extend_from_slice(&buffer[..n]);
        seen.parser.process(&buffer[..n]);
        if enough.load(Ordering::SeqCst) {
            return;
        }
    }
}

fn pty_size((cols, rows): (u16, u16)) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

/// Rows and columns for the parser; a terminal that does not know its size has the usual one.
fn cells((columns, rows): (u16, u16)) -> (NonZeroU16, NonZeroU16) {
    let cell = |n: u16, usual: NonZeroU16| NonZeroU16::new(n).unwrap_or(usual);
    (cell(rows, Parser::DEFAULT_ROWS), cell(columns, Parser::DEFAULT_COLS))
}
