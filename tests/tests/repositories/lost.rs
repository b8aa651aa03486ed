//! What a workspace's repository lost stays in the folder's: stashes, branches, histories, whole repositories.

use offshoot_needs::needs;
use serde_json::Value;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

const WITH_BRANCHES: &str = "git init -q .; echo one > a; git add -A; git commit -qm first; git branch keep; git tag v1; echo two > a; git commit -qam second";

fn notes(document: &Value) -> Vec<Value> {
    document["result"]["repositories"].as_array().cloned().unwrap_or_default()
}

fn told<'n>(notes: &'n [Value], name: &str, event: &str) -> Option<&'n Value> {
    notes.iter().find(|note| note["name"] == name && note["event"] == event)
}

/// All refs of the folder, where its HEAD is, and what its logs have.
fn refs(world: &World) -> String {
    world.ok(
        Side::Folder,
        "git for-each-ref; git symbolic-ref HEAD; git rev-parse HEAD; git reflog --all",
    )
}

/// The stack of stashes is a log: where a workspace lost that, the person still has all of them.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_stash_outlives_lost_logs() {
    for loss in [
        "git reflog expire --expire=now --all",
        "rm -rf .git/logs",
        "rm .git/logs/refs/stash",
        ": > .git/logs/refs/stash",
        "rm -rf .git/refs/stash .git/logs",
        "git stash drop -q",
    ] {
        let script = "git init -q .; echo one > a; git add -A; git commit -qm first; echo kept > a; git stash -q";
        let world = World::new(script, &["fix"]);
        let before = refs(&world);
        world.ok(FIX, &format!("{loss}; echo plain > plain"));
        let document = world.document(&["commit", "-w", "fix"]);
        let notes = notes(&document);
        assert!(told(&notes, "refs/stash", "not-brought").is_some(), "{loss}: {document}");
        assert_eq!(refs(&world), before, "{loss}");
        whole(&world);
        // The next one goes on top of it.
        world.ok(Side::Folder, "echo more > a; git stash -q; git stash drop -q; git stash pop -q");
        assert_eq!(world.ok(Side::Folder, "cat a plain"), "kept\nplain\n", "{loss}");
    }
}

/// Logs of other refs only grow as well.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn logs_outlive_a_workspace_without_them() {
    let world = World::new(WITH_BRANCHES, &["fix"]);
    let before = world.ok(Side::Folder, "cat .git/logs/HEAD .git/logs/refs/heads/main");
    world.ok(FIX, "rm -rf .git/logs; echo n > n; git add n; git commit -qm theirs");
    world.done(&["commit", "-w", "fix"]);
    let after = world.ok(Side::Folder, "cat .git/logs/HEAD .git/logs/refs/heads/main");
    for line in before.lines() {
        assert!(after.contains(line), "{line}\n{after}");
    }
    whole(&world);
}

/// A repository that lost its branches takes none away, least of all the one that is checked out.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn branches_outlive_a_broken_repository() {
    for loss in [
        "rm -rf .git/refs",
        "rm -rf .git/refs/heads",
        "rm -rf .git/refs; mkdir -p .git/refs/heads",
        "rm .git/refs/heads/main",
        "rm .git/refs/heads/main .git/refs/heads/keep",
        "git update-ref -d HEAD; git branch -D keep",
        "rm .git/HEAD",
        "git checkout -q --detach; rm -rf .git/refs/heads",
    ] {
        let world = World::new(WITH_BRANCHES, &["fix"]);
        let before = world.ok(Side::Folder, "git for-each-ref; git rev-parse HEAD");
        world.ok(FIX, &format!("{loss}; echo plain > plain"));
        let document = world.document(&["commit", "-w", "fix"]);
        assert!(!notes(&document).is_empty(), "{loss}: {document}");
        let now = world.ok(Side::Folder, "git for-each-ref; git rev-parse HEAD");
        assert_eq!(now, before, "{loss}");
        assert_eq!(world.damage(Side::Folder), None, "{loss}");
        world.status_is_true().unwrap();
        assert_eq!(world.ok(Side::Folder, "cat plain"), "plain\n", "{loss}");
        // The workspace has the folder's again.
        assert_eq!(world.damage(FIX), None, "{loss}");
    }
}

