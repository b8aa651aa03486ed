//! What a path becomes, by decisions about its pieces.

use offshoot_tree::{BlobId, Body, Meta, VaultPath};

use super::*;

const BEFORE: &[u8] = b"one\ntwo\n3\n4\n5\n6\n7\n8\n9\nten\n";
const AFTER: &[u8] = b"ONE\nTWO\n3\n4\n5\n6\n7\n8\n9\nTEN\n";

fn file(content: &[u8], mode: u16) -> Entry {
    let mut hash = [0; 32];
    for (at, byte) in content.iter().enumerate() {
        hash[at % 32] ^= byte.rotate_left(at as u32 % 8);
    }
    let body = Body::File { size: content.len() as u64, blob: BlobId(hash) };
    Entry { name: b"f".to_vec(), meta: Meta::of_new(mode), group: None, conflict: None, body }
}

fn path(text: &str) -> VaultPath {
    VaultPath::parse(text.as_bytes()).unwrap()
}

/// A file that was moved, made executable and changed in two places.
fn item() -> ReviewItem {
    let change = Change {
        path: path("/new"),
        before: Some(file(BEFORE, 0o644).into()),
        after: Some(file(AFTER, 0o755).into()),
        moved: Some((path("/old"), 80)),
    };
    ReviewItem::of(change, Some(TextPick::new(BEFORE, AFTER)), 3, None)
}

fn decide(item: &mut ReviewItem, decisions: &[ReviewDecision]) {
    for (piece, decision) in item.pieces.iter_mut().zip(decisions) {
        piece.decision = decision.clone();
    }
}

use ReviewDecision::{Accepted, Dropped, Edited, Undecided};

#[test]
fn every_kind_of_change_is_a_piece() {
    let item = item();
    let words: Vec<&str> = item.pieces.iter().map(|piece| piece.kind.word().as_str()).collect();
    assert_eq!(words, ["rename", "mode", "hunk", "hunk"]);
    let mut ids: Vec<&str> = item.pieces.iter().map(|piece| piece.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[test]
fn all_or_nothing_needs_no_mixture() {
    let mut item = item();
    assert_eq!(item.outcome(Wanted::NotDropped), PieceOutcome::After);
    assert_eq!(item.outcome(Wanted::Accepted), PieceOutcome::Before);
    decide(&mut item, &[Accepted, Accepted, Accepted, Accepted]);
    assert_eq!(item.outcome(Wanted::Accepted), PieceOutcome::After);
    decide(&mut item, &[Dropped, Dropped, Dropped, Dropped]);
    assert_eq!(item.outcome(Wanted::NotDropped), PieceOutcome::Before);
}

#[test]
fn pieces_are_decided_one_by_one() {
    let mut item = item();
    decide(&mut item, &[Dropped, Accepted, Accepted, Undecided]);
    let content = None;
    let mixed = Mixed { moved: false, mode: true, content };
    assert_eq!(item.outcome(Wanted::NotDropped), PieceOutcome::Mixed(mixed));
    let content = Some(b"ONE\nTWO\n3\n4\n5\n6\n7\n8\n9\nten\n".to_vec());
    let mixed = Mixed { moved: false, mode: true, content };
    assert_eq!(item.outcome(Wanted::Accepted), PieceOutcome::Mixed(mixed));
}

#[test]
fn lines_can_be_divided_and_edited() {
    let mut item = item();
    assert!(!item.split(0), "a move has no lines");
    assert!(item.split(2));
    assert_eq!(item.pieces.len(), 5);
    assert!(!item.split(2), "one line is the least");
    let all = [Accepted, Accepted, Dropped, Accepted, Edited(b"10\n11\n".to_vec())];
    decide(&mut item, &all);
    let content = Some(b"one\nTWO\n3\n4\n5\n6\n7\n8\n9\n10\n11\n".to_vec());
    let mixed = Mixed { moved: true, mode: true, content };
    assert_eq!(item.outcome(Wanted::Accepted), PieceOutcome::Mixed(mixed.clone()));
    assert_eq!(item.outcome(Wanted::NotDropped), PieceOutcome::Mixed(mixed));
    assert_eq!(item.editable(4).unwrap(), b"10\n11\n");
    assert_eq!(item.editable(3).unwrap(), b"TWO\n");
    assert_eq!(item.editable(0), None);
    assert!(!item.split(4), "what was edited stays together");
}

#[test]
fn a_new_file_is_one_piece_that_can_be_edited() {
    let change = Change {
        path: path("/f"),
        before: None,
        after: Some(file(b"a\n", 0o644).into()),
        moved: None,
    };
    let mut item = ReviewItem::of(change, Some(TextPick::new(b"", b"a\n")), 3, None);
    assert_eq!(item.pieces.len(), 1);
    assert_eq!(item.editable(0).unwrap(), b"a\n");
    decide(&mut item, &[Edited(b"b\n".to_vec())]);
    let mixed = Mixed { moved: true, mode: true, content: Some(b"b\n".to_vec()) };
    assert_eq!(item.outcome(Wanted::NotDropped), PieceOutcome::Mixed(mixed));
    decide(&mut item, &[Dropped]);
    assert_eq!(item.outcome(Wanted::NotDropped), PieceOutcome::Before);
}

#[test]
fn equal_pieces_have_ids_of_their_own() {
    let (before, after) = (b"a\n1\n2\n3\n4\n5\n6\n7\na\n", b"b\n1\n2\n3\n4\n5\n6\n7\nb\n");
    let change = Change {
        path: path("/f"),
        before: Some(file(before, 0o644).into()),
        after: Some(file(after, 0o644).into()),
        moved: None,
    };
    let item = ReviewItem::of(change, Some(TextPick::new(before, after)), 3, None);
    let [first, second] = item.pieces.as_slice() else { panic!("{:?}", item.pieces) };
    assert_eq!(second.id, format!("{}.2", first.id));
}
