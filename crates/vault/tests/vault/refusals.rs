//! Commands that may not run are recorded without the catalog, and are in it for whoever asks.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use offshoot_vault::{
    CheckDepth, Id, Refusal, Scope, Vault, VaultError, Workspace, WorkspaceState,
};

use crate::support::{Scratch, actor, empty_vault, home};

fn refusal(workspace: Option<&str>) -> Refusal {
    let exec = Id::random();
    Refusal {
        exec,
        workspace: workspace.map(str::to_owned),
        started_ms: exec.time_ms() - 3_000,
        ended_ms: exec.time_ms() - 2_000,
        state: "denied".to_owned(),
        command: "rm -rf /".to_owned(),
        actor: actor(),
        summary: "exec rm -rf /: denied".to_owned(),
        details: [("rule".to_owned(), "user:never".into())].into_iter().collect(),
        envelope: "{\"text\":\"two\\nlines\"}".to_owned(),
    }
}

fn waiting(vault: &Vault) -> PathBuf {
    vault.dir().join("refusals")
}

fn bytes(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

fn workspace(vault: &Vault, name: &str) -> Id {
    let (id, head) = (Id::random(), vault.head().unwrap().id);
    let state = WorkspaceState { head, base: head, parent: None, created_ms: 1, expires_ms: None };
    let workspace = Workspace { id, name: name.to_owned(), state };
    vault.transact("test", &actor(), |tx| tx.set_workspace(&workspace)).unwrap();
    id
}

#[test]
fn a_refusal_is_in_the_catalog_for_whoever_asks() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let id = workspace(&vault, "w");
    let by_name = refusal(Some("w"));
    let by_id = refusal(Some(&id.to_string()[..20]));
    let unknown = refusal(Some("nobody"));
    let too_short = refusal(Some(&id.to_string()[..3]));
    for refusal in [&by_name, &by_id, &unknown, &too_short] {
        assert!(!refusal.record(vault.dir()).unwrap());
    }
    let found = vault.exec(&by_name.exec).unwrap().unwrap();
    assert_eq!(bytes(&waiting(&vault)), 0);
    assert_eq!(found.workspace, Some(id));
    assert_eq!((found.state.as_str(), found.command.as_str()), ("denied", "rm -rf /"));
    assert_eq!((found.started_ms, found.ended_ms), (by_name.started_ms, by_name.ended_ms));
    assert_eq!(found.envelope.as_deref(), Some(by_name.envelope.as_str()));
    assert_eq!(vault.exec(&by_id.exec).unwrap().unwrap().workspace, Some(id));
    for refusal in [unknown, too_short] {
        assert_eq!(vault.exec(&refusal.exec).unwrap().unwrap().workspace, None);
    }
    let operation = vault.operation(&found.operation.unwrap()).unwrap();
    assert_eq!((operation.kind.as_str(), operation.workspace), ("exec", Some(id)));
    assert_eq!((operation.summary, operation.changes), (by_name.summary, Vec::new()));
    assert_eq!(operation.time_ms, by_name.ended_ms);
    let report = vault.check(CheckDepth::Content).unwrap();
    assert_eq!((report.problems, report.execs), (Vec::new(), 4));
    assert_eq!(report.audit_events, report.operations);
}

/// Each way of asking takes in what waits.
#[test]
fn nobody_is_told_less_than_was_refused() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let id = workspace(&vault, "w");
    type Question = fn(&Vault, &Refusal) -> bool;
    let questions: [(&str, Question); 7] = [
        ("execs", |vault, refusal| vault.execs(None, None, 1).unwrap()[0].id == refusal.exec),
        ("exec", |vault, refusal| vault.exec(&refusal.exec).unwrap().is_some()),
        ("execs_by_prefix", |vault, refusal| {
            vault.execs_by_prefix(&refusal.exec.to_string()).unwrap() == [refusal.exec]
        }),
        ("operations", |vault, refusal| {
            vault.operations(Scope::Vault, None, 1).unwrap()[0].time_ms == refusal.ended_ms
        }),
        ("figures", |vault, _| {
            let known = vault.operations(Scope::Vault, None, 1_000).unwrap().len();
            refusal(None).record(vault.dir()).unwrap();
            vault.figures().unwrap().operations == known as u64 + 1
        }),
        ("recently_used", |vault, _| {
            let other = workspace(vault, "other");
            refusal(Some("w")).record(vault.dir()).unwrap();
            vault.recently_used().unwrap()[0] != other
        }),
        ("operations_by_prefix", |vault, _| {
            vault.operations_by_prefix("0").unwrap();
            bytes(&waiting(vault)) == 0
        }),
    ];
    for (name, holds) in questions {
        let refusal = refusal(Some("w"));
        refusal.record(vault.dir()).unwrap();
        assert!(holds(&vault, &refusal), "{name}");
    }
    assert_eq!(vault.workspace(&id).unwrap().unwrap().name, "w");
}

#[test]
fn the_next_operation_comes_after_it() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let refusal = refusal(None);
    refusal.record(vault.dir()).unwrap();
    workspace(&vault, "w");
    assert_eq!(bytes(&waiting(&vault)), 0, "taken in by the transaction itself");
    let log = vault.operations(Scope::Vault, None, 2).unwrap();
    let kinds: Vec<&str> = log.iter().map(|operation| operation.kind.as_str()).collect();
    assert_eq!(kinds, ["test", "exec"]);
}

