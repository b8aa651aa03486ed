//! Changes are decided about piece by piece.

use offshoot_tree::diff::DiffOptions;
use offshoot_tree::merge::MergeOptions;
use offshoot_workspace::{
    FoldedReview, ReviewDecision, ReviewItem, ReviewService, Selection, ServiceError,
};

use crate::support::{Bench, path};

const FILES: &[(&str, &str)] = &[
    ("text", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
    ("moved", "some lines\nof a file\nthat moves\n"),
    ("dir/gone", "gone\n"),
    ("dir/deep/also", "also\n"),
    ("turns", "into a directory\n"),
];

/// A change of every kind.
fn changed() -> (Bench, offshoot_vault::WorkspaceRecord) {
    let bench = Bench::of(FILES);
    let fork = bench.fork("fork");
    bench.write(&fork, "/text", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    bench.write(&fork, "/new/in/here", "new\n");
    bench.files().rename(&fork, &path("/moved"), &path("/new/place")).unwrap();
    bench.files().remove(&fork, &[path("/dir")], true).unwrap();
    bench.files().remove(&fork, &[path("/turns")], true).unwrap();
    bench.write(&fork, "/turns/below", "below\n");
    let now = bench.vault.workspace(&fork.id).unwrap().unwrap();
    (bench, now)
}

fn service(bench: &Bench) -> ReviewService<'_> {
    ReviewService::new(&bench.vault, &bench.actor, DiffOptions::default(), MergeOptions::default())
}

/// Nothing of it is folded.
fn review(items: &[ReviewItem]) -> FoldedReview {
    FoldedReview { items: items.to_vec(), groups: Vec::new() }
}

fn decide(items: &mut [ReviewItem], decision: &ReviewDecision) {
    let pieces = items.iter_mut().flat_map(|item| &mut item.pieces);
    pieces.for_each(|piece| piece.decision = decision.clone());
}

#[test]
fn dropping_everything_brings_the_base_back() {
    let (bench, fork) = changed();
    let mut items = service(&bench).items(&fork, &Selection::default(), &[]).unwrap();
    let paths: Vec<String> = items.iter().map(|item| item.change.path.to_string()).collect();
    assert_eq!(
        paths,
        ["/dir/deep/also", "/dir/gone", "/new/in/here", "/new/place", "/text", "/turns"]
    );
    decide(&mut items, &ReviewDecision::Dropped);
    let edited = service(&bench).apply(&fork, &review(&items)).unwrap();
    assert!(edited.operation.is_some());
    assert_eq!(bench.paths("fork"), bench.paths("head"));
    for (name, text) in FILES {
        assert_eq!(bench.read("fork", &format!("/{name}")).as_deref(), Some(*text), "{name}");
    }
    let now = bench.vault.workspace(&fork.id).unwrap().unwrap();
    assert_eq!(service(&bench).items(&now, &Selection::default(), &[]).unwrap(), []);
    assert_eq!(bench.undo(&fork), "review");
    assert_eq!(bench.read("fork", "/turns/below").as_deref(), Some("below\n"));
}

#[test]
fn accepting_everything_changes_nothing() {
    let (bench, fork) = changed();
    let mut items = service(&bench).items(&fork, &Selection::default(), &[]).unwrap();
    decide(&mut items, &ReviewDecision::Accepted);
    assert_eq!(service(&bench).apply(&fork, &review(&items)).unwrap().operation, None);
}

#[test]
fn what_changed_since_is_not_touched() {
    let (bench, fork) = changed();
    let mut items = service(&bench).items(&fork, &Selection::default(), &[path("/text")]).unwrap();
    assert_eq!(items.len(), 1);
    decide(&mut items, &ReviewDecision::Dropped);
    bench.write(&fork, "/text", "something else\n");
    let refused = service(&bench).apply(&fork, &review(&items));
    assert!(matches!(refused, Err(ServiceError::Outdated(_))), "{refused:?}");
    assert_eq!(bench.read("fork", "/text").as_deref(), Some("something else\n"));
}

/// Whatever is dropped, every hunk that is left is there, and nothing else.
#[test]
fn any_choice_of_hunks_is_carried_out() {
    let (bench, fork) = changed();
    for (choice, expected) in [
        ([ReviewDecision::Dropped, ReviewDecision::Undecided], "1\n2\n3\n4\n5\n6\n7\n8\nnine\n"),
        ([ReviewDecision::Accepted, ReviewDecision::Dropped], "one\n2\n3\n4\n5\n6\n7\n8\n9\n"),
        (
            [ReviewDecision::Edited(b"I\n".to_vec()), ReviewDecision::Dropped],
            "I\n2\n3\n4\n5\n6\n7\n8\n9\n",
        ),
    ] {
        let mut items =
            service(&bench).items(&fork, &Selection::default(), &[path("/text")]).unwrap();
        assert_eq!(items[0].pieces.len(), 2);
        for (piece, decision) in items[0].pieces.iter_mut().zip(choice) {
            piece.decision = decision;
        }
        service(&bench).apply(&fork, &review(&items)).unwrap();
        assert_eq!(bench.read("fork", "/text").as_deref(), Some(expected));
        assert_eq!(bench.read("fork", "/new/in/here").as_deref(), Some("new\n"));
        bench.undo(&fork);
    }
}

/// A repository is dropped as a whole, so nothing may have come to it since it was listed.
#[test]
fn what_came_to_a_repository_meanwhile_is_not_dropped() {
    let files = [(".git/HEAD", "ref: refs/heads/main\n"), (".git/description", "one\n")];
    let bench = Bench::of(&files);
    let fork = bench.fork("fork");
    bench.write(&fork, "/.git/description", "two\n");
    let fork = bench.vault.workspace(&fork.id).unwrap().unwrap();
    let mut items = service(&bench).items(&fork, &Selection::default(), &[]).unwrap();
    assert_eq!(items.len(), 1, "{items:?}");
    decide(&mut items, &ReviewDecision::Dropped);
    bench.write(&fork, "/.git/later", "later\n");
    let refused = service(&bench).apply(&fork, &review(&items));
    assert!(matches!(refused, Err(ServiceError::Outdated(_))), "{refused:?}");
    assert_eq!(bench.read("fork", "/.git/later").as_deref(), Some("later\n"));
}
