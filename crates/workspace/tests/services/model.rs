//! Random operations against a plain map.

use std::collections::BTreeMap;

use offshoot_store::Id;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_vault::{CheckDepth, Scope, WorkspaceRecord};
use offshoot_workspace::CopyOptions;

use crate::support::{Bench, path};

/// Files by path; a directory is there while something is in it, as everything is made with its parents.
type Files = BTreeMap<String, String>;

/// A workspace, what it should hold, and what it held before each operation that stands.
struct Line {
    workspace: WorkspaceRecord,
    now: Files,
    undo: Vec<Files>,
    redo: Vec<Files>,
}

impl Line {
    /// An operation that changed nothing cannot be undone.
    fn step(&mut self, next: Files, operation: Option<Id>) {
        if operation.is_some() {
            self.undo.push(std::mem::replace(&mut self.now, next));
            self.redo.clear();
        }
    }
}

const FILES: [&str; 8] = ["/a", "/b", "/d/a", "/d/b", "/d/e/a", "/d/e/b", "/f/a", "/f/g/a"];

fn held(bench: &Bench, name: &str) -> Files {
    let is_file = |path: &String| {
        let entry = bench.files().stat(&bench.root(name), &crate::support::path(path)).unwrap();
        entry.directory().is_none()
    };
    let files = bench.paths(name).into_iter().filter(is_file);
    files.map(|path| (path.clone(), bench.read(name, &path).unwrap())).collect()
}

fn act(bench: &Bench, line: &mut Line, rng: &mut Rng) {
    let workspace = line.workspace.clone();
    let one = (*rng.pick(&FILES).unwrap()).to_owned();
    let other = (*rng.pick(&FILES).unwrap()).to_owned();
    let mut next = line.now.clone();
    match rng.below(8) {
        0..=2 => {
            let text = rng.below(50).to_string();
            let edited = bench.write(&workspace, &one, &text);
            next.insert(one, text);
            line.step(next, edited.operation);
        }
        3 => {
            let removed = bench.files().remove(&workspace, &[path(&one)], false);
            assert_eq!(removed.is_ok(), next.remove(&one).is_some());
            line.step(next, removed.ok().and_then(|edited| edited.operation));
        }
        4 | 5 => {
            let parent = path(&other).parent().unwrap();
            let has_parent =
                parent.is_top() || bench.paths(&workspace.name).contains(&parent.to_string());
            let copies = rng.one_in(2);
            let done = if copies {
                let options = CopyOptions::default();
                bench.files().copy(&workspace, &path(&one), &path(&other), options)
            } else {
                bench.files().rename(&workspace, &path(&one), &path(&other))
            };
            let text = next.get(&one).cloned();
            assert_eq!(done.is_ok(), text.is_some() && has_parent, "{one} to {other}");
            let (Ok(edited), Some(text)) = (done, text) else { return };
            if !copies {
                next.remove(&one);
            }
            next.insert(other, text);
            line.step(next, edited.operation);
        }
        6 => {
            // One more would undo the making of the workspace.
            let Some(before) = line.undo.pop() else { return };
            bench.undo(&workspace);
            line.redo.push(std::mem::replace(&mut line.now, before));
        }
        _ => {
            let redone = bench.history().redo(Scope::Workspace(workspace.id));
            assert_eq!(redone.is_ok(), !line.redo.is_empty());
            let Some(after) = line.redo.pop() else { return };
            line.undo.push(std::mem::replace(&mut line.now, after));
        }
    }
}

#[test]
fn workspaces_do_what_a_map_would() {
    let seed = seed_from_env_or(23);
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let bench = Bench::new();
    let mut lines: Vec<Line> = ["one", "two"]
        .map(|name| Line {
            workspace: bench.fork(name),
            now: Files::new(),
            undo: Vec::new(),
            redo: Vec::new(),
        })
        .into();
    for _ in 0..250 {
        let at = rng.below(lines.len() as u64) as usize;
        act(&bench, &mut lines[at], &mut rng);
        for line in &lines {
            assert_eq!(held(&bench, &line.workspace.name), line.now);
        }
    }
    let report = bench.vault.check(CheckDepth::Content).unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
}
