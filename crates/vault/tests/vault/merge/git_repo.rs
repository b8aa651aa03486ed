//! Merges by git, to compare with, and what differs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Files by path, without a leading `/`: git's mode and the bytes.
pub(crate) type Files = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

/// A state in git's history; parents by their place in the list.
pub(crate) struct Commit<'a> {
    pub(crate) parents: Vec<usize>,
    pub(crate) files: &'a Files,
}

/// What a merge came to.
pub(crate) struct Outcome {
    pub(crate) files: Files,
    pub(crate) conflicts: BTreeSet<Vec<u8>>,
}

/// How two outcomes relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Verdict {
    /// Without conflict in both, and every byte equal.
    EqualClean,
    /// The same conflicts, and everything else equal.
    EqualConflicts,
    /// The same conflicts, and something else differs.
    OtherFiles,
    /// Conflicts at different paths.
    OtherConflicts,
    /// Only git has conflicts.
    OnlyGitConflicts,
    /// Only we have conflicts.
    OnlyOurConflicts,
    /// Without conflict in both, and different.
    DifferentClean,
}

/// Compares our outcome with git's; `beside` are paths that a conflict put something at.
pub(crate) fn judge(ours: &Outcome, git: &Outcome, beside: &BTreeSet<Vec<u8>>) -> Verdict {
    let all: BTreeSet<&Vec<u8>> = ours.conflicts.iter().chain(&git.conflicts).collect();
    let rest = |files: &Files| -> Files {
        let kept = files.iter().filter(|(path, _)| !all.contains(path) && !beside.contains(*path));
        kept.map(|(path, file)| (path.clone(), file.clone())).collect()
    };
    let same_rest = rest(&ours.files) == rest(&git.files);
    match (ours.conflicts.is_empty(), git.conflicts.is_empty()) {
        (true, true) if same_rest => Verdict::EqualClean,
        (true, true) => Verdict::DifferentClean,
        (true, false) => Verdict::OnlyGitConflicts,
        (false, true) => Verdict::OnlyOurConflicts,
        _ if ours.conflicts != git.conflicts => Verdict::OtherConflicts,
        _ if same_rest => Verdict::EqualConflicts,
        _ => Verdict::OtherFiles,
    }
}

/// A repository in a directory of its own.
pub(crate) struct Repository {
    dir: PathBuf,
}

impl Repository {
    /// Makes one with these commits.
    pub(crate) fn new(dir: &Path, commits: &[Commit<'_>]) -> Self {
        let repository = Self { dir: dir.to_owned() };
        succeed(&repository.run(&["init", "--quiet", "--bare", "."], b""));
        let mut stream = Vec::new();
        for (at, commit) in commits.iter().enumerate() {
            describe(&mut stream, at, commit);
        }
        succeed(&repository.run(&["fast-import", "--quiet"], &stream));
        repository
    }

    /// Merges two of the commits.
    pub(crate) fn merge(&self, ours: usize, theirs: usize) -> Outcome {
        let (ours, theirs) = (format!("c{ours}"), format!("c{theirs}"));
        let words = ["merge-tree", "--write-tree", "--name-only", "-z", &ours, &theirs];
        let output = self.run(&words, b"");
        assert!(matches!(output.status.code(), Some(0 | 1)), "git merge-tree: {output:?}");
        let mut fields = output.stdout.split(|byte| *byte == 0);
        let tree = String::from_utf8(fields.next().unwrap_or_default().to_vec()).unwrap();
        let conflicts = fields.take_while(|field| !field.is_empty()).map(<[u8]>::to_vec).collect();
        let conflicts = if output.status.success() { BTreeSet::new() } else { conflicts };
        Outcome { files: self.files(&tree), conflicts }
    }

    fn files(&self, tree: &str) -> Files {
        let listed = succeed(&self.run(&["ls-tree", "-r", "-z", tree], b""));
        let mut entries: Vec<(u32, Vec<u8>, String)> = Vec::new();
        for line in listed.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let tab = line.iter().position(|byte| *byte == b'\t').unwrap();
            let words = String::from_utf8(line[..tab].to_vec()).unwrap();
            let words: Vec<&str> = words.split(' ').collect();
            let mode = u32::from_str_radix(words[0], 8).unwrap();
            entries.push((mode, line[tab + 1..].to_vec(), words[2].to_owned()));
        }
        let wanted: String = entries.iter().map(|(_, _, id)| format!("{id}\n")).collect();
        let contents = succeed(&self.run(&["cat-file", "--batch"], wanted.as_bytes()));
        let mut contents = BufReader::new(contents.as_slice());
        let mut files = Files::new();
        for (mode, path, _) in entries {
            let mut head = String::new();
            contents.read_line(&mut head).unwrap();
            let size: usize = head.trim_end().rsplit(' ').next().unwrap().parse().unwrap();
            let mut bytes = vec![0; size + 1];
            contents.read_exact(&mut bytes).unwrap();
            bytes.pop();
            files.insert(path, (mode, bytes));
        }
        files
    }

    /// Runs git on it.
    pub(crate) fn run(&self, words: &[&str], input: &[u8]) -> Output {
        let mut child = Command::new("git")
            .current_dir(&self.dir)
            // What the machine is set up to do must not decide.
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .args(["-c", "merge.directoryRenames=true", "-c", "merge.conflictStyle=diff3"])
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Written beside the reading, since git answers before it has read everything.
        std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(input).unwrap());
            child.wait_with_output().unwrap()
        })
    }
}

fn describe(stream: &mut Vec<u8>, at: usize, commit: &Commit<'_>) {
    let mark = at + 1;
    let head =
        format!("commit refs/heads/c{at}\nmark :{mark}\ncommitter t <t> {at} +0000\ndata 0\n");
    stream.extend(head.bytes());
    for (n, parent) in commit.parents.iter().enumerate() {
        let word = if n == 0 { "from" } else { "merge" };
        stream.extend(format!("{word} :{}\n", parent + 1).bytes());
    }
    stream.extend(b"deleteall\n");
    for (path, (mode, bytes)) in commit.files {
        stream.extend(format!("M {mode:o} inline ").bytes());
        stream.extend(path);
        stream.extend(format!("\ndata {}\n", bytes.len()).bytes());
        stream.extend(bytes);
        stream.push(b'\n');
    }
    stream.push(b'\n');
}

fn succeed(output: &Output) -> Vec<u8> {
    assert!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout.clone()
}
