//! The house keeps its plan: who may use whom, which crates stand behind which door, how long a file may be, and that nothing
//! goes round in a circle. Textual and without dependencies; a second test shows that each rule reports a crooked tree.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms and what each may use beside itself.
const ROOMS: &[(&str, &[&str])] = &[
    ("vocab", &[]),
    ("clock", &["vocab"]),
    ("shelf", &["vocab"]),
    ("log", &["vocab"]),
    ("session", &["vocab"]),
    ("agent", &["vocab", "clock"]),
    ("analysis", &["vocab"]),
    ("runner", &["vocab", "clock", "session", "analysis"]),
    ("view", &["vocab", "shelf", "session", "analysis"]),
    ("cli", &["vocab", "shelf", "log"]),
    ("verb", &["vocab", "clock", "shelf", "log", "session", "agent", "analysis", "runner", "view", "cli"]),
    ("lib", &["vocab", "clock", "shelf", "log", "session", "agent", "analysis", "runner", "view", "cli", "verb"]),
    ("main", &[]),
];

/// Words that stand only below these paths.
const FENCES: &[(&str, &[&str])] = &[
    ("ratatui", &["view/tui/"]),
    ("crossterm", &["view/tui/"]),
    ("tokio", &["runner/", "session/client.rs", "session/replay.rs", "view/tui/", "verb/"]),
    ("io_uring", &["agent/kernel/"]),
    ("unsafe", &["agent/kernel/", "agent/roof/loops.rs"]),
];

/// Words that a pure room does not know.
const IMPURE: &[&str] =
    &["Instant", "SystemTime", "std::fs", "std::net", "std::thread", "std::process", "std::env", "clock::now"];
const PURE: &[&str] = &["vocab/", "analysis/", "log/"];

const LONGEST: usize = 400;

/// A file of the tree without comments, the contents of texts, and everything that is only for tests.
struct Source {
    /// Below `src`.
    path: String,
    /// `a::b` for `a/b.rs` and `a/b/mod.rs`.
    module: String,
    code: String,
    lines: usize,
}

impl Source {
    fn room(&self) -> &str {
        self.module.split("::").next().unwrap_or_default()
    }
}

/// Everything that is wrong with a tree, one line each.
fn faults(src: &Path) -> Vec<String> {
    let sources = sources(src);
    let mut faults = Vec::new();
    for source in &sources {
        rooms(source, &mut faults);
        fences(source, &mut faults);
        if source.lines > LONGEST {
            faults.push(format!("{}: {} lines, at most {LONGEST}", source.path, source.lines));
        }
        if source.code.contains("super::super") {
            faults.push(format!("{}: super::super", source.path));
        }
    }
    faults.extend(cycles(&sources));
    faults
}

fn rooms(source: &Source, faults: &mut Vec<String>) {
    let Some((_, allowed)) = ROOMS.iter().find(|(room, _)| *room == source.room()) else {
        return faults.push(format!("{}: there is no room `{}` in the plan", source.path, source.room()));
    };
    let used: BTreeSet<String> =
        paths(source).into_iter().filter_map(|path| path.split("::").next().map(str::to_owned)).collect();
    for room in used {
        if room != source.room() && ROOMS.iter().any(|(known, _)| *known == room) && !allowed.contains(&room.as_str()) {
            faults.push(format!("{}: `{}` must not use `{room}`", source.path, source.room()));
        }
    }
}

fn fences(source: &Source, faults: &mut Vec<String>) {
    for (word, places) in FENCES {
        if has_word(&source.code, word) && !places.iter().any(|place| source.path.starts_with(place)) {
            faults.push(format!("{}: `{word}` outside {}", source.path, places.join(", ")));
        }
    }
    if PURE.iter().any(|room| source.path.starts_with(room)) {
        for word in IMPURE.iter().filter(|word| has_word(&source.code, word)) {
            faults.push(format!("{}: `{word}` in a pure room", source.path));
        }
    }
}

