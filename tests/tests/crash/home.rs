//! A commit, its undo or its redo that is killed: folder and vault are before or after, and whoever comes next settles it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use offshoot_needs::needs;
use offshoot_tests::product;
use offshoot_tests::rng::Rng;
use offshoot_tests::scan::{CompareOptions, Kind, Scan, compare, scan};
use offshoot_tests::tier::Tier;
use offshoot_tests::trace::{self, Call, Fault, Trace};
use tempfile::TempDir;

use crate::errors::{EIO, ENOSPC};
use crate::kills::Kill;
use crate::points::{points, run_all, seed};
use crate::scene::temporary;

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Commit,
    Undo,
    Redo,
}

impl Verb {
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Commit => &["commit", "-w", "w", "-m", "all of it"],
            Self::Undo => &["undo", "-w", "w"],
            Self::Redo => &["redo", "-w", "w"],
        }
    }

    /// What is done before it.
    fn before(self) -> &'static [Self] {
        match self {
            Self::Commit => &[],
            Self::Undo => &[Self::Commit],
            Self::Redo => &[Self::Commit, Self::Undo],
        }
    }
}

/// A project with a vault of its own: the folder is part of what is broken, so each case has one.
pub(crate) struct Site {
    folder: TempDir,
    verb: Verb,
    /// The folder before the command.
    pub(crate) before: Scan,
}

