//! Branches that somebody has checked out, or rebases, or searches from: nothing moves or deletes them there.

use offshoot_needs::needs;

use crate::seen::{FIX, apart, whole, world};
use crate::world::{AUTHOR, Side, World};

const COMMIT_GIT: [&str; 8] = ["commit", "-w", "fix", "--git", "-m", "both", "--author", AUTHOR];
const UNDO: [&str; 3] = ["undo", "-w", "fix"];
const REDO: [&str; 3] = ["redo", "-w", "fix"];
const OWN: &str = "refs/heads/offshoot/fix/main";

fn commit_of(world: &World, name: &str) -> String {
    world.ok(Side::Folder, &format!("git rev-parse --verify {name}")).trim().to_owned()
}

/// What git says of the working tree beside the folder: nothing where it is what its HEAD says.
fn beside(world: &World) -> String {
    world.ok(
        Side::Folder,
        "git -C ../look rev-parse -q --verify HEAD > /dev/null
        git -C ../look --no-optional-locks status --porcelain",
    )
}

fn event(document: &serde_json::Value, name: &str) -> [String; 2] {
    let notes = document["result"]["repositories"].as_array().cloned().unwrap_or_default();
    let note = notes.into_iter().find(|note| note["name"] == name).unwrap_or_default();
    ["event", "why"].map(|field| note[field].as_str().unwrap_or_default().to_owned())
}

/// A name of the workspace's own that somebody uses counts as taken.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_own_name_that_is_in_use_stays() {
    for used in [
        "git stash -q; git checkout -q offshoot/fix/main",
        "git worktree add -q ../look offshoot/fix/main 2> /dev/null",
        "git worktree add -q ../look offshoot/fix/main 2> /dev/null
         GIT_SEQUENCE_EDITOR='sed -i s/pick/edit/' git -C ../look rebase -q -i HEAD~1 2> /dev/null",
        "git worktree add -q ../look offshoot/fix/main 2> /dev/null; git -C ../look bisect start > /dev/null
         git -C ../look checkout -q --detach",
        "git symbolic-ref refs/heads/looked-at refs/heads/offshoot/fix/main
         git worktree add -q ../look main~1 2> /dev/null
         git -C ../look symbolic-ref HEAD refs/heads/looked-at; git -C ../look reset -q --hard",
    ] {
        let world = apart();
        world.ok(Side::Folder, used);
        let was = commit_of(&world, OWN);
        world.ok(FIX, "git checkout -q main; echo more >> a; git commit -qam more");
        let said = world.done(&["commit", "-w", "fix"]);
        assert_eq!(commit_of(&world, OWN), was, "{used}: {said}");
        assert!(said.contains("offshoot/fix/main-2"), "{used}: {said}");
        whole(&world);
    }
}

/// A merge leaves the branch that it merged where somebody uses it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_merged_branch_that_is_in_use_stays() {
    let world = apart();
    world.ok(Side::Folder, "git worktree add -q ../look offshoot/fix/main 2> /dev/null");
    let tip = commit_of(&world, OWN);
    let planned = world.document(&[&COMMIT_GIT[..], &["--dry-run"]].concat());
    assert_eq!(planned["result"]["git"]["merged_stays"], true, "{planned}");
    let made = world.document(&COMMIT_GIT);
    assert_eq!(made["result"]["git"]["merged"], OWN, "{made}");
    assert_eq!(made["result"]["git"]["merged_stays"], true, "{made}");
    assert_eq!((commit_of(&world, OWN), beside(&world)), (tip.clone(), String::new()), "{made}");
    assert_eq!(commit_of(&world, "main^2"), tip);
    whole(&world);
    // Nor does it go later, or by going back and forth.
    world.ok(FIX, "echo x > x");
    world.done(&["commit", "-w", "fix"]);
    world.done(&UNDO);
    world.done(&UNDO);
    let redone = world.document(&REDO);
    assert_eq!((commit_of(&world, OWN), beside(&world)), (tip, String::new()), "{redone}");
    let said = world.done(&REDO);
    assert!(!said.contains("was deleted"), "{said}");
    whole(&world);
}

/// What somebody made since and has checked out is not taken away by a redo.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn redo_leaves_a_branch_that_is_in_use() {
    let world = world();
    world.ok(FIX, "sed -i 's/^20$/end/' b; git commit -qam theirs");
    world.ok(Side::Folder, "sed -i 's/^1$/start/' b; git commit -qam mine");
    world.done(&COMMIT_GIT);
    world.done(&UNDO);
    world.ok(Side::Folder, "git worktree add -q ../look -b offshoot/fix/main 2> /dev/null");
    let tip = commit_of(&world, OWN);
    let redone = world.document(&REDO);
    assert_eq!((commit_of(&world, OWN), beside(&world)), (tip, String::new()), "{redone}");
    let why = "it is checked out in a working tree";
    assert_eq!(event(&redone, OWN), ["stayed", why], "{redone}");
    whole(&world);
}