#[test]
fn what_fails_takes_nothing_in() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let refusal = refusal(None);
    refusal.record(vault.dir()).unwrap();
    let before = fs::read(waiting(&vault)).unwrap();
    let failed = vault.transact("test", &actor(), |_| Err::<(), _>(VaultError::TopDirectory));
    assert!(failed.is_err());
    assert_eq!(fs::read(waiting(&vault)).unwrap(), before);
    assert!(vault.exec(&refusal.exec).unwrap().is_some());
}

/// A crash after the commit and before the file is emptied.
#[test]
fn what_is_in_the_catalog_is_not_taken_in_again() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let refusal = refusal(None);
    refusal.record(vault.dir()).unwrap();
    let before = fs::read(waiting(&vault)).unwrap();
    vault.take_in_refusals().unwrap();
    let operations = vault.figures().unwrap().operations;
    fs::write(waiting(&vault), before).unwrap();
    assert_eq!(vault.execs(None, None, 10).unwrap().len(), 1);
    assert_eq!(vault.figures().unwrap().operations, operations);
    assert_eq!(bytes(&waiting(&vault)), 0);
}

/// Wherever an append was cut short, what was recorded before and after it counts.
#[test]
fn a_record_that_was_cut_short_is_in_nobodys_way() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let torn = refusal(None);
    torn.record(vault.dir()).unwrap();
    let whole = fs::read(waiting(&vault)).unwrap();
    for length in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
        fs::write(waiting(&vault), b"").unwrap();
        let (before, after) = (refusal(None), refusal(None));
        before.record(vault.dir()).unwrap();
        let mut kept = fs::read(waiting(&vault)).unwrap();
        kept.extend_from_slice(&whole[..length]);
        fs::write(waiting(&vault), kept).unwrap();
        after.record(vault.dir()).unwrap();
        assert!(vault.exec(&before.exec).unwrap().is_some(), "{length}");
        assert!(vault.exec(&after.exec).unwrap().is_some(), "{length}");
        // Only the line break at the end may be missing from a record that counts.
        let counts = vault.exec(&torn.exec).unwrap().is_some();
        assert_eq!(counts, length == whole.len() - 1, "{length}");
    }
}

#[test]
fn a_record_that_is_damaged_does_not_count() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let (damaged, whole) = (refusal(None), refusal(None));
    damaged.record(vault.dir()).unwrap();
    let mut bytes = fs::read(waiting(&vault)).unwrap();
    bytes[40] ^= 1;
    fs::write(waiting(&vault), bytes).unwrap();
    whole.record(vault.dir()).unwrap();
    let found: Vec<Id> = vault.execs(None, None, 9).unwrap().iter().map(|exec| exec.id).collect();
    assert_eq!(found, [whole.exec]);
}

#[test]
fn what_a_newer_program_wrote_stays() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let json = "{\"format\":\"of tomorrow\"}";
    let line = format!("{} {json}\n", &blake3::hash(json.as_bytes()).to_hex()[..16]);
    fs::write(waiting(&vault), &line).unwrap();
    workspace(&vault, "work goes on");
    assert!(matches!(vault.execs(None, None, 1), Err(VaultError::BadRecord { .. })));
    assert_eq!(fs::read_to_string(waiting(&vault)).unwrap(), line);
}

#[test]
fn all_at_once_each_is_recorded_once() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let dir = vault.dir().to_owned();
    let done = AtomicBool::new(false);
    let mut recorded = thread::scope(|scope| {
        let takers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let vault = home(&scratch).open("v").unwrap();
                    while !done.load(Ordering::Relaxed) {
                        vault.take_in_refusals().unwrap();
                    }
                })
            })
            .collect();
        let writers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let record = |_| {
                        let refusal = refusal(None);
                        refusal.record(&dir).unwrap();
                        refusal.exec
                    };
                    (0..40).map(record).collect::<Vec<Id>>()
                })
            })
            .collect();
        let recorded: Vec<Id> =
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        done.store(true, Ordering::Relaxed);
        takers.into_iter().for_each(|taker| taker.join().unwrap());
        recorded
    });
    let mut found: Vec<Id> =
        vault.execs(None, None, 1_000).unwrap().iter().map(|exec| exec.id).collect();
    recorded.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, recorded);
    assert_eq!(vault.check(CheckDepth::Structure).unwrap().problems, Vec::<String>::new());
}

#[test]
fn who_records_is_told_when_too_many_wait() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let long = Refusal { envelope: "x".repeat(1 << 20), ..refusal(None) };
    assert!(!long.record(vault.dir()).unwrap());
    assert!(refusal(None).record(vault.dir()).unwrap());
    vault.take_in_refusals().unwrap();
    assert!(!refusal(None).record(vault.dir()).unwrap());
}

#[test]
fn an_archive_has_them() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let refusal = refusal(None);
    refusal.record(vault.dir()).unwrap();
    let archive = scratch.path().join("archive");
    vault.export_archive(&archive, "v").unwrap();
    drop(vault);
    let home = home(&scratch);
    home.delete("v").unwrap();
    home.import(&archive, None).unwrap();
    let vault = home.open("v").unwrap();
    assert!(vault.exec(&refusal.exec).unwrap().is_some());
}
