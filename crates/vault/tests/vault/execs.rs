//! What commands did is kept, and never in the way of undo.

use offshoot_store::{Id, IdPrefix};
use offshoot_vault::{
    CheckDepth, ExecRecord, STDERR, STDOUT, Scope, Vault, VaultError, WorkspaceRecord,
    WorkspaceState,
};

use crate::support::{Scratch, actor, empty_vault};

fn record(id: Id, workspace: Option<Id>) -> ExecRecord {
    ExecRecord {
        id,
        workspace,
        operation: None,
        started_ms: id.time_ms(),
        ended_ms: id.time_ms() + 3,
        state: "completed".to_owned(),
        command: "make test".to_owned(),
        exit_code: None,
        signal: Some(9),
        changed: 2,
        before: None,
        after: None,
        actor: actor(),
        envelope: Some("{\"schema_version\":1}".to_owned()),
    }
}

/// Makes a workspace, or gives it another name, so that there is something to undo.
fn workspace(vault: &Vault, id: Id, name: &str) -> Id {
    let head = vault.head().unwrap().id;
    let state = WorkspaceState { head, base: head, parent: None, created_ms: 1, expires_ms: None };
    let workspace = WorkspaceRecord { id, name: name.to_owned(), state };
    let made = vault.transact("test", &actor(), |tx| {
        tx.scope(id);
        tx.set_workspace(&workspace)
    });
    made.unwrap().operation.unwrap()
}

/// Records a command that changed nothing; gives its operation.
fn quiet(vault: &Vault, exec: &ExecRecord) -> Option<Id> {
    let committed = vault.transact("exec", &actor(), |tx| {
        tx.record_always();
        exec.workspace.into_iter().for_each(|workspace| tx.scope(workspace));
        tx.add_exec(exec, b"out", b"")
    });
    committed.unwrap().operation
}

#[test]
fn a_command_that_changes_nothing_is_recorded_with_an_operation() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let id = Id::random();
    workspace(&vault, id, "w");
    let exec = record(Id::random(), Some(id));
    let operation = quiet(&vault, &exec);
    let expected = ExecRecord { operation, ..exec.clone() };
    assert!(operation.is_some());
    assert_eq!(vault.exec(&exec.id).unwrap(), Some(expected.clone()));
    let listed = ExecRecord { envelope: None, ..expected };
    for workspace in [Some(id), None] {
        assert_eq!(vault.execs(workspace, None, 10).unwrap(), std::slice::from_ref(&listed));
    }
    assert_eq!(vault.execs(Some(Id::random()), None, 10).unwrap(), []);
    assert_eq!(vault.exec_output(&exec.id, STDOUT).unwrap(), b"out");
    assert_eq!(vault.exec_output(&exec.id, STDERR).unwrap(), b"");
    assert_eq!(
        vault.execs_by_prefix(&IdPrefix::new(&exec.id.short()).unwrap()).unwrap(),
        [exec.id]
    );
    let last = vault.last_operation(Scope::Workspace(id)).unwrap().unwrap();
    assert_eq!((Some(last.id), last.changes.len()), (operation, 0));
    let report = vault.check(CheckDepth::Content).unwrap();
    assert_eq!((report.problems, report.execs), (Vec::new(), 1));
    assert_eq!(report.audit_events, report.operations);
}

#[test]
fn a_command_without_an_operation_is_recorded_too() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let exec = ExecRecord { operation: Some(Id::random()), ..record(Id::random(), None) };
    let committed = vault.transact("exec", &actor(), |tx| tx.add_exec(&exec, b"", b"")).unwrap();
    assert_eq!(committed.operation, None);
    assert_eq!(vault.exec(&exec.id).unwrap().unwrap().operation, None);
}

#[test]
fn undo_and_redo_pass_over_commands_that_changed_nothing() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let id = Id::random();
    workspace(&vault, id, "first");
    let renamed = workspace(&vault, id, "second");
    for scope in [Scope::Workspace(id), Scope::Vault] {
        let quiet = || quiet(&vault, &record(Id::random(), Some(id)));
        quiet();
        assert_eq!(vault.undo(scope, &actor()).unwrap().target.id, renamed);
        quiet();
        assert_eq!(vault.redo(scope, &actor()).unwrap().target.id, renamed);
        quiet();
        assert_eq!(vault.workspaces().unwrap()[0].name, "second");
        let redo = vault.redo(scope, &actor());
        assert!(matches!(redo, Err(VaultError::NothingToRedo)), "{redo:?}");
    }
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_check_finds_envelopes_and_snapshots_that_are_none() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let exec = ExecRecord {
        envelope: Some("{\"cut".to_owned()),
        before: Some(vault.head().unwrap().id),
        after: Some(Id::random()),
        ..record(Id::random(), None)
    };
    quiet(&vault, &exec);
    let problems = vault.check(CheckDepth::Structure).unwrap().problems;
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains(&exec.after.unwrap().to_string()), "{problems:?}");
    assert!(problems[1].contains("envelope"), "{problems:?}");
}
