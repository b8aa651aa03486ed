//! Both sides changed the same lines, and the workspace decided them: git gets what was decided.

use offshoot_needs::needs;
use serde_json::json;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

const COMMIT_GIT: [&str; 8] = ["commit", "-w", "fix", "--git", "-m", "both", "--author", AUTHOR];
const HEADS: &str = "git rev-parse main; git status --porcelain";

/// Commits of both sides to the same lines, decided in the workspace and brought into the folder without git.
fn decided(decide: &str) -> World {
    let world = world();
    world.ok(FIX, "echo theirs > a; sed -i s/^3$/theirs/ b; git commit -qam theirs");
    world.ok(Side::Folder, "echo mine > a; sed -i s/^18$/mine/ b; git commit -qam mine");
    assert_eq!(world.product(&["pull", "-w", "fix"]).code, Some(4));
    world.ok(FIX, decide);
    world.done(&["commit", "-w", "fix"]);
    world
}

/// The commit that a branch is at, and that of the workspace.
fn tips(world: &World) -> [String; 2] {
    [Side::Folder, FIX].map(|side| world.ok(side, "git rev-parse main").trim().to_owned())
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_the_workspace_decided_is_merged() {
    for (decide, now) in
        [("echo both > a", "both\n"), ("echo theirs > a", "theirs\n"), ("rm a", "")]
    {
        let world = decided(decide);
        world.ok(Side::Folder, "echo staged > s; git add s");
        let [mine, theirs] = tips(&world);
        let said = world.done(&COMMIT_GIT);
        assert!(said.contains("it merges offshoot/fix/main, which is gone"), "{said}");
        let parents = format!("{mine} {theirs} both\n");
        assert_eq!(world.ok(Side::Folder, "git log -1 --format='%P %s'"), parents, "{said}");
        let show = "git show HEAD:a 2> /dev/null || true";
        assert_eq!(world.ok(Side::Folder, show), now, "{said}");
        let merged = world.ok(Side::Folder, "git show HEAD:b");
        assert!(merged.contains("theirs\n") && merged.contains("mine\n"), "{merged}");
        assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "A  s\n", "{said}");
        whole(&world);
        world.ok(Side::Folder, "git commit -qm mine");
        world.done(&["pull", "-w", "fix"]);
        assert_eq!(world.ok(FIX, HEADS), world.ok(Side::Folder, HEADS), "{said}");
    }
}

/// Nor does it matter that something else reached the folder first.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn new_files_come_before_the_merge() {
    let world = decided("echo both > a");
    let [_, theirs] = tips(&world);
    world.ok(FIX, "echo n > n");
    world.done(&COMMIT_GIT);
    world.done(&COMMIT_GIT);
    world.ok(Side::Folder, &format!("git merge-base --is-ancestor {theirs} main"));
    assert_eq!(world.ok(Side::Folder, "git status --porcelain; cat a n"), "both\nn\n");
    whole(&world);
}

/// What the person did with a file since is theirs to commit: nothing is recorded, however often it is tried, and what is printed instead
/// works.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_file_that_was_changed_since_is_not_committed() {
    for (edit, left) in [
        ("echo edit >> a", "both\nedit\n"),
        ("git checkout -q a", "mine\n"),
        ("echo mine >> a; git commit -qam more; echo edit >> a", "both\nmine\nedit\n"),
    ] {
        let world = decided("echo both > a");
        let [_, theirs] = tips(&world);
        world.ok(Side::Folder, edit);
        let before = world.ok(Side::Folder, HEADS);
        let mut refused = world.product(&COMMIT_GIT);
        for _ in 0..2 {
            refused = world.product(&COMMIT_GIT);
            assert_eq!(refused.code, Some(4), "{edit}: {refused:#?}");
            assert!(refused.err.contains("same lines of a, and the folder's was"), "{refused:#?}");
            assert_eq!(world.ok(Side::Folder, HEADS), before, "{edit}");
        }
        let way = refused.err.split('`').nth(1).unwrap();
        let typed = world.typed(way);
        assert!(typed.is_well(), "{way}: {typed:#?}");
        world.ok(Side::Folder, &format!("git merge-base --is-ancestor {theirs} main"));
        let now = world.ok(Side::Folder, "git status --porcelain; cat a");
        assert_eq!(now, left, "{edit}");
        whole(&world);
    }
}

