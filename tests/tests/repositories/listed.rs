//! What a review lists is what a commit does, and accepting all of it is a commit of everything.

use std::collections::BTreeSet;

use offshoot_needs::needs;
use serde_json::Value;

use crate::seen::{FIX, whole, world};
use crate::world::{Side, World};

/// Branches, tags and what they lead to, whenever it was made.
const REFS: &str = "git for-each-ref --format='%(refname) %(subject)'; git status --porcelain";

/// Both sides committed on one branch.
fn both_committed() -> World {
    let world = world();
    world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
    world.ok(Side::Folder, "echo x > x; git add x; git commit -qm mine");
    world
}

fn paths(changes: &Value, key: &str) -> BTreeSet<String> {
    let all = changes["result"][key].as_array().unwrap().iter();
    let files = all.filter(|change| change["after"]["entry"] != "directory");
    files.map(|change| change["path"].as_str().unwrap().to_owned()).collect()
}

/// The paths that a review lists: those that a commit changes.
fn listed(world: &World) -> BTreeSet<String> {
    let listed = paths(&world.document(&["review", "-w", "fix", "--list"]), "items");
    let dry = world.document(&["commit", "-w", "fix", "--dry-run"]);
    assert_eq!(listed, paths(&dry, "changes"), "{dry}");
    listed
}

