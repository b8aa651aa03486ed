//! What stands in the way of a branch, and the ways on that are told: each works as it is printed.

use offshoot_needs::needs;

use crate::seen::{FIX, whole, world};
use crate::world::{Side, World};

/// A rebase of `topic` that stopped with a conflict, and a workspace of that.
fn rebasing() -> World {
    let world = world();
    world.ok(
        Side::Folder,
        "git checkout -qb topic; echo topic > a; git commit -qam topic
         echo new > n; git add n; git commit -qm more
         git checkout -q main; echo main > a; git commit -qam main; git checkout -q topic
         ! git rebase -q main 2> /dev/null",
    );
    world.done(&["pull", "-w", "fix"]);
    world.place.ok(["workspace", "create", "agent"]);
    world
}

const AGENT: Side = Side::Workspace("agent");
const RESOLVED: &str = "echo both > a; git add a; git rebase --continue > /dev/null 2>&1";

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_rebase_that_the_workspace_finished_is_finished() {
    let world = rebasing();
    world.ok(AGENT, RESOLVED);
    let said = world.done(&["commit", "-w", "agent"]);
    assert!(!said.contains("stays"), "{said}");
    let state = "git status --porcelain; git symbolic-ref HEAD; git log --format=%s; test ! -e .git/rebase-merge";
    assert_eq!(
        world.ok(Side::Folder, state),
        "refs/heads/topic\nmore\ntopic\nmain\nfirst\n",
        "{said}"
    );
    whole(&world);
    let status = world.done(&["status", "-w", "agent"]);
    assert!(status.contains("nothing changed") && !status.contains("stays"), "{status}");
    // And back, with what was in progress.
    world.done(&["undo", "-w", "agent"]);
    whole(&world);
    let again = "test -e .git/rebase-merge; git log -1 --format=%s topic; git ls-files -u | wc -l";
    assert_eq!(world.ok(Side::Folder, again).replace(' ', ""), "more\n3\n");
    world.ok(Side::Folder, RESOLVED);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_is_not_moved_under_a_rebase() {
    let world = rebasing();
    let before = world.ok(Side::Folder, "git rev-parse topic");
    world.ok(AGENT, RESOLVED);
    world.ok(Side::Folder, "echo other > o; git add o");
    let said = world.done(&["commit", "-w", "agent"]);
    assert_eq!(world.ok(Side::Folder, "git rev-parse topic"), before, "{said}");
    assert!(said.contains("topic is being rebased, so yours stays"), "{said}");
    let way = "git rebase --abort && git reset --hard offshoot/agent/topic";
    assert!(said.contains(&format!("`{way}`")), "{said}");
    let agents = world.ok(AGENT, "git rev-parse topic");
    assert_eq!(world.ok(Side::Folder, "git rev-parse offshoot/agent/topic"), agents);
    world.ok(Side::Folder, &format!("{way} > /dev/null; git diff --quiet HEAD"));
    assert_eq!(world.ok(Side::Folder, "git rev-parse topic"), agents);
    whole(&world);
}

/// The person's own end of it is undisturbed as well.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_rebase_goes_on_after_a_commit() {
    let world = rebasing();
    world.ok(AGENT, "echo both > a; git add a; git rebase --continue > /dev/null 2>&1; git rm -q n; git commit -qm less");
    world.ok(Side::Folder, "echo other > o; git add o");
    world.done(&["commit", "-w", "agent"]);
    world.ok(Side::Folder, "git add a; git rebase --continue > /dev/null 2>&1");
    assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s"), "more\n");
    whole(&world);
}

/// What waits in the workspace never comes home, so no option is named that would bring it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_option_brings_an_unfinished_rebase_home() {
    let world = world();
    world.ok(
        FIX,
        "git checkout -qb topic; echo topic > a; git commit -qam topic; git checkout -q main
         echo main > a; git commit -qam main; git checkout -q topic; ! git rebase -q main 2> /dev/null",
    );
    for arguments in [&["status", "-w", "fix"][..], &["commit", "-w", "fix", "--allow", "markers"]]
    {
        let said = world.done(arguments);
        assert!(said.contains("rebase-merge") && !said.contains("--allow git"), "{said}");
    }
    world.ok(Side::Folder, "test ! -e .git/rebase-merge");
    whole(&world);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_search_keeps_its_branch() {
    let world = world();
    world.ok(
        Side::Folder,
        "for n in 1 2 3 4; do echo $n > a; git commit -qam $n; done
         git bisect start > /dev/null; git bisect bad > /dev/null; git bisect good HEAD~4 > /dev/null",
    );
    world.place.ok(["workspace", "create", "agent"]);
    world.ok(AGENT, "git bisect reset 2> /dev/null; echo n > n; git add n; git commit -qm agent");
    world.ok(Side::Folder, "echo other > o; git add o");
    let before = world.ok(Side::Folder, "git rev-parse main");
    let said = world.done(&["commit", "-w", "agent"]);
    assert!(said.contains("main is where git bisect started"), "{said}");
    assert_eq!(world.ok(Side::Folder, "git rev-parse main"), before, "{said}");
    whole(&world);
}

/// A workspace that merged the folder's branch brings its own home, also where both changed the same file.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_has_the_folders_goes_on() {
    let world = world();
    world.ok(FIX, "sed -i s/^3$/theirs/ b; echo n > n; git add n; git commit -qam theirs");
    world.ok(Side::Folder, "sed -i s/^18$/mine/ b; git commit -qam mine");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "git checkout -q .; git clean -fdq; git merge -q offshoot/folder/main");
    let merged = world.ok(FIX, "git rev-parse main");
    let said = world.done(&["commit", "-w", "fix"]);
    for side in [Side::Folder, FIX] {
        assert_eq!(world.ok(side, "git rev-parse main; git status --porcelain"), merged, "{said}");
    }
    // The name that the folder's was kept under does not come to the folder.
    world.ok(FIX, "echo on > on; git add on; git commit -qm on");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "git branch --format='%(refname:short)'"), "main\n");
    whole(&world);
}
