//! A `commit --git`, its undo or its redo that is killed between the files and git: that is remembered until it is settled.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use offshoot_needs::needs;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

const COMMIT_GIT: [&str; 8] =
    ["commit", "-w", "fix", "--git", "-m", "by offshoot", "--author", AUTHOR];

/// Runs the product with a git that kills it when it is to do this.
fn killed_at(world: &World, step: &str, arguments: &[&str]) {
    let output = with_git(world, &format!("*{step}*) kill -9 $PPID; exit 1;;"), arguments);
    assert_eq!(output.status.code(), None, "{output:?}");
}

/// The same when it has done this.
fn killed_after(world: &World, step: &str, arguments: &[&str]) {
    let path = std::env::var("PATH").unwrap();
    let case = format!("*{step}*) PATH='{path}' git \"$@\"; kill -9 $PPID; exit 1;;");
    let output = with_git(world, &case, arguments);
    assert_eq!(output.status.code(), None, "{output:?}");
}

/// Runs the product with a git of which some calls are others.
fn with_git(world: &World, case: &str, arguments: &[&str]) -> Output {
    let bin = world.place.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = format!("#!/bin/sh\ncase \"$*\" in {case} esac\nPATH='{path}' exec git \"$@\"\n");
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{path}", bin.display());
    world.place.command(arguments).env("PATH", path).output().unwrap()
}

/// The files reached the folder, and git does not have them.
fn killed(step: &str) -> World {
    let world = world();
    world.ok(FIX, "echo two > a; echo new > n; rm b");
    killed_at(&world, step, &COMMIT_GIT);
    assert_eq!(world.ok(Side::Folder, "cat a n; git log --format=%s"), "two\nnew\nfirst\n");
    world
}

/// Every command says that it is missing, and how to get it.
fn assert_said(world: &World) {
    for command in [&["status", "-w", "fix"][..], &["workspace", "list"], &["pull", "--head"]] {
        let said = world.product(command);
        assert!(said.is_well() && said.err.contains("was not made"), "{command:?}: {said:#?}");
        assert!(said.err.contains("`offshoot commit -w fix --git`"), "{command:?}: {said:#?}");
    }
    let said = world.product(&["--vault", "project", "workspace", "list"]);
    assert!(said.err.contains("`offshoot commit --vault project -w fix --git`"), "{said:#?}");
}

fn assert_silent(world: &World) {
    let said = world.product(&["status", "-w", "fix"]);
    assert!(!said.err.contains("was not made"), "{said:#?}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_commit_that_was_not_made_is_made_later() {
    for step in ["write-tree", "commit-tree", "update-ref"] {
        let world = killed(step);
        let left = world.sh(Side::Folder, "ls -d .git/offshoot-index-*").is_well();
        assert_eq!(left, step == "write-tree", "{step}");
        assert_said(&world);
        let document = world.document(&["commit", "-w", "fix", "--git"]);
        assert!(document["result"]["git"]["commit"].is_string(), "{step}: {document}");
        let log = "git log -1 --format='%s %an'; git --no-optional-locks status --porcelain";
        assert_eq!(world.ok(Side::Folder, log), "by offshoot Ann\n", "{step}");
        assert_silent(&world);
        whole(&world);
        assert!(!world.sh(Side::Folder, "ls -d .git/offshoot-index-*").is_well(), "{step}");
        assert_eq!(world.ok(FIX, log), "by offshoot Ann\n", "the workspace has it too");
        // It is taken back like any other.
        world.done(&["undo", "-w", "fix"]);
        assert_eq!(world.ok(Side::Folder, "git log --format=%s; cat a"), "first\none\n");
        whole(&world);
    }
}

/// What came later is a commit of its own.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_late_git_commit_comes_before_the_next_one() {
    let world = killed("commit-tree");
    world.ok(FIX, "echo three > a");
    world.done(&["commit", "-w", "fix", "--git", "-m", "later", "--author", AUTHOR]);
    let log = "git log --format=%s; git show HEAD~1:a; git show HEAD:a; git status --porcelain";
    assert_eq!(world.ok(Side::Folder, log), "later\nby offshoot\nfirst\ntwo\nthree\n");
    assert_silent(&world);
    whole(&world);
}

