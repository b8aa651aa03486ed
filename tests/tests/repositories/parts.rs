//! The parts of a git directory, one by one.

use offshoot_needs::needs;

use crate::seen::{FIX, whole, world};
use crate::world::{Side, World};

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_both_stashed_is_kept() {
    let world = world();
    world.ok(FIX, "echo one > s; git stash push -qu; echo two > s; git stash push -qu");
    world.ok(Side::Folder, "echo mine > m; git stash push -qu");
    world.done(&["commit", "-w", "fix"]);
    whole(&world);
    assert_eq!(
        world.ok(
            Side::Folder,
            "git stash list | wc -l; git log -g --format=%gd refs/offshoot/fix/stash | wc -l"
        ),
        "1\n2\n"
    );
    world.ok(Side::Folder, "git stash apply -q refs/offshoot/fix/stash; grep -q two s");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_stash_of_one_side_comes_with_its_stack() {
    let world = world();
    world.ok(FIX, "echo one > s; git stash push -qu; echo two > s; git stash push -qu");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(
        world.ok(
            Side::Folder,
            "git stash list | wc -l; git stash pop -q > /dev/null; git stash pop -q > /dev/null 2>&1 || cat s"
        ),
        "2\ntwo\n"
    );
    whole(&world);
}

/// Staged work of the person is not pulled from under their feet.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_does_not_move_under_a_changed_index() {
    let world = world();
    world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
    world.ok(Side::Folder, "echo staged > s; git add s");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("offshoot/fix/main"), "{said}");
    whole(&world);
    assert_eq!(
        world.ok(Side::Folder, "git log -1 --format=%s; git status --porcelain"),
        "first\nA  s\n?? n\n"
    );
}

/// What git was told to overlook is not taken for a change after a commit.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_git_overlooks_stays_overlooked() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let world = world();
        world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
        world.ok(Side::Folder, &format!("git update-index {flag} a; echo local >> a"));
        let flags = world.ok(Side::Folder, "git ls-files -v a");
        let said = world.done(&["commit", "-w", "fix"]);
        assert!(said.contains("offshoot/fix/main"), "{said}");
        world.ok(Side::Folder, "git fsck --full --strict");
        assert_eq!(world.ok(Side::Folder, "git ls-files -v a"), flags, "{flag}");
        assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "?? n\n", "{flag}");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_rebase_in_progress_stays_whole() {
    let world = world();
    world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
    world.ok(
        Side::Folder,
        "git checkout -q -b side; echo s > a; git commit -qam side; git checkout -q main
        echo m > a; git commit -qam mine; ! git rebase -q side 2> /dev/null",
    );
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.damage(Side::Folder), None);
    world.ok(
        Side::Folder,
        "git checkout -q --theirs a; git add a; git rebase --continue; git fsck --strict",
    );
    assert_eq!(
        world.ok(Side::Folder, "git log -2 --format=%s; git log -1 --format=%s offshoot/fix/main"),
        "mine\nside\ntheirs\n"
    );
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_packed_branch_that_was_deleted_is_named() {
    let world = world();
    world.ok(Side::Folder, "git branch gone; git pack-refs --all");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "git branch -D gone");
    let said = world.done(&["commit", "-w", "fix"]);
    let was = world.ok(Side::Folder, "git rev-parse HEAD");
    assert!(said.contains("gone was deleted") && said.contains(&was[..12]), "{said}");
    assert_eq!(world.ok(Side::Folder, "git branch --format='%(refname:short)'"), "main\n");
    whole(&world);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_on_a_detached_head_are_kept() {
    let world = world();
    world.ok(FIX, "git checkout -q --detach; git commit -q --allow-empty -m loose");
    world.ok(Side::Folder, "git commit -q --allow-empty -m mine");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s refs/offshoot/fix/HEAD"), "loose\n");
    whole(&world);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn merges_of_workspaces_keep_branches_apart() {
    let world = world();
    world.place.ok(["workspace", "create", "other"]);
    let other = Side::Workspace("other");
    world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
    world.ok(other, "echo o > o; git add o; git commit -qm others");
    let said = world.done(&["merge", "fix", "--into", "other"]);
    assert!(said.contains("fix's is offshoot/fix/main"), "{said}");
    assert_eq!(world.damage(other), None);
    assert_eq!(
        world.ok(other, "git log -1 --format=%s; git log -1 --format=%s offshoot/fix/main"),
        "others\ntheirs\n"
    );
    world.done(&["merge", "fix", "other", "--into", "third"]);
    assert_eq!(world.damage(Side::Workspace("third")), None);
}

/// Refs in a format that cannot be taken apart.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_reftable_that_both_moved_is_refused_and_the_advice_works() {
    let world = world();
    let made = world.sh(Side::Folder, "cd ..; git init -q --ref-format=reftable probe");
    if !made.is_well() {
        return;
    }
    let world = World::new(
        "git init -q --ref-format=reftable .; echo one > a; git add a; git commit -qm first",
        &["fix"],
    );
    world.ok(FIX, "echo two > n; git add n; git commit -qm theirs");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(
        world.ok(Side::Folder, "git log -1 --format=%s; git status --porcelain; git fsck --strict"),
        "theirs\n"
    );
    world.ok(FIX, "echo three > n; git commit -qam more");
    world.ok(Side::Folder, "git commit -q --allow-empty -m mine");
    let said = world.product(&["commit", "-w", "fix"]);
    assert_eq!(said.code, Some(4), "{said:#?}");
    assert!(said.err.contains("reftable") && said.err.contains("--exclude .git"), "{said:#?}");
    world.done(&["commit", "-w", "fix", "--exclude", ".git"]);
    assert_eq!(
        world.ok(Side::Folder, "cat n; git log -1 --format=%s; git fsck --strict"),
        "three\nmine\n"
    );
}

