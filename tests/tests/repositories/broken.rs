//! Repositories of workspaces that are broken: what leads nowhere does not reach the folder.

use offshoot_needs::needs;

use crate::seen::{FIX, whole, world};
use crate::world::{Side, World};

/// The folder's repository with its branches; it must be whole.
fn tips(world: &World) -> String {
    assert_eq!(world.damage(Side::Folder), None);
    world.status_is_true().unwrap();
    world.ok(Side::Folder, "git log -1 --format=%s HEAD; git branch --format='%(refname:short)'")
}

/// Removes the object that a name means.
const LOSE: &str = "lose() { id=$(git rev-parse \"$1\"); rm -f .git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); }\n";

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_without_its_commit_is_not_brought() {
    for lost in ["main", "main^{tree}", "main:n", "main~1"] {
        let world = world();
        let script = "echo x > x; git add x; git commit -qm between; echo new > n; git add n; git commit -qm theirs; echo plain > plain";
        world.ok(FIX, &format!("{LOSE}{script}; lose '{lost}'"));
        let document = world.document(&["commit", "-w", "fix"]);
        let notes = document["result"]["repositories"].as_array().cloned().unwrap_or_default();
        let main = notes.iter().find(|note| note["name"] == "refs/heads/main");
        let main = main.unwrap_or_else(|| panic!("{lost}: {document}"));
        assert_eq!(main["event"], "not-brought", "{lost}: {document}");
        assert!(main["why"].as_str().unwrap().contains("is missing"), "{lost}: {document}");
        assert_eq!(tips(&world), "first\nmain\n", "{lost}");
        assert_eq!(world.ok(Side::Folder, "cat n plain"), "new\nplain\n");
        world.done(&["undo", "-w", "fix"]);
        assert_eq!(tips(&world), "first\nmain\n", "{lost}");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn refs_and_heads_that_are_garbage_are_not_brought() {
    for (garbage, name) in [
        ("echo rubbish > .git/refs/heads/main", "refs/heads/main"),
        ("echo rubbish > .git/refs/heads/other", "refs/heads/other"),
        ("printf '%040d\n' 7 > .git/refs/tags/t", "refs/tags/t"),
        ("cp .git/refs/heads/main '.git/refs/heads/a..b'", "refs/heads/a..b"),
        ("echo rubbish > .git/HEAD", "HEAD"),
        ("printf '%040d\n' 7 > .git/HEAD", "HEAD"),
        ("printf '%040d\n' 7 > .git/refs/stash", "refs/stash"),
    ] {
        let world = world();
        world.ok(FIX, &format!("echo plain > plain; {garbage}"));
        let document = world.document(&["commit", "-w", "fix"]);
        let notes = document["result"]["repositories"].as_array().cloned().unwrap_or_default();
        let found = notes.iter().any(|note| note["name"] == name && note["event"] == "not-brought");
        assert!(found, "{garbage}: {document}");
        assert_eq!(tips(&world), "first\nmain\n", "{garbage}");
        assert_eq!(world.ok(Side::Folder, "cat plain; git stash list"), "plain\n", "{garbage}");
    }
}

/// An index that names what is not there makes every commit fail.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_index_without_its_objects_is_not_brought() {
    let world = world();
    world.ok(FIX, &format!("{LOSE}echo new > n; git add n; lose :n"));
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("HEAD of fix was not brought"), "{said}");
    assert_eq!(world.ok(Side::Folder, "git ls-files; cat n"), "a\nb\nnew\n");
    assert_eq!(tips(&world), "first\nmain\n");
    world.ok(Side::Folder, "git add n; git commit -qm mine");
}

/// Where a branch was in between matters too: logs of refs are looked at by git.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn logs_name_nothing_that_is_missing() {
    let world = world();
    world.ok(
        FIX,
        &format!("{LOSE}echo bad > n; git add n; git commit -qm bad; bad=$(git rev-parse HEAD); git reset -q --hard HEAD~1; echo good > n; git add n; git commit -qm good; lose $bad"),
    );
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(tips(&world), "good\nmain\n");
    world.done(&["undo", "-w", "fix"]);
    assert_eq!(tips(&world), "first\nmain\n");
}

/// A workspace gets nothing broken from the folder either.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_pull_brings_nothing_broken() {
    let world = world();
    world.ok(Side::Folder, &format!("{LOSE}git checkout -q -b side; echo s > s; git add s; git commit -qm side; git checkout -q main; lose side"));
    let said = world.done(&["pull", "-w", "fix"]);
    assert!(said.contains("side of the folder was not brought"), "{said}");
    assert_eq!(world.damage(FIX), None);
    world.ok(Side::Folder, "git branch -D side; git reflog expire --expire=now --all");
    whole(&world);
}