/// A file in the place of a directory is nothing that git can put together by names.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_file_and_a_directory_are_left_to_the_person() {
    let world = world();
    world.ok(FIX, "mkdir d; echo theirs > d/x; git add d; git commit -qm theirs");
    world.ok(Side::Folder, "echo mine > d; git add d; git commit -qm mine");
    assert_eq!(world.product(&["pull", "-w", "fix"]).code, Some(4));
    world.done(&["resolve", "/d", "--ours", "-w", "fix"]);
    world.ok(FIX, "rm -rf d d~*; mkdir d; echo both > d/x");
    world.done(&["commit", "-w", "fix"]);
    let refused = world.product(&COMMIT_GIT);
    assert_eq!(refused.code, Some(4), "{refused:#?}");
    let way = refused.err.split('`').nth(1).unwrap_or_else(|| panic!("{refused:#?}"));
    let typed = world.typed(way);
    assert!(typed.is_well(), "{way}: {typed:#?}");
    assert_eq!(world.ok(Side::Folder, "git show HEAD:d/x; git status --porcelain"), "both\n");
    whole(&world);
}

/// Programs get the same commands as people.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn documents_say_what_to_do_next() {
    let world = world();
    world.ok(FIX, "echo theirs > a; git commit -qam theirs");
    world.ok(Side::Folder, "echo mine > a; git commit -qam mine");
    let undo = json!({"goal": "undo", "commands": ["offshoot undo -w fix"]});
    let of = |arguments: &[&str]| world.document(arguments)["result"].clone();

    let refused = of(&["commit", "-w", "fix"]);
    let pull = json!([{"goal": "decide", "commands": ["offshoot pull -w fix"]}]);
    assert_eq!(refused["ways_on"], pull, "{refused}");

    let pulled = of(&["pull", "-w", "fix"]);
    let see = json!({"goal": "decide", "commands": ["offshoot conflicts -w fix"]});
    assert_eq!(pulled["ways_on"], json!([see, undo]), "{pulled}");
    // Nobody is told to commit the files as they are while they have markers.
    let kept = &pulled["repositories"][0];
    assert_eq!(kept["kept_as"], "refs/heads/offshoot/folder/main", "{pulled}");
    assert!(kept.get("way_on").is_none(), "{pulled}");
    let status = of(&["status", "-w", "fix"]);
    assert!(!status.to_string().contains("-s ours"), "{status}");

    world.ok(FIX, "echo both > a");
    let committed = of(&["commit", "-w", "fix"]);
    assert_eq!(committed["ways_on"], json!([undo]), "{committed}");
    let kept = &committed["repositories"][0];
    assert_eq!(kept["kept_as"], "refs/heads/offshoot/fix/main", "{committed}");
    let commit = json!({"goal": "merge", "commands": ["offshoot commit -w fix --git"]});
    assert_eq!(kept["way_on"], commit, "{committed}");

    // What is merged is no longer apart.
    let merged = of(&COMMIT_GIT);
    assert_eq!(merged["git"]["merged"], "refs/heads/offshoot/fix/main", "{merged}");
    assert!(merged.get("repositories").is_none(), "{merged}");

    world.ok(FIX, "echo other > a; git commit -qam other");
    world.place.ok(["workspace", "create", "two"]);
    world.ok(Side::Workspace("two"), "echo two > a; git commit -qam two");
    let merged = of(&["merge", "two", "--into", "fix"]);
    assert_eq!(merged["ways_on"], json!([see]), "{merged}");
    assert!(merged["repositories"][0].get("way_on").is_none(), "{merged}");
    let record = || {
        let status = of(&["status", "-w", "fix"]);
        let notes = status["repositories"].as_array().cloned().unwrap_or_default();
        notes.into_iter().find_map(|note| {
            let is_it = note["kept_as"] == "refs/heads/offshoot/two/main";
            note.get("way_on").filter(|way| is_it && way["goal"] == "record").cloned()
        })
    };
    assert_eq!(record(), None);
    world.ok(FIX, "echo decided > a");
    let kept = "offshoot/two/main";
    let commands = [
        format!("git merge --no-commit -s ours {kept}"),
        format!("git read-tree -i -m $(git merge-base HEAD {kept}) HEAD {kept}"),
        "git commit -a --no-edit".to_owned(),
    ];
    let command = format!("offshoot exec -w fix --shell '{}'", commands.join(" && "));
    assert_eq!(record(), Some(json!({"goal": "record", "commands": [command]})));
}
