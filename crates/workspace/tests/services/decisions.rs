//! Whatever two sides did at a path: nothing of either is lost before somebody decides, and who decides for a side gets what that side has,
//! there and everywhere else.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use offshoot_tree::ConflictKind;
use offshoot_tree::merge::MergeOptions;
use offshoot_tree::{Body, Entry, RootId, Tree, VaultPath};
use offshoot_vault::{ImportOptions, WorkspaceRecord};
use offshoot_workspace::{
    ConflictService, MergeRequest, MergeService, MergeTarget, OpenConflict, Resolution,
    ResolveOptions,
};

use crate::support::{Bench, path};

/// What a side does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    EditFile,
    BinaryFile,
    DeleteFile,
    FileToDirectory,
    FileToLink,
    EditBelow,
    BinaryBelow,
    AddBelow,
    DeleteDirectory,
    DirectoryToFile,
    DirectoryToLink,
    MoveParent,
    MoveParentElsewhere,
    MoveDirectory,
    MoveInto,
    MoveOnto,
}

const ACTS: [Act; 16] = [
    Act::EditFile,
    Act::BinaryFile,
    Act::DeleteFile,
    Act::FileToDirectory,
    Act::FileToLink,
    Act::EditBelow,
    Act::BinaryBelow,
    Act::AddBelow,
    Act::DeleteDirectory,
    Act::DirectoryToFile,
    Act::DirectoryToLink,
    Act::MoveParent,
    Act::MoveParentElsewhere,
    Act::MoveDirectory,
    Act::MoveInto,
    Act::MoveOnto,
];

/// Lines that no other name has.
fn lines(name: &str) -> String {
    (1..=25).map(|number| format!("{name} has the line {number}\n")).collect()
}

impl Act {
    /// Does it on behalf of a side.
    fn carry_out(self, bench: &Bench, workspace: &WorkspaceRecord, side: &str) {
        let remove = |at: &str| drop(bench.files().remove(workspace, &[path(at)], true).unwrap());
        let rename = |from: &str, to: &str| {
            bench.files().rename(workspace, &path(from), &path(to)).unwrap();
        };
        let write = |at: &str, text: &str| {
            let now = bench.vault.workspace(&workspace.id).unwrap().unwrap();
            bench.write(&now, at, text);
        };
        let edited = |name: &str| lines(name).replace("line 3\n", &format!("line of {side}\n"));
        let binary = format!("\0 of {side}");
        match self {
            Self::EditFile => write("/dir/z", &edited("z")),
            Self::BinaryFile => write("/dir/z", &binary),
            Self::DeleteFile => remove("/dir/z"),
            Self::FileToDirectory => {
                remove("/dir/z");
                write("/dir/z/in", &format!("precious of {side}\n"));
            }
            Self::FileToLink => {
                remove("/dir/z");
                rename("/link", "/dir/z");
            }
            Self::EditBelow => write("/dir/sub/q", &edited("q")),
            Self::BinaryBelow => write("/dir/sub/q", &binary),
            Self::AddBelow => write("/dir/sub/new", &format!("new of {side}\n")),
            Self::DeleteDirectory => remove("/dir/sub"),
            Self::DirectoryToFile => {
                remove("/dir/sub");
                write("/dir/sub", &format!("file of {side}\n"));
            }
            Self::DirectoryToLink => {
                remove("/dir/sub");
                rename("/link", "/dir/sub");
            }
            Self::MoveParent => rename("/dir", "/dir2"),
            Self::MoveParentElsewhere => rename("/dir", &format!("/of-{side}")),
            Self::MoveDirectory => rename("/dir/sub", "/sub2"),
            Self::MoveInto => rename("/other", "/dir/sub/other"),
            Self::MoveOnto => {
                remove("/dir/sub");
                rename("/other", "/dir/sub");
            }
        }
    }

    /// Where something is after it.
    fn moves(self, side: &str, at: &str) -> String {
        let elsewhere = format!("/of-{side}");
        let (from, to) = match self {
            Self::MoveParent => ("/dir", "/dir2"),
            Self::MoveParentElsewhere => ("/dir", elsewhere.as_str()),
            Self::MoveDirectory => ("/dir/sub", "/sub2"),
            Self::MoveInto => ("/other", "/dir/sub/other"),
            Self::MoveOnto => ("/other", "/dir/sub"),
            _ => return at.to_owned(),
        };
        match at.strip_prefix(from) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{to}{rest}"),
            _ => at.to_owned(),
        }
    }
}