fn has_word(code: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    code.match_indices(word)
        .any(|(at, _)| !is_part(code[..at].chars().next_back()) && !is_part(code[at + word.len()..].chars().next()))
}

/// Every path of this crate that a file names, from the crate's root: `vocab::event::Event`.
fn paths(source: &Source) -> Vec<String> {
    let mut paths = Vec::new();
    let parent = source.module.rsplit_once("::").map_or("", |(parent, _)| parent);
    for (prefix, base) in [("crate::", ""), ("super::", parent), ("self::", source.module.as_str())] {
        for (at, _) in source.code.match_indices(prefix) {
            let before = source.code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let base = if base.is_empty() { String::new() } else { format!("{base}::") };
            expand(&source.code[at + prefix.len()..], &base, &mut paths);
        }
    }
    paths
}

/// Expands `a::{b, c::d}` behind a base; returns what is left behind it.
fn expand<'a>(text: &'a str, base: &str, paths: &mut Vec<String>) -> &'a str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = expand(rest, base, paths).trim_start();
            match rest.strip_prefix(',') {
                Some(more) if !more.trim_start().starts_with('}') => rest = more,
                Some(more) => return more.trim_start().strip_prefix('}').unwrap_or(more),
                None => return rest.strip_prefix('}').unwrap_or(rest),
            }
        }
    }
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let path = format!("{base}{}", &text[..end]);
    match text[end..].strip_prefix("::") {
        Some(rest) if end > 0 => expand(rest, &format!("{path}::"), paths),
        _ => {
            paths.push(path);
            let rest = text[end..].trim_start();
            // `as` names what is imported, and changes nothing.
            let named = rest.strip_prefix("as ").map(str::trim_start);
            named.map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'))
        }
    }
}

/// Circles among files. A folder's `mod.rs` is the face of its files: what passes between the two is no circle.
fn cycles(sources: &[Source]) -> Vec<String> {
    let modules: BTreeSet<&str> = sources.iter().map(|s| s.module.as_str()).collect();
    let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources.iter().filter(|s| s.module != "lib") {
        let own = source.module.as_str();
        for path in paths(source) {
            let Some(used) = longest_module(&path, &modules) else { continue };
            let related = |a: &str, b: &str| a == b || a.strip_prefix(b).is_some_and(|rest| rest.starts_with("::"));
            if !related(own, used) && !related(used, own) {
                uses.entry(own).or_default().insert(used);
            }
        }
    }
    let mut found = BTreeSet::new();
    for start in uses.keys() {
        if let Some(circle) = way_back(start, &uses) {
            let least = circle.iter().min().copied().unwrap_or_default();
            if least == *start {
                found.insert(format!("circle: {} -> {start}", circle.join(" -> ")));
            }
        }
    }
    found.into_iter().collect()
}

fn longest_module<'a>(path: &str, modules: &BTreeSet<&'a str>) -> Option<&'a str> {
    let mut end = path.len();
    loop {
        if let Some(module) = modules.get(&path[..end]) {
            return Some(module);
        }
        end = path[..end].rfind("::")?;
    }
}

/// The shortest way from a module through what it uses back to itself.
fn way_back<'a>(start: &'a str, uses: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Option<Vec<&'a str>> {
    let mut seen = BTreeSet::new();
    let mut ways = std::collections::VecDeque::from([vec![start]]);
    while let Some(way) = ways.pop_front() {
        for next in uses.get(way.last()?).into_iter().flatten() {
            if *next == start {
                return Some(way);
            }
            if seen.insert(*next) {
                ways.push_back(way.iter().copied().chain([*next]).collect());
            }
        }
    }
    None
}

