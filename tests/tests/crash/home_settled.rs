//! An interrupted commit, and what a person can do about it: nothing, say which way, or change files first.

use std::fs;
use std::process::Output;

use offshoot_needs::needs;
use offshoot_tests::scan::{CompareOptions, Kind, compare};

use crate::home::{Site, contents};
use crate::home_next::{half_changed, whole};

/// A file that the commit changes and has not come to yet.
fn untouched_yet(site: &Site) -> Option<String> {
    let (now, before) = (contents(&site.scan()), contents(&site.before));
    let after = whole().after.clone();
    let waits = |path: &&Vec<u8>| {
        let is_file = before.get(*path).is_some_and(|(kind, ..)| *kind == Kind::File);
        is_file && now.get(*path) == before.get(*path) && after.get(*path) != before.get(*path)
    };
    before.keys().find(waits).map(|path| String::from_utf8_lossy(path).into_owned())
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// Settles this way, and does nothing else.
fn settle(site: &Site, way: &str) -> Output {
    site.offshoot(&["commit", "--settle", way])
}

#[needs(Ptrace)]
#[test]
fn the_way_can_be_chosen() {
    let expected = whole();
    let site = half_changed();
    let back = settle(&site, "back");
    assert!(back.status.success(), "{}", said(&back));
    let differences = compare(&site.before, &site.scan(), &CompareOptions::default());
    assert!(differences.is_empty(), "{differences:?}");

    let site = half_changed();
    let forward = settle(&site, "forward");
    assert!(forward.status.success(), "{}", said(&forward));
    assert_eq!(contents(&site.scan()), expected.after);
    site.succeed(&["vault", "check"]).unwrap();
}

/// A check settles nothing, says that there is something to settle, and what does that.
#[needs(Ptrace)]
#[test]
fn a_check_tells_of_it() {
    let site = half_changed();
    let half = contents(&site.scan());
    let told = said(&site.offshoot(&["vault", "check", "project"]));
    assert!(told.contains("interrupted: commit w: "), "{told}");
    for way in ["forward", "back"] {
        let command = format!("`offshoot commit --vault project --settle {way}`");
        assert!(told.contains(&command), "{command}: {told}");
    }
    assert_eq!(contents(&site.scan()), half);
    site.succeed(&["vault", "check", "--quick"]).unwrap();
    settle(&site, "back");
    let told = said(&site.offshoot(&["vault", "check"]));
    assert!(!told.contains("interrupted"), "{told}");
}

/// Who chooses a way does not ask for a commit, and need not name one of several workspaces.
#[needs(Ptrace)]
#[test]
fn who_settles_commits_nothing() {
    let site = half_changed();
    let log = |site: &Site| site.succeed(&["op", "log", "--json"]).unwrap();
    let back = settle(&site, "back");
    assert!(said(&back).contains("nothing else was committed"), "{}", said(&back));
    assert_eq!(contents(&site.scan()), contents(&site.before));
    assert!(!log(&site).contains("\"kind\":\"commit\""), "{}", log(&site));
    let again = settle(&site, "back");
    assert!(said(&again).contains("nothing was interrupted"), "{}", said(&again));
    let mixed = site.offshoot(&["commit", "--settle", "back", "--dry-run"]);
    assert_eq!(mixed.status.code(), Some(2), "{}", said(&mixed));
}

#[needs(Ptrace)]
#[test]
fn a_person_may_change_what_was_still_to_come() {
    let site = half_changed();
    let Some(path) = untouched_yet(&site) else {
        panic!("the commit had come to every file");
    };
    let mine = "a person was quicker\n";
    fs::write(site.project().join(&path), mine).unwrap();
    let half = contents(&site.scan());
    let forward = settle(&site, "forward");
    assert_eq!(forward.status.code(), Some(4), "{}", said(&forward));
    assert!(said(&forward).contains(&path), "{}", said(&forward));
    assert_eq!(fs::read_to_string(site.project().join(&path)).unwrap(), mine);
    // Forwards it could not go; what it did then is to leave all as it was, or to take its own part back.
    let now = contents(&site.scan());
    let before = contents(&site.before);
    for (key, found) in &now {
        let own = key == path.as_bytes();
        assert!(own || half.get(key) == Some(found) || before.get(key) == Some(found), "{key:?}");
    }
    let back = site.offshoot(&["pull", "--head"]);
    assert!(back.status.success(), "{}", said(&back));
    assert_eq!(fs::read_to_string(site.project().join(&path)).unwrap(), mine);
    let mut wanted = before;
    wanted.remove(path.as_bytes());
    let mut now = contents(&site.scan());
    now.remove(path.as_bytes());
    assert_eq!(now, wanted);
    site.succeed(&["vault", "check"]).unwrap();
}
