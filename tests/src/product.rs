//! Running the real `offshoot` binary in a place of its own.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::{awkward, schema};

/// The environment variable that, set to `release`, asks for the binary that users build, however the tests were built.
pub const PRODUCT_VARIABLE: &str = "OFFSHOOT_TEST_PRODUCT";

/// The `offshoot` binary, up to date; built with the profile of the tests unless the environment asks for that of users.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(build)
}

/// Whether programs that are started here are told that their terminal is gone: not under `nohup`, whose programs pass that on.
pub fn hears_hang_ups() -> bool {
    const HUP: u64 = 1;
    let status = std::fs::read_to_string("/proc/self/status").expect("a process has a status");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.expect("it says what is ignored") & HUP == 0
}

/// Building is left to cargo, so that no test ever sees an old binary; where nothing changed it only looks.
fn build() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let own = test.ancestors().find(|path| path.join("deps").is_dir());
    let own = own.expect("tests run from the target folder");
    let target = own.parent().expect("profiles lie in the target folder");
    let for_users = is_for_users(std::env::var_os(PRODUCT_VARIABLE).as_deref());
    let release = for_users || own.file_name() == Some(OsStr::new("release"));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--bin", "offshoot"]).args(selection(for_users));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("--target-dir").arg(target);
    if release {
        command.arg("--release");
    }
    // What the cargo that runs the tests says of their package is nothing that the program is built with, but build scripts
    // look at it, and everything behind them would be compiled again for each test.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_")
        }) {
            command.env_remove(name);
        }
    }
    let status = command.status().expect("cargo can be run");
    assert!(status.success(), "the offshoot binary does not build");
    target.join(if release { "release" } else { "debug" }).join("offshoot")
}

/// Cargo chooses the features of shared packages by what is selected, and adds those that tests want only if a test is
/// selected too. The same selection as that of `cargo test --workspace`, with the smallest of its tests, or as that of the
/// default member, finds everything compiled.
fn selection(for_users: bool) -> &'static [&'static str] {
    if for_users { &["--package", "offshoot-cli"] } else { &["--workspace", "--test", "support"] }
}

/// Whether the variable asks for the binary of users. What it cannot mean is a mistake, and not a wish for the other binary.
fn is_for_users(value: Option<&OsStr>) -> bool {
    match value.map(OsStr::to_str) {
        None => false,
        Some(Some("release")) => true,
        Some(_) => panic!("{PRODUCT_VARIABLE} is {value:?}, and can only be release"),
    }
}

/// A home for vaults and a folder for projects, gone when dropped.
#[derive(Debug)]
pub struct Place {
    folder: TempDir,
}

impl Drop for Place {
    /// An ordinary user is kept out by what overlayfs and projects close, and would leave the folder behind.
    fn drop(&mut self) {
        // As with any temporary folder: what is still in use stays, and is no reason for a test to fail.
        awkward::clear(self.path()).ok();
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    /// A new place with an empty project.
    pub fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// The same in a directory that is there.
    pub fn below(directory: &Path) -> Self {
        let folder = TempDir::with_prefix_in("offshoot-test-", directory);
        let place = Self { folder: folder.expect("a temporary folder") };
        std::fs::create_dir(place.project()).expect("a project folder");
        place
    }

    /// Everything of this place.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where its vaults are.
    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// The project.
    pub fn project(&self) -> PathBuf {
        self.path().join("project")
    }

    /// Writes a file of the project, with its folders.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().expect("files lie in folders")).expect("folders");
        std::fs::write(path, content).expect("a file of the project");
    }

