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

#[needs(Overlay, UserNamespace, "git")]
#[needs(Overlay, UserNamespace)]
#[test]
fn a_bare_repository_is_never_merged_as_text() {
    let world = World::new("git init -q --bare store; echo a > a", &["fix"]);
    world.ok(
        FIX,
        "git init -q w; cd w; git commit -q --allow-empty -m t; git push -q ../store HEAD:main",
    );
    world.ok(Side::Folder, "git init -q w; cd w; git commit -q --allow-empty -m m; git push -q ../store HEAD:main; cd ..; rm -rf w");
    let said = world.done(&["commit", "-w", "fix", "--exclude", "w"]);
    assert!(said.contains("/store stays as it is"), "{said}");
    assert_eq!(
        world.ok(Side::Folder, "git -C store log --format=%s main; git -C store fsck --strict"),
        "m\n"
    );
}
