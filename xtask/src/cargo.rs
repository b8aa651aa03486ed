//! Calling cargo.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::TaskError;
use crate::report;

/// The repository's top directory.
pub(crate) fn root() -> PathBuf {
    // Set by `cargo run` for the process; the value at build time serves a binary that was started on its own.
    let package = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().map_or(package.clone(), Path::to_owned)
}

/// The cargo that runs this task, in the repository's top directory.
pub(crate) fn command<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command with its output going through, and says what it runs.
pub(crate) fn run(command: &mut Command) -> Result<(), TaskError> {
    let shown = shown(command);
    report::say(&format!("$ {shown}"));
    let status = command
        .status()
        .map_err(|error| TaskError::Failed(format!("cannot start `{shown}`: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(TaskError::Failed(format!("`{shown}` failed: {status}")))
    }
}

/// The command as one could type it.
fn shown(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={}", name.to_string_lossy(), value?.to_string_lossy()))
    });
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    let words: Vec<String> = variables.chain(["cargo".to_owned()]).chain(arguments).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_repository() {
        assert!(root().join("xtask/src/cargo.rs").is_file());
    }

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = command(["test", "--release"]);
        command.env("OFFSHOOT_SEED", "7");
        assert_eq!(shown(&command), "OFFSHOOT_SEED=7 cargo test --release");
    }
}
