//! The program: parse, perform, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    shakedown::main(std::env::args_os())
}