/// Branches that lie in a list, with newer ones in files of their own: neither is lost without git.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn packed_branches_outlive_a_broken_repository() {
    let script = format!(
        "{WITH_BRANCHES}; git pack-refs --all; echo three > a; git commit -qam third; git branch loose"
    );
    for loss in [
        "rm -rf .git/refs/heads",
        "rm -rf .git/refs/heads .git/logs",
        "rm .git/packed-refs",
        "rm -rf .git/refs/* .git/packed-refs",
    ] {
        let world = World::new(&script, &["fix"]);
        let before = refs(&world);
        world.ok(FIX, &format!("{loss}; echo plain > plain"));
        let document = world.document(&["commit", "-w", "fix"]);
        assert!(!notes(&document).is_empty(), "{loss}: {document}");
        assert_eq!(refs(&world), before, "{loss}");
        assert_eq!(world.damage(Side::Folder), None, "{loss}");
        world.status_is_true().unwrap();
        assert_eq!(world.damage(FIX), None, "{loss}");
    }
    // A branch that goes back to where it was is moved as always, however that is written down.
    let world = World::new(&script, &["fix"]);
    world.ok(FIX, "git reset -q --hard HEAD~1; git pack-refs --all");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s"), "second\n");
    whole(&world);
}

/// The log of a branch goes with it: commits that nothing else leads to are named.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_in_the_log_of_a_deleted_branch_are_named() {
    let script = format!(
        "{WITH_BRANCHES}; only=$(git commit-tree -p HEAD -m only 'HEAD^{{tree}}'); git branch topic $only; git branch -f topic keep"
    );
    let world = World::new(&script, &["fix"]);
    let only = world.ok(Side::Folder, "git rev-parse 'topic@{1}'");
    world.ok(FIX, "git branch -D topic");
    let document = world.document(&["commit", "-w", "fix"]);
    let notes = notes(&document);
    let note =
        told(&notes, "refs/heads/topic@{1}", "deleted").unwrap_or_else(|| panic!("{document}"));
    assert_eq!(note["from"], only.trim(), "{document}");
    // What the log of HEAD or another branch has is not.
    assert_eq!(notes.len(), 2, "{document}");
    whole(&world);
}

/// What a person's own git does is no loss.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn branches_that_were_deleted_or_renamed_on_purpose_go() {
    let world = World::new(WITH_BRANCHES, &["fix"]);
    world.ok(FIX, "git branch -D keep; git branch -m main trunk");
    world.done(&["commit", "-w", "fix"]);
    let branches = world.ok(Side::Folder, "git branch --format='%(HEAD)%(refname:short)'");
    assert_eq!(branches, "*trunk\n");
    whole(&world);
}

/// Without the list of commits that have no parents here, git takes the history for damaged.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_shallow_clone_stays_one() {
    let origin = "mkdir ../origin; git init -q ../origin; for n in 1 2 3; do echo $n > ../origin/a; git -C ../origin add -A; git -C ../origin commit -qm c$n; done";
    let script = format!("{origin}; git clone -q --depth 1 \"file://$PWD/../origin\" .");
    for loss in ["rm .git/shallow", ": > .git/shallow"] {
        let world = World::new(&script, &["fix"]);
        world.ok(FIX, &format!("{loss}; echo plain > plain"));
        let document = world.document(&["commit", "-w", "fix"]);
        assert!(told(&notes(&document), "shallow", "not-brought").is_some(), "{document}");
        assert_eq!(world.ok(Side::Folder, "git log --format=%s; cat plain"), "c3\nplain\n");
        assert_eq!(world.damage(Side::Folder), None, "{loss}");
        assert_eq!(world.damage(FIX), None, "{loss}");
    }
    // A whole history is no loss.
    let world = World::new(&script, &["fix"]);
    world.ok(Side::Folder, "git clone -q --mirror ../origin mirror");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "git fetch -q --unshallow \"file://$PWD/mirror\"; test ! -e .git/shallow");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "git log --format=%s"), "c3\nc2\nc1\n");
    assert_eq!(world.damage(Side::Folder), None);
    world.ok(Side::Folder, "test ! -e .git/shallow");
}