    /// The environment that the binary sees: nothing of whoever runs the tests.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("HOME".into(), self.path().into()),
            ("OFFSHOOT_HOME".into(), self.home().into()),
            ("USER".into(), "tester".into()),
            ("TZ".into(), "UTC".into()),
            // No process is left behind; tests of it set this themselves and wait.
            ("OFFSHOOT_COMPACT__AUTO".into(), "false".into()),
            ("OFFSHOOT_GC__AUTO".into(), "false".into()),
        ];
        environment.extend(std::env::var_os("PATH").map(|path| ("PATH".into(), path)));
        environment
    }

    /// A command of the binary, run in the project with no input.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = match hears_hang_ups() {
            true => Command::new(binary()),
            false => {
                let mut command = Command::new("/usr/bin/env");
                command.arg("--default-signal=HUP").arg(binary());
                command
            }
        };
        command.env_clear().envs(self.environment()).current_dir(self.project());
        command.args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs the binary.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Output {
        self.command(arguments).output().expect("the binary runs")
    }

    /// Runs the binary with input.
    pub fn run_with<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: &[u8],
    ) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let mut stdin = child.stdin.take().expect("its input is a pipe");
        let bytes = input.to_vec();
        // Written beside, since the binary may answer before it has read everything.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&bytes)));
        let output = child.wait_with_output().expect("the binary ends");
        writer.join().expect("the writer ends");
        output
    }

    /// Runs the binary, which must succeed, and gives what it printed.
    pub fn ok<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> String {
        stdout_of(self.run(arguments))
    }

    /// Runs the binary with input; it must succeed.
    pub fn ok_with<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: &[u8],
    ) -> String {
        stdout_of(self.run_with(arguments, input))
    }

    /// Runs the binary with `--json`, which must succeed, and gives the `result` of its document.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(with_json(arguments));
        let document = document_of(&output);
        assert_eq!(document["success"], true, "{arguments:?}: {document}");
        document["result"].clone()
    }

    /// Runs the binary with `--json`, which must fail with this exit code, and gives the `error` of its document.
    pub fn json_error(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.run(with_json(arguments));
        let document = document_of(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {document}");
        assert_eq!(document["success"], false, "{arguments:?}: {document}");
        document["error"].clone()
    }
}

/// The processes that commands left in the background to tidy vaults of a home.
pub fn in_background(home: &Path) -> Vec<i32> {
    let home = home.as_os_str().as_encoded_bytes();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("processes are listed") {
        let name = entry.expect("an entry").file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        // One that has ended meanwhile has no arguments any more.
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        if words.clone().any(|word| word == b"--background") && words.any(|word| word == home) {
            found.push(pid);
        }
    }
    found
}

/// The arguments with `--json` as the last option, which comes before what follows `--`.
pub fn with_json<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let end = arguments.iter().position(|argument| *argument == "--").unwrap_or(arguments.len());
    let (options, rest) = arguments.split_at(end);
    [options, &["--json"], rest].concat()
}

fn stdout_of(output: Output) -> String {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}{err}", output.status);
    out.into_owned()
}

/// The one JSON document on standard output, which must be as `docs/schema` says and agree with the exit code.
pub fn document_of(output: &Output) -> Value {
    let text = std::str::from_utf8(&output.stdout).expect("JSON is UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(text.lines().count(), 1, "{}: not one line: {text}{errors}", output.status);
    let document: Value = serde_json::from_str(text).expect("a JSON document");
    let problems = schema::problems(&document);
    assert!(problems.is_empty(), "{document}\n{}", problems.join("\n"));
    let code = output.status.code().map(i64::from);
    match document["kind"].as_str() {
        Some("error") => assert_eq!(document["error"]["exit_code"].as_i64(), code, "{document}"),
        // What succeeded exits with 0; what failed was perhaps recorded, and is shown.
        Some("exec") => assert!(document["success"] != true || code == Some(0), "{document}"),
        // What was asked for was done, or the exit code says that it was not.
        _ => assert_eq!(document["success"] == true, code == Some(0), "{code:?}: {document}"),
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_wish_gets_the_binary_of_users() {
        assert!(!is_for_users(None));
        assert!(is_for_users(Some(OsStr::new("release"))));
        for unclear in ["", "debug", "Release"] {
            let asked = std::panic::catch_unwind(|| is_for_users(Some(OsStr::new(unclear))));
            assert!(asked.is_err(), "{unclear:?}");
        }
    }
}
