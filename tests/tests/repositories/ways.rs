//! What is printed to bring together what was kept apart: it works as it is printed.

use offshoot_needs::needs;

use crate::seen::{FIX, world};
use crate::world::{AUTHOR, Side, World};

const COMMIT_GIT: [&str; 8] = ["commit", "-w", "fix", "--git", "-m", "both", "--author", AUTHOR];

/// The commands between backticks that have a word in them.
fn way<'t>(text: &'t str, word: &str) -> &'t str {
    let quoted = text.split('`').skip(1).step_by(2).find(|quoted| quoted.contains(word));
    quoted.unwrap_or_else(|| panic!("no {word}: {text}"))
}

fn follow(world: &World, way: &str) {
    let typed = world.typed(way);
    assert!(typed.is_well(), "{way}: {typed:#?}");
}

/// The workspace's commits are in the folder's branch, and all is committed.
fn is_merged(world: &World) {
    let theirs = world.ok(FIX, "git rev-parse main");
    let theirs = theirs.trim();
    world.ok(Side::Folder, &format!("git merge-base --is-ancestor {theirs} main"));
    assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "");
    assert_eq!(world.damage(Side::Folder), None);
}

const ORPHAN: &str = "git checkout -q --orphan t; echo i >> a; git commit -qam squashed
    git branch -M main";

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn histories_with_nothing_in_common_are_merged() {
    for born in [true, false] {
        for again in [false, true] {
            let world = match born {
                true => world(),
                false => World::new("git init -q .; echo k > k", &["fix"]),
            };
            let (theirs, mine) = match born {
                true => (ORPHAN, "echo q >> b; git commit -qam mine"),
                false => (
                    "git add k; git commit -qm first",
                    "echo q > b; git add b; git commit -qm mine",
                ),
            };
            world.ok(FIX, theirs);
            world.ok(Side::Folder, mine);
            let planned = world.done(&["commit", "-w", "fix", "--dry-run"]);
            let mut said = world.product(&COMMIT_GIT).out;
            assert_eq!(way(&planned, "unrelated"), way(&said, "unrelated"));
            if again {
                let refused = world.product(&COMMIT_GIT);
                assert_eq!(refused.code, Some(4), "{refused:#?}");
                said = refused.err;
            }
            follow(&world, way(&said, "--allow-unrelated-histories"));
            is_merged(&world);
            assert!(world.ok(Side::Folder, "cat *").contains('q'));
        }
    }
}

/// Nor does it take along what nobody asked for.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn files_that_git_does_not_know_stay_out_of_a_merge() {
    let world = world();
    world.ok(FIX, "echo theirs > a; echo n > n; git rm -q b; git add n; git commit -qam theirs");
    world.ok(Side::Folder, "echo mine > a; git commit -qam mine; echo secret > private");
    let pulled = world.product(&["pull", "-w", "fix"]);
    assert_eq!(pulled.code, Some(4), "{pulled:#?}");
    world.ok(FIX, "echo both > a");
    world.done(&["commit", "-w", "fix"]);
    world.ok(Side::Folder, "echo edit >> a");
    let refused = world.product(&COMMIT_GIT);
    follow(&world, way(&refused.err, "git merge"));
    assert_eq!(world.ok(Side::Folder, "git ls-files"), "a\nn\n");
    assert_eq!(world.ok(Side::Folder, "git status --porcelain; cat a"), "?? private\nboth\nedit\n");
}

/// What is to be done in a workspace is printed for a person in the folder.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_a_pull_prints_is_done_in_the_workspace() {
    let world = world();
    world.ok(FIX, "git config user.name Ann; git config user.email ann@example.org");
    world.ok(FIX, "echo theirs > a; git commit -qam theirs; echo secret > private");
    world.ok(Side::Folder, "seq 21 > b; echo n > n; git add n; git commit -qam mine");
    let pulled = world.done(&["pull", "-w", "fix"]);
    follow(&world, way(&pulled, "offshoot exec -w fix"));
    assert_eq!(world.ok(FIX, "git ls-files; git status --porcelain"), "a\nb\nn\n?? private\n");
    world.ok(FIX, "git merge-base --is-ancestor offshoot/folder/main main");
    world.done(&["workspace", "create", "two"]);
    world.ok(Side::Workspace("two"), "echo 22 >> b; git commit -qam two");
    let merged = world.done(&["merge", "fix", "two", "--into", "three"]);
    follow(&world, way(&merged, "offshoot exec -w three"));
    let three = Side::Workspace("three");
    world.ok(three, "git merge-base --is-ancestor offshoot/two/main main");
    assert_eq!(world.ok(three, "git status --porcelain"), "?? private\n");
}

