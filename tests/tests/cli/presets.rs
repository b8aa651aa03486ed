//! Coding agents, which run by a preset: a script stands for the agent and does what it is told to.

#[path = "presets/credentials.rs"]
mod credentials;
#[path = "presets/homes.rs"]
mod homes;
#[path = "presets/inject.rs"]
mod inject;
#[path = "presets/known.rs"]
mod known;
#[path = "presets/moved.rs"]
mod moved;
#[path = "presets/several.rs"]
mod several;
#[path = "presets/shared.rs"]
mod shared;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away, is_root};
use serde_json::{Value, json};

use crate::transcript::{Transcript, demo};

/// Where the login of Claude Code is.
const LOGIN: &str = ".claude/.credentials.json";
const PATIENCE: Duration = Duration::from_secs(60);

/// A user with an agent that is logged in.
struct Agent {
    place: Place,
    /// None for root.
    user: Option<User>,
}

/// Everybody who can be tested here: an ordinary user, and root where that runs the tests.
fn everybody() -> Vec<Agent> {
    let root = is_root().then(|| Agent::new(None));
    root.into_iter().chain([Agent::new(Some(User::new()))]).collect()
}

impl Agent {
    fn new(user: Option<User>) -> Self {
        let place = demo();
        let agent = Self { place, user };
        agent.install("claude");
        agent.host(LOGIN, "{\"token\":1}");
        agent
    }

    /// Puts a program there that runs its last argument as a shell does.
    fn install(&self, name: &str) {
        let bin = self.place.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let script = "#!/bin/sh\nfor last; do :; done\neval \"$last\"\n";
        fs::write(bin.join(name), script).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        self.give_away();
    }

    fn give_away(&self) {
        if self.user.is_some() {
            give_away(self.place.path());
        }
    }

    /// Writes a file of the user's own home, by a rename.
    fn host(&self, path: &str, content: &str) {
        let path = self.place.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let new = path.with_extension("new");
        fs::write(&new, content).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(&new, &path).unwrap();
        self.give_away();
    }

    /// What a file of the user's own home holds.
    fn on_host(&self, path: &str) -> String {
        fs::read_to_string(self.place.path().join(path)).unwrap_or_default()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = match &self.user {
            Some(user) => user.command(&self.place, arguments),
            None => self.place.command(arguments),
        };
        let path: OsString = std::env::var_os("PATH").unwrap();
        let mut paths = vec![self.place.path().join("bin")];
        paths.extend(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(paths).unwrap());
        command
    }

    /// Has the agent do something, and returns the envelope's result.
    fn with(&self, options: &[&str], script: &str) -> Value {
        let arguments = [&["exec", "--json"], options, &["--", "claude", script]].concat();
        document_of(&self.command(&arguments).output().unwrap())["result"].clone()
    }

    fn does(&self, script: &str) -> Value {
        let result = self.with(&[], script);
        assert_eq!(result["exit_code"], 0, "{result:#}");
        assert_eq!(result["warnings"], json!([]), "{result:#}");
        result
    }

    fn says(&self, script: &str) -> String {
        self.does(script)["stdout"].as_str().unwrap().to_owned()
    }

    /// Has the agent do something, and then wait for a line.
    fn starts(&self, workspace: &str, script: &str) -> Running {
        self.starts_as("claude", workspace, script)
    }

    /// The same by an agent of another name.
    fn starts_as(&self, name: &str, workspace: &str, script: &str) -> Running {
        self.starting(&[], name, workspace, script)
    }

    /// The same with options.
    fn starts_with(&self, options: &[&str], workspace: &str, script: &str) -> Running {
        self.starting(options, "claude", workspace, script)
    }

    fn starting(&self, options: &[&str], name: &str, workspace: &str, script: &str) -> Running {
        let marker = self.place.path().join(format!("started-{workspace}"));
        let script = format!("{script}\necho started; read line; eval \"$line\"");
        let command = ["-i", "-w", workspace, "--", name, &script];
        let mut command = self.command(&[&["exec"], options, &command].concat());
        let out = fs::File::create(&marker).unwrap();
        let mut child = command.stdin(Stdio::piped()).stdout(out).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        wait_for(|| fs::read_to_string(&marker).is_ok_and(|text| text.contains("started")));
        Running { child, stdin, marker }
    }

    /// The agent's home in the only vault.
    fn kept(&self, path: &str) -> PathBuf {
        let vaults = fs::read_dir(self.place.home().join("vaults")).unwrap();
        let vault = vaults.map(|vault| vault.unwrap().path()).next().unwrap();
        vault.join("agents/claude/home").join(path)
    }
}

struct Running {
    child: Child,
    stdin: ChildStdin,
    marker: PathBuf,
}

impl Running {
    /// Has it do something more and end; what it printed.
    fn ends(mut self, script: &str) -> String {
        use std::io::Write;
        writeln!(self.stdin, "{script}").unwrap();
        drop(self.stdin);
        assert!(self.child.wait().unwrap().success(), "{}", read(&self.marker));
        read(&self.marker)
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn wait_for(mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < PATIENCE, "nothing happens");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn presets_for_people_and_programs() {
    let place = demo();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["presets", "list"]);
    transcript.run(&["presets", "show", "claude"]);
    transcript.run(&["presets", "show", "nothing"]);
    transcript.json(&["presets", "list"]);
    transcript.json(&["presets", "show", "codex"]);
    assert_snapshot!(transcript.finish());
    let list = place.json(&["presets", "list"]);
    assert_eq!(list["presets"].as_array().unwrap().len(), 10);
    let check = place.json(&["presets", "check", "claude"]);
    assert_eq!(check["presets"][0]["logged_in"], json!(false));
}
