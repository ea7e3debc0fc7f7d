//! The screen: put together with the session it shows, and what is left on the ordinary terminal when it is gone.

use jiff::tz::TimeZone;

use super::prepare::{Prepared, prepare, refuse, start};
use super::{Ended, runtime, tell, warn};
use crate::analysis::preflight::Weight;
use crate::analysis::state::State;
use crate::cli::presets;
use crate::cli::typed::{RunOptions, Show};
use crate::session::client::Client;
use crate::view::headless::verdict_block;
use crate::view::theme::{self, Glyphs, Theme};
use crate::view::tui::{self, How, Keys, Left, Offer, Options};
use crate::view::words;

/// The list of presets, and the one that is chosen from it.
pub(super) fn choose(options: &RunOptions) -> Ended {
    runtime()?.block_on(async {
        let directory = presets::directory();
        let (mut offers, mut all) = (Vec::new(), Vec::new());
        let shelf = presets::shelf(directory.as_deref());
        for name in shelf.names() {
            let prepared = match shelf.find(&name) {
                Ok(book) => prepare(&book, options).await,
                Err(why) => Err(why.to_string()),
            };
            offers.push(offer(&name, &prepared));
            all.push(prepared);
        }
        let look = look(&options.show, None)?;
        match tui::pick(&offers, &look).await.map_err(|e| e.to_string())? {
            Some(chosen) if chosen < all.len() => {
                let prepared = all.swap_remove(chosen)?;
                refuse(&prepared.preflight)?;
                show(prepared, options).await
            }
            _ => Ok(0),
        }
    })
}

fn offer(name: &str, prepared: &Result<Prepared, String>) -> Offer {
    match prepared {
        Ok(prepared) => Offer {
            name: name.to_owned(),
            title: prepared.plan.title.clone(),
            about: prepared.plan.about.clone(),
            lines: words::preflight(&prepared.preflight).lines().map(str::to_owned).collect(),
            refused: prepared.preflight.refuses(),
        },
        Err(why) => {
            let title = "cannot be used".to_owned();
            Offer { name: name.to_owned(), title, about: String::new(), lines: vec![why.clone()], refused: true }
        }
    }
}

/// Runs what is prepared on the screen; asks first where the preflight has something to ask.
pub(super) fn run(prepared: Prepared, options: &RunOptions) -> Ended {
    runtime()?.block_on(async {
        let asks: Vec<String> = prepared.preflight.at_least(Weight::Ask).map(|r| r.text.clone()).collect();
        if !asks.is_empty() {
            let look = look(&options.show, None)?;
            if !tui::confirm("Before anything is started", &asks, &look).await.map_err(|e| e.to_string())? {
                return Err("not started".to_owned());
            }
        }
        show(prepared, options).await
    })
}

async fn show(prepared: Prepared, options: &RunOptions) -> Ended {
    let assignment = prepared.assign(options.session.as_ref())?;
    let host = assignment.nodes.first().map(|n| n.name.to_string()).unwrap_or_default();
    let look = look(&options.show, Some(format!("shakedown {host} {}", assignment.plan.name)))?;
    let client = start(&assignment).await?;
    let Left { state, how } = tui::run(client, look).await.map_err(|e| e.to_string())?;
    match how {
        How::Stopped if state.verdict.is_none() => {
            tell(&format!(
                "stopped at once; the verdict is in the record: shakedown judge {}\n",
                assignment.file.display()
            ));
            Ok(2)
        }
        How::Ended | How::Stopped => {
            tell(&remains(&state));
            if assignment.file.exists() {
                tell(&format!("session file: {}\n", assignment.file.display()));
            } else {
                warn(&format!(
                    "the session file {} is not there any more: it was deleted or moved",
                    assignment.file.display()
                ));
            }
            if let Some(why) = state.never_began() {
                return Err(why);
            }
            Ok(state.verdict.map_or(2, |verdict| verdict.exit_code()))
        }
        How::Left => {
            tell(&format!("the session goes on; attach again with: shakedown watch {}\n", assignment.session));
            Ok(0)
        }
        How::HungUp => Ok(0),
    }
}

/// Shows a session that somebody else keeps, or that is over.
pub(super) async fn watch(client: Client, options: &Show) -> Ended {
    let look = look(options, None)?;
    let Left { state, how } = tui::run(client, look).await.map_err(|e| e.to_string())?;
    if matches!(how, How::Ended | How::Stopped) {
        tell(&remains(&state));
    }
    Ok(0)
}

/// What stays on the ordinary screen: the findings and the verdict.
fn remains(state: &State) -> String {
    let end = match &state.verdict {
        Some(verdict) => verdict_block(verdict, state.nodes.len() > 1),
        None => "The record ends here, without a verdict: the session was not finished.\n".to_owned(),
    };
    words::findings(state) + &end
}

/// The key map, with the user's own file `keys.ron` where there is one.
pub(super) fn keys() -> Result<Keys, String> {
    let Some(path) = presets::config_directory().map(|d| d.join("keys.ron")).filter(|path| path.exists()) else {
        return Ok(Keys::default());
    };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
    Keys::read(&name, &text)
}

fn look(show: &Show, title: Option<String>) -> Result<Options, String> {
    let env = |name: &str| std::env::var(name).ok();
    let (depth, fitting) = theme::choose(env);
    let name = show.theme.as_deref().unwrap_or("default");
    let directory = presets::config_directory().map(|d| d.join("themes"));
    let theme = Theme::load(name, directory.as_deref()).map_err(|e| e.to_string())?;
    let glyphs = match show.glyphs.as_deref() {
        Some("braille") => Glyphs::Braille,
        Some("block") => Glyphs::Block,
        Some(_) => Glyphs::Ascii,
        None if show.ascii || show.slow => Glyphs::Ascii,
        None => fitting,
    };
    let zone = TimeZone::try_system().unwrap_or_else(|_| {
        warn("the time zone of this machine is not known; times are UTC");
        TimeZone::UTC
    });
    let (themes, keys, slow) = (theme::all(directory.as_deref()), keys()?, show.slow);
    let mouse = !(show.no_mouse || slow) && theme::has_mouse(env);
    Ok(Options { theme, themes, keys, mouse, slow, depth, glyphs, zone, title, panic_at: show.panic_at })
}
