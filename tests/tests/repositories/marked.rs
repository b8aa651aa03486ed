//! Files that git was told to overlook, and files that were only announced to it.

use offshoot_needs::needs;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

const COMMIT_GIT: [&str; 8] =
    ["commit", "-w", "fix", "--git", "-m", "by offshoot", "--author", AUTHOR];
const MARKS: [&str; 2] = ["skip-worktree", "assume-unchanged"];

/// A folder with a long file, which a person did something with before an agent changed its end.
fn long(person: &str) -> World {
    let world = world();
    world.ok(Side::Folder, "seq 30 > long; seq 30 > longer; git add .; git commit -qm long");
    world.ok(Side::Folder, person);
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "echo theirs >> long");
    world
}

/// What somebody hides from git is not committed by somebody else.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_change_that_git_overlooks_is_not_committed() {
    for mark in MARKS {
        let world =
            long(&format!("git update-index --{mark} long; sed -i 1s/.*/password/ long; sync"));
        let before = world.state(Side::Folder);
        for arguments in [&COMMIT_GIT[..], &[&COMMIT_GIT[..], &["--dry-run"]].concat()] {
            let said = world.product(arguments);
            assert_eq!(said.code, Some(4), "{mark}: {said:#?}");
            let reason = "1 file of this commit had changes in the folder that git was told to overlook: /long";
            let way = format!("git update-index --no-{mark} -- long");
            assert!(said.err.contains(reason) && said.err.contains(&way), "{mark}: {said:#?}");
            assert_eq!(world.state(Side::Folder), before, "{mark}");
        }
        // The way on.
        world.typed(&format!("git update-index --no-{mark} -- long; git stash push -q"));
        world.done(&COMMIT_GIT);
        let shown = world.ok(Side::Folder, "git show HEAD:long; git status --porcelain");
        assert!(shown.ends_with("30\ntheirs\n") && !shown.contains("password"), "{mark}: {shown}");
        whole(&world);
    }
}

/// A file that git overlooks is committed where it has nothing to hide, and stays overlooked. `undo` and `redo` are exact.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_is_overlooked_stays_so_after_a_git_commit() {
    for agent in ["", "rm longer", "rm longer; mkdir longer; echo deep > longer/deep"] {
        let marks = "git update-index --skip-worktree long; git update-index --assume-unchanged longer
             git update-index --skip-worktree --assume-unchanged a; git update-index --skip-worktree a";
        let world = long(marks);
        world.ok(FIX, &format!("echo more >> a; {agent}"));
        back_and_forth(&world);
        let marked = world.ok(Side::Folder, "git ls-files -v a long");
        assert_eq!(marked, "s a\nS long\n", "{agent}");
    }
}

/// An announced file is a new one for git, after a redo as well.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_was_announced_is_committed_by_a_redo_as_well() {
    for more in
        ["", "echo staged > staged; git add staged", "echo more >> a; git add a; echo more >> a"]
    {
        let world = long("");
        world.ok(FIX, &format!("echo new > n; git add -N n; {more}"));
        back_and_forth(&world);
        let said = world.ok(Side::Folder, "git status --porcelain; git ls-tree --name-only HEAD n");
        assert_eq!(said, "n\n", "{more}");
        whole(&world);
    }
}

/// Commits with git, takes that back, and brings it back.
fn back_and_forth(world: &World) {
    let states = || [world.state(Side::Folder), world.state(FIX)];
    let before = states();
    world.done(&COMMIT_GIT);
    let after = states();
    for _ in 0..2 {
        let said = world.done(&["undo", "-w", "fix"]);
        assert_eq!(states(), before, "{said}");
        let said = world.done(&["redo", "-w", "fix"]);
        assert_eq!(states(), after, "{said}");
    }
}

/// What a sparse checkout in the workspace leaves out is not deleted in git.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_a_sparse_checkout_leaves_out_stays_in_git() {
    // What is deleted in git too is deleted, unless the index only has the directory.
    let gone = "git rm -q --cached --sparse d/gone";
    for (sparse, person, agent) in
        [("", "", gone), (" --sparse-index", "", ""), ("", "echo s > s; git add s", gone)]
    {
        let world = world();
        let deep = "mkdir d e; seq 9 > d/deep; seq 7 > d/gone; seq 8 > e/e; git add d e; git commit -qm deep";
        world.ok(Side::Folder, deep);
        world.done(&["pull", "-w", "fix"]);
        world.ok(Side::Folder, person);
        let set = "git config index.sparse false; git sparse-checkout set --cone";
        world.ok(FIX, &format!("{set}{sparse} e; test ! -e d; echo more >> e/e"));
        world.ok(FIX, agent);
        let [status, left, shown] = match agent {
            "" => [" M e/e\n", "2 files", "e/e\nd/deep\nd/gone\n"],
            _ => ["D  d/gone\n M e/e\n", "1 file", "d/gone\ne/e\nd/deep\n"],
        };
        assert_eq!(world.ok(FIX, "git status --porcelain"), status);
        let before = world.state(Side::Folder);
        let said = world.done(&COMMIT_GIT);
        let told = format!(
            "git: {left} left out by the sparse checkout of fix: gone from the working tree, still in git"
        );
        let disable = "`git sparse-checkout disable` brings";
        assert!(said.contains(&told), "{sparse} {person}: {said}");
        assert_eq!(said.contains(disable), person.is_empty(), "{said}");
        let show = "git show --format= --name-only; git ls-tree -r --name-only HEAD d";
        assert_eq!(world.ok(Side::Folder, show), shown, "{sparse} {person}");
        // Git expands a sparse index when it changes it, so that is not as it was.
        if sparse.is_empty() {
            let after = world.state(Side::Folder);
            let said = world.done(&["undo", "-w", "fix"]);
            assert_eq!(world.state(Side::Folder), before, "{sparse} {person}: {said}");
            world.done(&["redo", "-w", "fix"]);
            assert_eq!(world.state(Side::Folder), after, "{sparse} {person}");
        }
        assert_eq!([world.damage(Side::Folder), world.damage(FIX)], [None, None]);
        if person.is_empty() {
            world.typed("git sparse-checkout disable");
            assert_eq!(
                world.ok(Side::Folder, "cat d/deep; git status --porcelain").lines().count(),
                9
            );
        }
    }
}
