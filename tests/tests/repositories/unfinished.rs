//! A workspace in the middle of a rebase, and a person who switched to another branch: what is said leads on.

use offshoot_needs::needs;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

/// A workspace with two commits, stopped at the first of them by a rebase.
fn rebasing() -> World {
    let world = world();
    world.ok(
        FIX,
        "echo x > x; git add x; git commit -qm x; echo y > y; git add y; git commit -qm y
         GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~2 2> /dev/null; test ! -e y",
    );
    world
}

const CONTINUE: &str = "git rebase --continue > /dev/null 2>&1";
const STATE: &str = "git symbolic-ref HEAD; git log --format=%s; git status --porcelain";

/// What a rebase has checked out in between is not checked out in the folder.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_rebase_does_not_detach_the_folder() {
    let world = rebasing();
    let said = world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "git symbolic-ref HEAD"), "refs/heads/main\n", "{said}");
    let why = "HEAD and index stay as they are: the other side has a merge or rebase in progress";
    assert!(said.contains(why), "{said}");
    let way =
        "to merge it, once what is in progress in fix is finished: `offshoot commit -w fix --git`";
    assert!(said.contains(way), "{said}");
    assert_eq!(world.ok(Side::Folder, STATE), "refs/heads/main\nfirst\n?? x\n", "{said}");
    world.ok(FIX, CONTINUE);
    let said = world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, STATE), "refs/heads/main\ny\nx\nfirst\n", "{said}");
    whole(&world);
}

/// Who asks for a git commit in the middle is told to finish first, not to record a merge without the rest.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_commit_in_the_middle_of_a_rebase_waits_for_its_end() {
    let world = rebasing();
    world.ok(Side::Folder, "echo z > z; git add z; git commit -qm z");
    world.done(&["commit", "-w", "fix"]);
    let commit = ["commit", "-w", "fix", "--git", "--author", AUTHOR];
    let refused = world.product(&commit);
    assert_eq!(refused.code, Some(4), "{refused:#?}");
    let hint = "once what is in progress in fix is finished: `offshoot commit -w fix --git`";
    assert!(refused.err.contains(hint), "{refused:#?}");
    world.ok(FIX, CONTINUE);
    for _ in 0..2 {
        world.done(&commit);
    }
    let state = "git status --porcelain; git branch --list 'offshoot/*'; git ls-files x y z";
    assert_eq!(world.ok(Side::Folder, state), "x\ny\nz\n");
    whole(&world);
}

/// A rebase does not go on over files that a pull changed: what is said takes the pull back first.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_pull_into_a_rebase_has_a_way_on() {
    let world = rebasing();
    world.ok(Side::Folder, "echo more >> a; git commit -qam mine");
    let document = world.document(&["pull", "-w", "fix"]);
    let notes = document["result"]["repositories"].as_array().unwrap().clone();
    let note = notes.iter().find(|note| note["name"] == "refs/heads/main").unwrap();
    let commands: Vec<&str> = note["way_on"]["commands"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it.as_str())
        .collect();
    let said = world.typed(&commands.join(" && "));
    assert!(said.is_well(), "{commands:?}: {said:#?}");
    let state = "git symbolic-ref HEAD; git log --format=%s -1; ls; tail -1 a";
    assert_eq!(world.ok(FIX, state), "refs/heads/main\ny\na\nb\nx\ny\nmore\n", "{said:#?}");
    assert!(said.out.contains("offshoot/folder/main"), "{said:#?}");
}

