//! Calling cargo.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::TaskError;
use crate::report;

/// Tells tests to drive the binary that `cargo run --release` makes, also where they are not optimised themselves.
pub(crate) const PRODUCT_OF_USERS: (&str, &str) = ("OFFSHOOT_TEST_PRODUCT", "release");

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
    // Build scripts look at what `cargo run` says of the package of the tasks, and would have everything compiled again.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_")
        }) {
            command.env_remove(name);
        }
    }
    command
}

/// A program of the repository that tasks run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Program {
    Binary(&'static str),
    Example(&'static str),
}

impl Program {
    /// The arguments that build it. Cargo chooses the features of shared packages by which packages are selected, and adds
    /// those that tests want if one is: with all packages and a test, nothing is compiled again that `cargo test --workspace`
    /// has compiled. `cargo run` can select only one.
    fn build(self) -> [&'static str; 6] {
        let (kind, name) = match self {
            Self::Binary(name) => ("--bin", name),
            Self::Example(name) => ("--example", name),
        };
        ["build", "--workspace", "--test", "support", kind, name]
    }

    /// Where it is then, below the target folder.
    fn path(self) -> PathBuf {
        match self {
            Self::Binary(name) => Path::new("debug").join(name),
            Self::Example(name) => Path::new("debug/examples").join(name),
        }
    }
}

/// Builds a program, not optimised, and gives the command that starts it in the repository's top directory.
pub(crate) fn built(program: Program) -> Result<Command, TaskError> {
    let target = target_folder()?;
    let mut build = command(program.build());
    run(build.arg("--target-dir").arg(&target))?;
    let mut command = Command::new(target.join(program.path()));
    command.current_dir(root());
    Ok(command)
}

/// The target folder, which this task itself lies in, two levels down.
fn target_folder() -> Result<PathBuf, TaskError> {
    let own = env::current_exe().map_err(|error| TaskError::Failed(error.to_string()))?;
    let profile = own.parent().filter(|folder| folder.join("deps").is_dir());
    let target = profile.and_then(Path::parent).map(Path::to_owned);
    target.ok_or_else(|| TaskError::Failed("start this with `cargo xtask`".to_owned()))
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
    let program = Path::new(command.get_program());
    // Cargo passes the path of its own program on, which nobody types.
    let name = program.file_name().filter(|name| *name == "cargo").unwrap_or(program.as_os_str());
    let name = name.to_string_lossy().into_owned();
    let words: Vec<String> = variables.chain([name]).chain(arguments).collect();
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
        assert_eq!(shown(Command::new("/folder/program").arg("--flag")), "/folder/program --flag");
    }

    #[test]
    fn programs_are_built_with_all_packages() {
        let (binary, example) = (Program::Binary("b"), Program::Example("e"));
        let built = ["build", "--workspace", "--test", "support", "--bin", "b"];
        assert_eq!(binary.build(), built);
        assert_eq!(binary.path(), Path::new("debug/b"));
        assert_eq!(example.build()[4..], ["--example", "e"]);
        assert_eq!(example.path(), Path::new("debug/examples/e"));
    }
}
