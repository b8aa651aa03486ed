//! Runs a program of the oracle in the current directory, or lists that directory.
//!
//!     oracle-program run TEXT [MAPPER]
//!     oracle-program list

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use offshoot_tests::oracle::{interpret, listing, step};
use offshoot_tests::scan::scan;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut out = io::stdout().lock();
    let outcome = match words.as_slice() {
        ["run", text] => run(text, None, &mut out),
        ["run", text, mapper] => run(text, Some(PathBuf::from(mapper)), &mut out),
        ["list"] => {
            scan(Path::new(".")).and_then(|scan| out.write_all(listing::to_text(&scan).as_bytes()))
        }
        _ => Err(io::Error::other("usage: oracle-program run TEXT [MAPPER] | list")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(io::stderr(), "oracle-program: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(text: &str, mapper: Option<PathBuf>, out: &mut dyn Write) -> io::Result<()> {
    let steps = step::parse(text).ok_or_else(|| io::Error::other("that is no program"))?;
    interpret::run(&steps, mapper, out)
}