/// A branch goes back only where nobody else has it checked out.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn undo_leaves_a_branch_that_is_in_use_elsewhere() {
    let rebase =
        "GIT_SEQUENCE_EDITOR='sed -i s/pick/edit/' git -C ../look rebase -q -i HEAD~1 2> /dev/null";
    for (then, why) in [
        ("true", "it is checked out in a working tree"),
        (rebase, "it is being rebased in a working tree"),
        (
            "git -C ../look bisect start > /dev/null; git -C ../look checkout -q --detach",
            "a search by git bisect in a working tree goes back to it",
        ),
    ] {
        let world = world();
        world.ok(FIX, "echo i >> a");
        world.done(&COMMIT_GIT);
        let made = commit_of(&world, "main");
        world.ok(Side::Folder, "git checkout -q -b other");
        world.ok(Side::Folder, &format!("git worktree add -q ../look main 2> /dev/null; {then}"));
        let undone = world.document(&UNDO);
        assert_eq!((commit_of(&world, "main"), beside(&world)), (made, String::new()), "{undone}");
        assert_eq!(event(&undone, "refs/heads/main"), ["stayed", why], "{undone}");
    }
}

/// A commit on a detached HEAD that somebody has saved on a branch since is that branch's.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn undo_leaves_a_head_that_names_a_branch_by_now() {
    let world = World::new(
        "git init -q .; echo one > a; seq 20 > b; git add -A; git commit -qm first; git checkout -q --detach",
        &["fix"],
    );
    world.ok(FIX, "echo i >> a");
    world.done(&COMMIT_GIT);
    let made = commit_of(&world, "HEAD");
    world.ok(Side::Folder, "git checkout -q -b keep");
    let index = world.ok(Side::Folder, "git ls-files -s");
    let undone = world.document(&UNDO);
    assert_eq!(commit_of(&world, "keep"), made, "{undone}");
    assert_eq!(world.ok(Side::Folder, "git ls-files -s"), index, "{undone}");
    assert_eq!(world.ok(Side::Folder, "git symbolic-ref HEAD"), "refs/heads/keep\n");
    assert_eq!(event(&undone, "HEAD")[0], "stayed", "{undone}");
    // Where nobody did, it goes back and forth.
    world.ok(
        Side::Folder,
        "git reset -q --hard; git checkout -q --detach main; git branch -qD keep",
    );
    world.ok(FIX, "git checkout -q --detach main; git reset -q --hard main; echo j >> a");
    world.done(&["pull", "-w", "fix"]);
    world.done(&COMMIT_GIT);
    let made = commit_of(&world, "HEAD");
    world.done(&UNDO);
    assert_eq!(commit_of(&world, "HEAD"), commit_of(&world, "main"));
    world.done(&REDO);
    assert_eq!(commit_of(&world, "HEAD"), made);
    assert_eq!(world.sh(Side::Folder, "git symbolic-ref -q HEAD").code, Some(1));
}

/// An export takes no branch away from whoever uses it, by whatever name.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_export_leaves_branches_that_are_in_use() {
    let world = world();
    world.ok(Side::Folder, "git config user.name Ann; git config user.email ann@example.org");
    world.ok(FIX, "echo i >> a");
    let export =
        |branch: &str| world.document(&["export", "-w", "fix", "--git", branch, "--force"]);
    assert_eq!(export("ag")["success"], true);
    world.ok(FIX, "echo j >> b");
    let prepared = "git symbolic-ref refs/heads/trunk refs/heads/main
        git worktree add -q ../look ag 2> /dev/null
        GIT_SEQUENCE_EDITOR='sed -i s/pick/edit/' git -C ../look rebase -q -i HEAD~1 2> /dev/null
        git -C ../look symbolic-ref -q HEAD || true
        git worktree add -q ../search -b searched 2> /dev/null
        git -C ../search bisect start > /dev/null; git -C ../search checkout -q --detach";
    world.ok(Side::Folder, prepared);
    let refs = "git for-each-ref --format='%(refname) %(objectname) %(symref)'";
    let before = world.ok(Side::Folder, refs);
    for (branch, told) in [
        ("trunk", "branch trunk is checked out in "),
        ("main", "branch main is checked out in "),
        ("ag", "branch ag is being rebased in "),
        ("searched", "branch searched is where git bisect started in "),
        ("ag/deep", "branch ag/deep cannot be beside branch ag"),
    ] {
        let said = export(branch);
        let message = said["error"]["message"].as_str().unwrap_or_default();
        assert!(message.starts_with(told), "{branch}: {said}");
        assert_eq!(said["error"]["hint"], "choose another name", "{branch}: {said}");
        let code = world.product(&["export", "-w", "fix", "--git", branch, "--force"]).code;
        assert_eq!(code, Some(4), "{branch}");
        assert_eq!(world.ok(Side::Folder, refs), before, "{branch}");
    }
    for branch in ["HEAD", "-x", "@{-1}", "a..b"] {
        let branch = format!("--git={branch}");
        let said = world.product(&["export", "-w", "fix", &branch, "--force"]);
        assert_eq!(said.code, Some(2), "{branch}: {said:#?}");
        assert!(said.err.contains("cannot be the name of a branch"), "{branch}: {said:#?}");
        assert_eq!(world.ok(Side::Folder, refs), before, "{branch}");
    }
    world.ok(Side::Folder, "git -C ../look rebase --continue 2> /dev/null");
    assert_eq!(export("agent/deep")["success"], true);
}