type Leaves = BTreeMap<String, Vec<u8>>;

/// What an entry holds.
fn bytes(bench: &Bench, entry: &Entry) -> Vec<u8> {
    match &entry.body {
        Body::File { blob, .. } => bench.vault.objects().unwrap().blob(blob).unwrap(),
        Body::Symlink { target } => [b"-> ", target.as_slice()].concat(),
        _ => Vec::new(),
    }
}

/// Everything at an entry and below that is no directory.
fn below(bench: &Bench, tree: &Tree<'_>, at: &VaultPath, entry: &Entry, into: &mut Leaves) {
    let Some(directory) = entry.directory() else {
        into.insert(at.to_string(), bytes(bench, entry));
        return;
    };
    let mut visit = |path: &VaultPath, entry: &Entry| {
        if entry.directory().is_none() {
            into.insert(path.to_string(), bytes(bench, entry));
        }
        Ok(())
    };
    tree.walk(at, directory, &mut visit).unwrap();
}

fn leaves(bench: &Bench, root: &RootId) -> Leaves {
    let tree = bench.vault.tree(root).unwrap();
    let mut leaves = Leaves::new();
    below(bench, &tree, &VaultPath::top(), tree.top(), &mut leaves);
    leaves
}

/// Whether content has all that is a side's own in other content.
fn has(found: &[u8], wanted: &[u8], side: &str) -> bool {
    let (found, wanted) = (String::from_utf8_lossy(found), String::from_utf8_lossy(wanted));
    let own = format!("of {side}");
    let mut own = wanted.lines().filter(|line| line.ends_with(&own)).peekable();
    found == wanted || own.peek().is_some() && own.all(|line| found.contains(line))
}

/// One side of a merge.
struct Side {
    act: Act,
    name: &'static str,
    leaves: Leaves,
}

struct Case<'b> {
    bench: &'b Bench,
    base: Leaves,
    sides: [Side; 2],
}

impl Case<'_> {
    /// What is wrong with a merge that nobody decided yet.
    fn check_kept(&self, root: &RootId, conflicts: &[OpenConflict]) -> Vec<String> {
        let tree = self.bench.vault.tree(root).unwrap();
        let mut kept: Vec<Vec<u8>> = leaves(self.bench, root).into_values().collect();
        for version in conflicts.iter().flat_map(|conflict| conflict.record.versions()) {
            let mut found = Leaves::new();
            below(self.bench, &tree, &version.path, &version.entry, &mut found);
            kept.extend(found.into_values());
        }
        let mut wrong = Vec::new();
        for side in &self.sides {
            for (at, wanted) in &side.leaves {
                let is_own = !self.base.values().any(|before| before == wanted);
                if is_own && !kept.iter().any(|found| has(found, wanted, side.name)) {
                    wrong.push(format!("{at} of {} is not kept", side.name));
                }
            }
        }
        wrong
    }

    /// What is wrong with what was decided for a side.
    fn check(&self, result: &Leaves, chosen: usize, conflicts: &[OpenConflict]) -> Vec<String> {
        let (side, other) = (&self.sides[chosen], &self.sides[1 - chosen]);
        let in_conflict = |at: &str| {
            let at = path(at);
            conflicts.iter().any(|conflict| at.is_within(&conflict.path))
        };
        let mut wrong = Vec::new();
        for (at, wanted) in &side.leaves {
            let moved = other.act.moves(other.name, at);
            let places = [at.as_str(), moved.as_str()];
            let found = places.iter().filter_map(|at| result.get(*at));
            let is_there = found.clone().any(|found| has(found, wanted, side.name));
            let is_own = self.base.get(at) != Some(wanted);
            let others = [at, &moved].map(|at| other.leaves.get(at));
            let is_others = !is_own
                && !places.iter().any(|at| in_conflict(at))
                && (found.clone().next().is_none() && others.iter().all(Option::is_none)
                    || found.clone().any(|found| others.contains(&Some(found))));
            // A link is not followed where it was moved to, so both have to have it.
            let is_link = wanted.starts_with(b"-> ") && !is_own;
            if !is_there && !is_others && !is_link {
                wrong.push(format!("{at} of {} is gone or changed", side.name));
            }
        }
        // What could not follow a directory is not in question, only its place is.
        let only_place = |at: &str| {
            let mut found = conflicts.iter().filter(|conflict| path(at).is_within(&conflict.path));
            found.all(|conflict| conflict.record.kinds == [ConflictKind::DirectoryRename])
        };
        for at in result.keys().filter(|at| !only_place(at)) {
            let has_it = side.leaves.contains_key(at)
                || side.leaves.keys().any(|own| other.act.moves(other.name, own) == *at);
            if !has_it {
                wrong.push(format!("{at} is not {}'s", side.name));
            }
        }
        wrong.extend(result.keys().filter(|at| at.contains('~')).cloned());
        wrong
    }
}