/// The workspace changes a file in a directory that the person made a link of.
fn link_in_the_place_of_a_directory() -> World {
    let script =
        "git init -q .; mkdir d; echo r > d/r; echo a > a; git add .; git commit -qm first";
    let world = World::new(script, &["fix"]);
    world.ok(FIX, "echo theirs >> d/r; git commit -qam theirs");
    world.ok(Side::Folder, "rm -r d; ln -s . d; git add -A; git commit -qm mine");
    assert_eq!(world.product(&["pull", "-w", "fix"]).code, Some(4));
    world.done(&["resolve", "--all", "--theirs", "-w", "fix"]);
    world
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_is_committed_is_not_staged() {
    let world = link_in_the_place_of_a_directory();
    for arguments in [&["status", "-w", "fix"][..], &["commit", "-w", "fix", "--dry-run"]] {
        let said = world.product(arguments);
        let said = format!("{}{}", said.out, said.err);
        assert!(!said.contains("staged") && !said.contains("`git commit"), "{said}");
    }
}

/// A dry run lists nothing that is refused then.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_dry_run_is_refused_like_the_commit() {
    let world = link_in_the_place_of_a_directory();
    world.product(&COMMIT_GIT);
    world.ok(FIX, "git branch topic");
    let objects = "find .git -type f | sort";
    let before = world.ok(Side::Folder, objects);
    let dry = world.product(&[&COMMIT_GIT[..], &["--dry-run"]].concat());
    assert_eq!(world.ok(Side::Folder, objects), before);
    let refused = world.product(&COMMIT_GIT);
    assert_eq!((dry.code, &dry.out, &dry.err), (Some(4), &refused.out, &refused.err));
    assert_eq!(world.ok(Side::Folder, "git branch --list topic"), "");
    follow(&world, way(&refused.err, "git merge"));
    is_merged(&world);
}

/// What a merge of workspaces kept apart is told of until somebody merges it: by the status, and by the commit that brings it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_a_merge_kept_apart_is_told_again() {
    for merged_inside in [true, false] {
        let world = world();
        world.ok(Side::Folder, "git config user.name Ann; git config user.email ann@example.org");
        world.done(&["pull", "-w", "fix"]);
        world.done(&["workspace", "create", "two"]);
        world.ok(FIX, "echo 1 > one; git add one; git commit -qm one");
        world.ok(Side::Workspace("two"), "echo 2 > two; git add two; git commit -qm two");
        let silent = world.done(&["status", "-w", "fix"]);
        assert!(!silent.contains("both sides"), "{silent}");
        let merged = world.done(&["merge", "two", "--into", "fix"]);
        let status = world.done(&["status", "-w", "fix"]);
        assert_eq!(way(&status, "git merge"), way(&merged, "git merge"));
        let document = world.document(&["status", "-w", "fix"]);
        let note = &document["result"]["repositories"][0];
        assert_eq!(note["kept_as"], "refs/heads/offshoot/two/main", "{document}");
        if merged_inside {
            follow(&world, way(&status, "git merge"));
            let status = world.done(&["status", "-w", "fix"]);
            assert!(!status.contains("both sides"), "{status}");
        }
        let planned = world.done(&["commit", "-w", "fix", "--dry-run"]);
        let committed = world.done(&["commit", "-w", "fix"]);
        for said in [&planned, &committed] {
            assert_eq!(said.contains("two's is offshoot/two/main"), !merged_inside, "{said}");
        }
        if !merged_inside {
            follow(&world, way(&committed, "git merge"));
        }
        is_merged(&world);
        world.ok(Side::Folder, "git merge-base --is-ancestor offshoot/two/main main");
        // Who starts from there has nothing to merge.
        world.done(&["pull", "-w", "two"]);
        let status = world.done(&["status", "-w", "two"]);
        assert!(!status.contains("offshoot/two/main"), "{status}");
    }
}

/// Who commits without git, and asks for git afterwards, is told where the files are.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_reached_the_folder_before_is_for_git_there() {
    let told = "`git add` and `git commit` in the folder commit them";
    for script in ["echo new > new", "echo more >> a"] {
        let world = world();
        world.ok(FIX, script);
        world.done(&["commit", "-w", "fix"]);
        for dry in [&["--dry-run"][..], &[]] {
            let said = world.product(&[&COMMIT_GIT[..], dry].concat());
            assert!(said.is_well() && said.err.contains(told), "{script}: {said:#?}");
        }
        world.ok(Side::Folder, "git add .; git commit -qm own");
        let said = world.product(&COMMIT_GIT);
        assert!(said.is_well() && !said.err.contains(told), "{script}: {said:#?}");
    }
}
