//! The real binary, a folder with somebody in it, and workspaces.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use offshoot_tests::product::{Place, document_of};
use offshoot_tests::scan::{CompareOptions, Kind, Scan, compare, scan};
use serde_json::Value;

use crate::edit::Edit;
use crate::tree::{Body, Tree};

/// The exit code of a conflict.
const CONFLICT: i32 = 4;

/// How a command ended that may find conflicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    /// With conflicts at these paths.
    Conflicts(BTreeSet<String>),
}

/// A place with a vault.
pub(crate) struct World {
    place: Place,
    exports: u64,
}

impl World {
    /// A folder with these files, and a vault of it.
    pub(crate) fn new(tree: &Tree) -> Result<Self, String> {
        let world = Self { place: Place::new(), exports: 0 };
        for (path, file) in tree {
            world.edit_on_disk(&Edit::Write { path: path.clone(), body: file.body.clone() })?;
        }
        world.run(&["init"], b"")?;
        Ok(world)
    }

    pub(crate) fn fork(&self, workspace: &str) -> Result<(), String> {
        self.run(&["workspace", "create", workspace], b"")
    }

    /// What somebody does in the folder, with an editor and a shell.
    pub(crate) fn edit_on_disk(&self, edit: &Edit) -> Result<(), String> {
        let at = |path: &String| self.place.project().join(path);
        let done = match edit {
            Edit::Write { path, body } => write_on_disk(&at(path), body),
            Edit::Remove { path } => fs::remove_file(at(path)),
            Edit::Move { from, to } => fs::rename(at(from), at(to)),
            Edit::Mode { path, executable } => {
                let mode = if *executable { 0o755 } else { 0o644 };
                fs::set_permissions(at(path), fs::Permissions::from_mode(mode))
            }
        };
        done.map_err(|error| format!("{edit:?}: {error}"))
    }

    /// What an agent does with the file commands, which know neither links nor modes; nothing is done then.
    pub(crate) fn edit_by_command(&self, workspace: &str, edit: &Edit) -> Result<bool, String> {
        let run = |words: &[&str], input: &[u8]| {
            self.run(&[&["fs"], words, &["-w", workspace]].concat(), input).map(|()| true)
        };
        match edit {
            Edit::Write { body: Body::Link(_), .. } | Edit::Mode { .. } => Ok(false),
            Edit::Write { path, body } => run(&["write", path], &body.bytes()),
            Edit::Remove { path } => run(&["rm", path], b""),
            Edit::Move { from, to } => run(&["mv", from, to], b""),
        }
    }

    /// What an agent does with a program.
    pub(crate) fn edit_by_program(&self, workspace: &str, edits: &[Edit]) -> Result<(), String> {
        let script: String = edits.iter().map(|edit| shell(edit) + "\n").collect();
        let script = format!("set -e\n{script}");
        self.run(&["exec", "-w", workspace, "--", "sh", "-c", &script], b"")
    }

    pub(crate) fn commit(&self, workspace: &str) -> Result<Ended, String> {
        self.with_conflicts(&["commit", "-w", workspace])
    }

    pub(crate) fn pull(&self, workspace: &str) -> Result<Ended, String> {
        self.with_conflicts(&["pull", "-w", workspace])
    }

    pub(crate) fn undo(&self, workspace: &str) -> Result<(), String> {
        self.run(&["undo", "-w", workspace], b"")
    }

    pub(crate) fn redo(&self, workspace: &str) -> Result<(), String> {
        self.run(&["redo", "-w", workspace], b"")
    }

    /// The bytes of a file in a workspace.
    pub(crate) fn read(&self, workspace: &str, path: &str) -> Result<Vec<u8>, String> {
        let words = ["fs", "cat", path, "-w", workspace];
        let output = self.place.run(words);
        if output.status.success() { Ok(output.stdout) } else { Err(said(&words, &output)) }
    }

    pub(crate) fn write(&self, workspace: &str, path: &str, bytes: &[u8]) -> Result<(), String> {
        self.run(&["fs", "write", path, "-w", workspace], bytes)
    }

    /// Decides everything that is left for what the folder has.
    pub(crate) fn resolve_all(&self, workspace: &str) -> Result<(), String> {
        self.run(&["resolve", "--all", "--theirs", "-w", workspace], b"")
    }

    /// What is in the folder.
    pub(crate) fn folder(&self) -> Scan {
        scan(&self.place.project()).unwrap()
    }

