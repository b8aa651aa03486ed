//! A sequence of commands and what they print, as one snapshot.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Output;
use std::time::{Duration, SystemTime};

use offshoot_tests::product::{Place, document_of, with_json};
use serde_json::Value;

use offshoot_tests::redact::Redactor;

/// A place with a small project, whose times and modes are the same on every run.
pub(crate) fn demo() -> Place {
    let place = Place::new();
    place.write("README.md", "# Demo\n\nA small project.\n");
    place.write("src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n");
    place.write("src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n");
    place.write("run.sh", "#!/bin/sh\nexec cargo run\n");
    symlink("README.md", place.project().join("guide")).expect("a symbolic link");
    settle(&place.project());
    place
}

/// A demo project taken into a vault, with the workspace `fix`.
pub(crate) fn demo_vault() -> Place {
    let place = demo();
    place.ok(["init"]);
    place.ok(["workspace", "create", "fix"]);
    place
}

/// Gives everything below a folder, and the folder, a fixed time and fixed modes.
pub(crate) fn settle(path: &Path) {
    let kind = fs::symlink_metadata(path).expect("the path is there").file_type();
    if kind.is_symlink() {
        return settle_link(path);
    }
    if kind.is_dir() {
        for entry in fs::read_dir(path).expect("a folder can be read") {
            settle(&entry.expect("an entry of the folder").path());
        }
    }
    let executable = kind.is_dir() || path.extension().is_some_and(|end| end == "sh");
    let mode = if executable { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its mode can be set");
    let file = File::open(path).expect("the path can be opened");
    file.set_modified(moment()).expect("its time can be set");
}

/// The third of February 2001.
fn moment() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(981_173_106)
}

fn settle_link(path: &Path) {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
    let time = Timespec { tv_sec: 981_173_106, tv_nsec: 0 };
    let times = Timestamps { last_access: time, last_modification: time };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).expect("the link's time can be set");
}

/// Commands and what they print.
#[derive(Debug)]
pub(crate) struct Transcript<'a> {
    place: &'a Place,
    redactor: Redactor,
    text: String,
}

impl<'a> Transcript<'a> {
    /// Of commands run in a place.
    pub(crate) fn new(place: &'a Place) -> Self {
        let mut redactor = Redactor::new(place);
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        redactor.hide(&format!(" {}:{} ", uid.as_raw(), gid.as_raw()), " [uid]:[gid] ");
        redactor.hide(&format!(" {}:{}\n", uid.as_raw(), gid.as_raw()), " [uid]:[gid]\n");
        Self { place, redactor, text: String::new() }
    }

    /// Replaces some text wherever it stands.
    pub(crate) fn hide(&mut self, text: &str, name: &str) {
        self.redactor.hide(text, name);
    }

    /// Runs a command for people.
    pub(crate) fn run(&mut self, arguments: &[&str]) -> Output {
        let output = self.place.run(arguments);
        self.record(arguments, "", &output);
        output
    }

    /// Runs a command for people, with input.
    pub(crate) fn run_with(&mut self, arguments: &[&str], input: &str) -> Output {
        let output = self.place.run_with(arguments, input.as_bytes());
        self.record(arguments, input, &output);
        output
    }

    /// Runs a command for programs; gives its document.
    pub(crate) fn json(&mut self, arguments: &[&str]) -> Value {
        self.json_with(arguments, "")
    }

    /// Runs a command for programs, with input; gives its document.
    pub(crate) fn json_with(&mut self, arguments: &[&str], input: &str) -> Value {
        let arguments = with_json(arguments);
        let output = self.place.run_with(&arguments, input.as_bytes());
        let document = document_of(&output);
        self.command(&arguments, input);
        let shown = self.redactor.json(&document);
        self.text.push_str(&serde_json::to_string_pretty(&shown).expect("a value is JSON"));
        self.text.push('\n');
        self.errors(&output);
        document
    }

    /// Everything so far.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn record(&mut self, arguments: &[&str], input: &str, output: &Output) {
        self.command(arguments, input);
        let shown = self.redactor.text(&String::from_utf8_lossy(&output.stdout));
        self.text.push_str(&shown);
        if !shown.is_empty() && !shown.ends_with('\n') {
            self.text.push_str("[no newline]\n");
        }
        self.errors(output);
    }

    fn command(&mut self, arguments: &[&str], input: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let words: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
        let from = if input.is_empty() { String::new() } else { format!("echo {input:?} | ") };
        let line = self.redactor.text(&format!("$ {from}offshoot {}\n", words.join(" ")));
        self.text.push_str(&line);
    }

    fn errors(&mut self, output: &Output) {
        for line in String::from_utf8_lossy(&output.stderr).lines() {
            let line = self.redactor.text(line);
            self.text.push_str(&format!("! {line}\n"));
        }
        if output.status.code() != Some(0) {
            self.text.push_str(&format!("[{}]\n", output.status));
        }
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/-_.@=+:,~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.escape_debug())
}
