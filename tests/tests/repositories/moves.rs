//! Branches that go back, are replaced, or are not checked out any more: all of that is told before and after, and nothing gets out of reach.

use offshoot_needs::needs;
use serde_json::Value;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

const MORE: &str =
    "echo two >> a; git commit -qam second; echo three >> a; git commit -qam third; git tag v1";

/// What status, review and a dry run say of the same event; then it reaches the folder.
fn told_everywhere(world: &World, event: &str, name: &str) -> Value {
    let is_it = |note: &&Value| note["event"] == event && note["name"] == name;
    let find = |document: &Value| -> Option<Value> {
        document["result"]["repositories"].as_array()?.iter().find(is_it).cloned()
    };
    for arguments in [
        &["status", "-w", "fix"][..],
        &["review", "--list", "-w", "fix"],
        &["commit", "-w", "fix", "--dry-run"],
    ] {
        let document = world.document(arguments);
        assert!(find(&document).is_some(), "{arguments:?}: {document}");
    }
    let document = world.document(&["commit", "-w", "fix"]);
    whole(world);
    find(&document).unwrap_or_else(|| panic!("{event} of {name}: {document}"))
}

fn with_commits() -> (World, String) {
    let world = world();
    world.ok(Side::Folder, MORE);
    world.done(&["pull", "-w", "fix"]);
    let tip = world.ok(Side::Folder, "git rev-parse main").trim().to_owned();
    (world, tip)
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_goes_back_is_told() {
    for packed in [false, true] {
        let (world, tip) = with_commits();
        if packed {
            world.ok(Side::Folder, "git gc -q");
            world.done(&["pull", "-w", "fix"]);
        }
        world.ok(FIX, "git reset -q --hard HEAD~2");
        let status = world.done(&["status", "-w", "fix"]);
        let line = format!("main goes back 2 commits, from {}", &tip[..12]);
        assert!(status.contains(&line), "{packed}: {status}");
        let note = told_everywhere(&world, "rewound", "refs/heads/main");
        assert_eq!((&note["commits"], &note["from"]), (&2.into(), &tip.clone().into()), "{note}");
        assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s"), "first\n");
        world.ok(Side::Folder, &format!("git reflog main --format=%H | grep -q {tip}"));
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_is_rewritten_is_told() {
    let (world, tip) = with_commits();
    world.ok(FIX, "git commit -q --amend -m reworded; git tag -f v1 2> /dev/null");
    let note = told_everywhere(&world, "replaced", "refs/heads/main");
    assert_eq!(note["from"], tip.clone(), "{note}");
    world.ok(Side::Folder, &format!("git reflog main --format=%H | grep -q {tip}"));
    // A branch that only goes on is nothing to tell.
    world.ok(FIX, "echo on > on; git add on; git commit -qm on");
    let document = world.document(&["commit", "-w", "fix"]);
    assert!(document["result"]["repositories"].is_null(), "{document}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_head_that_is_elsewhere_is_told() {
    let (world, _) = with_commits();
    world.ok(FIX, "git checkout -q --detach HEAD~1");
    let status = world.done(&["status", "-w", "fix"]);
    assert!(status.contains("HEAD is at ") && status.contains("it was at main"), "{status}");
    let note = told_everywhere(&world, "switched", "HEAD");
    assert_eq!(note["from"], "refs/heads/main", "{note}");
}

/// Another repository in place of the old one: nothing of that gets out of reach.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_repository_that_is_replaced_leaves_its_branches() {
    let (world, tip) = with_commits();
    world.ok(Side::Folder, "git branch old HEAD~1");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "rm -rf .git; git init -q .; git add -A; git commit -qm anew");
    let note = told_everywhere(&world, "replaced", "refs/heads/main");
    assert_eq!(note["kept_as"], "refs/heads/offshoot/before/main", "{note}");
    let listed = world.ok(
        Side::Folder,
        "git log -1 --format=%s; git rev-parse offshoot/before/main; git log -1 --format=%s offshoot/before/old; git log -1 --format=%s refs/tags/offshoot/before/v1",
    );
    assert_eq!(listed, format!("anew\n{tip}\nsecond\nthird\n"));
    world.done(&["undo", "-w", "fix"]);
    whole(&world);
    assert_eq!(world.ok(Side::Folder, "git rev-parse main v1").lines().next(), Some(tip.as_str()));
}

/// After commits of both sides the workspace goes on with its own branch, and has the folder's beside it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_workspace_keeps_its_commits() {
    let world = world();
    world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
    world.ok(Side::Folder, "echo mine > m; git add m; git commit -qm mine");
    let theirs = world.ok(FIX, "git rev-parse main").trim().to_owned();
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(!said.contains("in fix"), "{said}");
    let refs = "git rev-parse main offshoot/fix/main; git log -1 --format=%s offshoot/folder/main";
    assert_eq!(world.ok(FIX, refs), format!("{theirs}\n{theirs}\nmine\n"));
}

/// What stands in the way of a commit is told by whoever says what a commit does.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_reftable_in_the_way_is_told_before() {
    let probe = world();
    if !probe.sh(Side::Folder, "cd ..; git init -q --ref-format=reftable probe").is_well() {
        return;
    }
    let world = World::new(
        "git init -q --ref-format=reftable .; echo one > a; git add a; git commit -qm first",
        &["fix"],
    );
    world.ok(FIX, "echo three > n; git add n; git commit -qm more");
    world.ok(Side::Folder, "git commit -q --allow-empty -m mine");
    world.done(&["pull", "--head"]);
    for arguments in [&["status", "-w", "fix"][..], &["review", "--list", "-w", "fix"]] {
        let document = world.document(arguments);
        let refused = document["result"]["refused"].as_str().unwrap_or_default();
        assert!(refused.contains("reftable"), "{arguments:?}: {document}");
        let paths = document["result"].to_string();
        assert!(paths.contains("\"/n\""), "{arguments:?}: {document}");
    }
    let diff = world.product(&["diff", "fix", "--name-only"]);
    assert!(diff.err.contains("reftable") && diff.out.contains("/n\n"), "{diff:#?}");
}

