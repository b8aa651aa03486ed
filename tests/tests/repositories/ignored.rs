//! Repositories in folders that the one around them ignores.

use offshoot_needs::needs;

use crate::seen::FIX;
use crate::world::{Side, World};

const NESTED: &str =
    "git init -q .; echo /n/ > .gitignore; git add .gitignore; git commit -qm first
     git init -q n; cd n; echo one > a; git add a; git commit -qm nested";

/// An ignored repository stays in the workspace with its files, and `--ignored` brings both.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_ignored_repository_stays_whole() {
    let world = World::new(NESTED, &["fix"]);
    let before = world.ok(Side::Folder, "git -C n rev-parse HEAD");
    world.ok(FIX, "echo two >> n/a; git -C n commit -qam inside; echo x > other");
    let clean = "git -C n status --porcelain; git -C n log --format=%s -1";
    for side in [Side::Folder, FIX] {
        let expected = if side == FIX { "inside\n" } else { "nested\n" };
        assert_eq!(world.ok(side, clean), expected);
    }
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("ignored by .gitignore"), "{said}");
    assert_eq!(world.ok(Side::Folder, "git -C n rev-parse HEAD"), before, "{said}");
    assert_eq!(world.ok(Side::Folder, clean), "nested\n", "{said}");
    assert_eq!(world.ok(Side::Folder, "cat other"), "x\n", "{said}");
    assert_eq!(world.ok(FIX, clean), "inside\n", "{said}");

    let said = world.done(&["commit", "-w", "fix", "--ignored"]);
    assert_eq!(world.ok(Side::Folder, clean), "inside\n", "{said}");
    assert_eq!(world.ok(Side::Folder, "cat n/a"), "one\ntwo\n");
}

/// Where the person works in the same one, each side keeps its own, whole.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn each_side_keeps_its_own_ignored_repository() {
    let world = World::new(NESTED, &["fix"]);
    world.ok(FIX, "echo two >> n/a; git -C n commit -qam inside; echo x > other");
    world.ok(Side::Folder, "echo mine > n/b; git -C n add b; git -C n commit -qm mine");
    let said = world.done(&["commit", "-w", "fix"]);
    let state =
        "git -C n status --porcelain; git -C n log --format=%s -1; git -C n fsck --strict; ls n";
    assert_eq!(world.ok(Side::Folder, state), "mine\na\nb\n", "{said}");
    assert_eq!(world.ok(FIX, state), "inside\na\n", "{said}");
}

/// Rules that fit everything say nothing about the repository that they belong to.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_repository_does_not_ignore_itself() {
    let script = "git init -q .; printf '*\\n!/a\\n!/.gitignore\\n' > .gitignore; echo one > a
         git add a .gitignore; git commit -qm first";
    let world = World::new(script, &["fix"]);
    world.ok(FIX, "echo two > a; git commit -qam second");
    let said = world.done(&["commit", "-w", "fix"]);
    let state = world.ok(Side::Folder, "git log --format=%s -1; git status --porcelain");
    assert_eq!(state, "second\n", "{said}");
}

/// The same for a linked working tree: its checkout and its branch stay with its files, and its commits are kept.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_ignored_working_tree_stays_whole() {
    let script = "git init -q .; echo /trees/ > .gitignore; echo one > a; git add .gitignore a; git commit -qm first
         git worktree add -q trees/wt -b side 2> /dev/null";
    let world = World::new(script, &["fix"]);
    world.ok(FIX, "cd trees/wt; echo two > a; git commit -qam inside");
    let said = world.done(&["commit", "-w", "fix"]);
    let state = "cd trees/wt; git --no-optional-locks status --porcelain; git log --format=%s -1";
    assert_eq!(world.ok(Side::Folder, state), "first\n", "{said}");
    assert_eq!(world.ok(FIX, state), "inside\n", "{said}");
    assert!(said.contains("fix's is offshoot/fix/side"), "{said}");
    assert!(said.contains("`git merge offshoot/fix/side`"), "{said}");
    world.ok(Side::Folder, "cd trees/wt; git merge -q offshoot/fix/side");
    assert_eq!(world.ok(Side::Folder, state), "inside\n");
    assert_eq!(world.damage(Side::Folder), None);
}