/// The files of a tree that are not only for tests.
fn sources(src: &Path) -> Vec<Source> {
    let mut files = Vec::new();
    walk(src, &mut files);
    files.sort();
    let mut for_tests = Vec::new();
    let mut sources = Vec::new();
    for file in files {
        let path = file.strip_prefix(src).unwrap().to_str().unwrap().to_owned();
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.find("#[cfg(test)]\nmod tests {").map_or(text.as_str(), |end| &text[..end]).lines().count();
        let (code, modules) = without_tests(&plain(&text));
        let parent = if module == "lib" { String::new() } else { format!("{module}::") };
        for_tests.extend(modules.into_iter().map(|name| format!("{parent}{name}")));
        sources.push(Source { path, module, code, lines });
    }
    let is_for_tests = |s: &Source| for_tests.iter().any(|t| s.module == *t || s.module.starts_with(&format!("{t}::")));
    sources.retain(|source| !is_for_tests(source));
    sources
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// Code without comments and without the contents of texts and characters.
fn plain(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let raw = rest.strip_prefix('r').map(|r| r.len() - r.trim_start_matches('#').len());
        let raw = raw
            .filter(|n| rest[1 + n..].starts_with('"') && !code.ends_with(|c: char| c.is_alphanumeric() || c == '_'));
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(hashes) = raw {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = 2 + hashes;
            rest[begin..].find(&end).map_or(rest.len(), |at| begin + at + end.len())
        } else if first == '"' {
            quoted(rest)
        } else if first == '\'' {
            character(rest)
        } else {
            code.push(first);
            first.len_utf8()
        };
        rest = &rest[skipped..];
    }
    code
}

/// The length of a text in quotes.
fn quoted(rest: &str) -> usize {
    let mut escaped = true;
    let end = rest.char_indices().find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

/// The length of a character in quotes; one for the quote of a lifetime.
fn character(rest: &str) -> usize {
    if rest.starts_with("'\\") {
        return rest[3..].find('\'').map_or(rest.len(), |at| at + 4);
    }
    let mut chars = rest.char_indices().skip(2);
    chars.next().filter(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 1)
}

/// Code without the items that are only for tests, and the names of the modules among these that lie in files of their own.
fn without_tests(code: &str) -> (String, Vec<String>) {
    let (mut kept, mut modules) = (String::new(), Vec::new());
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        let item = &rest[at + "#[cfg(test)]".len()..];
        let end = item.find(['{', ';']).unwrap_or(item.len());
        let length = if item[end..].starts_with('{') { end + block(&item[end..]) } else { (end + 1).min(item.len()) };
        if let (Some((_, name)), false) = (item[..end].split_once("mod "), item[end..].starts_with('{')) {
            modules.push(name.trim().to_owned());
        }
        rest = &item[length..];
    }
    kept.push_str(rest);
    (kept, modules)
}

/// The length of a block in braces.
fn block(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[test]
fn the_house_keeps_its_plan() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert!(sources(&src).len() > 50, "the tree was read");
    let faults = faults(&src);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// A tree of these files, read and taken away again.
fn faults_of(name: &str, files: &[(&str, &str)]) -> Vec<String> {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&root);
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let faults = faults(&root);
    fs::remove_dir_all(&root).unwrap();
    faults
}