/// A vault in which every act was done by both sides, each in a workspace of its own.
fn everything() -> Bench {
    let bench = Bench::of(&[
        ("dir/z", &lines("z")),
        ("dir/x", &lines("x")),
        ("dir/sub/q", &lines("q")),
        ("dir/sub/r", &lines("r")),
        ("other", &lines("other")),
        ("stays", "stays\n"),
    ]);
    let links = bench.place.join("links");
    fs::create_dir(&links).unwrap();
    symlink("stays", links.join("link")).unwrap();
    let base = bench.fork("base");
    let options = ImportOptions::default();
    bench.files().import(&base, &links, &path("/links"), &options).unwrap();
    bench.files().rename(&base, &path("/links/link"), &path("/link")).unwrap();
    bench.files().remove(&base, &[path("/links")], true).unwrap();
    for act in ACTS {
        for side in ["a", "b"] {
            let workspace = bench.fork_from(&format!("{side}-{act:?}"), "base");
            act.carry_out(&bench, &workspace, side);
        }
    }
    bench
}

#[test]
fn deciding_for_a_side_gives_what_it_has() {
    let bench = everything();
    let base = leaves(&bench, &bench.root("base"));
    let mut wrong: Vec<String> = Vec::new();
    let (mut decided, mut disputes) = (0, 0);
    for (first, second) in ACTS.iter().flat_map(|a| ACTS.iter().map(move |b| (*a, *b))) {
        let names = [format!("a-{first:?}"), format!("b-{second:?}")];
        let side = |act, name, at: usize| Side {
            act,
            name,
            leaves: leaves(&bench, &bench.root(&names[at])),
        };
        let sides = [side(first, "a", 0), side(second, "b", 1)];
        let case = Case { bench: &bench, base: base.clone(), sides };
        let points = names.each_ref().map(|name| bench.point(name));
        let into = format!("{first:?}-{second:?}");
        let request = MergeRequest {
            sides: &points,
            into: MergeTarget::New(&into),
            message: None,
            options: MergeOptions::default(),
        };
        let merged = MergeService::new(&bench.vault, &bench.actor).merge(&request).unwrap();
        let mut note = |what: &str, found: Vec<String>| {
            wrong.extend(found.into_iter().map(|found| format!("{into} {what}: {found}")));
        };
        note("merged", case.check_kept(&bench.root(&into), &merged.conflicts));
        if merged.conflicts.is_empty() {
            continue;
        }
        let is_dispute =
            |conflict: &OpenConflict| conflict.record.kinds.contains(&ConflictKind::DirectoryFile);
        disputes += usize::from(merged.conflicts.iter().any(is_dispute));
        let workspace = bench.workspaces().list().unwrap();
        let workspace = workspace.into_iter().find(|found| found.name == into).unwrap();
        for (chosen, resolution) in [Resolution::First, Resolution::Last].into_iter().enumerate() {
            // Only texts with markers are not taken whole anyway.
            let marked = merged.conflicts.iter().any(|conflict| conflict.record.has_markers());
            for whole in if marked { &[false, true][..] } else { &[false] } {
                let whole = *whole;
                let options = ResolveOptions { force: false, whole };
                let service = ConflictService::new(&bench.vault, &bench.actor);
                let words = format!("{resolution:?} whole={whole}");
                match service.resolve(&workspace, &[], &resolution, options) {
                    Ok(done) => {
                        let result = leaves(&bench, &done.edited.snapshot.root);
                        note(&words, case.check(&result, chosen, &merged.conflicts));
                        assert_eq!(done.left, 0, "{into} {words}");
                        decided += 1;
                        bench.undo(&workspace);
                    }
                    Err(error) => note(&words, vec![error.to_string()]),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(decided > 200 && disputes > 20, "{decided} decided, {disputes} disputes");
}
