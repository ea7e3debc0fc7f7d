//! Errors in the middle of the work: of the medium, of its space, and of a target that is gone.

use fuser::Errno;
use shakedown::vocab::event::Outcome;
use shakedown::vocab::moment::Span;

use crate::common::play::{Account, Scene};
use crate::common::slow::{Medium, Slow};
use crate::{Played, played};

const FAST: f64 = 120e6;
/// Bytes after which it fails.
const AFTER: u64 = 100_000_000;

/// A load whose medium turns into `medium` when measuring begins.
fn turned(pattern: &str, medium: Medium) -> Played {
    let slow = Slow::new(FAST, None)?;
    let load = format!("pattern: {pattern}, block: \"256KiB\", depth: 2, size: \"64MiB\", time: \"6 s\"");
    let mut play = Scene::disk(&slow.path, &load).play();
    play.measured(Span::ZERO);
    slow.hand.set(medium);
    Ok(play.end())
}

fn failing(errno: Errno) -> Medium {
    Medium { error: Some((errno, AFTER)), ..Medium::healthy(FAST) }
}

fn write_error() -> Played {
    turned("Write", failing(Errno::EIO))
}

fn read_error() -> Played {
    turned("Read", failing(Errno::EIO))
}

fn no_space() -> Played {
    turned("Write", failing(Errno::ENOSPC))
}

fn vanished() -> Played {
    let slow = Slow::new(FAST, None)?;
    let load = "pattern: Write, block: \"256KiB\", depth: 2, size: \"64MiB\", time: \"6 s\"";
    let mut play = Scene::disk(&slow.path, load).play();
    play.measured(Span::seconds(1));
    slow.vanish();
    Ok(play.end())
}

/// The reason is one line that names the error, the offset and the work before.
fn reason(account: &Account) -> String {
    let outcome = account.outcome().expect("an outcome");
    let (Outcome::Corrupt(why) | Outcome::Unavailable(why) | Outcome::Broken(why)) = outcome else {
        panic!("no reason: {}", account.line())
    };
    assert!(!why.contains('\n') && account.out.contains("VERDICT"), "{why}: {}", account.out);
    why
}

fn fails_with(account: &Account, error: &str) {
    let why = reason(account);
    assert!(matches!(account.outcome(), Some(Outcome::Corrupt(_))), "{}", account.line());
    assert_eq!(account.code, Some(1), "{}", account.line());
    assert!(why.contains(error) && why.contains("at offset") && why.contains("bytes"), "{why}");
}

#[test]
fn an_error_of_a_write_fails_the_node() {
    let Some(account) = played("EIO of a write", write_error) else { return };
    fails_with(&account, "EIO");
}

#[test]
fn an_error_of_a_read_fails_the_node() {
    let Some(account) = played("EIO of a read", read_error) else { return };
    fails_with(&account, "EIO");
}

#[test]
fn a_medium_without_space_proves_nothing() {
    let Some(account) = played("ENOSPC of a write", no_space) else { return };
    assert!(matches!(account.outcome(), Some(Outcome::Unavailable(_))), "{}", account.line());
    assert_eq!(account.code, Some(2), "{}", account.line());
    assert!(reason(&account).contains("no space left"), "{}", account.line());
}

#[test]
fn a_target_that_vanishes_fails_the_node() {
    let Some(account) = played("vanished target", vanished) else { return };
    let why = reason(&account);
    assert!(["ENOTCONN", "ECONNABORTED", "103"].iter().any(|name| why.contains(name)), "{why}");
}