#[test]
fn a_crooked_tree_is_reported_rule_by_rule() {
    let long = "//! Long.\n".repeat(LONGEST + 1);
    let cases: &[(&str, &str, &str)] = &[
        ("vocab/a.rs", "use crate::analysis::state::State;", "vocab/a.rs: `vocab` must not use `analysis`"),
        ("vocab/a.rs", "use crate::clock;", "vocab/a.rs: `vocab` must not use `clock`"),
        ("vocab/a.rs", "fn now() { clock::now(); }", "vocab/a.rs: `clock::now` in a pure room"),
        (
            "agent/a.rs",
            "use crate::{vocab::event::Event, session::reader};",
            "agent/a.rs: `agent` must not use `session`",
        ),
        (
            "analysis/detect/a.rs",
            "use crate::view::words as w;",
            "analysis/detect/a.rs: `analysis` must not use `view`",
        ),
        ("runner/a.rs", "fn f(k: &crate::agent::kernel::Stop) {}", "runner/a.rs: `runner` must not use `agent`"),
        (
            "session/a.rs",
            "use crate::analysis::{\n    state,\n    series,\n};",
            "session/a.rs: `session` must not use `analysis`",
        ),
        ("view/a.rs", "use crate::runner::keep;", "view/a.rs: `view` must not use `runner`"),
        ("cli/a.rs", "use crate::verb::Ended;", "cli/a.rs: `cli` must not use `verb`"),
        ("attic/mod.rs", "", "attic/mod.rs: there is no room `attic` in the plan"),
        ("view/a.rs", "use ratatui::Frame;", "view/a.rs: `ratatui` outside view/tui/"),
        ("verb/a.rs", "use crossterm::event;", "verb/a.rs: `crossterm` outside view/tui/"),
        (
            "session/reader.rs",
            "use tokio::fs;",
            "session/reader.rs: `tokio` outside runner/, session/client.rs, session/replay.rs, view/tui/, verb/",
        ),
        ("agent/a.rs", "use io_uring::IoUring;", "agent/a.rs: `io_uring` outside agent/kernel/"),
        ("agent/a.rs", "fn f() { unsafe { g() } }", "agent/a.rs: `unsafe` outside agent/kernel/, agent/roof/loops.rs"),
        ("analysis/a.rs", "use std::time::Instant;", "analysis/a.rs: `Instant` in a pure room"),
        ("analysis/a.rs", "fn f() { std::time::SystemTime::now(); }", "analysis/a.rs: `SystemTime` in a pure room"),
        ("vocab/a.rs", "use std::fs::File;", "vocab/a.rs: `std::fs` in a pure room"),
        ("vocab/a.rs", "use std::net::TcpStream;", "vocab/a.rs: `std::net` in a pure room"),
        ("vocab/a.rs", &long, "vocab/a.rs: 401 lines, at most 400"),
        ("vocab/a/b.rs", "use super::super::c;", "vocab/a/b.rs: super::super"),
    ];
    for (number, (path, text, expected)) in cases.iter().enumerate() {
        assert_eq!(faults_of(&format!("crooked{number}"), &[(path, text)]), [*expected], "{text}");
    }
}

#[test]
fn a_circle_of_files_is_reported_and_a_folder_with_its_face_is_none() {
    let circle = [
        ("agent/a.rs", "use super::b::B;"),
        ("agent/b.rs", "use crate::agent::{c::{self, C}};"),
        ("agent/c.rs", "fn f() { super::a::f(); }"),
    ];
    assert_eq!(faults_of("circle", &circle), ["circle: agent::a -> agent::b -> agent::c -> agent::a"]);
    let face = [
        ("agent/mod.rs", "pub mod a;\nuse self::a::A;"),
        ("agent/a.rs", "use super::Kernel;\nuse crate::agent::b;"),
        ("agent/b.rs", ""),
    ];
    assert_eq!(faults_of("face", &face), [""; 0]);
}

#[test]
fn a_straight_tree_is_not_reported() {
    let files = [
        ("lib.rs", "pub mod vocab;\n#[cfg(test)]\nmod scenario;"),
        ("main.rs", "fn main() {}"),
        ("scenario.rs", "use std::fs;\nuse ratatui::Frame;"),
        (
            "vocab/mod.rs",
            "//! See crate::view and tokio.\nconst A: &str = \"crate::view \\\" unsafe\";\nconst B: char = '\"';",
        ),
        (
            "vocab/a.rs",
            "const R: &str = r#\"std::fs \" \"#;\nfn f<'a>(x: &'a str) {}\n#[cfg(test)]\nmod tests {\n    use std::fs;\n    use super::super::b;\n}\n",
        ),
        ("analysis/a.rs", "use crate::vocab::{a, moment::Moment};\nfn instant() -> Instantly {}"),
        ("view/tui/a.rs", "use ratatui::Frame;\nuse crate::analysis::a as b;"),
        ("agent/kernel/a.rs", "use io_uring::IoUring;\nfn f() { unsafe {} }"),
    ];
    assert_eq!(faults_of("straight", &files), [""; 0]);
}