/// The ids of everything that is listed for people.
fn ids(world: &World) -> String {
    let list = world.done(&["review", "-w", "fix", "--list"]);
    let lines = list.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let ids: Vec<&str> = lines.map(|(id, _)| id).filter(|id| id.len() == 12).collect();
    assert!(ids.len() > 1, "{list}");
    ids.join(",")
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn refs_that_a_commit_makes_are_listed() {
    let world = both_committed();
    let text = world.done(&["review", "-w", "fix", "--list"]);
    assert!(text.contains("changed in the folder since it was last read: /.git/"), "{text}");
    let list = world.document(&["review", "-w", "fix", "--list"]);
    assert!(!list["result"]["outdated"].as_array().unwrap().is_empty(), "{list}");
    world.done(&["pull", "--head"]);
    let listed = listed(&world);
    assert!(listed.contains("/.git/refs/heads/offshoot/fix/main"), "{listed:?}");
    let text = world.done(&["review", "-w", "fix", "--list"]);
    let told = "git: 1 commit on offshoot/fix/main, 1 new branch\n";
    assert!(text.contains(told), "{text}");
    let status = world.done(&["status", "-w", "fix"]);
    assert!(status.contains(told.trim_end()), "{status}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn packed_refs_are_listed() {
    let world = world();
    world.ok(FIX, "git branch side; git pack-refs --all");
    let listed = listed(&world);
    assert!(listed.contains("/.git/refs/heads/side"), "{listed:?}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn accepting_everything_is_a_plain_commit() {
    let plain = both_committed();
    plain.done(&["commit", "-w", "fix"]);
    let expected = [plain.ok(Side::Folder, REFS), plain.ok(FIX, REFS)];
    assert!(expected[0].contains("offshoot/fix/main theirs"), "{expected:?}");
    for (pulls, all) in [(true, "ids"), (true, "/"), (false, "ids")] {
        let world = both_committed();
        if pulls {
            world.done(&["pull", "--head"]);
        }
        let accepted = if all == "ids" { ids(&world) } else { all.to_owned() };
        let said = world.done(&["review", "-w", "fix", "--accept", &accepted, "--commit"]);
        assert!(!said.contains("stays:"), "{said}");
        assert_eq!([world.ok(Side::Folder, REFS), world.ok(FIX, REFS)], expected, "{all}");
        whole(&world);
        let list = world.document(&["workspace", "list"]);
        assert_eq!(list["result"]["workspaces"][0]["listed_changes"], 0, "{list}");
        let status = world.done(&["status", "-w", "fix"]);
        assert!(status.contains("nothing changed\n"), "{status}");
    }
}

/// The repository alone, with a hook that stays in any case.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_repository_is_accepted_by_its_fold() {
    let world = both_committed();
    world.ok(FIX, "echo exit 1 > .git/hooks/pre-push; chmod +x .git/hooks/pre-push");
    world.done(&["pull", "--head"]);
    let list = world.done(&["review", "-w", "fix", "--list"]);
    let mut lines = list.lines().skip_while(|line| !line.starts_with("git: 1 commit"));
    let id = lines.nth(1).unwrap().split_whitespace().next().unwrap();
    let said = world.done(&["review", "-w", "fix", "--accept", id, "--commit"]);
    assert!(said.contains("stays: 1 file (git would run or obey it"), "{said}");
    assert!(said.contains("stays: 1 file (left out): /n\n"), "{said}");
    let refs = world.ok(Side::Folder, REFS);
    assert!(refs.contains("offshoot/fix/main theirs"), "{refs}");
    whole(&world);
}

/// Links reach the folder with everything, though they are not listed.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_is_not_listed_comes_with_everything() {
    let world = world();
    world.ok(Side::Folder, "ln a same; git add -A; git commit -qm linked");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "cp -p same other; mv other same; echo new > n");
    let said = world.done(&["review", "-w", "fix", "--accept", "/", "--commit"]);
    assert!(!said.contains("stays:"), "{said}");
    assert_eq!(world.ok(Side::Folder, "stat -c %h a same"), "1\n1\n");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_the_folder_moved_is_listed_at_its_new_path() {
    let moved = || {
        let script = "git init -q .; mkdir d; seq 20 > b; seq 30 50 > d/c; seq 60 90 > d/e
            git add -A; git commit -qm first";
        let world = World::new(script, &["fix"]);
        world.ok(FIX, "echo more >> b; echo new > d/new");
        world.ok(Side::Folder, "mv b moved; mv d dir");
        world.done(&["pull", "--head"]);
        world
    };
    let world = moved();
    let found = listed(&world);
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["/dir/new", "/moved"]);
    let text = world.done(&["review", "-w", "fix", "--list"]);
    assert!(text.contains("M /moved  (/b in the workspace)\n"), "{text}");
    let list = world.document(&["review", "-w", "fix", "--list"]);
    assert_eq!(list["result"]["items"][0]["in_workspace"], "/d/new", "{list}");
    // Either path means it.
    for (dropped, accepted) in [("/moved", "/dir/new"), ("/b", "/d/new")] {
        let world = moved();
        let arguments = ["review", "-w", "fix", "--drop", dropped, "--accept", accepted];
        world.done(&[&arguments[..], &["--commit"]].concat());
        assert_eq!(
            world.ok(Side::Folder, "cat dir/new; ls; tail -1 moved"),
            "new\ndir\nmoved\n20\n"
        );
    }
    world.done(&["review", "-w", "fix", "--accept", "/moved", "--commit"]);
    assert_eq!(world.ok(Side::Folder, "tail -1 moved; ls dir"), "more\nc\ne\n");
}

/// A branch that went back is no other repository, also where nothing is left of what it had.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_went_back_is_of_the_same_repository() {
    for more in ["", "git commit -q --allow-empty -m other;"] {
        let world = world();
        world.ok(Side::Folder, "git commit -q --allow-empty -m second");
        world.done(&["pull", "-w", "fix"]);
        world.ok(
            FIX,
            &format!(
                "git reset -q --hard HEAD~1; {more} rm -f .git/ORIG_HEAD
                 git reflog expire --expire=now --all; git gc -q --prune=now"
            ),
        );
        let told = world.document(&["commit", "-w", "fix"]);
        let notes = told["result"]["repositories"].as_array().unwrap();
        let expected = if more.is_empty() { "rewound" } else { "replaced" };
        assert!(notes.iter().any(|note| note["event"] == expected), "{told}");
        assert!(notes.iter().all(|note| note["kept_as"].is_null()), "{told}");
        whole(&world);
    }
}