/// The commits are on the branch that the person left, and the files in the folder: a merge records them there.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_person_who_switched_has_a_way_on() {
    for (mine, merges) in [("true", 1), ("echo m > m; git add m; git commit -qm mine", 1)] {
        let world = world();
        world.ok(FIX, "echo two > a; echo new > n; git add a n; git commit -qm theirs");
        world.ok(Side::Folder, &format!("git checkout -q -b other; {mine}"));
        let planned = world.done(&["commit", "-w", "fix", "--dry-run"]);
        let document = world.document(&["commit", "-w", "fix"]);
        let notes = document["result"]["repositories"].as_array().unwrap().clone();
        let note = notes.iter().find(|note| note["event"] == "checkout-stayed").unwrap();
        assert_eq!(note["why"], "other is checked out there, not main", "{document}");
        assert_eq!(note["way_on"]["goal"], "record", "{document}");
        let commands: Vec<&str> = note["way_on"]["commands"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|it| it.as_str())
            .collect();
        let commands = commands.join(" && ");
        assert!(planned.contains(&commands), "{planned}");
        let said = world.typed(&commands);
        assert!(said.is_well(), "{commands}: {said:#?}");
        let state =
            "git symbolic-ref HEAD; git status --porcelain; git rev-list --count --merges HEAD
            git merge-base --is-ancestor main HEAD; git show HEAD:a HEAD:n";
        let expected = format!("refs/heads/other\n{merges}\ntwo\nnew\n");
        assert_eq!(world.ok(Side::Folder, state), expected);
    }
}

/// A branch that lacks commits which the workspace began with lacks their files too: no command records these as deleted.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_person_on_an_older_branch_loses_no_commits() {
    let script =
        "git init -q .; for i in 1 2 3; do echo $i > f$i; git add .; git commit -qm c$i; done
         git branch other HEAD~1";
    let world = World::new(script, &["fix"]);
    world.ok(FIX, "echo 4 > f4; git add .; git commit -qm c4");
    world.ok(Side::Folder, "git switch -q other");
    let planned = world.done(&["commit", "-w", "fix", "--dry-run"]);
    let said = world.done(&["commit", "-w", "fix"]);
    for text in [planned, said] {
        assert!(!text.contains("-s ours"), "{text}");
        assert!(text.contains("other is checked out there, not main, which has the commits"));
    }
    let state = "git symbolic-ref HEAD; git log --format=%s main; git status --porcelain";
    assert_eq!(world.ok(Side::Folder, state), "refs/heads/other\nc4\nc3\nc2\nc1\n?? f4\n");
    assert!(!world.done(&["status", "-w", "fix"]).contains("-s ours"));
    whole(&world);
}

/// A merge counts for what it brings, and a git commit of nothing but commits says so.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn merges_are_counted_and_named() {
    let world = world();
    world.ok(
        FIX,
        "git checkout -q -b t; for n in 1 2 3; do echo $n > n$n; git add n$n; git commit -qm $n; done
         git checkout -q main; git merge -q --no-ff -m merged t; git branch -q -d t",
    );
    let said = world.done(&["status", "-w", "fix"]);
    assert!(said.contains("git: 4 commits on main"), "{said}");
    world.ok(Side::Folder, "echo z > z; git add z; git commit -qm z");
    world.done(&["commit", "-w", "fix"]);
    world.done(&["commit", "-w", "fix", "--git", "--author", AUTHOR]);
    assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s"), "fix: merge its commits\n");
}

/// Hundreds of branches are not one line.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn many_branches_are_counted() {
    let script = "git init -q .; echo one > a; git add a; git commit -qm first; git commit -q --allow-empty -m second
         for n in $(seq 100 399); do echo create refs/heads/b$n HEAD~1; done | git update-ref --stdin";
    let world = World::new(script, &["fix"]);
    world.ok(
        FIX,
        "for n in $(seq 100 399); do echo update refs/heads/b$n HEAD; done | git update-ref --stdin",
    );
    let said = world.done(&["status", "-w", "fix"]);
    let folded = "git: b100, b101, b102, b103, b104 and 295 more branches moved";
    assert!(said.contains(folded), "{said}");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains(folded) && said.len() < 2000, "{said}");
    let document = world.document(&["show", "head"]);
    assert!(document.to_string().contains("refs/heads/b399"), "{document}");
}
