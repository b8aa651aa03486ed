//! The `offshoot` command line: it reads settings and arguments, and calls the libraries.

use std::io::{self, Write};
use std::process::ExitCode;

#[cfg_attr(
    not(test),
    expect(
        dead_code,
        unused_imports,
        reason = "the commands that use the settings are not here yet"
    )
)]
mod config;

fn main() -> ExitCode {
    let flags = std::env::args().skip(1).collect();
    let (text, code) = match config::load(&config::Sources::from_process(flags)) {
        Ok(loaded) => (config::render_human(&loaded, true), ExitCode::SUCCESS),
        Err(error) => (format!("{error}\n"), ExitCode::FAILURE),
    };
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => code,
        Err(_) => ExitCode::FAILURE,
    }
}
