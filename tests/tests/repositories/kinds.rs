//! Kinds of repositories that have less than all of their objects, or have them elsewhere: each goes through commands, commits, undo, pulls and
//! merges.

use offshoot_needs::needs;

use crate::seen::FIX;
use crate::world::{Side, World};

const OTHER: Side = Side::Workspace("other");
/// A repository beside the project with three commits.
const ORIGIN: &str = "git init -q ../origin; (cd ../origin; for i in 1 2 3; do echo $i > f$i; mkdir -p d$i; echo $i > d$i/x; git add -A; git commit -qm c$i; done
    git config uploadpack.allowFilter true; git config uploadpack.allowAnySHA1InWant true)\n";

/// A project that a script makes of the origin, and two workspaces.
fn made(script: &str) -> World {
    World::new(&format!("{ORIGIN}{script}"), &["fix", "other"])
}

fn sound(world: &World, side: Side) {
    assert_eq!(world.damage(side), None);
    assert_eq!(world.ok(side, "git status --porcelain"), "", "{side:?}");
}

/// Commits of a person and two agents, brought together in every way there is.
fn goes_through_everything(world: &World) {
    let commit =
        |name: &str| format!("echo {name} > {name}; git add {name}; git commit -qm {name}");
    let subjects = |side| world.ok(side, "git log -3 --format=%s");
    let before = subjects(Side::Folder);
    world.ok(FIX, &commit("one"));
    sound(world, FIX);
    world.done(&["commit", "-w", "fix"]);
    sound(world, Side::Folder);
    let after = subjects(Side::Folder);
    assert!(after.starts_with("one\n"), "{after}");
    world.done(&["undo", "-w", "fix"]);
    sound(world, Side::Folder);
    assert_eq!(subjects(Side::Folder), before);
    world.done(&["redo", "-w", "fix"]);
    sound(world, Side::Folder);
    assert_eq!(subjects(Side::Folder), after);
    // A pull, and a merge of workspaces.
    world.ok(Side::Folder, &commit("mine"));
    world.done(&["pull", "-w", "other"]);
    sound(world, OTHER);
    assert!(subjects(OTHER).starts_with("mine\none\n"));
    world.ok(FIX, &commit("two"));
    let said = world.done(&["merge", "fix", "--into", "other"]);
    assert_eq!(world.damage(OTHER), None, "{said}");
    assert_eq!(world.ok(OTHER, "git log -1 --format=%s offshoot/fix/main"), "two\n");
    // Both sides moved the branch.
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("offshoot/fix/main"), "{said}");
    assert_eq!(world.damage(Side::Folder), None);
    world.ok(
        Side::Folder,
        "git add -A; git commit -qm files; git merge -q --no-edit offshoot/fix/main",
    );
    world.done(&["pull", "-w", "fix"]);
    for side in [Side::Folder, FIX] {
        sound(world, side);
        let told = world.ok(side, "git log --format=%s");
        for subject in ["one", "mine", "two"] {
            assert!(told.lines().any(|line| line == subject), "{side:?}: {told}");
        }
    }
    world.ok(Side::Folder, "git gc -q --prune=now");
    world.ok(FIX, &commit("three"));
    world.done(&["commit", "-w", "fix"]);
    sound(world, Side::Folder);
    assert!(subjects(Side::Folder).starts_with("three\n"));
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_clone_that_shares_objects() {
    let world = made("git clone -q --shared ../origin .");
    world.ok(Side::Folder, "test -s .git/objects/info/alternates");
    goes_through_everything(&world);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_clone_with_a_reference() {
    let world = made("git clone -q --reference ../origin \"file://$PWD/../origin\" .");
    world.ok(Side::Folder, "test -s .git/objects/info/alternates");
    goes_through_everything(&world);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_shallow_clone() {
    let world = made("git clone -q --depth 1 \"file://$PWD/../origin\" .");
    world.ok(Side::Folder, "test -s .git/shallow; test $(git rev-list --count HEAD) = 1");
    goes_through_everything(&world);
    // More of the history comes to one side alone.
    world.ok(Side::Folder, "git fetch -q --unshallow; test ! -e .git/shallow");
    world.done(&["pull", "-w", "fix"]);
    sound(&world, FIX);
    assert!(world.ok(FIX, "git log --format=%s").ends_with("c2\nc1\n"));
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_partial_clone() {
    let world = made("git clone -q --filter=blob:none \"file://$PWD/../origin\" .");
    world.ok(
        Side::Folder,
        "ls .git/objects/pack/*.promisor; git config remote.origin.partialclonefilter",
    );
    goes_through_everything(&world);
    // What was left out can still be fetched.
    world.ok(Side::Folder, "git log -p > /dev/null");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_sparse_checkout() {
    let world = made("git clone -q --sparse ../origin .; git sparse-checkout set d1");
    assert_eq!(world.ok(Side::Folder, "ls -d d*"), "d1\n");
    goes_through_everything(&world);
    assert_eq!(world.ok(Side::Folder, "ls -d d*"), "d1\n");
    // The shape of the working tree reaches the folder with the index that belongs to it.
    world.ok(FIX, "git sparse-checkout add d2");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "ls -d d*; git sparse-checkout list"), "d1\nd2\nd1\nd2\n");
    sound(&world, Side::Folder);
}

/// The store of large files is one of objects: it only ever grows.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_store_of_large_files() {
    let large = "large() { id=$(printf %s \"$1\" | sha256sum | cut -d' ' -f1); d=.git/lfs/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-4)
        mkdir -p $d; printf %s \"$1\" > $d/$id; printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n' $id ${#1} > \"$2\"; }\n";
    let store = "find .git/lfs/objects -type f | wc -l; find .git/lfs/objects -type f | while read f; do echo \"$(basename $f)  $f\"; done | sha256sum -c --quiet";
    let world = made(&format!(
        "{large}git clone -q ../origin .; large first big; git add big; git commit -qm big"
    ));
    world.ok(FIX, &format!("{large}large theirs big2; git add big2; git commit -qm big2; mkdir -p .git/lfs/tmp; echo x > .git/lfs/tmp/x"));
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, &format!("{store}; ls .git/lfs")), "2\nobjects\n");
    world.done(&["undo", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, store), "2\n");
    world.done(&["redo", "-w", "fix"]);
    // What one side prunes stays on the other.
    world.ok(FIX, "rm -r .git/lfs/objects");
    world.ok(Side::Folder, &format!("{large}large mine big3; git add big3; git commit -qm big3"));
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, store), "3\n");
    for workspace in ["other", "fix"] {
        world.done(&["pull", "-w", workspace]);
    }
    assert_eq!(world.ok(OTHER, store), "3\n");
    goes_through_everything(&world);
    assert_eq!(world.ok(Side::Folder, store), "3\n");
}
