//! Many commands at once in one vault, each in a workspace of its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use offshoot_needs::needs;
use offshoot_tests::product::Place;
use offshoot_tests::tier::Tier;
use serde_json::Value;

use crate::envelope;
use crate::product::readable;
use crate::user::{NOBODY, ROOT, Tools, User};

const WORKERS: usize = 10;

/// Each round adds a file, deletes the one of the round before, and changes one that every round changes.
const ROUND: &str = "echo \"$1\" >\"round-$1\" && rm -f \"round-$2\" && echo \"$1\" >>log";

/// A vault with one workspace for each worker.
struct Crowd<'a> {
    tools: &'a Tools,
    user: User,
    place: Place,
}

impl<'a> Crowd<'a> {
    fn new(tools: &'a Tools, user: User) -> Self {
        let place = Place::new();
        for path in [place.path(), &place.project()] {
            std::os::unix::fs::chown(path, Some(user.uid), Some(user.uid)).unwrap();
        }
        place.write("log", "");
        std::os::unix::fs::chown(place.project().join("log"), Some(user.uid), Some(user.uid))
            .unwrap();
        let crowd = Self { tools, user, place };
        crowd.json(&["init", "--json", "."]);
        for worker in 0..WORKERS {
            crowd.json(&["workspace", "create", &name(worker), "--json"]);
        }
        crowd
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.user.command(&self.tools.offshoot);
        command.env_clear().envs(self.place.environment()).current_dir(self.place.project());
        command.args(words).stdin(Stdio::null());
        command
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = self.command(words).output().unwrap();
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(text).to_lowercase();
            let bad = ["locked", "sqlite", "panicked", "busy"];
            assert!(!bad.iter().any(|word| text.contains(word)), "{words:?}: {output:?}");
        }
        let document = readable(&output).unwrap();
        assert_eq!(document["success"], true, "{words:?}: {document}");
        document["result"].clone()
    }

    /// One command, and whether it says what it did.
    fn round(&self, worker: usize, round: usize) {
        let (workspace, now, before) = (name(worker), round.to_string(), round.wrapping_sub(1));
        let before = before.to_string();
        let options = ["-c", "diff.renames=false", "exec", "--json", "-w", &workspace, "--"];
        let words = [&options[..], &["sh", "-c", ROUND, "sh", &now, &before]].concat();
        let answer = envelope::answer(&self.json(&words)).unwrap();
        let found: Vec<(String, String, u64)> = answer
            .changes
            .iter()
            .map(|change| {
                let side = change.after.as_ref().or(change.before.as_ref()).unwrap();
                let path = String::from_utf8_lossy(&change.path).into_owned();
                (path, change.kind.clone(), side.size)
            })
            .collect();
        let line = |round: usize| round.to_string().len() as u64 + 1;
        let entry = |path: String, kind: &str, size: u64| (path, kind.to_owned(), size);
        let log = (0..=round).map(line).sum();
        let mut expected = vec![
            entry("/log".to_owned(), "modified", log),
            entry(format!("/round-{now}"), "added", line(round)),
        ];
        if round > 0 {
            let size = line(round - 1);
            expected.push(entry(format!("/round-{before}"), "deleted", size));
        }
        expected.sort();
        assert_eq!(found, expected, "worker {worker}, round {round}");
    }
}

fn name(worker: usize) -> String {
    format!("worker-{worker}")
}

fn run(user: User) {
    let tools = Tools::new();
    let crowd = Crowd::new(&tools, user);
    let time = Duration::from_secs(Tier::from_env().pick(10, 60));
    let start = Instant::now();
    let rounds: Vec<usize> = thread::scope(|scope| {
        let work = |worker| {
            let mut round = 0;
            while start.elapsed() < time {
                Crowd::round(&crowd, worker, round);
                round += 1;
            }
            round
        };
        let handles: Vec<_> =
            (0..WORKERS).map(|worker| scope.spawn(move || work(worker))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    println!("crowd of {}: {rounds:?} commands in {:?}", user.name, start.elapsed());
    assert!(rounds.iter().all(|rounds| *rounds > 0), "somebody never had a turn: {rounds:?}");
    for (worker, rounds) in rounds.iter().enumerate() {
        let log = crowd.command(&["fs", "cat", "/log", "-w", &name(worker)]).output().unwrap();
        let expected: String = (0..*rounds).map(|round| format!("{round}\n")).collect();
        assert_eq!(String::from_utf8_lossy(&log.stdout), expected, "{log:?}");
    }
    crowd.json(&["vault", "check", "--json"]);
    assert_eq!(left_behind(&crowd.place), Vec::<String>::new());
    assert_eq!(fs::read(crowd.place.project().join("log")).unwrap(), b"", "the host is touched");
}

/// Processes and mounts that know the place, and files that were not finished.
fn left_behind(place: &Place) -> Vec<String> {
    let path = place.path().to_str().unwrap();
    let mut left = Vec::new();
    for process in fs::read_dir("/proc").unwrap().map(Result::unwrap) {
        let id = process.file_name().to_string_lossy().into_owned();
        if !id.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        // A process may end at any moment, and is then not left behind.
        for file in ["cmdline", "environ", "mountinfo"] {
            let text = fs::read(process.path().join(file)).unwrap_or_default();
            if String::from_utf8_lossy(&text).contains(path) {
                left.push(format!("process {id}: {file}"));
            }
        }
    }
    unfinished(&place.home(), &mut left);
    left
}

fn unfinished(directory: &Path, left: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.path().extension().is_some_and(|extension| extension == "tmp") {
            left.push(entry.path().display().to_string());
        } else if entry.file_type().unwrap().is_dir() {
            unfinished(&entry.path(), left);
        }
    }
}

#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn a_crowd_of_root() {
    run(ROOT);
}

#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn a_crowd_of_nobody() {
    run(NOBODY);
}