/// A workspace with less of the history cuts nothing off from the folder's.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn history_outlives_a_shallow_fetch() {
    let origin = "git init -q ../origin; for n in 1 2 3 4 5; do git -C ../origin commit -q --allow-empty -m c$n; done";
    let mirror = "git clone -q --mirror ../origin mirror; echo mirror > .git/info/exclude";
    let work = "echo plain > plain; git add plain; git commit -qm theirs";
    let count =
        "git fsck --strict; git rev-list --count HEAD; cat .git/shallow 2> /dev/null || true";
    // The folder has all of it.
    let world = World::new(&format!("{origin}; git clone -q ../origin .; {mirror}"), &["fix"]);
    world.ok(FIX, &format!("git fetch -q --depth=1 \"file://$PWD/mirror\" main; {work}"));
    assert_eq!(world.ok(FIX, "git rev-list --count HEAD"), "2\n");
    let document = world.document(&["commit", "-w", "fix"]);
    assert!(told(&notes(&document), "shallow", "not-brought").is_some(), "{document}");
    assert_eq!(world.ok(Side::Folder, count), "6\n");
    assert_eq!(world.ok(FIX, count), "6\n");
    // The person gets all of it meanwhile.
    let shallow = "git clone -q --depth 2 \"file://$PWD/../origin\" .";
    let world = World::new(&format!("{origin}; {shallow}; {mirror}"), &["fix"]);
    world.ok(FIX, &format!("git fetch -q --deepen=1 \"file://$PWD/mirror\"; {work}"));
    world.ok(Side::Folder, "git fetch -q --unshallow");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, count), "6\n");
    // More of it comes from either side.
    let world = World::new(&format!("{origin}; {shallow}; {mirror}"), &["fix"]);
    world.ok(FIX, &format!("git fetch -q --deepen=1 \"file://$PWD/mirror\"; {work}"));
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, count).lines().next(), Some("4"));
}

/// Names that lead to other names come only where these lead somewhere.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn refs_that_lead_nowhere_are_not_brought() {
    for (garbage, names) in [
        ("echo 'ref: refs/heads/nowhere' > .git/refs/heads/dangling", &["dangling"][..]),
        (
            "echo 'ref: refs/heads/b' > .git/refs/heads/a; echo 'ref: refs/heads/a' > .git/refs/heads/b",
            &["a", "b"],
        ),
        (
            "echo 'ref: refs/heads/b' > .git/refs/heads/a; echo rubbish > .git/refs/heads/b",
            &["a", "b"],
        ),
        (
            "echo 'ref: refs/heads/a' > .git/HEAD; echo 'ref: refs/heads/a' > .git/refs/heads/a",
            &["a"],
        ),
    ] {
        let world = world();
        let before = world.ok(Side::Folder, "git for-each-ref; git symbolic-ref HEAD");
        world.ok(FIX, &format!("{garbage}; echo plain > plain"));
        let document = world.document(&["commit", "-w", "fix"]);
        for name in names {
            let name = format!("refs/heads/{name}");
            assert!(told(&notes(&document), &name, "not-brought").is_some(), "{name}: {document}");
        }
        let now = world.ok(Side::Folder, "git for-each-ref; git symbolic-ref HEAD");
        assert_eq!(now, before, "{garbage}");
        assert_eq!(world.damage(Side::Folder), None, "{garbage}");
    }
    let world = world();
    world.ok(FIX, "git symbolic-ref refs/heads/alias refs/heads/main");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "git symbolic-ref refs/heads/alias"), "refs/heads/main\n");
    whole(&world);
}

/// A git directory that is gone stays with all that is in it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_repository_outlives_its_loss() {
    for loss in [
        "rm -rf .git",
        "mv .git .real; echo 'gitdir: .real' > .git",
        "rm -rf .git/objects .git/refs",
    ] {
        for allow in [&["commit", "-w", "fix"][..], &["commit", "-w", "fix", "--allow", "git"]] {
            let world = World::new(WITH_BRANCHES, &["fix"]);
            let files = "find .git | LC_ALL=C sort; git for-each-ref; git ls-files -s";
            let before = world.ok(Side::Folder, files);
            world.ok(FIX, &format!("{loss}; echo plain > plain"));
            let document = world.document(allow);
            let notes = notes(&document);
            let note = told(&notes, "", "directory-stayed");
            let is_told = note.is_some_and(|note| note["why"].is_string());
            // One that is deleted altogether is held back.
            let is_held = document["result"]["held"][0]["detail"] == "a deleted git repository";
            assert!(is_told || is_held, "{loss}: {document}");
            assert_eq!(notes.len(), usize::from(is_told), "{loss}: {document}");
            assert_eq!(world.ok(Side::Folder, files), before, "{loss}");
            assert_eq!(world.damage(Side::Folder), None, "{loss}");
        }
    }
}

