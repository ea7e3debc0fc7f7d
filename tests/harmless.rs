//! What the program may write to at all. A stress test that took CPU 0 off line has rebooted servers; this one changes no setting
//! of the node, and there are few places in its source that open anything for writing.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

/// The files that may open something for writing, and what.
const WRITERS: [(&str, &str); 6] = [
    ("src/agent/worker.rs", "its own oom_score_adj"),
    ("src/agent/hold.rs", "the lock of the node"),
    ("src/agent/kernel/disk/file.rs", "a test file without a name"),
    ("src/session/journal.rs", "the session file"),
    ("src/view/tui/picture.rs", "the picture of the screen that was asked for"),
    ("src/verb/baseline.rs", "the baseline that was asked for"),
];

const SIGNS: [&str; 7] =
    ["fs::write(", "OpenOptions", "File::create", "OFlags::WRONLY", "OFlags::RDWR", "create_dir", "remove_file("];

/// Directories of its own, and sockets that nobody answers.
const DIRECTORIES: [&str; 3] = ["src/session/places.rs", "src/verb/prepare.rs", "src/runner/serve.rs"];

fn sources(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            into.push(path);
        }
    }
}

#[test]
fn only_these_files_open_anything_for_writing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    assert!(files.len() > 100, "the source was found");
    let mut found = Vec::new();
    for path in files.iter().filter(|p| !p.components().any(|c| c.as_os_str() == "tests")) {
        let text = std::fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        if SIGNS.iter().any(|sign| code.contains(sign)) {
            found.push(path.strip_prefix(root).unwrap().display().to_string());
        }
    }
    let allowed = |file: &String| WRITERS.iter().any(|(f, _)| f == file) || DIRECTORIES.contains(&file.as_str());
    let others: Vec<&String> = found.iter().filter(|file| !allowed(file)).collect();
    assert!(others.is_empty(), "these write as well: {others:?}");
    assert!(found.iter().any(|f| f.ends_with("journal.rs")), "the signs are still those of writing");
}
