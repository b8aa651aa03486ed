//! Writes the JSON Schema of every document into a directory, or checks that it is up to date.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = arguments.iter().any(|argument| argument == "--check");
    let Some(folder) = arguments.iter().find(|argument| !argument.starts_with("--")) else {
        return fail("usage: write-schema DIRECTORY [--check]");
    };
    match run(Path::new(folder), check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

fn run(folder: &Path, check: bool) -> Result<(), String> {
    let schemas = offshoot_protocol::schemas();
    for stray in strays(folder, &schemas)? {
        if check {
            return Err(format!("{} belongs to no document", stray.display()));
        }
        std::fs::remove_file(&stray).map_err(|error| format!("{}: {error}", stray.display()))?;
    }
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    for schema in schemas {
        let path = folder.join(&schema.name);
        let current = std::fs::read_to_string(&path).unwrap_or_default();
        if current == schema.text {
            continue;
        }
        if check {
            return Err(format!("{} is out of date: run `cargo xtask schema`", path.display()));
        }
        std::fs::write(&path, schema.text).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn strays(
    folder: &Path,
    schemas: &[offshoot_protocol::SchemaFile],
) -> Result<Vec<PathBuf>, String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut strays = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| error.to_string())?;
        let name = entry.file_name();
        if !schemas.iter().any(|schema| name == schema.name.as_str()) {
            strays.push(entry.path());
        }
    }
    Ok(strays)
}

#[expect(clippy::print_stderr, reason = "a tool for the command line")]
fn fail(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}