/// A pull leaves the workspace's own commit checked out, so the folder's index is no part of what the workspace has.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_is_staged_outlives_a_pull_and_a_commit() {
    let world = world();
    world.ok(FIX, "echo two > a; git commit -qam theirs");
    world.ok(Side::Folder, "echo staged > s; git add s");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "echo more > m");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("offshoot/fix/main"), "{said}");
    let status = world.ok(Side::Folder, "git status --porcelain; git log -1 --format=%s");
    assert_eq!(status, " M a\nA  s\n?? m\nfirst\n");
    whole(&world);
}

/// Where the person staged and committed nothing, the workspace's commit becomes theirs, pulled before or not.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_commit_comes_home_after_a_pull() {
    let world = world();
    world.ok(FIX, "echo two > a; git commit -qam theirs");
    world.ok(Side::Folder, "echo mine > m; git status");
    world.done(&["pull", "-w", "fix"]);
    world.done(&["commit", "-w", "fix"]);
    let status = world.ok(Side::Folder, "git status --porcelain; git log -1 --format=%s");
    assert_eq!(status, "?? m\ntheirs\n");
    whole(&world);
}

/// Half a repository is a broken one.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_directory_is_chosen_as_a_whole() {
    let world = world();
    world.ok(
        FIX,
        "mkdir objects; echo o > objects/o; echo two > a; git add .; git commit -qm theirs",
    );
    world.done(&["commit", "-w", "fix", "--only", "/.git/refs"]);
    let tip = "git log -1 --format=%s; git status --porcelain";
    assert_eq!(world.ok(Side::Folder, tip), "first\n");
    world.done(&["commit", "-w", "fix", "--exclude", "**/objects/**", "--exclude", "objects"]);
    // The branch would have a file that stays; its commits came with all that they need.
    assert_eq!(world.ok(Side::Folder, tip), "first\n M a\n");
    let kept = "git log -1 --format=%s offshoot/fix/main; git show offshoot/fix/main:objects/o";
    assert_eq!(world.ok(Side::Folder, kept), "theirs\no\n");
    whole(&world);
}

/// A git at work has read what it is going to change.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn nothing_is_taken_back_under_a_git_at_work() {
    let world = world();
    world.ok(FIX, "echo two > a; git commit -qam theirs");
    world.done(&["commit", "-w", "fix"]);
    world.ok(Side::Folder, "touch .git/index.lock");
    let said = world.product(&["undo", "-w", "fix"]);
    assert_eq!(said.code, Some(8), "{said:#?}");
    assert!(said.err.contains("index.lock"), "{said:#?}");
    world.ok(Side::Folder, "rm .git/index.lock; test \"$(cat a)\" = two");
    world.done(&["undo", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "cat a; git log -1 --format=%s"), "one\nfirst\n");
    whole(&world);
}

