//! Programs of others, and small ones in C that are compiled here.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The first line of what a program says of its version; none, and a word of it, when it is not installed.
pub fn version(section: &str, program: &str) -> Option<String> {
    let said = Command::new(program).arg("--version").stderr(Stdio::null()).output();
    let Ok(said) = said else {
        println!("SKIPPED: {section}: {program} is not installed");
        return None;
    };
    String::from_utf8_lossy(&said.stdout).lines().next().map(str::to_owned)
}

/// Compiles one file of C; none, and the reason, when that fails.
pub fn compile(section: &str, directory: &Path, name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    let (file, program) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&file, source).unwrap();
    let usual = ["-O3", "-march=native", "-fopenmp", "-o"];
    let done = Command::new("gcc").args(usual).arg(&program).args(flags).arg(&file).output();
    match done {
        Ok(done) if done.status.success() => Some(program),
        Ok(done) => {
            println!("SKIPPED: {section}: gcc: {}", String::from_utf8_lossy(&done.stderr).trim());
            None
        }
        Err(error) => {
            println!("SKIPPED: {section}: gcc: {error}");
            None
        }
    }
}

/// What a program prints.
pub fn says(program: &Path, words: &[String], threads: usize) -> Option<String> {
    let threads = threads.to_string();
    let done = Command::new(program).args(words).env("OMP_NUM_THREADS", threads).env("OMP_PROC_BIND", "true").output();
    done.ok().filter(|done| done.status.success()).map(|done| String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The numbers in it.
pub fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}
