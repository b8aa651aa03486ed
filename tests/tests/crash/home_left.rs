//! An interrupted commit, and a vault that is deleted, or a folder that is moved or copied, before anybody settles it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use offshoot_needs::needs;
use offshoot_tests::scan::scan;

use crate::home::{Site, contents};
use crate::home_next::{half_changed, whole};
use crate::home_settled::said;

const DELETE: [&str; 4] = ["vault", "delete", "project", "--yes"];

fn staging(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.to_string_lossy().contains("/.offshoot-apply-")).collect()
}

/// Fails unless a folder is as before the commit or as after it, with nothing left of it.
fn assert_whole(site: &Site, folder: &Path) {
    let now = contents(&scan(folder).unwrap());
    assert!(now == contents(&site.before) || now == whole().after, "{now:#?}");
    assert_eq!(staging(folder), Vec::<PathBuf>::new());
}

/// Puts a copy of the folder in its place, as from a backup.
fn copied() -> Site {
    let site = half_changed();
    let (project, copy) = (site.project(), site.project().with_extension("copy"));
    let done = Command::new("cp").arg("-a").args([&project, &copy]).status().unwrap();
    assert!(done.success());
    fs::rename(&project, project.with_extension("old")).unwrap();
    fs::rename(&copy, &project).unwrap();
    site
}

#[needs(Ptrace)]
#[test]
fn a_vault_goes_when_its_folder_is_whole() {
    for elsewhere in [false, true] {
        let site = half_changed();
        let folder = if elsewhere { std::env::temp_dir() } else { site.project() };
        let deleted = site.offshoot_in(&folder, &DELETE);
        assert!(deleted.status.success(), "{}", said(&deleted));
        assert!(said(&deleted).contains("an interrupted "), "{}", said(&deleted));
        assert_whole(&site, &site.project());
    }
}

/// Where nobody can settle it, the vault stays: it has what the folder had.
#[needs(Ptrace)]
#[test]
fn a_vault_stays_whose_folder_cannot_be_settled() {
    let site = copied();
    let before = scan(&site.project()).unwrap();
    let refused = site.offshoot(&DELETE);
    assert_eq!(refused.status.code(), Some(4), "{}", said(&refused));
    assert_eq!(contents(&scan(&site.project()).unwrap()), contents(&before));
    site.succeed(&["vault", "check"]).unwrap();
    // Whoever takes the folder as it is can delete it then.
    site.succeed(&["init"]).unwrap();
    site.succeed(&DELETE).unwrap();
}

/// There is nothing to settle in a folder that is gone.
#[needs(Ptrace)]
#[test]
fn a_vault_goes_after_its_folder() {
    let site = half_changed();
    fs::remove_dir_all(site.project()).unwrap();
    let deleted = site.offshoot_in(&std::env::temp_dir(), &DELETE);
    assert!(deleted.status.success(), "{}", said(&deleted));
}

#[needs(Ptrace)]
#[test]
fn a_folder_that_was_moved_is_settled_where_it_is() {
    for command in [&["status"][..], &["pull", "--head"], &["commit", "--settle", "back"]] {
        let site = half_changed();
        let moved = site.project().with_extension("moved");
        fs::rename(site.project(), &moved).unwrap();
        let output = site.offshoot_in(&moved, command);
        assert!(output.status.success(), "{command:?}: {}", said(&output));
        assert!(said(&output).contains("an interrupted "), "{command:?}: {}", said(&output));
        assert_whole(&site, &moved);
    }
}

/// A copy has other inodes, by which nobody can tell how far the commit came: nothing is changed in it unasked.
#[needs(Ptrace)]
#[test]
fn a_copy_of_a_folder_is_left_alone() {
    let site = copied();
    let copy = contents(&site.scan());
    let status = site.offshoot(&["status", "-w", "w"]);
    assert!(said(&status).contains("is another folder than"), "{}", said(&status));
    assert!(!said(&status).contains("taken back"), "{}", said(&status));
    for command in
        [&["pull", "--head"][..], &["commit", "-w", "w"], &["commit", "--settle", "back"]]
    {
        let refused = site.offshoot(command);
        assert_eq!(refused.status.code(), Some(4), "{command:?}: {}", said(&refused));
        assert!(said(&refused).contains("`offshoot init`"), "{command:?}: {}", said(&refused));
    }
    assert_eq!(contents(&site.scan()), copy);
    // Whoever takes it as it is gets the rest by another commit.
    let taken = site.offshoot(&["init"]);
    assert!(said(&taken).contains("was given up"), "{}", said(&taken));
    site.succeed(&["commit", "-w", "w"]).unwrap();
    let mut now = contents(&site.scan());
    now.retain(|path, _| !path.starts_with(b".offshoot-apply-"));
    assert_eq!(now, whole().after);
    site.succeed(&["vault", "check"]).unwrap();
}