/// What a pull only kept apart is no part of what the workspace has: its stash is not put in place of the person's.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_stash_outlives_a_pull_and_a_commit() {
    let world = world();
    world.ok(FIX, "echo w >> a; git stash -q");
    world.ok(Side::Folder, "echo p >> b; echo u > u; git stash -q -u");
    let mine = world.ok(Side::Folder, "git rev-parse refs/stash");
    let theirs = world.ok(FIX, "git rev-parse refs/stash");
    world.done(&["pull", "-w", "fix"]);
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("refs/offshoot/fix/stash"), "{said}");
    let stashes = "git log -g --format=%H refs/stash; git rev-parse refs/offshoot/fix/stash";
    assert_eq!(world.ok(Side::Folder, stashes), format!("{mine}{theirs}"));
    whole(&world);
    // The workspace goes on from the person's: what it puts upon that reaches the folder.
    world.ok(FIX, "echo more >> a; git stash -q");
    let upon = world.ok(FIX, "git rev-parse refs/stash");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, stashes), format!("{upon}{mine}{theirs}"));
    // What it drops stays the person's.
    world.ok(FIX, "git stash drop -q stash@{1}; echo x > x");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("stash of fix was not brought"), "{said}");
    assert_eq!(world.ok(Side::Folder, stashes), format!("{upon}{mine}{theirs}"));
    whole(&world);
}

/// A workspace that dropped its own stash has not dropped the person's.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_stash_outlives_a_pull_and_a_drop() {
    let world = world();
    world.ok(FIX, "echo w >> a; git stash -q");
    world.ok(Side::Folder, "echo p >> b; git stash -q");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "git stash pop -q");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "git stash list | wc -l; tail -n 1 a"), "1\nw\n");
    // What the person drops goes from the workspace, too.
    world.ok(Side::Folder, "git stash drop -q");
    world.done(&["pull", "-w", "fix"]);
    assert_eq!(world.ok(FIX, "git stash list | wc -l"), "0\n");
    whole(&world);
}

/// The stash of a submodule is a stash like any other.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_stash_of_a_submodule_outlives_a_pull_and_a_commit() {
    let world = World::new(
        "git init -q .; git init -q ../lib; (cd ../lib; echo one > l; git add l; git commit -qm lib)
        git -c protocol.file.allow=always submodule --quiet add \"$PWD/../lib\" sub; git commit -qm first",
        &["fix"],
    );
    world.ok(FIX, "cd sub; echo w >> l; git stash -q");
    world.ok(Side::Folder, "cd sub; echo p >> l; git stash -q");
    let mine = world.ok(Side::Folder, "cd sub; git rev-parse refs/stash");
    world.done(&["pull", "-w", "fix"]);
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "cd sub; git log -g --format=%H refs/stash"), mine);
    world.ok(Side::Folder, "cd sub; git rev-parse refs/offshoot/fix/stash");
}

/// What stayed at a pull was not taken in, so the workspace's is not put in place of the person's afterwards.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn files_of_git_outlive_a_pull_and_a_commit() {
    let world = world();
    let files = ["config", "description", "info/exclude", "mynotes"];
    let write = "git config user.nick $0; for f in description info/exclude mynotes; do echo $0 > .git/$f; done";
    let each = |who: &str| write.replace("$0", who);
    let read = "git config user.nick; cd .git; cat description info/exclude mynotes";
    world.ok(FIX, &each("w"));
    world.ok(Side::Folder, &each("p"));
    let stayed = |told: &serde_json::Value| -> Vec<String> {
        let notes = told["result"]["repositories"].as_array().cloned().unwrap_or_default();
        let notes = notes.iter().filter(|note| note["event"] == "file-stayed");
        notes.map(|note| note["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let told = world.document(&["pull", "-w", "fix"]);
    assert_eq!(stayed(&told), files, "{told}");
    assert_eq!(world.ok(FIX, read), "w\n".repeat(4));
    let told = world.document(&["commit", "-w", "fix", "--allow", "git"]);
    assert_eq!(stayed(&told), files, "{told}");
    assert_eq!(world.ok(Side::Folder, read), "p\n".repeat(4));
    // The workspace has the person's now, and what it makes of them reaches the folder.
    world.ok(FIX, &each("both"));
    world.done(&["commit", "-w", "fix", "--allow", "git"]);
    assert_eq!(world.ok(Side::Folder, read), "both\n".repeat(4));
    whole(&world);
}

/// A file of git that one side deleted and the other changed stays with who has it, pulled before or not.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_changed_file_of_git_outlives_a_pull_and_a_deletion() {
    let world = world();
    world.ok(FIX, "rm .git/description");
    world.ok(Side::Folder, "echo p > .git/description");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "echo n > .git/new");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "cat .git/description .git/new"), "p\nn\n");
}
