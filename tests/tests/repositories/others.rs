//! Other version controls, whose directories are taken whole.

use std::collections::BTreeMap;
use std::path::Path;

use offshoot_needs::needs;
use offshoot_tests::scan::{Scan, scan};

use crate::seen::FIX;
use crate::world::{Side, World};

/// The files of a directory with their bytes, without times.
fn files(at: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let Scan(nodes) = scan(at).unwrap();
    let path = |name: &Vec<u8>| at.join(Path::new(std::str::from_utf8(name).unwrap()));
    let all = nodes.keys().filter(|name| path(name).is_file());
    all.map(|name| (name.clone(), std::fs::read(path(name)).unwrap())).collect()
}

fn taken_whole(directory: &str, world: &World, work: &str, mine: &str) {
    let at = world.place.project().join(directory);
    let before = files(&at);
    world.ok(FIX, work);
    world.done(&["commit", "-w", "fix"]);
    let after = files(&at);
    assert_ne!(before, after);
    world.done(&["undo", "-w", "fix"]);
    assert_eq!(files(&at), before);
    world.done(&["redo", "-w", "fix"]);
    assert_eq!(files(&at), after);
    // Both work on: the folder's stays whole, and that is told.
    world.ok(FIX, work);
    world.ok(Side::Folder, mine);
    let own = files(&at);
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains(&format!("/{directory} stays as it is")), "{said}");
    assert_eq!(files(&at), own);
    // Theirs is not lost: it lies beside.
    assert_ne!(files(&world.place.project().join(format!("{directory}~fix"))), own);
    // What a pull could not bring together does not count as seen by the next commit.
    world.ok(FIX, work);
    world.ok(Side::Folder, mine);
    let own = files(&at);
    world.done(&["pull", "-w", "fix"]);
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(files(&at), own);
}

#[needs(Overlay, UserNamespace, "hg")]
#[test]
fn a_mercurial_repository_survives() {
    let hg = "hg() { HGRCPATH= HGUSER=ann command hg \"$@\"; }\n";
    let world =
        World::new(&format!("{hg}hg init; echo one > a; hg add a; hg commit -m first"), &["fix"]);
    let work =
        format!("{hg}date +%N >> w; hg add w 2> /dev/null; hg commit -m theirs; hg verify -q");
    let mine = format!("{hg}date +%N >> m; hg add m 2> /dev/null; hg commit -m mine; hg verify -q");
    taken_whole(".hg", &world, &work, &mine);
    world.ok(Side::Folder, &format!("{hg}hg verify -q; hg log > /dev/null"));
}

/// What looks like such a directory is enough: nothing of it is merged as text.
#[needs(Overlay, UserNamespace)]
#[test]
fn the_directory_of_jj_is_taken_whole() {
    let world = World::new("mkdir -p .jj/repo; echo one > .jj/repo/op; echo a > a", &["fix"]);
    let work = "date +%N >> .jj/repo/op; date +%N >> .jj/repo/theirs";
    taken_whole(".jj", &world, work, "date +%N >> .jj/repo/op; date +%N >> .jj/repo/mine");
}