/// The same for the repositories of submodules.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn the_repository_of_a_submodule_outlives_its_loss() {
    let script = "mkdir ../lib; git init -q ../lib; echo l > ../lib/l; git -C ../lib add -A; git -C ../lib commit -qm lib
        git init -q .; git -c protocol.file.allow=always submodule --quiet add \"$PWD/../lib\" lib; git commit -qm first; git -C lib branch keep";
    for loss in ["rm -rf .git/modules", "rm -rf .git/modules/lib"] {
        let world = World::new(script, &["fix"]);
        let state = "find .git/modules | LC_ALL=C sort; git -C lib for-each-ref";
        let before = world.ok(Side::Folder, state);
        world.ok(FIX, &format!("{loss}; echo plain > plain"));
        let document = world.document(&["commit", "-w", "fix"]);
        let notes = notes(&document);
        assert_eq!(notes.len(), 1, "{loss}: {document}");
        assert_eq!(notes[0]["repository"], "/.git/modules/lib", "{document}");
        assert_eq!(notes[0]["event"], "directory-stayed", "{document}");
        assert_eq!(world.ok(Side::Folder, state), before, "{loss}");
        world.ok(Side::Folder, "git -C lib fsck --full --strict; git status");
    }
}

/// A repository that came with a commit goes with it, unless somebody used it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_new_repository_is_taken_back() {
    for allow in [&["commit", "-w", "fix"][..], &["commit", "-w", "fix", "--allow", "git"]] {
        let world = World::new("echo one > a", &["fix"]);
        world.ok(FIX, "git init -q .; git add a; git commit -qm theirs");
        world.done(allow);
        world.ok(Side::Folder, "test -e .git/HEAD");
        let said = world.done(&["undo", "-w", "fix"]);
        assert!(!said.contains("stays"), "{said}");
        assert_eq!(world.ok(Side::Folder, "ls -A"), "a\n");
        world.done(&["redo", "-w", "fix"]);
        assert_eq!(world.ok(Side::Folder, "git log --format=%s"), "theirs\n");
        assert_eq!(world.damage(Side::Folder), None);
        world.ok(Side::Folder, "git add a; git commit -qm mine --allow-empty");
        let said = world.done(&["undo", "-w", "fix"]);
        assert!(said.contains("the repository stays as it is: it was changed since"), "{said}");
        assert_eq!(world.ok(Side::Folder, "git log --format=%s"), "mine\ntheirs\n");
    }
}

/// Objects of such a repository have longer names.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_commit_deletes_files_of_a_repository_with_long_ids() {
    let script = "git init -q --object-format=sha256 .; echo one > a; echo two > b; git add -A; git commit -qm first";
    let world = World::new(script, &["fix"]);
    world.ok(FIX, "rm b; echo new > n; echo x > .git/info/refs");
    let arguments = ["commit", "-w", "fix", "--git", "-m", "by offshoot", "--author", AUTHOR];
    world.done(&arguments);
    world.ok(FIX, "rm n; echo y > .git/info/refs");
    world.done(&arguments);
    assert_eq!(
        world.ok(Side::Folder, "git ls-tree --name-only HEAD; git status --porcelain"),
        "a\n"
    );
    assert_eq!(world.ok(Side::Folder, "git rev-list --count HEAD"), "3\n");
}

/// A branch that has no room beside another one was not moved by anybody.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_without_room_is_told_as_such() {
    for (mine, theirs) in [("a", "a/b"), ("a/b", "a")] {
        let world = world();
        world.ok(Side::Folder, &format!("git branch {mine}"));
        world.ok(FIX, &format!("git checkout -q -b {theirs}; echo n > n; git add n; git commit -qm n; git checkout -q main"));
        let said = world.done(&["commit", "-w", "fix"]);
        assert!(!said.contains("moved on both sides"), "{said}");
        let expected = format!("{theirs} cannot be beside {mine}: fix's is offshoot/fix/{theirs}");
        assert!(said.contains(&expected), "{said}");
        whole(&world);
    }
}
