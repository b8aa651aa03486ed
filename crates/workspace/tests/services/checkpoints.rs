//! Checkpoints are made, restored and deleted.

use offshoot_workspace::{NewCheckpoint, ServiceError};

use crate::support::Bench;

#[test]
fn checkpoints_bring_back_what_was() {
    let bench = Bench::of(&[("file", "base")]);
    let one = bench.fork("one");
    for (text, name) in [("first", "a"), ("second", "b"), ("third", "c")] {
        bench.write(&one, "/file", text);
        bench.checkpoint(&one, name);
    }
    for (name, text) in [("a", "first"), ("c", "third"), ("b", "second"), ("base", "base")] {
        let point = bench.point(&format!("one@{name}"));
        let restored = bench.checkpoints().restore(&one, &point).unwrap();
        assert!(restored.operation.is_some());
        assert_eq!(bench.read("one", "/file").unwrap(), text);
    }
    let again = bench.checkpoints().restore(&one, &bench.point("one@base")).unwrap();
    assert_eq!(again.operation, None, "it is there already");
    assert_eq!(bench.undo(&one), "checkpoint restore");
    assert_eq!(bench.read("one", "/file").unwrap(), "second");
}

#[test]
fn unnamed_checkpoints_of_one_moment_do_not_collide() {
    let bench = Bench::new();
    let one = bench.fork("one");
    let new = NewCheckpoint { name: None, automatic: true, reason: "before a command" };
    let made: Vec<_> = (0..20).map(|_| bench.checkpoints().create(&one, &new).unwrap()).collect();
    let listed = bench.checkpoints().list(&one).unwrap();
    assert_eq!(listed, made, "in the order in which they were made");
    let mut names: Vec<&str> = listed.iter().map(|c| c.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 20);
    assert!(listed.iter().all(|c| c.state.automatic && c.state.reason == "before a command"));
}

#[test]
fn names_are_unique_in_a_workspace_alone() {
    let bench = Bench::new();
    let (one, two) = (bench.fork("one"), bench.fork("two"));
    bench.checkpoint(&one, "cp");
    bench.checkpoint(&two, "cp");
    let create = |name| {
        let new = NewCheckpoint { name: Some(name), automatic: false, reason: "" };
        bench.checkpoints().create(&one, &new)
    };
    assert!(matches!(create("cp"), Err(ServiceError::NameTaken { what: "checkpoint", .. })));
    assert!(matches!(create("base"), Err(ServiceError::NameTaken { .. })));
    assert!(matches!(create("a b"), Err(ServiceError::Name(_))));
    bench.workspaces().delete(&one).unwrap();
    assert!(create("late").is_err());
}

#[test]
fn a_deleted_checkpoint_is_gone_and_its_snapshot_is_not() {
    let bench = Bench::of(&[("file", "base")]);
    let one = bench.fork("one");
    bench.write(&one, "/file", "kept");
    bench.checkpoint(&one, "cp");
    let checkpoint = bench.point("one@cp").checkpoint.unwrap();
    assert!(bench.checkpoints().delete(&checkpoint).unwrap().is_some());
    assert_eq!(bench.checkpoints().delete(&checkpoint).unwrap(), None);
    assert!(bench.resolver().point("one@cp", None).is_err());
    let snapshot = bench.point(&checkpoint.state.snapshot.to_string()).snapshot;
    assert_eq!(bench.read_root(&snapshot.root, "/file").unwrap(), "kept");
    assert_eq!(bench.undo(&one), "checkpoint delete");
    assert_eq!(bench.point("one@cp").checkpoint, Some(checkpoint));
}