/// A file that is not the object which its name says would keep the folder's git from ever storing that object.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn damaged_objects_are_not_brought() {
    let at = "id=$(echo shared | git hash-object --stdin); at=.git/objects/$(echo $id | cut -c1-2); mkdir -p $at; at=$at/$(echo $id | cut -c3-)\n";
    let big = "seq 100000 > big; git add big; git reset -q; id=$(git hash-object big); rm big; at=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); chmod u+w $at; head -c 3000 $at > cut; cat cut > $at; rm cut";
    for damage in [&format!("{at}: > $at"), &format!("{at}echo garbage > $at"), big] {
        let world = world();
        world.ok(FIX, &format!("{damage}; echo plain > plain"));
        let said = world.done(&["commit", "-w", "fix"]);
        assert!(
            said.contains("stays: 1 file (git objects that are not what their names say"),
            "{damage}: {said}"
        );
        assert_eq!(tips(&world), "first\nmain\n", "{damage}");
        world.ok(
            Side::Folder,
            "echo shared > s; seq 100000 > big; git add s big; git commit -qm mine",
        );
        assert_eq!(tips(&world), "mine\nmain\n", "{damage}");
    }
}

/// What leads to a damaged object stays with it, also where that is the content of a file.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_with_a_damaged_object_is_not_brought() {
    for lost in ["main", "main^{tree}", "main:n"] {
        let world = world();
        world.ok(FIX, &format!("echo new > n; git add n; git commit -qm theirs; echo plain > plain; id=$(git rev-parse '{lost}'); at=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); chmod u+w $at; head -c 9 $at > cut; cat cut > $at; rm cut"));
        let document = world.document(&["commit", "-w", "fix"]);
        let notes = document["result"]["repositories"].as_array().cloned().unwrap_or_default();
        let told = |name: &str, event: &str| {
            notes.iter().any(|note| note["name"] == name && note["event"] == event)
        };
        assert!(told("refs/heads/main", "not-brought"), "{lost}: {document}");
        let held = document["result"]["held"].as_array().cloned().unwrap_or_default();
        let detail = "a git object that is not what its name says";
        assert!(held.iter().any(|held| held["detail"] == detail), "{lost}: {document}");
        assert_eq!(tips(&world), "first\nmain\n", "{lost}");
    }
}

/// The folder's object is damaged, and the workspace has it whole.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_damaged_object_of_the_folder_is_mended() {
    for damage in [": > $at", "head -c 9 $at > .git/cut; cat .git/cut > $at; rm .git/cut"] {
        let world = world();
        world.ok(Side::Folder, &format!("id=$(git rev-parse HEAD:a); at=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); chmod u+w $at; {damage}"));
        world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
        world.done(&["commit", "-w", "fix"]);
        whole(&world);
        assert_eq!(tips(&world), "theirs\nmain\n", "{damage}");
    }
}

/// What a checkout or a history cannot be without is not replaced by garbage.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn garbage_in_the_place_of_an_index_or_a_list_is_not_brought() {
    for (garbage, name) in [
        ("echo garbage > .git/index", "HEAD"),
        (": > .git/index", "HEAD"),
        ("rm .git/index", "HEAD"),
        ("git update-index --split-index; rm .git/sharedindex.*", "HEAD"),
        ("echo garbage > .git/shallow", "shallow"),
    ] {
        let world = world();
        world.ok(FIX, garbage);
        let document = world.document(&["commit", "-w", "fix"]);
        let notes = document["result"]["repositories"].as_array().cloned().unwrap_or_default();
        let is_told =
            |note: &serde_json::Value| note["name"] == name && note["event"] == "not-brought";
        assert!(notes.iter().any(is_told), "{garbage}: {document}");
        assert_eq!(world.damage(Side::Folder), None, "{garbage}");
        assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "", "{garbage}");
    }
    // One that is split and whole is none.
    let world = world();
    world.ok(FIX, "git update-index --split-index; echo n > n; git add n; git commit -qm theirs");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(
        world.ok(Side::Folder, "git log -1 --format=%s; git status --porcelain"),
        "theirs\n"
    );
}

/// Git looks for a ref in the repository itself first.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_would_hide_a_ref_is_held_back() {
    let world = world();
    world.ok(
        Side::Folder,
        "git branch keep; git branch deep/keep; git commit -q --allow-empty -m second",
    );
    world.done(&["pull", "-w", "fix"]);
    world.ok(
        FIX,
        "git rev-parse HEAD > .git/keep; mkdir .git/deep; echo 'ref: refs/heads/main' > .git/deep/keep; git commit -q --allow-empty -m 0123456789012345678901234567890123456789",
    );
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("stays: 2 files (git would run or obey them"), "{said}");
    assert!(!said.contains("EDITMSG"), "{said}");
    assert_eq!(
        world.ok(Side::Folder, "git log -1 --format=%s keep; git log -1 --format=%s deep/keep"),
        "first\nfirst\n"
    );
    assert_eq!(world.damage(Side::Folder), None);
}

/// A name under which commits were kept may be checked out by now.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_own_name_that_is_checked_out_does_not_move() {
    let world = world();
    world.ok(FIX, "echo n > n; git add n; git commit -qm theirs");
    world.ok(Side::Folder, "git commit -q --allow-empty -m mine");
    world.done(&["commit", "-w", "fix"]);
    world.ok(Side::Folder, "git add -A; git commit -qm files; git checkout -q offshoot/fix/main");
    world.ok(FIX, "git checkout -q main; echo m > m; git add m; git commit -qm more");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(
        world.ok(Side::Folder, "git log -1 --format=%s; git diff --cached --name-only"),
        "theirs\n"
    );
    assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s offshoot/fix/main-2"), "more\n");
}
