//! Writes what is made from the types of the protocol, or checks that it is up to date: the JSON Schema of every document, and the page about errors.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use offshoot_protocol::{ExitCode as Code, Word as _};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = arguments.iter().any(|argument| argument == "--check");
    let mut paths = arguments.iter().filter(|argument| !argument.starts_with("--")).map(Path::new);
    let (Some(folder), Some(page)) = (paths.next(), paths.next()) else {
        return fail("usage: write-schema DIRECTORY PAGE [--check]");
    };
    match run(folder, check).and_then(|()| write(page, &errors_page(), check)) {
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
        write(&folder.join(&schema.name), &schema.text, check)?;
    }
    Ok(())
}

/// Writes a file that is out of date, or says that it is.
fn write(path: &Path, text: &str, check: bool) -> Result<(), String> {
    if std::fs::read_to_string(path).unwrap_or_default() == text {
        return Ok(());
    }
    if check {
        return Err(format!("{} is out of date: run `cargo xtask schema`", path.display()));
    }
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

const ABOUT: &str = "\
# Errors and exit codes

<!-- Written by `cargo xtask schema` from the documentation of `ExitCode`. -->

Every error has a code: a number for shells and a word for programs. They never change their meaning. With `--json`, the answer to a command that
failed has them in `error`, beside `message`, `hint` and `commands`: the commands that the hint names, each as a list of arguments in
`argv`. `placeholders` says which of those you have to fill in.

```json
{
  \"code\": \"not_found\",
  \"exit_code\": 3,
  \"message\": \"there is no vault named demo\",
  \"hint\": \"`offshoot vault list` shows what there is\",
  \"commands\": [{ \"argv\": [\"offshoot\", \"vault\", \"list\"] }]
}
```

`exec` and `run` exit as their command does, and with 128 + N if signal N ended it. Their own codes are those of shells and `timeout`. If nothing
ran, the envelope has an `error`. If the command ran, it has the command's `exit_code` or `signal`, and `timed_out` or `interrupted` is true if that ended it.
";

/// The page with all codes.
fn errors_page() -> String {
    let mut page = format!("{ABOUT}\n| code | word | meaning |\n|---|---|---|\n");
    for code in Code::ALL {
        let (number, meaning) = (code.number(), code.meaning());
        let word = match code.details().is_empty() {
            true => code.to_string(),
            false => format!("[{code}](#{code})"),
        };
        page.push_str(&format!("| {number} | {word} | {meaning} |\n"));
    }
    for code in Code::ALL.iter().filter(|code| !code.details().is_empty()) {
        let (number, meaning, details) =
            (code.number(), code.meaning(), code.details().join("\n\n"));
        page.push_str(&format!("\n## {code}\n\nExit code {number}. {meaning}.\n\n{details}\n"));
    }
    page
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