/// What would be kept beside is listed too.
#[needs(Overlay, UserNamespace)]
#[test]
fn what_would_be_kept_beside_is_told_before() {
    let world = World::new("mkdir -p .jj/repo; echo one > .jj/repo/op", &["fix"]);
    world.ok(FIX, "echo theirs > .jj/repo/op");
    world.ok(Side::Folder, "echo mine > .jj/repo/op");
    world.done(&["pull", "--head"]);
    for arguments in [&["status", "-w", "fix"][..], &["review", "--list", "-w", "fix"]] {
        let document = world.document(arguments);
        let note = &document["result"]["repositories"][0];
        assert_eq!(note["kept_as"], "/.jj~fix", "{arguments:?}: {document}");
    }
}

const COMMIT_GIT: [&str; 8] = ["commit", "-w", "fix", "--git", "-m", "both", "--author", AUTHOR];

/// A git commit that has everything of the workspace's own commits is a merge of them, not a second copy.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_commit_merges_what_was_kept_apart() {
    let world = world();
    world.ok(FIX, "echo new > n; sed -i 's/^20$/end/' b; git add n; git commit -qam theirs; echo loose > loose");
    world.ok(Side::Folder, "sed -i 's/^1$/start/' b; git commit -qam mine");
    let document = world.document(&COMMIT_GIT);
    let made = &document["result"]["git"];
    assert_eq!(made["merged"], "refs/heads/offshoot/fix/main", "{document}");
    assert_eq!(made["files"], 3, "{document}");
    whole(&world);
    let log = "git log --format=%s --topo-order; git branch --format='%(refname:short)'; git status --porcelain; git rev-list --count --merges HEAD";
    let log = world.ok(Side::Folder, log);
    let (mut lines, rest): (Vec<&str>, Vec<&str>) =
        (log.lines().take(4).collect(), log.lines().skip(4).collect());
    lines[1..3].sort_unstable();
    assert_eq!(
        (lines, rest),
        (vec!["both", "mine", "theirs", "first"], vec!["main", "1"]),
        "{log}"
    );
    // Taken back and brought back.
    world.done(&["undo", "-w", "fix"]);
    whole(&world);
    assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s; git status --porcelain"), "mine\n");
    let state =
        "git log -1 --format=%s; git status --porcelain; git branch --format='%(refname:short)'";
    for _ in 0..2 {
        let said = world.done(&["redo", "-w", "fix"]);
        whole(&world);
        assert_eq!(world.ok(Side::Folder, state), "both\nmain\n");
        assert!(!said.contains("offshoot/fix/main"), "{said}");
        world.done(&["undo", "-w", "fix"]);
        assert_eq!(world.ok(Side::Folder, state), "mine\nmain\n");
    }
    // Where not all of it reaches the folder, it is no merge.
    let document = world.document(&[&COMMIT_GIT[..], &["--exclude", "n"]].concat());
    let made = &document["result"]["git"];
    assert!(made["merged"].is_null() && made["commit"].is_string(), "{document}");
    assert_eq!(world.ok(Side::Folder, "git rev-list --count --merges HEAD; git rev-parse -q --verify offshoot/fix/main | wc -l"), "0\n1\n");
}

