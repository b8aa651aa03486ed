//! Workspaces are made, renamed, deleted and swept.

use std::time::Duration;

use offshoot_vault::{Scope, VaultError};
use offshoot_workspace::{NewWorkspace, ServiceError};

use crate::assert_vault_error;
use crate::support::Bench;

#[test]
fn a_fork_starts_where_its_origin_is_and_then_goes_its_own_way() {
    let bench = Bench::of(&[("file", "base")]);
    let one = bench.fork("one");
    bench.write(&one, "/file", "one");
    let two = bench.fork_from("two", "one");
    assert_eq!(two.state.parent, Some(one.id));
    bench.write(&two, "/file", "two");
    bench.write(&one, "/more", "one");
    let read = |name: &str| bench.read(name, "/file").unwrap();
    assert_eq!(
        (read("head"), read("one"), read("two")),
        ("base".into(), "one".into(), "two".into())
    );
    assert_eq!(bench.read("two", "/more"), None);
    assert_eq!(bench.read("two@base", "/file").unwrap(), "one");
}

#[test]
fn names_are_checked_and_unique() {
    let bench = Bench::new();
    bench.fork("one");
    let from = &bench.point("head");
    let create =
        |name| bench.workspaces().create(&NewWorkspace { name: Some(name), from, lifetime: None });
    assert!(matches!(create("one"), Err(ServiceError::NameTaken { what: "workspace", .. })));
    assert!(matches!(create("head"), Err(ServiceError::Reserved(_))));
    for bad in ["", "a b", "-x", "a@b", "a/b"] {
        assert!(matches!(create(bad), Err(ServiceError::Name(_))), "{bad}");
    }
    let two = bench.fork("two");
    let rename = |name| bench.workspaces().rename(&two, name);
    assert!(matches!(rename("one"), Err(ServiceError::NameTaken { .. })));
    assert!(matches!(rename("head"), Err(ServiceError::Reserved(_))));
    assert_eq!(rename("two").unwrap().name, "two");
    assert_eq!(rename("three").unwrap().id, two.id);
    assert_eq!(bench.names(), ["one", "three"]);
    bench.workspaces().delete(&two).unwrap().unwrap();
    assert_vault_error!(rename("four"), VaultError::Store(_));
    assert_eq!(bench.workspaces().delete(&two).unwrap(), None, "there is nothing left to delete");
}

#[test]
fn unnamed_workspaces_get_names_of_their_own() {
    let bench = Bench::new();
    let from = &bench.point("head");
    for _ in 0..5 {
        bench.workspaces().create(&NewWorkspace { name: None, from, lifetime: None }).unwrap();
    }
    let mut names = bench.names();
    names.dedup();
    assert_eq!(names.len(), 5);
}

#[test]
fn deleting_takes_the_checkpoints_and_undo_brings_all_back() {
    let bench = Bench::of(&[("file", "base")]);
    let one = bench.fork("one");
    bench.write(&one, "/file", "one");
    bench.checkpoint(&one, "cp");
    let two = bench.fork("two");
    bench.checkpoint(&two, "cp");
    bench.workspaces().delete(&one).unwrap();
    assert_eq!(bench.vault.checkpoints().unwrap().len(), 1);
    assert!(matches!(bench.try_write(&one, "/file", "x"), Err(ServiceError::Vanished(_))));
    assert_eq!(bench.undo(&one), "workspace delete");
    assert_eq!(bench.read("one@cp", "/file").unwrap(), "one");
    assert_eq!(bench.names(), ["one", "two"]);
}

#[test]
fn expired_workspaces_are_swept_and_others_stay() {
    let bench = Bench::new();
    let from = &bench.point("head");
    let create = |name, lifetime| {
        bench.workspaces().create(&NewWorkspace { name: Some(name), from, lifetime }).unwrap()
    };
    create("kept", None);
    create("hour", Some(Duration::from_secs(3600)));
    let gone = create("gone", Some(Duration::ZERO));
    settle();
    assert_eq!(bench.workspaces().sweep().unwrap(), ["gone"]);
    assert_eq!(bench.workspaces().sweep().unwrap(), Vec::<String>::new());
    // Making another sweeps as well; and undo brings back what expired.
    create("gone-too", Some(Duration::ZERO));
    settle();
    create("last", None);
    assert_eq!(bench.names(), ["hour", "kept", "last"]);
    assert_eq!(bench.undo(&gone), "workspace expire");
    assert_eq!(bench.names(), ["gone", "hour", "kept", "last"]);
}

