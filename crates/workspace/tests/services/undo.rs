//! Undo, redo and going back, each in its own scope.

use offshoot_vault::{Scope, VaultError};
use offshoot_workspace::ServiceError;

use crate::assert_vault_error;
use crate::support::Bench;

#[test]
fn undo_and_redo_walk_the_history() {
    let bench = Bench::of(&[("file", "0")]);
    let one = bench.fork("one");
    for text in ["1", "2", "3"] {
        bench.write(&one, "/file", text);
    }
    let read = || bench.read("one", "/file").unwrap();
    bench.undo(&one);
    bench.undo(&one);
    assert_eq!(read(), "1");
    bench.redo(&one);
    assert_eq!(read(), "2");
    bench.undo(&one);
    bench.undo(&one);
    assert_eq!(read(), "0");
    for text in ["1", "2", "3"] {
        bench.redo(&one);
        assert_eq!(read(), text);
    }
    assert_vault_error!(bench.history().redo(Scope::Workspace(one.id)), VaultError::NothingToRedo);
    // Something new ends what could be redone; undo then takes the new thing back, and the old ones after it.
    bench.undo(&one);
    bench.write(&one, "/file", "new");
    assert_vault_error!(bench.history().redo(Scope::Workspace(one.id)), VaultError::NothingToRedo);
    bench.undo(&one);
    assert_eq!(read(), "2");
    bench.undo(&one);
    assert_eq!(read(), "1");
    bench.redo(&one);
    bench.redo(&one);
    assert_eq!(read(), "new");
}

#[test]
fn undo_ends_with_the_making_of_the_workspace_and_of_the_vault() {
    let bench = Bench::new();
    let one = bench.fork("one");
    bench.write(&one, "/file", "x");
    bench.undo(&one);
    assert_eq!(bench.undo(&one), "workspace create");
    assert_eq!(bench.names(), Vec::<String>::new());
    let scope = Scope::Workspace(one.id);
    assert_vault_error!(bench.history().undo(scope), VaultError::NothingToUndo);
    assert_vault_error!(bench.history().undo(Scope::Vault), VaultError::NothingToUndo);
    bench.redo(&one);
    bench.redo(&one);
    assert_eq!(bench.read("one", "/file").unwrap(), "x");
}

#[test]
fn one_workspace_never_touches_another() {
    let bench = Bench::of(&[("file", "0")]);
    let (one, two) = (bench.fork("one"), bench.fork("two"));
    for n in ["1", "2"] {
        bench.write(&one, "/file", &format!("one {n}"));
        bench.write(&two, "/file", &format!("two {n}"));
    }
    let state = || (bench.read("one", "/file").unwrap(), bench.read("two", "/file").unwrap());
    bench.undo(&one);
    assert_eq!(state(), ("one 1".into(), "two 2".into()));
    bench.undo(&two);
    bench.undo(&one);
    assert_eq!(state(), ("0".into(), "two 1".into()));
    bench.redo(&one);
    assert_eq!(state(), ("one 1".into(), "two 1".into()));
    bench.redo(&two);
    bench.redo(&one);
    assert_eq!(state(), ("one 2".into(), "two 2".into()));
    // Vault-wide it is the last operation of all that counts, whoever's it was.
    bench.write(&two, "/file", "two 3");
    bench.history().undo(Scope::Vault).unwrap();
    assert_eq!(state(), ("one 2".into(), "two 2".into()));
    bench.history().undo(Scope::Vault).unwrap();
    assert_eq!(state(), ("one 1".into(), "two 2".into()), "what was redone last is undone first");
    bench.history().redo(Scope::Vault).unwrap();
    assert_eq!(state(), ("one 2".into(), "two 2".into()));
}

#[test]
fn what_was_built_upon_cannot_be_taken_back_alone() {
    let bench = Bench::of(&[("file", "0")]);
    let one = bench.fork("one");
    let two = bench.fork_from("two", "one");
    bench.workspaces().delete(&one).unwrap();
    // Another one has the name now.
    let other = bench.fork("one");
    let scope = Scope::Workspace(one.id);
    assert_vault_error!(bench.history().undo(scope), VaultError::Overtaken { verb: "undone", .. });
    bench.workspaces().rename(&other, "another").unwrap();
    assert_eq!(bench.undo(&one), "workspace delete");
    assert_eq!(bench.names(), ["another", "one", "two"]);
    // The name that an undone rename needs may be taken as well.
    bench.workspaces().rename(&two, "three").unwrap();
    bench.fork("two");
    let scope = Scope::Workspace(two.id);
    assert_vault_error!(bench.history().undo(scope), VaultError::Overtaken { .. });
    assert_eq!(bench.names(), ["another", "one", "three", "two"], "and nothing was changed");
}