/// Whoever committed it by hand has it, and nobody commits over what they did since.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_late_git_commit_takes_nothing_back() {
    let world = killed("commit-tree");
    world.ok(Side::Folder, "git add -A; git commit -qm mine");
    world.done(&["commit", "-w", "fix", "--git"]);
    assert_eq!(
        world.ok(Side::Folder, "git log --format=%s; git status --porcelain"),
        "mine\nfirst\n"
    );
    assert_silent(&world);

    for stages in ["git commit -qam mine", "git add a"] {
        let world = killed("commit-tree");
        world.ok(Side::Folder, &format!("echo newer > a; {stages}"));
        let before = world.ok(Side::Folder, "git rev-parse HEAD; git ls-files -s; cat a");
        let refused = world.product(&["commit", "-w", "fix", "--git"]);
        assert_eq!(refused.code, Some(4), "{stages}: {refused:#?}");
        assert!(refused.err.contains("/a"), "{stages}: {refused:#?}");
        assert_eq!(world.ok(Side::Folder, "git rev-parse HEAD; git ls-files -s; cat a"), before);
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_undone_commit_needs_no_git_commit() {
    let world = killed("commit-tree");
    world.done(&["undo", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "cat a; git status --porcelain"), "one\n");
    assert_silent(&world);
    whole(&world);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_interrupted_redo_is_finished() {
    let commit: &[&str] = &["commit", "-w", "fix", "--git", "--author", AUTHOR];
    for finish in [&["redo", "-w", "fix"][..], commit] {
        let world = world();
        world.ok(FIX, "echo two > a");
        world.done(&COMMIT_GIT);
        world.done(&["undo", "-w", "fix"]);
        killed_at(&world, "update-ref", &["redo", "-w", "fix"]);
        assert_eq!(world.ok(Side::Folder, "cat a; git log --format=%s"), "two\nfirst\n");
        assert_said(&world);
        world.done(finish);
        let log = "git log --format=%s; git status --porcelain";
        assert_eq!(world.ok(Side::Folder, log), "by offshoot\nfirst\n", "{finish:?}");
        assert_silent(&world);
        whole(&world);
        world.done(&["undo", "-w", "fix"]);
        assert_eq!(world.ok(Side::Folder, "git log --format=%s; cat a"), "first\none\n");
        whole(&world);
    }
}

/// A lock says that a git is at work in the folder: in a copy there is none.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn locks_of_git_are_no_part_of_a_workspace() {
    let world = world();
    let locks =
        "index.lock HEAD.lock config.lock packed-refs.lock refs/heads/main.lock shallow.lock";
    world.ok(Side::Folder, &format!("cd .git; touch {locks}; echo x > ../kept.lock"));
    world.done(&["new", "late"]);
    let late = Side::Workspace("late");
    world.ok(late, "test -e kept.lock; echo two > a; git commit -qam theirs; git config x.y z; git pack-refs --all");
    assert_eq!(world.ok(late, "find .git -name '*.lock'"), "");
    world.ok(late, "touch .git/index.lock .git/refs/heads/side.lock");
    world.ok(Side::Folder, &format!("cd .git; rm {locks}"));
    world.done(&["commit", "-w", "late"]);
    assert_eq!(
        world.ok(Side::Folder, "find .git -name '*.lock'; git log -1 --format=%s"),
        "theirs\n"
    );
}

/// Git has moved, and whoever did that died before it was remembered: it is known, and taken back with the files.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_commit_that_was_made_and_not_remembered_is_taken_back() {
    for first in [&["status", "-w", "fix"][..], &[]] {
        let world = world();
        world.ok(FIX, "echo two > a; echo new > n; rm b");
        let before = world.ok(Side::Folder, "git rev-parse HEAD");
        killed_after(&world, "update-ref", &COMMIT_GIT);
        let log = "git log --format=%s; git --no-optional-locks status --porcelain";
        assert_eq!(world.ok(Side::Folder, log), "by offshoot\nfirst\n");
        let made = world.ok(Side::Folder, "git rev-parse HEAD");
        if !first.is_empty() {
            let said = world.product(first);
            assert!(said.is_well() && !said.err.contains("was not made"), "{said:#?}");
        }
        let said = world.done(&["undo", "-w", "fix"]);
        assert_eq!(world.ok(Side::Folder, "git rev-parse HEAD"), before, "{said}");
        assert_eq!(world.ok(Side::Folder, "git status --porcelain; cat a"), "one\n", "{said}");
        whole(&world);
        let said = world.done(&["redo", "-w", "fix"]);
        assert_eq!(world.ok(Side::Folder, "git rev-parse HEAD"), made, "{said}");
        assert_eq!(world.ok(Side::Folder, "git status --porcelain; cat a"), "two\n", "{said}");
        assert_silent(&world);
    }
}

/// As long as git fails for a reason that may pass, the git commit is still to be made.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_failed_twice_is_still_to_be_made() {
    let world = killed("commit-tree");
    for _ in 0..2 {
        let commit = ["commit", "-w", "fix", "--git"];
        let failed = with_git(&world, "*commit-tree*) exit 1;;", &commit);
        assert!(failed.status.code().is_some_and(|code| code != 0), "{failed:?}");
        assert_said(&world);
    }
    world.done(&["commit", "-w", "fix", "--git"]);
    assert_eq!(world.ok(Side::Folder, "git log --format=%s"), "by offshoot\nfirst\n");
    assert_silent(&world);
}

/// The repository that a dry run tries the commit in goes with the next collection, if the dry run could not take it away.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_a_killed_dry_run_left_is_collected() {
    let world = world();
    world.ok(FIX, "echo two > a");
    killed_at(&world, "commit-tree", &[&COMMIT_GIT[..], &["--dry-run"]].concat());
    let left = || {
        let found = std::process::Command::new("find")
            .arg(world.place.path())
            .args(["-name", "scratch-*", "-prune", "-print"])
            .output()
            .unwrap();
        String::from_utf8(found.stdout).unwrap().lines().count()
    };
    assert_eq!(left(), 1);
    world.done(&["gc", "--dry-run"]);
    assert_eq!(left(), 1);
    world.done(&["gc"]);
    assert_eq!(left(), 0);
    // One that lives takes its own away.
    world.done(&[&COMMIT_GIT[..], &["--dry-run"]].concat());
    assert_eq!(left(), 0);
}

/// The other way on: the person commits it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_that_the_person_made_is_not_missing() {
    for take in ["git add -A; git commit -qm mine", "git checkout -q .; rm n"] {
        let world = killed("write-tree");
        world.ok(Side::Folder, "echo other > other");
        assert_said(&world);
        world.ok(Side::Folder, take);
        assert_silent(&world);
        world.done(&COMMIT_GIT);
    }
}