impl Site {
    pub(crate) fn new(verb: Verb) -> Self {
        let folder = temporary();
        build(folder.path());
        let mut site = Self { folder, verb, before: Scan(BTreeMap::new()) };
        for arguments in [
            &["init"][..],
            &["workspace", "create", "w"],
            &["fs", "write", "/lines", "--from", "../edited", "-w", "w"],
            &["fs", "mv", "/dir/moved", "/moved", "-w", "w"],
            &["fs", "rm", "-r", "/gone", "-w", "w"],
            &["fs", "rm", "/turned", "-w", "w"],
            &["fs", "import", "../in", "/turned", "-w", "w"],
        ] {
            site.succeed(arguments).unwrap();
        }
        // A person's own change, which has to be merged with.
        fs::write(site.project().join("person"), "a person's, edited\n").unwrap();
        for verb in verb.before() {
            site.succeed(verb.arguments()).unwrap();
        }
        site.before = site.scan();
        site
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn scan(&self) -> Scan {
        scan(&self.project()).unwrap()
    }

    fn environment(&self) -> [(&'static str, OsString); 6] {
        [
            ("HOME", self.folder.path().into()),
            ("OFFSHOOT_HOME", self.home().into()),
            ("USER", "tester".into()),
            ("OFFSHOOT_IMPORT__THREADS", "1".into()),
            ("RAYON_NUM_THREADS", "1".into()),
            ("PATH", std::env::var_os("PATH").unwrap_or_default()),
        ]
    }

    pub(crate) fn run(&self, fault: Fault) -> Trace {
        let mut command: Vec<OsString> = vec!["env".into(), "-i".into()];
        for (name, value) in self.environment() {
            let mut both = OsString::from(name);
            both.push("=");
            both.push(value);
            command.push(both);
        }
        command.push(product::binary().into());
        command.extend(self.verb.arguments().iter().map(OsString::from));
        trace::run(&command, &[], Some(&self.project()), fault).unwrap()
    }

    pub(crate) fn offshoot(&self, arguments: &[&str]) -> Output {
        self.offshoot_in(&self.project(), arguments)
    }

    /// The same elsewhere.
    pub(crate) fn offshoot_in(&self, folder: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(product::binary());
        command.env_clear().envs(self.environment()).current_dir(folder);
        command.args(arguments).stdin(Stdio::null()).output().unwrap()
    }

    pub(crate) fn succeed(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.offshoot(arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => {
                Err(format!("{arguments:?}: {}{}", text(&output.stdout), text(&output.stderr)))
            }
        }
    }
}

fn build(folder: &Path) {
    let mut rng = Rng::new(7);
    let project = folder.join("project");
    for name in ["dir", "gone/deep"] {
        fs::create_dir_all(project.join(name)).unwrap();
    }
    let lines: String = (1..=50).map(|number| format!("{number}\n")).collect();
    fs::write(project.join("lines"), &lines).unwrap();
    fs::write(folder.join("edited"), lines.replace("25\n", "twenty-five\n")).unwrap();
    fs::write(project.join("person"), "a person's\n").unwrap();
    fs::write(project.join("dir/moved"), rng.bytes(50_000)).unwrap();
    fs::write(project.join("gone/deep/file"), rng.bytes(3000)).unwrap();
    fs::write(project.join("turned"), "a file\n").unwrap();
    symlink("lines", project.join("gone/link")).unwrap();
    let into = folder.join("in");
    fs::create_dir_all(into.join("inner")).unwrap();
    fs::write(into.join("inner/new"), rng.bytes(9000)).unwrap();
    fs::write(into.join("tool"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(into.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("inner/new", into.join("link")).unwrap();
}

/// What is at each path, whatever its times: kind, mode, bytes and target.
pub(crate) type Contents = BTreeMap<Vec<u8>, (Kind, u32, Option<[u8; 32]>, Option<Vec<u8>>)>;

pub(crate) fn contents(scan: &Scan) -> Contents {
    let staged = |path: &[u8]| path.windows(16).any(|part| part == b".offshoot-apply-");
    let shown = scan.0.iter().filter(|(path, _)| !staged(path));
    let of =
        |node: &offshoot_tests::scan::Node| (node.kind, node.mode, node.hash, node.target.clone());
    shown.map(|(path, node)| (path.clone(), of(node))).collect()
}

/// What the command makes of the folder when nothing goes wrong, and which calls it makes.
pub(crate) struct Expected {
    pub(crate) before: Contents,
    pub(crate) after: Contents,
    pub(crate) calls: Vec<Call>,
}

pub(crate) fn expected(verb: Verb) -> Expected {
    let site = Site::new(verb);
    let trace = site.run(Fault::None);
    assert!(trace.status.success(), "{verb:?}: {trace:?}");
    let (before, after) = (contents(&site.before), contents(&site.scan()));
    assert_ne!(before, after);
    settled(&site).unwrap();
    Expected { before, after, calls: trace.calls }
}

fn kill_everywhere(verb: Verb) {
    let expected = expected(verb);
    let both = Tier::from_env() == Tier::Long;
    let mut rng = Rng::new(seed());
    let mut kills = Vec::new();
    for n in points(expected.calls.len() as u64, 900 + verb as u64) {
        let before = both || rng.one_in(2);
        kills.extend(before.then_some(Kill::Before(n)));
        kills.extend((both || !before).then_some(Kill::After(n)));
    }
    run_all("home", &kills, |kill| {
        let site = Site::new(verb);
        let trace = site.run(kill.fault());
        let last = trace.calls.last().map(ToString::to_string).unwrap_or_default();
        verify(&site, &expected, Told::of_killed(&trace))
            .map_err(|why| format!("{verb:?}, {kill:?} at {last}: {why}"))
    });
}

/// A full disk, or one that fails, at any call.
fn fail_everywhere(verb: Verb) {
    let expected = expected(verb);
    let mut faults = Vec::new();
    for (errno, salt) in [(EIO, 1000), (ENOSPC, 1100)] {
        let chosen = points(expected.calls.len() as u64, salt + verb as u64);
        faults.extend(chosen.into_iter().map(|n| (n, errno)));
    }
    run_all("home", &faults, |&(n, errno)| {
        let site = Site::new(verb);
        let trace = site.run(Fault::FailAt { n, errno });
        let call = trace.calls.get(n as usize - 1).map(ToString::to_string).unwrap_or_default();
        let said = String::from_utf8_lossy(&trace.stderr).into_owned();
        verify(&site, &expected, Told::of_failed(&trace)).map_err(|why| {
            format!("{verb:?}, errno {errno} at {n}: {call}: {why}; it said: {said}")
        })
    });
}

/// What a command said of itself when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Done,
    Failed,
    /// It was killed, or said that it does not know.
    Nothing,
}

impl Told {
    fn of_killed(trace: &Trace) -> Self {
        if trace.status.success() { Self::Done } else { Self::Nothing }
    }

    fn of_failed(trace: &Trace) -> Self {
        if trace.status.success() { Self::Done } else { Self::Failed }
    }
}

pub(crate) fn verify(site: &Site, expected: &Expected, told: Told) -> Result<(), String> {
    in_between(site, expected)?;
    // Whoever captures the folder next settles what was interrupted.
    site.succeed(&["pull", "--head"])?;
    settled(site)?;
    let (now, found) = (site.scan(), contents(&site.scan()));
    if found == expected.before {
        if told == Told::Done {
            return Err("the command succeeded and what it did is lost".to_owned());
        }
        let differences = compare(&site.before, &now, &CompareOptions::default());
        if !differences.is_empty() {
            return Err(format!("taken back, but not exactly: {differences:?}"));
        }
        site.succeed(site.verb.arguments())?;
        settled(site)?;
        let again = contents(&site.scan());
        return if again == expected.after { Ok(()) } else { Err(format!("again: {again:?}")) };
    }
    match found == expected.after {
        true if told == Told::Failed => Err("it failed and is done all the same".to_owned()),
        true => Ok(()),
        false => Err(format!("neither before nor after: {found:?}")),
    }
}

/// While nobody settled it, each path shows its old or its new state whole, or nothing where one of the two has nothing.
fn in_between(site: &Site, expected: &Expected) -> Result<(), String> {
    let now = contents(&site.scan());
    let paths = now.keys().chain(expected.before.keys()).chain(expected.after.keys());
    for path in paths {
        let found = now.get(path);
        let (old, new) = (expected.before.get(path), expected.after.get(path));
        if found != old && found != new {
            let path = String::from_utf8_lossy(path);
            return Err(format!("{path} is torn: {found:?}, not {old:?} nor {new:?}"));
        }
    }
    Ok(())
}

/// Nothing is left behind, the vault is in order, and the main line is what is in the folder.
fn settled(site: &Site) -> Result<(), String> {
    let staged = site.scan();
    if let Some(path) = staged.0.keys().find(|path| path.starts_with(b".offshoot")) {
        return Err(format!("left in the folder: {}", String::from_utf8_lossy(path)));
    }
    let vault = site.home().join("names/project");
    let left: Vec<_> =
        fs::read_dir(vault.join("applies")).into_iter().flatten().flatten().collect();
    if !left.is_empty() {
        return Err(format!("left in the vault: {left:?}"));
    }
    site.succeed(&["vault", "check"])?;
    let exported = site.folder.path().join("exported");
    site.succeed(&["fs", "export", "/", "../exported", "--at", "head"])?;
    let head = scan(&exported).map_err(|error| error.to_string())?;
    fs::remove_dir_all(&exported).map_err(|error| error.to_string())?;
    match compare(&head, &site.scan(), &CompareOptions::default()).as_slice() {
        [] => Ok(()),
        differences => Err(format!("the folder is not the main line: {differences:?}")),
    }
}

#[needs(Ptrace)]
#[test]
fn commit_is_killed() {
    kill_everywhere(Verb::Commit);
}

#[needs(Ptrace)]
#[test]
fn commit_meets_errors() {
    fail_everywhere(Verb::Commit);
}

#[needs(Ptrace)]
#[test]
fn undo_of_a_commit_meets_errors() {
    fail_everywhere(Verb::Undo);
}

#[needs(Ptrace)]
#[test]
fn undo_of_a_commit_is_killed() {
    kill_everywhere(Verb::Undo);
}

#[needs(Ptrace)]
#[test]
fn redo_of_a_commit_is_killed() {
    kill_everywhere(Verb::Redo);
}
