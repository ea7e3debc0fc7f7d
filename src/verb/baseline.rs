//! `shakedown baseline`: several sessions of good nodes made into one file.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Ended, print, reference, warn};
use crate::analysis::reference::merge;
use crate::cli::baseline as file;
use crate::vocab::reference::Profile;
use crate::vocab::text::neutral;

pub(super) fn baseline(sessions: &[PathBuf], out: &Path, force: bool) -> Ended {
    may_be_written(out, force)?;
    let mut profiles: Vec<Profile> = Vec::new();
    for path in sessions {
        let shown = path.display();
        for known in reference::read(path)? {
            if profiles.contains(&known.profile) {
                return Err(format!("{shown} is a session that was given before; it would count twice"));
            }
            if let Some(doubt) = known.doubt {
                warn(&format!("{shown}: {doubt}; a baseline is meant to be of good nodes"));
            }
            profiles.push(known.profile);
        }
    }
    let merged = merge(&profiles).map_err(|why| neutral(&why))?;
    write(out, &file::print(&merged)?)?;
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let (sessions, figures) = (counted(merged.sessions as usize, "session"), counted(merged.figures.len(), "figure"));
    print(&format!("{}: a baseline of {sessions}, {figures}\n", out.display()))?;
    Ok(0)
}

/// Nothing is written over that was not asked for, and never what is no plain file.
fn may_be_written(out: &Path, force: bool) -> Result<(), String> {
    match fs::symlink_metadata(out) {
        Ok(known) if !known.is_file() => Err(format!("{}: there is something that is no file", out.display())),
        Ok(_) if !force => Err(format!("{} exists; --force writes over it", out.display())),
        _ => Ok(()),
    }
}

/// The whole file or none: written beside its place, and then put there.
fn write(out: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{} cannot be written: {error}", out.display());
    let name = out.file_name().ok_or_else(|| format!("{}: expected the path of a file", out.display()))?;
    let beside = out.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let written = File::create_new(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, out)
    });
    written.map_err(|error| {
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}
