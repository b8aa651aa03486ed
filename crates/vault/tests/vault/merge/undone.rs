//! What snapshots have in common where a commit was undone: who has the undo does not have what the commit brought.

use offshoot_store::Id;
use offshoot_tree::RootId;
use offshoot_vault::{COMMIT, NewSnapshot, REDO, UNDO, Vault};

use super::support::Place;
use crate::support::actor;

/// Snapshots that all have the same files: only their parents and reasons matter.
struct Line<'v> {
    vault: &'v Vault,
    root: RootId,
}

impl Line<'_> {
    fn add(&self, reason: &str, parents: &[Id]) -> Id {
        let top = self.vault.objects().unwrap().root(&self.root).unwrap();
        let content = top.directory().unwrap().content;
        let (root, parents, reason) = (self.root, parents.to_vec(), reason.to_owned());
        let new = NewSnapshot { root, content, parents, reason, message: None };
        self.vault.transact("test", &actor(), |tx| Ok(tx.add_snapshot(new)?.id)).unwrap().value
    }

    fn common(&self, one: Id, other: Id) -> Vec<Id> {
        let found = self.vault.common_ancestors(&[one, other]).unwrap();
        assert_eq!(self.vault.common_ancestors(&[other, one]).unwrap(), found);
        found
    }
}

#[test]
fn what_a_commit_brought_is_nobodys_who_has_its_undo() {
    let place = Place::new();
    let line = Line { vault: &place.vault, root: place.state(&[]) };
    let origin = line.add("import", &[]);
    let work = line.add("write", &[origin]);
    let merged_before = line.add("merge", &[origin, work]);
    let commit = line.add(COMMIT, &[origin, work]);
    let pulled = line.add("write", &[commit]);
    assert_eq!(line.common(commit, work), [work]);
    let undo = line.add(UNDO, &[commit]);
    // Its workspace has it again; who pulled it has it from the main line, where it is taken back.
    assert_eq!(line.common(undo, work), [origin]);
    assert_eq!(line.common(undo, pulled), [commit]);
    assert_eq!(line.common(undo, merged_before), [origin]);
    // Somebody else's commit does not change that, unless it brings the same again.
    let other = line.add(COMMIT, &[undo, pulled]);
    assert_eq!(line.common(other, work), [origin]);
    let brought = line.add(COMMIT, &[other, merged_before]);
    assert_eq!(line.common(brought, work), [work]);
    let redo = line.add(REDO, &[other, commit]);
    assert_eq!(line.common(redo, work), [work]);
    let again = line.add(UNDO, &[redo, commit]);
    assert_eq!(line.common(again, work), [origin]);
    // Committed once more, and undone once more.
    let second = line.add(COMMIT, &[again, work]);
    assert_eq!(line.common(second, work), [work]);
    let undone = line.add(UNDO, &[second]);
    assert_eq!(line.common(undone, work), [origin]);
    assert_eq!(line.common(undone, second), [second]);
}

#[test]
fn what_came_upon_it_stays() {
    let place = Place::new();
    let line = Line { vault: &place.vault, root: place.state(&[]) };
    let origin = line.add("import", &[]);
    let work = line.add("write", &[origin]);
    let fork = line.add("write", &[work]);
    let commit = line.add(COMMIT, &[origin, work]);
    let second = line.add(COMMIT, &[commit, fork]);
    let undo = line.add(UNDO, &[second, commit]);
    // The fork's own work is on the main line, and the work that it was forked from is not.
    assert_eq!(line.common(undo, work), [origin]);
    assert_eq!(line.common(undo, fork), [fork]);
    assert_eq!(line.common(undo, second), [second]);
    let further = line.add("write", &[second]);
    let third = line.add(COMMIT, &[undo, further]);
    assert_eq!(line.common(third, work), [origin]);
    assert!(!place.vault.came_from(&third, &work).unwrap());
    assert!(place.vault.came_from(&third, &fork).unwrap());
}