/// The times of a vault never go back, so after several operations in one millisecond they are a little ahead.
fn settle() {
    std::thread::sleep(Duration::from_millis(30));
}

#[test]
fn use_keeps_an_ephemeral_workspace_alive() {
    let bench = Bench::new();
    let from = &bench.point("head");
    let lifetime = Some(Duration::from_millis(1500));
    let used = NewWorkspace { name: Some("used"), from, lifetime };
    let used = bench.workspaces().create(&used).unwrap();
    std::thread::sleep(Duration::from_millis(1000));
    bench.write(&used, "/file", "still here");
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(bench.workspaces().sweep().unwrap(), Vec::<String>::new());
}

#[test]
fn the_name_of_a_workspace_whose_time_is_over_is_free() {
    let bench = Bench::new();
    bench.fork("long");
    let from = &bench.point("head");
    let lifetime = Some(Duration::from_millis(1));
    bench.workspaces().create(&NewWorkspace { name: Some("short"), from, lifetime }).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    bench.workspaces().require_free("short").unwrap();
    let taken = bench.workspaces().require_free("long");
    assert!(matches!(taken, Err(ServiceError::NameTaken { .. })), "{taken:?}");
}

#[test]
fn the_most_recently_used_comes_first() {
    let bench = Bench::new();
    assert_eq!(bench.workspaces().most_recent().unwrap(), None);
    let one = bench.fork("one");
    let two = bench.fork("two");
    let recent = || bench.workspaces().most_recent().unwrap().unwrap().name;
    assert_eq!(recent(), "two");
    bench.write(&one, "/file", "x");
    assert_eq!(recent(), "one");
    bench.workspaces().delete(&one).unwrap();
    assert_eq!(recent(), "two");
    bench.undo(&one);
    assert_eq!(recent(), "one");
    bench.undo(&two);
    assert_eq!(bench.names(), ["one"], "the making of a workspace can be undone");
}

#[test]
fn usage_counts_what_is_its_own() {
    let bench = Bench::of(&[("file", "12345"), ("dir/other", "1234567890")]);
    let one = bench.fork("one");
    let usage =
        |name: &str| bench.workspaces().usage(&bench.resolver().workspace(name).unwrap()).unwrap();
    let fresh = usage("one");
    assert_eq!(
        (fresh.total_bytes, fresh.entries, fresh.own_bytes, fresh.shared_bytes),
        (15, 3, 0, 15)
    );
    bench.write(&one, "/new", "123");
    bench.write(&one, "/same", "123");
    let grown = usage("one");
    assert_eq!((grown.total_bytes, grown.entries), (21, 5));
    assert_eq!((grown.own_bytes, grown.shared_bytes), (3, 18));
}

#[test]
fn discarding_goes_back_to_the_base_and_can_be_undone() {
    let bench = Bench::of(&[("file", "base")]);
    let one = bench.fork("one");
    assert_eq!(bench.workspaces().reset(&one).unwrap(), None, "there was nothing to discard");
    bench.write(&one, "/file", "changed");
    assert!(bench.workspaces().reset(&one).unwrap().is_some());
    assert_eq!(bench.read("one", "/file").unwrap(), "base");
    bench.undo(&one);
    assert_eq!(bench.read("one", "/file").unwrap(), "changed");
    let log = bench.history().operations(Scope::Workspace(one.id), 10).unwrap().operations;
    let kinds: Vec<&str> = log.iter().map(|operation| operation.kind.as_str()).collect();
    assert_eq!(kinds, ["undo", "discard", "fs write", "workspace create"]);
}
