//! Dropping what a workspace did in its repository, in a review: it is as it was before, and whole.

use offshoot_needs::needs;

use crate::seen::{FIX, whole, world};
use crate::world::{Side, World};

const STATE: &str = "git for-each-ref; git rev-parse HEAD; git ls-files -s";

/// Packs go with nothing that needs them, and what was packed comes back.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_workspace_that_packed_its_objects_stays_whole() {
    for what in ["/.git", "/"] {
        let world = world();
        let before = world.ok(FIX, STATE);
        world.ok(FIX, "git branch tidy; git gc -q; echo n > n");
        world.done(&["review", "-w", "fix", "--drop", what]);
        whole(&world);
        assert_eq!(world.ok(FIX, STATE), before, "{what}");
        world.ok(FIX, "git add -A; echo more > more; git add more; git commit -qm later");
        world.done(&["commit", "-w", "fix"]);
        whole(&world);
        assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s"), "later\n", "{what}");
    }
}

/// The id that a list gives to what is folded does the same as the path.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_are_dropped_and_their_objects_stay() {
    let world = world();
    let before = world.ok(FIX, STATE);
    world.ok(FIX, "echo n > n; git add n; git commit -qm theirs; git branch side; git gc -q");
    let theirs = world.ok(FIX, "git rev-parse HEAD");
    let list = world.done(&["review", "-w", "fix", "--list"]);
    let mut lines = list.lines().skip_while(|line| !line.starts_with("git:"));
    let id = lines.nth(1).unwrap().split_whitespace().next().unwrap();
    world.done(&["review", "-w", "fix", "--drop", id]);
    // There is nothing left to decide about.
    let list = world.done(&["review", "-w", "fix", "--list"]);
    assert!(list.contains("/n") && !list.contains("git:"), "{list}");
    world.done(&["undo", "-w", "fix"]);
    assert_eq!(world.ok(FIX, "git rev-parse HEAD side"), [theirs.as_str(); 2].concat());
    world.done(&["review", "-w", "fix", "--drop", "/.git"]);
    whole(&world);
    assert_eq!(world.ok(FIX, STATE), before);
    assert_eq!(world.ok(FIX, "git status --porcelain"), "?? n\n");
    world.ok(FIX, &format!("git cat-file -e {theirs}"));
}

/// The main line went on, and the workspace took that in or not.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_workspace_stays_whole_where_the_main_line_moved() {
    for pulls in [false, true] {
        let world = World::new(
            "git init -q .; echo one > a; git add -A; git commit -qm first",
            &["fix", "other"],
        );
        world.ok(FIX, "echo n > n; git add n; git commit -qm theirs; git gc -q");
        let other = Side::Workspace("other");
        world.ok(other, "echo o > o; git add o; git commit -qm others");
        world.done(&["commit", "-w", "other"]);
        if pulls {
            world.done(&["pull", "-w", "fix"]);
            world.ok(FIX, "git gc -q");
        }
        world.done(&["review", "-w", "fix", "--drop", "/"]);
        whole(&world);
        let tip = if pulls { "others\n" } else { "first\n" };
        assert_eq!(world.ok(FIX, "git log -1 --format=%s"), tip);
        assert_eq!(world.ok(FIX, "git status --porcelain"), "");
    }
}

/// A repository that the workspace made goes as a whole.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_new_repository_goes_as_a_whole() {
    let world = world();
    world.ok(
        FIX,
        "git init -q new; cd new; echo x > x; git add x; git commit -qm x; touch .git/gc.pid",
    );
    world.done(&["review", "-w", "fix", "--drop", "/new/.git"]);
    assert_eq!(world.ok(FIX, "ls -A new"), "x\n");
    whole(&world);
}
