//! A terminal for tests: the program on a pseudo-terminal, a person's keys in, a screen out.
//!
//! [`House`] is one test's own world: its directories, its presets, its sessions and its processes, which all end with it.
//! [`Terminal`] is a window in it. Tests wait for a text or a state, with a deadline, never for time.

mod house;
mod terminal;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use house::{House, signal};
pub use terminal::{Ended, Terminal, Window};

/// Longer than anything here takes on a busy machine; whoever waits so long waits in vain.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Held while a process is started: what another thread has just opened must not be inherited.
static STARTING: Mutex<()> = Mutex::new(());

fn starting() -> MutexGuard<'static, ()> {
    STARTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether something became so before the deadline.
fn becomes(mut so: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if so() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Waits until something is so.
pub fn wait_until(what: &str, so: impl FnMut() -> bool) {
    assert!(becomes(so), "waited in vain until {what}");
}

/// Waits until every line that begins with a frame's side or corner ends with one, in the last column: the last bytes of a frame may be
/// on their way.
pub fn frame_is_whole(terminal: &Terminal) {
    let side = |text: &str| ["│", "╭", "╮", "╰", "╯"].contains(&text);
    terminal.wait("the frame to be whole", |screen| {
        let (rows, columns) = (screen.size().0.get(), screen.size().1.get());
        let at = |row: u16, column: u16| screen.cell(row, column).is_some_and(|c| side(c.contents()));
        let framed: Vec<u16> = (0..rows).filter(|row| at(*row, 0)).collect();
        framed.len() > 5 && framed.iter().all(|row| at(*row, columns - 1))
    });
}
