//! `commit`, `pull` and `undo` of a commit: the folder itself is what is looked at.

#[path = "home/acls.rs"]
mod acls;
#[path = "home/choice.rs"]
mod choice;
#[path = "home/demo.rs"]
mod demo;
#[path = "home/folders.rs"]
mod folders;
#[path = "home/git.rs"]
mod git;
#[path = "home/histories.rs"]
mod histories;
#[path = "home/holds.rs"]
mod holds;
#[path = "home/swaps.rs"]
mod swaps;
#[path = "home/trusted.rs"]
mod trusted;
#[path = "home/undo.rs"]
mod undo;

use std::fs;

use offshoot_tests::product::Place;
use offshoot_tests::scan::{CompareOptions, Scan, compare, scan};

/// A project with a file of twenty lines, taken into a vault.
fn lines() -> Place {
    let place = Place::new();
    place.write("lines", numbered(&[]));
    place.write("other", "other\n");
    place.ok(["init"]);
    place
}

/// Twenty lines, some of them replaced.
fn numbered(replaced: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        let other = replaced.iter().find(|(at, _)| *at == number);
        other.map_or_else(|| number.to_string(), |(_, text)| (*text).to_owned())
    };
    (1..=20).map(|number| format!("{}\n", line(number))).collect()
}

/// Makes a workspace.
fn fork(place: &Place, name: &str) {
    place.ok(["workspace", "create", name]);
}

/// Writes a file of a workspace.
fn edit(place: &Place, workspace: &str, path: &str, content: impl AsRef<[u8]>) {
    place.ok_with(["fs", "write", "-p", path, "-w", workspace], content.as_ref());
}

/// What a file of the folder holds.
fn read(place: &Place, path: &str) -> String {
    fs::read_to_string(place.project().join(path)).unwrap()
}

/// Everything in the folder.
fn folder(place: &Place) -> Scan {
    scan(&place.project()).unwrap()
}

/// Fails where two states of the folder differ in anything: bytes, modes, times, owners, attributes, links.
fn assert_same(before: &Scan, after: &Scan) {
    let differences = compare(before, after, &CompareOptions::default());
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Fails where the main line is not what is in the folder.
fn assert_captured(place: &Place) {
    let document = place.json(&["init"]);
    assert_eq!(document["changed"], false, "the main line is not what is in the folder");
}