#[test]
fn going_back_to_an_operation_takes_all_later_ones_back() {
    let bench = Bench::of(&[("file", "0")]);
    let (one, two) = (bench.fork("one"), bench.fork("two"));
    bench.write(&one, "/file", "one 1");
    let target = bench.vault.last_operation(Scope::Workspace(one.id)).unwrap().unwrap();
    bench.write(&two, "/file", "two 1");
    bench.write(&one, "/file", "one 2");
    bench.checkpoint(&one, "cp");
    bench.workspaces().rename(&one, "renamed").unwrap();
    let history = bench.history();
    let scope = Scope::Workspace(one.id);
    assert!(history.restore(&target, scope).unwrap().is_some());
    assert_eq!(bench.names(), ["one", "two"]);
    assert_eq!(bench.read("one", "/file").unwrap(), "one 1");
    assert_eq!(bench.read("two", "/file").unwrap(), "two 1", "the other is left alone");
    assert_eq!(bench.vault.checkpoints().unwrap(), []);
    assert_eq!(history.restore(&target, scope).unwrap(), None, "it is there already");
    assert_eq!(bench.undo(&one), "op restore");
    assert_eq!(bench.names(), ["renamed", "two"]);
    assert_eq!(bench.read("renamed", "/file").unwrap(), "one 2");
    assert!(history.restore(&target, Scope::Vault).unwrap().is_some());
    assert_eq!(bench.read("two", "/file").unwrap(), "0");
    // Back to before there was anything: the workspaces go, and an undo brings them back.
    let all = history.operations(Scope::Vault, 100).unwrap().operations;
    history.restore(all.last().unwrap(), Scope::Vault).unwrap();
    assert_eq!(bench.names(), Vec::<String>::new());
    history.undo(Scope::Vault).unwrap();
    assert_eq!(bench.names(), ["one", "two"]);
}

#[test]
fn no_undo_leaves_a_checkpoint_without_its_workspace() {
    let bench = Bench::of(&[("file", "0")]);
    let one = bench.fork("one");
    bench.checkpoint(&one, "cp");
    let scope = Scope::Workspace(one.id);
    let made = bench.vault.last_operation(scope).unwrap().unwrap();
    bench.undo(&one);
    bench.history().restore(&made, Scope::Vault).unwrap();
    // The checkpoint is back by an operation of the vault, and of its workspace only the fork is left to undo.
    let refused = bench.history().undo(scope);
    let overtaken = |error: &ServiceError| {
        matches!(error, ServiceError::Vault(VaultError::Overtaken { because, .. })
            if because == "checkpoint cp would be left without its workspace")
    };
    assert!(refused.as_ref().is_err_and(overtaken), "{refused:?}");
    assert_eq!((bench.names().len(), bench.vault.checkpoints().unwrap().len()), (1, 1));
}

#[test]
fn a_long_history_is_walked_past_one_page() {
    let bench = Bench::of(&[("file", "0")]);
    let one = bench.fork("one");
    for n in 1..=70 {
        bench.write(&one, "/file", &n.to_string());
    }
    for _ in 0..70 {
        bench.undo(&one);
    }
    assert_eq!(bench.read("one", "/file").unwrap(), "0");
    for _ in 0..70 {
        bench.redo(&one);
    }
    assert_eq!(bench.read("one", "/file").unwrap(), "70");
}

#[test]
fn the_log_names_what_points_at_it() {
    let bench = Bench::of(&[("file", "0")]);
    let one = bench.fork("one");
    bench.checkpoint(&one, "start");
    bench.write(&one, "/file", "1");
    let log = bench.history().log(&bench.point("one").snapshot, 10).unwrap();
    let names: Vec<Vec<&str>> =
        log.iter().map(|entry| entry.names.iter().map(String::as_str).collect()).collect();
    assert_eq!(names, [vec!["one"], vec!["head", "one@start"]]);
}