    /// What a state of the vault is when it is written out.
    pub(crate) fn state(&mut self, at: &[&str]) -> Result<Scan, String> {
        self.exports += 1;
        let to = self.place.path().join(format!("export-{}", self.exports));
        let words = [&["fs", "export", "/", to.to_str().unwrap()], at].concat();
        self.run(&words, b"")?;
        let found = scan(&to).map_err(|error| error.to_string());
        fs::remove_dir_all(&to).map_err(|error| error.to_string())?;
        found
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        self.run(&["vault", "check"], b"")
    }

    fn run(&self, words: &[&str], input: &[u8]) -> Result<(), String> {
        let output = self.place.run_with(words, input);
        if output.status.success() { Ok(()) } else { Err(said(words, &output)) }
    }

    fn with_conflicts(&self, words: &[&str]) -> Result<Ended, String> {
        let output = self.place.run([words, &["--json"]].concat());
        match output.status.code() {
            Some(0) => Ok(Ended::Well),
            Some(CONFLICT) => Ok(Ended::Conflicts(conflicts(&document_of(&output))?)),
            _ => Err(said(words, &output)),
        }
    }
}

fn said(words: &[&str], output: &std::process::Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{words:?} ended with {}\n{out}{err}", output.status)
}

/// The paths in conflict that a document lists, wherever it has them.
fn conflicts(document: &Value) -> Result<BTreeSet<String>, String> {
    let lists = ["/result/conflicts", "/error/conflicts", "/error/details/conflicts"];
    let list = lists.iter().find_map(|place| document.pointer(place)?.as_array());
    let list = list.ok_or_else(|| format!("no conflicts in {document}"))?;
    let path = |conflict: &Value| {
        let path = conflict["path"].as_str().or_else(|| conflict.as_str());
        path.map(|path| path.trim_start_matches('/').to_owned())
    };
    list.iter()
        .map(path)
        .collect::<Option<_>>()
        .ok_or_else(|| format!("a path lacks in {document}"))
}

/// Writes as programs do: some over the file, some a new one that takes its place.
fn write_on_disk(path: &Path, body: &Body) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match body {
        Body::Link(target) => {
            let new = beside(path);
            symlink(target, &new)?;
            fs::rename(new, path)
        }
        Body::Opaque(_) if path.exists() => {
            let (new, mode) = (beside(path), fs::metadata(path)?.permissions());
            fs::write(&new, body.bytes())?;
            fs::set_permissions(&new, mode)?;
            fs::rename(new, path)
        }
        _ => fs::write(path, body.bytes()),
    }
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension("being-written")
}

/// A change as a line of a shell script.
fn shell(edit: &Edit) -> String {
    match edit {
        Edit::Write { path, body: Body::Link(target) } => format!("ln -sfn '{target}' '{path}'"),
        Edit::Write { path, body } => {
            let bytes = body.bytes();
            let octal: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
            format!("printf '{octal}' > '{path}'")
        }
        Edit::Remove { path } => format!("rm '{path}'"),
        Edit::Move { from, to } => format!("mv '{from}' '{to}'"),
        Edit::Mode { path, executable: true } => format!("chmod 755 '{path}'"),
        Edit::Mode { path, executable: false } => format!("chmod 644 '{path}'"),
    }
}

/// How a scan differs from what the model has; directories do not count.
pub(crate) fn differences(found: &Scan, expected: &Tree) -> Vec<String> {
    let nodes = found.0.iter().filter(|(_, node)| node.kind != Kind::Directory);
    let mut problems = Vec::new();
    for (path, node) in nodes {
        let path = String::from_utf8_lossy(path).into_owned();
        let Some(file) = expected.get(&path) else {
            problems.push(format!("{path} should not be there"));
            continue;
        };
        let bytes = file.body.bytes();
        let same = match &file.body {
            Body::Link(_) => node.target.as_deref() == Some(bytes.as_slice()),
            _ => {
                node.hash == Some(*blake3::hash(&bytes).as_bytes())
                    && (node.mode & 0o111 != 0) == file.executable
            }
        };
        if !same {
            problems.push(format!("{path} should be {file:?} and is {node:?}"));
        }
    }
    let lacks = |path: &&String| !found.0.contains_key(path.as_bytes());
    problems.extend(expected.keys().filter(lacks).map(|path| format!("{path} is missing")));
    problems
}

/// How two scans differ in anything at all.
pub(crate) fn scans_differ(before: &Scan, after: &Scan) -> Result<(), String> {
    let found = compare(before, after, &CompareOptions::default());
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}