/// Branches that were kept apart go when somebody merged them, and stay while they are anybody's.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_was_kept_apart_goes_when_it_is_merged() {
    let world = world();
    let branches = "git branch --format='%(refname:short)'";
    world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
    world.ok(Side::Folder, "echo mine > m; git add m; git commit -qm mine");
    world.done(&["commit", "-w", "fix"]);
    world.ok(FIX, "echo more > more");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, branches), "main\noffshoot/fix/main\n");
    world.ok(
        Side::Folder,
        "git add -A; git commit -qm files; git merge -q --no-edit offshoot/fix/main",
    );
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "echo most > most; git add most; git commit -qm most");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(!said.contains("was deleted"), "{said}");
    assert_eq!(world.ok(Side::Folder, branches), "main\n");
    assert_eq!(world.ok(FIX, branches), "main\n");
    whole(&world);
}

/// Hooks do not run for a commit that Offshoot makes, and that is said.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn hooks_that_do_not_run_are_named() {
    for place in [".git/hooks", "hooks"] {
        let world = world();
        let set = if place == "hooks" { "git config core.hooksPath hooks;" } else { "" };
        world.ok(Side::Folder, &format!("{set} mkdir -p {place}; printf '#!/bin/sh\nexit 1\n' > {place}/pre-commit; chmod +x {place}/pre-commit"));
        world.ok(FIX, "echo new > n");
        let said = world.done(&COMMIT_GIT);
        assert!(said.contains("hooks were not run: pre-commit"), "{place}: {said}");
    }
    let world = world();
    world.ok(FIX, "echo new > n");
    let said = world.done(&COMMIT_GIT);
    assert!(!said.contains("hooks"), "{said}");
}

/// Dropping a file takes it out of the workspace, and not out of a commit that the agent made.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_dropped_file_that_is_in_a_git_commit_is_told() {
    let world = world();
    world.ok(FIX, "echo new > n; git add n; git commit -qm theirs; echo loose > loose");
    let said = world.product(&["review", "-w", "fix", "--drop", "/loose"]);
    assert!(said.is_well() && !said.err.contains("git commits"), "{said:#?}");
    let said = world.product(&["review", "-w", "fix", "--drop", "/n"]);
    assert!(said.err.contains("/n is dropped from the files, and still in"), "{said:#?}");
}

/// What reached the folder is not exported a second time.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_export_after_everything_came_home_repeats_nothing() {
    let world = world();
    world.ok(FIX, "echo new > n");
    world.done(&COMMIT_GIT);
    world.ok(Side::Folder, "git config user.name Ann; git config user.email ann@example.org");
    let export = ["export", "--git", "out", "-w", "fix"];
    let said = world.done(&export);
    assert!(said.contains("nothing to export"), "{said}");
    world.ok(Side::Folder, "! git rev-parse -q --verify out");
    world.ok(FIX, "echo more > more");
    world.done(&export);
    let log = world.ok(
        Side::Folder,
        "git log --format= --name-only main..out; git merge-base --is-ancestor main out",
    );
    assert_eq!(log, "more\n");
}

/// The files of a working tree beside the folder do not reach the folder, so the branch that it has checked out stays where it is.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_of_a_working_tree_elsewhere_neither_goes_nor_moves() {
    let world = world();
    world.ok(
        Side::Folder,
        "git worktree add -q -b wt ../w; cd ../w; echo w > w; git add w; git commit -qm mine",
    );
    let mine = world.ok(Side::Folder, "git rev-parse wt");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "git update-ref -d refs/heads/wt");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("wt of fix was not brought"), "{said}");
    let there = "git rev-parse wt; cd ../w; git status --porcelain";
    assert_eq!(world.ok(Side::Folder, there), mine);
    world.ok(FIX, "git update-ref refs/heads/wt main");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("offshoot/fix/wt"), "{said}");
    assert_eq!(world.ok(Side::Folder, there), mine);
    assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s offshoot/fix/wt"), "first\n");
    whole(&world);
}

/// Those of a working tree in the folder do, and its branch and its index come along.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_of_a_working_tree_in_the_folder_comes_with_its_files() {
    let world = world();
    world.ok(Side::Folder, "git worktree add -q -b wt trees/w");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "cd trees/w; echo w > w; git add w; git commit -qm theirs");
    world.done(&["commit", "-w", "fix"]);
    let there = "cd trees/w; git status --porcelain; git log -1 --format=%s; cat w";
    assert_eq!(world.ok(Side::Folder, there), "theirs\nw\n");
    whole(&world);
}