/// A bare repository `store`, and a command that pushes a commit with this subject to its main branch.
fn with_a_store(workspaces: &[&'static str]) -> World {
    World::new("git init -q --bare store; echo a > a", workspaces)
}

fn push(subject: &str) -> String {
    format!(
        "rm -rf w; git clone -q --no-hardlinks store w 2> /dev/null; cd w; git commit -q --allow-empty -m {subject}
         git push -q origin HEAD:main; cd ..; rm -rf w"
    )
}

/// The subjects of a branch of a bare repository, newest first; nothing where there is none. It must be whole.
fn subjects(world: &World, side: Side, store: &str) -> String {
    let told = world.ok(
        side,
        &format!(
            "if test -e {store}; then git -C {store} fsck --strict 2> /dev/null
             git -C {store} log --format=%s main; fi"
        ),
    );
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_bare_repository_is_never_merged_as_text() {
    let world = with_a_store(&["fix"]);
    world.ok(FIX, &push("t"));
    world.ok(Side::Folder, &push("m"));
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("/store stays as it is") && said.contains("/store~fix"), "{said}");
    assert_eq!(subjects(&world, Side::Folder, "store"), "m");
    assert_eq!(subjects(&world, Side::Folder, "store~fix"), "t");
    // The workspace goes on with its own.
    assert_eq!(subjects(&world, FIX, "store"), "t");
}

/// What a workspace only keeps beside its own it has not taken in, whether it still has it or not.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_bare_repository_goes_only_where_the_workspace_has_its_commits() {
    let world = with_a_store(&["fix"]);
    world.ok(FIX, &push("t"));
    world.ok(Side::Folder, &push("m"));
    world.done(&["pull", "-w", "fix"]);
    assert_eq!(subjects(&world, FIX, "store~folder"), "m");
    let document = world.document(&["commit", "-w", "fix"]);
    assert_eq!(document["result"]["repositories"][0]["kept_as"], "/store~fix", "{document}");
    assert_eq!(document["result"]["held"], serde_json::json!([]), "{document}");
    assert_eq!(subjects(&world, Side::Folder, "store"), "m");
    // Later work takes the place of older work of the same workspace.
    world.ok(FIX, &push("u"));
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(subjects(&world, Side::Folder, "store"), "m");
    assert_eq!(subjects(&world, Side::Folder, "store~fix"), "u t");
    // Nothing new: nothing is said again.
    let again = world.done(&["commit", "-w", "fix"]);
    assert!(again.contains("nothing to commit"), "{again}");
    // An agent that tidies up decides nothing.
    world.ok(FIX, &format!("rm -r store~folder; {}", push("v")));
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(subjects(&world, Side::Folder, "store"), "m");
    assert_eq!(subjects(&world, Side::Folder, "store~fix"), "v u t");
    world.ok(Side::Folder, &push("n"));
    world.done(&["pull", "-w", "fix"]);
    assert_eq!(subjects(&world, FIX, "store~folder"), "n m");
    // Merged for good: it reaches the folder.
    world.ok(
        FIX,
        "git clone -q --no-hardlinks store w 2> /dev/null; cd w; git fetch -q ../store~folder main
         git merge -q --allow-unrelated-histories -m both FETCH_HEAD; git push -q origin HEAD:main; cd ..; rm -rf w",
    );
    world.done(&["commit", "-w", "fix"]);
    let mut words: Vec<String> =
        subjects(&world, Side::Folder, "store").split(' ').map(str::to_owned).collect();
    words.sort_unstable();
    assert_eq!(words.join(" "), "both m n t u v");
}

/// What lies beside may be the only copy of somebody's work.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_lies_beside_a_bare_repository_is_not_overwritten() {
    let world = with_a_store(&["fix"]);
    world.ok(FIX, &push("t"));
    world.ok(Side::Folder, &push("m"));
    world.done(&["commit", "-w", "fix"]);
    world.ok(Side::Folder, &push("mine").replace("store", "store~fix"));
    world.ok(FIX, &push("u"));
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("/store~fix-2"), "{said}");
    assert_eq!(subjects(&world, Side::Folder, "store~fix"), "mine t");
    assert_eq!(subjects(&world, Side::Folder, "store~fix-2"), "u t");
    assert_eq!(subjects(&world, Side::Folder, "store"), "m");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_bare_repository_survives_two_workspaces() {
    let other = Side::Workspace("other");
    let world = with_a_store(&["fix", "other"]);
    world.ok(FIX, &push("t"));
    world.ok(Side::Folder, &push("m"));
    // One has only kept the folder's beside, and tidied up; the other has it, and takes the first one's work in.
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "rm -r store~folder; echo f > f");
    world.done(&["pull", "-w", "other"]);
    world.ok(other, "echo o > o");
    world.done(&["merge", "fix", "--into", "other"]);
    assert_eq!(subjects(&world, other, "store"), "m");
    assert_eq!(subjects(&world, other, "store~fix"), "t");
    for workspace in ["other", "fix"] {
        world.done(&["commit", "-w", workspace]);
        assert_eq!(subjects(&world, Side::Folder, "store"), "m");
    }
    assert_eq!(subjects(&world, Side::Folder, "store~fix"), "t");
}

/// What is kept beside may be left out by whatever chooses files; that it was never taken in does not change by that.
#[needs(Overlay, UserNamespace)]
#[test]
fn what_was_kept_beside_counts_whatever_is_offered() {
    for choice in [&["--exclude", "*~folder"][..], &["--only", ".jj/**", "--only", ".jj"], &[]] {
        let world = World::new(
            "mkdir -p .jj/repo; echo one > .jj/repo/op; echo '*~*' > .gitignore",
            &["fix"],
        );
        world.ok(FIX, "echo theirs > .jj/repo/op");
        world.ok(Side::Folder, "echo mine > .jj/repo/op");
        world.done(&["pull", "-w", "fix"]);
        world.ok(FIX, "cat '.jj~folder/repo/op'; echo more >> .jj/repo/op");
        world.done(&[&["commit", "-w", "fix"], choice].concat());
        assert_eq!(
            world.ok(Side::Folder, "cat .jj/repo/op '.jj~fix/repo/op'"),
            "mine\ntheirs\nmore\n",
            "{choice:?}"
        );
    }
}
