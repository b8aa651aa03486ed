//! What garbage collection and exports do with sessions.

use offshoot_store::Id;
use offshoot_vault::{
    ArchiveOptions, CallKey, CheckDepth, GcOptions, NewSessionEvent, Scope, SessionError, Vault,
    VaultError,
};
use rusqlite::Connection;

use crate::garbage::NOTHING;
use crate::sessions::{append, said, session_in, workspace};
use crate::support::{Scratch, actor, empty_vault, home, home_at};

/// A session with a text, a note and a long event, all of which lie in the object store.
fn full_session(vault: &Vault) -> (Id, offshoot_vault::TextId) {
    let session = session_in(vault, &workspace(vault, "w"), "talk").id;
    let body = format!("\"{}\"", "long ".repeat(20_000));
    let long = NewSessionEvent { kind: "long".to_owned(), body, snapshot: None };
    append(vault, &session, 1, &[long]).unwrap();
    append(vault, &session, 2, &said(&["two"])).unwrap();
    let text = vault.put_session_text(&session, &mut &[7u8; 100_000][..], &actor()).unwrap();
    vault.set_session_note(&session, "plan", Some(b"first"), &actor()).unwrap();
    let key = CallKey { session, call: "c1".to_owned() };
    vault
        .transact("fs write", &actor(), |tx| {
            tx.record_always();
            tx.call_change(&key)
        })
        .unwrap();
    (session, text)
}

#[track_caller]
fn assert_whole(vault: &Vault, session: &Id, text: &offshoot_vault::TextId) {
    let events = vault.session_events(session, 1, 9).unwrap();
    assert_eq!(events.len(), 2);
    assert_eq!(events[0].body.len(), 100_002);
    assert_eq!(vault.session_text(session, text, (0, 200_000)).unwrap(), [7u8; 100_000]);
    assert_eq!(vault.session_note(session, "plan").unwrap().as_deref(), Some(&b"first"[..]));
    let key = CallKey { session: *session, call: "c1".to_owned() };
    assert!(vault.call(&key).unwrap().is_some());
    let report = vault.check(CheckDepth::Content).unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!(vault.audit_differences().unwrap(), Vec::<String>::new());
}

fn rows(vault: &Vault, table: &str) -> i64 {
    let sql = Connection::open(vault.dir().join("catalog.db")).unwrap();
    sql.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn what_a_session_keeps_is_not_collected() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let (session, text) = full_session(&vault);
    for _ in 0..2 {
        let report = vault.collect(&NOTHING, &actor()).unwrap();
        assert_eq!(report.sessions.count, 0);
        assert_whole(&vault, &session, &text);
    }
}

#[test]
fn a_deleted_session_goes_with_the_operation_that_could_bring_it_back() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let (session, text) = full_session(&vault);
    vault.delete_session(&session, &actor()).unwrap();
    let one = GcOptions { keep_operations: 1, ..NOTHING };
    assert_eq!(vault.collect(&one, &actor()).unwrap().sessions.count, 0);
    vault.undo(Scope::Vault, &actor()).unwrap();
    assert_whole(&vault, &session, &text);
    vault.delete_session(&session, &actor()).unwrap();
    let dry = GcOptions { dry_run: true, ..NOTHING };
    assert_eq!(vault.collect(&dry, &actor()).unwrap().sessions.count, 1);
    assert_eq!(rows(&vault, "session_events"), 2);
    let report = vault.collect(&NOTHING, &actor()).unwrap();
    assert_eq!(report.sessions.count, 1);
    assert!(report.contents.count >= 3, "{report:?}");
    for table in ["sessions", "session_events", "session_contents", "calls"] {
        assert_eq!(rows(&vault, table), 0, "{table}");
    }
    let undone = vault.undo(Scope::Vault, &actor());
    let collected = matches!(&undone, Err(VaultError::Session(SessionError::Collected { .. })));
    assert!(collected, "{undone:?}");
    assert_eq!(vault.audit_differences().unwrap(), Vec::<String>::new());
    let report = vault.check(CheckDepth::Content).unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
}

#[test]
fn sessions_travel_with_their_vault() {
    let (scratch, elsewhere) = (Scratch::new(), Scratch::new());
    let vault = empty_vault(&scratch);
    let (session, text) = full_session(&vault);
    let file = scratch.path().join("v.vault");
    vault.export_archive(&file, "v").unwrap();
    let came = home(&elsewhere).import(&file, &ArchiveOptions::default()).unwrap().vault;
    assert_whole(&came, &session, &text);
    append(&came, &session, 3, &said(&["three"])).unwrap();
    assert_eq!(came.audit_differences().unwrap(), Vec::<String>::new());
}

/// Nothing of a file is taken on trust.
#[test]
fn a_session_that_was_altered_in_a_file_does_not_come_in() {
    for statement in [
        "UPDATE session_events SET kind = 'other' WHERE number = 2",
        "UPDATE session_events SET kind = 'no word' WHERE number = 2",
        "DELETE FROM session_events WHERE number = 2",
        "DELETE FROM sessions",
        "DELETE FROM session_contents WHERE name LIKE 'event%'",
        "UPDATE session_contents SET name = 'other' WHERE name LIKE 'text%'",
        "UPDATE session_contents SET bytes = 7 WHERE name LIKE 'text%'",
        "UPDATE calls SET what = '7'",
        "UPDATE sessions SET state = 'unheard of'",
    ] {
        let scratch = Scratch::new();
        let vault = empty_vault(&scratch);
        full_session(&vault);
        let file = scratch.path().join("v.vault");
        vault.export_archive(&file, "v").unwrap();
        let sql = Connection::open(&file).unwrap();
        assert!(sql.execute(statement, []).unwrap() > 0, "{statement}");
        drop(sql);
        let folder = scratch.folder("elsewhere");
        let refused = home_at(&folder).import(&file, &ArchiveOptions::default());
        assert!(refused.is_err(), "{statement}");
        assert!(home_at(&folder).list().unwrap().is_empty(), "{statement}");
    }
}
