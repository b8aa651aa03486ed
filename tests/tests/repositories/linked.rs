//! A folder whose git directory lies elsewhere: what is said of it, and clones of it.

use offshoot_needs::needs;

use crate::seen::FIX;
use crate::world::{Side, World};

/// A linked working tree, and a workspace of it.
fn linked() -> World {
    let script = "git init -q ../main; cd ../main; echo one > a; git add a; git commit -qm first
         git worktree add -q ../project 2> /dev/null";
    World::new(script, &["fix"])
}

/// Errors and lists name files of a further folder by the path that leads there, not by their place in the vault.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn paths_are_told_as_people_know_them() {
    let world = linked();
    for (arguments, told) in [
        (&["fs", "cat", "../main/.git/nope"][..], "there is no ../main/.git/nope"),
        (&["fs", "ls", "../main/.git/nope"], "there is no ../main/.git/nope"),
        (&["fs", "mkdir", "../main/.git/refs"], "../main/.git/refs"),
        (&["fs", "rm", "../main/.git/refs"], "../main/.git/refs is a directory"),
        (&["fs", "mv", "../main/.git/nope", "/x"], "there is no ../main/.git/nope"),
        (&["resolve", "../main/.git/HEAD", "--ours"], "no conflict at ../main/.git/HEAD"),
        (&["conflicts", "../main/.git/HEAD"], "no conflict at ../main/.git/HEAD"),
    ] {
        let arguments = [arguments, &["-w", "fix"]].concat();
        let said = world.product(&arguments);
        assert_ne!(said.code, Some(0), "{arguments:?}: {said:#?}");
        assert!(said.err.contains(told), "{arguments:?}: {said:#?}");
        assert!(!said.err.contains(".offshoot/bound"), "{arguments:?}: {said:#?}");
    }
    let error = world.document(&["fs", "cat", "../main/.git/nope", "-w", "fix"]);
    assert_eq!(error["error"]["message"], "there is no ../main/.git/nope", "{error}");

    world.ok(FIX, "echo x > ../main/.git/info/other");
    world.done(&["fs", "mkdir", "../main/.git/info/new", "-w", "fix"]);
    for (arguments, told) in [
        (&["fs", "stat", "../main/.git/HEAD", "-w", "fix"][..], "../main/.git/HEAD"),
        (&["diff", "-w", "fix", "--stat", "--expand"], "../main/.git/info/other"),
        (&["op", "log"], "mkdir ../main/.git/info/new in fix"),
        (&["status", "-w", "fix"], "last: mkdir ../main/.git/info/new in fix"),
    ] {
        let said = world.done(arguments);
        assert!(said.contains(told), "{arguments:?}: {said}");
        assert!(!said.contains(".offshoot/bound"), "{arguments:?}: {said}");
    }

    // Nor where it is gone.
    world.ok(Side::Folder, "mv ../main ../away");
    let said = world.product(&["exec", "-w", "fix", "--", "true"]);
    assert!(said.err.contains("main/.git is gone and was not shown"), "{said:#?}");
    assert!(!said.err.contains(".offshoot/bound"), "{said:#?}");
}

/// Overlayfs gives a file another inode number when it gets another name, which `git clone` takes for an attack. These ways work.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_clone_inside_needs_no_hard_links() {
    let world = linked();
    world.ok(
        FIX,
        "git clone -q --no-hardlinks . ../main/.git/one; git -C ../main/.git/one log --format=%s
         git clone -q file://$(realpath ../main) ../main/.git/two; cat ../main/.git/two/a
         git clone -q . here; git -C here fsck --full; rm -rf ../main/.git/one ../main/.git/two here",
    );
}

/// A linked working tree has refs of its own (`refs/worktree/...`). They move and go like other refs: never without a word, and never over what
/// the person did.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn refs_of_one_working_tree_are_refs() {
    let script = "git init -q .; echo one > a; git add a; git commit -qm first
         git worktree add -q wt -b side 2> /dev/null; cd wt; git checkout -q --detach
         for ref in keep both; do
             git commit -q --allow-empty -m $ref; git update-ref --create-reflog refs/worktree/$ref HEAD
         done
         git checkout -q side; git reflog expire --expire=now HEAD";
    let world = World::new(script, &["fix"]);
    let at = |name: &str| {
        let script = format!("cd wt; git rev-parse -q --verify refs/worktree/{name} || true");
        world.ok(Side::Folder, &script).trim().to_owned()
    };
    let (keep, both) = (at("keep"), at("both"));
    world.ok(
        FIX,
        "cd wt; git update-ref -d refs/worktree/keep
         git update-ref refs/worktree/new HEAD; git update-ref refs/worktree/both HEAD",
    );
    let own = world.ok(
        Side::Folder,
        "cd wt; git update-ref refs/worktree/both $(git commit-tree -m mine HEAD^{tree}); git rev-parse refs/worktree/both",
    );
    let said = world.done(&["commit", "-w", "fix"]);
    let deleted = format!("worktrees/wt/refs/worktree/keep was deleted; it was at {}", &keep[..12]);
    assert!(said.contains(&deleted), "{said}");
    assert_eq!(at("keep"), "", "{said}");
    assert_eq!(at("new"), world.ok(Side::Folder, "git rev-parse side").trim(), "{said}");
    // What both moved is the person's, and the workspace's has another name.
    assert_eq!(at("both"), own.trim(), "{said}");
    assert!(said.contains("refs/offshoot/fix/worktrees/wt/refs/worktree/both"), "{said}");
    assert_eq!(world.damage(Side::Folder), None);

    let said = world.done(&["undo", "-w", "fix"]);
    assert_eq!((at("keep"), at("new").as_str()), (keep, ""), "{said}");
    assert_ne!(at("both"), both, "{said}");
}

/// A working tree that goes is told with its own refs, and stays where the person moved one.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_working_tree_that_goes_is_told_with_its_refs() {
    let script = "git init -q .; echo one > a; git add a; git commit -qm first
         git worktree add -q wt -b side 2> /dev/null; cd wt
         git update-ref refs/worktree/keep $(git commit-tree -m kept HEAD^{tree})";
    let world = World::new(script, &["fix"]);
    let keep = world.ok(Side::Folder, "cd wt; git rev-parse refs/worktree/keep");
    world.ok(FIX, "git worktree remove --force wt");
    let commit = ["commit", "-w", "fix", "--allow", "git"];
    let said = world.done(&commit);
    let deleted = format!("worktrees/wt/refs/worktree/keep was deleted; it was at {}", &keep[..12]);
    assert!(said.contains(&deleted), "{said}");
    world.done(&["undo", "-w", "fix"]);
    world.ok(
        Side::Folder,
        "cd wt; git update-ref refs/worktree/keep $(git commit-tree -m mine HEAD^{tree})",
    );
    let said = world.done(&commit);
    assert!(
        world.sh(Side::Folder, "test -e .git/worktrees/wt/refs/worktree/keep").is_well(),
        "{said}"
    );
}
