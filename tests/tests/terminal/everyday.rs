//! Everyday sessions with real tools, typed into a terminal. What the screen shows is recorded.

#[path = "everyday/agents.rs"]
mod agents;
#[path = "everyday/cargo.rs"]
mod cargo;
#[path = "everyday/git.rs"]
mod git;
#[path = "everyday/npm.rs"]
mod npm;
#[path = "everyday/python.rs"]
mod python;
#[path = "everyday/shell.rs"]
mod shell;

use std::path::Path;
use std::process::Command;

use offshoot_machine::search_path;
use offshoot_tests::product::Place;
use offshoot_tests::redact::Redactor;

use crate::typist::Typist;

/// More files than this are what tools write, and differ from version to version.
const FEW: u32 = 5;

/// Somebody with a project and the settings that they have in their home.
pub(crate) struct Session {
    place: Place,
    typist: Option<Typist>,
}

impl Session {
    /// A project with these files.
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Place::new();
        for (path, text) in files {
            place.write(path, text);
        }
        let session = Self { place, typist: None };
        session.home(".bashrc", "PS1='$ '\n");
        session.home(
            ".gitconfig",
            "[user]\nname = Ada\nemail = ada@localhost\n[init]\ndefaultBranch = main\n\
             [core]\npager = cat\n[color]\nui = never\n[advice]\ndetachedHead = false\n",
        );
        session
    }

    /// The same with a git repository that holds them.
    fn with_git(files: &[(&str, &str)]) -> Self {
        let session = Self::new(files);
        for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "Begin"]] {
            let mut git = Command::new("git");
            git.args(words).current_dir(session.place.project()).env_clear();
            git.envs(session.place.environment());
            assert!(git.status().unwrap().success(), "{words:?}");
        }
        session
    }

    /// Writes a file of the home.
    fn home(&self, path: &str, text: &str) {
        std::fs::write(self.place.path().join(path), text).unwrap();
    }

    /// Opens the terminal. Programs are looked for in these folders first.
    fn open(&mut self, folders: &[&Path]) {
        let path = search_path();
        let folders = folders.iter().map(|folder| (*folder).to_owned());
        let folders = folders.chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).unwrap();
        self.typist = Some(Typist::with_path(&self.place, &path));
    }

    fn typist(&mut self) -> &mut Typist {
        if self.typist.is_none() {
            self.open(&[]);
        }
        self.typist.as_mut().unwrap()
    }

    /// Types commands, each when the one before has ended.
    fn types(&mut self, commands: &[&str]) {
        for command in commands {
            self.typist().command(command);
        }
    }

    /// All that the screen has shown, without what differs from day to day.
    fn text(&mut self) -> String {
        let text = self.typist().console.text();
        let mut redactor = Redactor::of_document(&self.place);
        // A workspace that nobody named has a name by chance.
        let made = text.lines().filter_map(|line| line.strip_prefix("new workspace "));
        for (name, _) in made.filter_map(|rest| rest.split_once(": ")) {
            if name.contains('-') {
                redactor.hide(name, "[name]");
            }
        }
        let text = redactor.text(&text);
        let lines = text.lines().map(|line| steady(&without_counts(line)).trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A line without how much tools of this or that version write.
fn without_counts(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        let number = words[at - 1].trim_start_matches('(').to_owned();
        let many = number.parse::<u32>().is_ok_and(|number| number > FEW);
        let counted = words[at].trim_end_matches([',', ')', ';']);
        if many && ["added", "files", "modified"].contains(&counted) {
            words[at - 1] = words[at - 1].replace(&number, "[many]");
        }
    }
    let line = words.join(" ");
    for mark in [
        " holds ~/project: ",
        " for ~/project: ",
        " for ~/side: ",
        " taken in as well, ",
        " commits it): ",
    ] {
        if let Some((before, _)) = line.split_once(mark) {
            return format!("{before}{mark}[..]");
        }
    }
    // Objects of git lie in folders by the start of their ids.
    match line.split_once("/objects/") {
        Some((before, after)) => format!("{before}/objects/[..]{}", after.get(2..).unwrap_or("")),
        None => line,
    }
}

/// A line without ids of git's and without how long something took.
fn steady(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !is_part(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        out.push_str(before);
        out.push_str(match word {
            word if is_commit(word) => "[commit]",
            word if is_span(word) => "[span]",
            word => word,
        });
        rest = after;
    }
    out.push_str(rest);
    out
}

fn is_commit(word: &str) -> bool {
    let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (7..=40).contains(&word.len()) && word.bytes().all(hex)
}

fn is_span(word: &str) -> bool {
    let number = word.strip_suffix("ms").or_else(|| word.strip_suffix('s'));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}
