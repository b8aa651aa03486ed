//! Sessions: their logs, their locks, forks and calls, and what of a log that was tampered with is found.

use offshoot_store::Id;
use offshoot_vault::{
    Actor, CallKey, CheckDepth, NewSession, NewSessionEvent, NewSessionFork, SessionError,
    SessionHead, SessionRecord, SessionUpdate, Vault, VaultError, WorkspaceRecord, WorkspaceState,
};
use offshoot_vocabulary::{CallState, SessionState};
use rusqlite::{Connection, params};

use crate::records::sum_again;
use crate::support::{Scratch, actor, empty_vault, home};

const SESSIONS: [&str; 11] = [
    "id",
    "events",
    "chain",
    "changed_ms",
    "state",
    "provider",
    "model",
    "tokens_in",
    "tokens_out",
    "cost",
    "signature",
];
const EVENTS: [&str; 9] =
    ["session", "number", "time_ms", "kind", "content", "bytes", "snapshot", "chain", "body"];

pub(crate) fn workspace(vault: &Vault, name: &str) -> WorkspaceRecord {
    let head = vault.head().unwrap().id;
    let made = vault.transact("workspace create", &actor(), |tx| {
        let state = WorkspaceState {
            head,
            base: head,
            parent: None,
            created_ms: tx.time_ms(),
            expires_ms: None,
        };
        let workspace = WorkspaceRecord { id: tx.new_id(), name: name.to_owned(), state };
        tx.scope(workspace.id);
        tx.set_workspace(&workspace)?;
        Ok(workspace)
    });
    made.unwrap().value
}

pub(crate) fn session_in(vault: &Vault, workspace: &WorkspaceRecord, name: &str) -> SessionRecord {
    let new = NewSession { workspace: workspace.id, name, provider: "p", model: "m" };
    vault.create_session(&new, &actor()).unwrap().0
}

fn event(kind: &str, body: &str) -> NewSessionEvent {
    NewSessionEvent { kind: kind.to_owned(), body: body.to_owned(), snapshot: None }
}

pub(crate) fn append(
    vault: &Vault,
    session: &Id,
    next: u64,
    events: &[NewSessionEvent],
) -> Result<SessionHead, VaultError> {
    vault.append_session(session, next, (events, &SessionUpdate::default()), &actor())
}

pub(crate) fn said(texts: &[&str]) -> Vec<NewSessionEvent> {
    texts.iter().map(|text| event("said", &format!("\"{text}\""))).collect()
}

fn bodies(vault: &Vault, session: &Id) -> Vec<String> {
    vault.session_events(session, 1, 256).unwrap().into_iter().map(|one| one.body).collect()
}

#[track_caller]
fn assert_in_order(vault: &Vault) {
    let report = vault.check(CheckDepth::Content).unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!(vault.audit_differences().unwrap(), Vec::<String>::new());
}

#[test]
fn events_come_back_as_they_were_appended() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let session = session_in(&vault, &workspace(&vault, "w"), "talk").id;
    let long = format!("\"{}\"", "x".repeat(100_000));
    let head = append(&vault, &session, 1, &[event("a", "{}"), event("long", &long)]).unwrap();
    assert_eq!(head.events, 2);
    append(&vault, &session, 3, &said(&["three"])).unwrap();
    let vault = {
        drop(vault);
        home(&scratch).open("v").unwrap()
    };
    assert_eq!(bodies(&vault, &session), ["{}", long.as_str(), "\"three\""]);
    let page = vault.session_events(&session, 2, 1).unwrap();
    assert_eq!((page.len(), page[0].number, page[0].kind.as_str()), (1, 2, "long"));
    assert_in_order(&vault);
}

#[test]
fn of_two_writers_one_fails_and_nothing_is_between() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let session = session_in(&vault, &workspace(&vault, "w"), "talk").id;
    let wins: Vec<bool> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let (scratch, session) = (&scratch, &session);
                scope.spawn(move || {
                    let vault = home(scratch).open("v").unwrap();
                    let events = said(&[&format!("{writer}-1"), &format!("{writer}-2")]);
                    match append(&vault, session, 1, &events) {
                        Ok(head) => head.events == 2,
                        Err(VaultError::Session(SessionError::Moved {
                            expected: 1,
                            found,
                            ..
                        })) => {
                            assert_eq!(found, 2);
                            false
                        }
                        Err(other) => panic!("{other}"),
                    }
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(wins.iter().filter(|won| **won).count(), 1);
    assert_eq!(bodies(&vault, &session).len(), 2);
}

#[test]
fn one_takes_a_session_up_at_a_time() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let session = session_in(&vault, &workspace(&vault, "w"), "talk").id;
    let held = vault.lock_session(&session, "process 7: agent").unwrap();
    let other = home(&scratch).open("v").unwrap();
    let refused = other.lock_session(&session, "me");
    let busy = matches!(&refused, Err(VaultError::Session(SessionError::Busy { holder, .. })) if holder == "process 7: agent");
    assert!(busy, "{refused:?}");
    assert!(matches!(
        other.delete_session(&session, &actor()),
        Err(VaultError::Session(SessionError::Busy { .. }))
    ));
    assert_eq!(other.session_holder(&session).unwrap().as_deref(), Some("process 7: agent"));
    drop(held);
    assert_eq!(other.session_holder(&session).unwrap(), None);
    drop(other.lock_session(&session, "me").unwrap());
}

#[test]
fn what_is_no_event_is_refused_and_changes_nothing() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let session = session_in(&vault, &workspace(&vault, "w"), "talk").id;
    let missing = NewSessionEvent { snapshot: Some(Id::random()), ..event("a", "1") };
    let most = vec![event("a", "1"); offshoot_vault::MOST_AT_ONCE + 1];
    let huge = format!("\"{}\"", "x".repeat(offshoot_vault::LONGEST_BODY));
    for events in [
        vec![event("", "1")],
        vec![event("a b", "1")],
        vec![event("a", "{")],
        vec![event("fine", "1"), event("a", "")],
        vec![missing],
        vec![event("a", &huge)],
        most,
    ] {
        assert!(append(&vault, &session, 1, &events).is_err());
    }
    let mut update = SessionUpdate::default();
    update.totals.cost = Some("cheap".to_owned());
    let cost = vault.append_session(&session, 1, (&[], &update), &actor());
    assert!(matches!(cost, Err(VaultError::Session(SessionError::BadCost(_)))), "{cost:?}");
    assert_eq!(bodies(&vault, &session), Vec::<String>::new());
    assert_in_order(&vault);
}

#[test]
fn an_agent_changes_its_own_sessions_alone() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let place = workspace(&vault, "w");
    let agent = |name: &str| actor().through(name, "s");
    let new = NewSession { workspace: place.id, name: "own", provider: "", model: "" };
    let own = vault.create_session(&new, &agent("one")).unwrap().0.id;
    let persons = session_in(&vault, &place, "talk").id;
    let nothing = SessionUpdate::default();
    let write = |session: &Id, who: &Actor| {
        vault.append_session(session, 1, (&said(&["x"]), &nothing), who)
    };
    for session in [&own, &persons] {
        let other = agent("two");
        let results = [
            write(session, &other).map(drop),
            vault.rename_session(session, "mine", &other).map(drop),
            vault.delete_session(session, &other).map(drop),
            vault.set_session_note(session, "plan", Some(b"x"), &other),
            vault.put_session_text(session, &mut &b"x"[..], &other).map(drop),
        ];
        for result in results {
            assert!(matches!(result, Err(VaultError::Session(SessionError::NotOwn { .. }))));
        }
    }
    write(&own, &agent("one")).unwrap();
    vault.rename_session(&own, "renamed", &agent("one")).unwrap();
    vault.delete_session(&own, &actor()).unwrap();
}

#[test]
fn a_session_goes_and_comes_back_with_its_workspace() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let place = workspace(&vault, "w");
    let session = session_in(&vault, &place, "talk").id;
    append(&vault, &session, 1, &said(&["one"])).unwrap();
    vault.transact("workspace delete", &actor(), |tx| tx.remove_workspace(&place.id)).unwrap();
    assert!(vault.session(&session).unwrap().is_none());
    assert!(matches!(
        append(&vault, &session, 2, &said(&["two"])),
        Err(VaultError::Session(SessionError::Unknown(_)))
    ));
    assert_in_order(&vault);
    vault.undo(offshoot_vault::Scope::Vault, &actor()).unwrap();
    assert_eq!(bodies(&vault, &session), ["\"one\""]);
    append(&vault, &session, 2, &said(&["two"])).unwrap();
    // Undo of the session itself leaves the workspace.
    vault.undo(offshoot_vault::Scope::Vault, &actor()).unwrap();
    assert!(vault.session(&session).unwrap().is_none());
    vault.redo(offshoot_vault::Scope::Vault, &actor()).unwrap();
    assert_eq!(bodies(&vault, &session).len(), 2);
    assert_in_order(&vault);
}

#[test]
fn a_fork_is_whole_by_itself() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let place = workspace(&vault, "w");
    let session = session_in(&vault, &place, "talk").id;
    let long = format!("\"{}\"", "y".repeat(70_000));
    append(&vault, &session, 1, &[event("long", &long)]).unwrap();
    append(&vault, &session, 2, &said(&["two", "three"])).unwrap();
    vault.set_session_note(&session, "plan", Some(b"first"), &actor()).unwrap();
    let text = vault.put_session_text(&session, &mut &b"a long result"[..], &actor()).unwrap();
    let fork = |at| {
        let made = vault.transact("session fork", &actor(), |tx| {
            let new = NewSessionFork { parent: session, at, workspace: place.id, name: "fork" };
            tx.scope(place.id);
            Ok(tx.fork_session(&new)?.0.id)
        });
        made.map(|made| made.value)
    };
    assert!(matches!(
        fork(Some(4)),
        Err(VaultError::Session(SessionError::NoEvent { last: 3, .. }))
    ));
    let fork = fork(Some(2)).unwrap();
    vault.delete_session(&session, &actor()).unwrap();
    assert_eq!(bodies(&vault, &fork), [long.as_str(), "\"two\""]);
    assert_eq!(vault.session_note(&fork, "plan").unwrap().as_deref(), Some(&b"first"[..]));
    assert_eq!(vault.session_text(&fork, &text, (2, 4)).unwrap(), b"long");
    append(&vault, &fork, 3, &said(&["another"])).unwrap();
    assert_in_order(&vault);
}

#[test]
fn notes_and_texts_are_kept() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let session = session_in(&vault, &workspace(&vault, "w"), "talk").id;
    let set =
        |key: &str, note: Option<&[u8]>| vault.set_session_note(&session, key, note, &actor());
    set("plan", Some(b"one")).unwrap();
    set("plan", Some(b"two")).unwrap();
    set("other", Some(b"")).unwrap();
    assert!(set("no key", Some(b"x")).is_err());
    let large = vec![0; usize::try_from(offshoot_vault::LONGEST_NOTE).unwrap() + 1];
    assert!(set("large", Some(&large)).is_err());
    assert_eq!(vault.session_notes(&session).unwrap(), ["other", "plan"]);
    assert_eq!(vault.session_note(&session, "plan").unwrap().as_deref(), Some(&b"two"[..]));
    set("plan", None).unwrap();
    assert_eq!(vault.session_note(&session, "plan").unwrap(), None);
    let bytes: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
    let put = || vault.put_session_text(&session, &mut &bytes[..], &actor()).unwrap();
    let (text, again) = (put(), put());
    assert_eq!(text, again);
    assert_eq!(text.to_string().parse::<offshoot_vault::TextId>().unwrap(), text);
    assert_eq!(vault.session_text_length(&session, &text).unwrap(), 300_000);
    for (offset, limit) in [(0, 10), (65_530, 20), (299_995, 50), (131_072, 65_536), (400_000, 9)] {
        let end = usize::try_from((offset + limit).min(300_000)).unwrap();
        let expected = &bytes[usize::try_from(offset).unwrap().min(end)..end];
        assert_eq!(vault.session_text(&session, &text, (offset, limit)).unwrap(), expected);
    }
    assert_in_order(&vault);
}

#[test]
fn nothing_is_done_twice_under_a_key() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let place = workspace(&vault, "w");
    let session = session_in(&vault, &place, "talk").id;
    let key = |call: &str| CallKey { session, call: call.to_owned() };
    assert_eq!(vault.call(&key("c1")).unwrap(), None);
    let exec = Id::random();
    let start = |key: &CallKey, exec: &Id| {
        vault.record_event("exec_started", &actor(), |tx| tx.call_exec(key, exec))
    };
    start(&key("c1"), &exec).unwrap();
    let call = vault.call(&key("c1")).unwrap().unwrap();
    // This very process would run it.
    assert_eq!((call.id, call.state), (exec, CallState::Running));
    let second = start(&key("c1"), &Id::random());
    let taken = matches!(&second, Err(VaultError::Session(SessionError::CallTaken { id, .. })) if *id == exec);
    assert!(taken, "{second:?}");
    assert!(vault.require_new_call(&key("c1")).is_err());
    vault.require_new_call(&key("c2")).unwrap();
    let changed = vault.transact("fs write", &actor(), |tx| {
        tx.record_always();
        tx.call_change(&key("c2"))
    });
    let operation = changed.unwrap().operation.unwrap();
    let call = vault.call(&key("c2")).unwrap().unwrap();
    assert_eq!((call.id, call.state), (operation, CallState::Changed));
    for bad in ["", &"x".repeat(offshoot_vault::LONGEST_CALL + 1)] {
        assert!(start(&key(bad), &exec).is_err());
    }
    let nobody = CallKey { session: Id::random(), call: "c1".to_owned() };
    assert!(matches!(start(&nobody, &exec), Err(VaultError::Session(SessionError::Unknown(_)))));
    assert_in_order(&vault);
}

/// A session with some events of which the log knows three.
fn audited(vault: &Vault) -> Id {
    let session = session_in(vault, &workspace(vault, "w"), "talk").id;
    append(vault, &session, 1, &said(&["one", "two", "three"])).unwrap();
    let update = SessionUpdate { state: Some(SessionState::Waiting), ..SessionUpdate::default() };
    vault.append_session(&session, 4, (&[], &update), &actor()).unwrap();
    append(vault, &session, 4, &said(&["four"])).unwrap();
    assert_in_order(vault);
    session
}

/// Whoever writes to the catalog can make its own hashes fit; the chain, the signature and the audit log tell all the same.
#[test]
fn events_that_are_changed_dropped_or_added_are_found() {
    type Tampering = fn(&Connection, &Id);
    let ways: [(&str, Tampering); 6] = [
        ("changed", |sql, id| {
            let text =
                "UPDATE session_events SET body = '\"no!\"' WHERE session = ?1 AND number = 2";
            assert_eq!(sql.execute(text, [id.as_bytes()]).unwrap(), 1);
        }),
        ("dropped", |sql, id| {
            let text = "DELETE FROM session_events WHERE session = ?1 AND number = 2";
            assert_eq!(sql.execute(text, [id.as_bytes()]).unwrap(), 1);
        }),
        ("cut", |sql, id| {
            let text = "DELETE FROM session_events WHERE session = ?1 AND number = 4";
            assert_eq!(sql.execute(text, [id.as_bytes()]).unwrap(), 1);
        }),
        ("added", |sql, id| {
            let text = "INSERT INTO session_events SELECT session, 5, time_ms, kind, content, bytes,
                        snapshot, chain, body, sum FROM session_events WHERE session = ?1 AND number = 4";
            assert_eq!(sql.execute(text, [id.as_bytes()]).unwrap(), 1);
        }),
        ("another count", |sql, id| {
            let text = "UPDATE sessions SET tokens_in = 5 WHERE id = ?1";
            assert_eq!(sql.execute(text, [id.as_bytes()]).unwrap(), 1);
        }),
        ("gone", |sql, id| {
            for table in ["session_events", "session_contents", "calls"] {
                sql.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [id.as_bytes()])
                    .unwrap();
            }
            sql.execute("DELETE FROM sessions WHERE id = ?1", [id.as_bytes()]).unwrap();
        }),
    ];
    for (what, tamper) in ways {
        let scratch = Scratch::new();
        let vault = empty_vault(&scratch);
        let session = audited(&vault);
        let catalog = vault.dir().join("catalog.db");
        drop(vault);
        let sql = Connection::open(&catalog).unwrap();
        tamper(&sql, &session);
        mend_sums(&sql);
        drop(sql);
        let vault = home(&scratch).open("v").unwrap();
        let found = vault.audit_differences().unwrap();
        assert!(found.iter().any(|line| line.contains("session")), "{what}: {found:?}");
    }
}

/// An older row, with its signature, in the place of the newer one: the audit log knows how far the log was.
#[test]
fn a_log_that_is_cut_back_to_an_older_signature_is_found() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let session = session_in(&vault, &workspace(&vault, "w"), "talk").id;
    append(&vault, &session, 1, &said(&["one"])).unwrap();
    let catalog = vault.dir().join("catalog.db");
    let (chain, signature): (Vec<u8>, Vec<u8>) = {
        let sql = Connection::open(&catalog).unwrap();
        let row = sql.query_row("SELECT chain, signature FROM sessions", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        });
        row.unwrap()
    };
    let changed_ms: i64 = {
        let sql = Connection::open(&catalog).unwrap();
        sql.query_row("SELECT changed_ms FROM sessions", [], |row| row.get(0)).unwrap()
    };
    append(&vault, &session, 2, &said(&["two"])).unwrap();
    let update = SessionUpdate { state: Some(SessionState::Ended), ..SessionUpdate::default() };
    vault.append_session(&session, 3, (&[], &update), &actor()).unwrap();
    drop(vault);
    let sql = Connection::open(&catalog).unwrap();
    sql.execute("DELETE FROM session_events WHERE number = 2", []).unwrap();
    let text = "UPDATE sessions SET events = 1, chain = ?1, signature = ?2, changed_ms = ?3, state = 'open'";
    sql.execute(text, params![chain, signature, changed_ms]).unwrap();
    mend_sums(&sql);
    drop(sql);
    let vault = home(&scratch).open("v").unwrap();
    let found = vault.audit_differences().unwrap();
    assert!(found.iter().any(|line| line.contains("not what it was after event 2")), "{found:?}");
}

#[test]
fn a_new_audit_key_vouches_for_sessions_too() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let session = audited(&vault);
    vault.rotate_audit_key(&actor()).unwrap();
    assert_in_order(&vault);
    append(&vault, &session, 5, &said(&["five"])).unwrap();
    assert_in_order(&vault);
}

/// Ten thousand events are read page by page; what a page holds is bounded.
#[test]
fn many_events_are_read_in_pages() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let session = session_in(&vault, &workspace(&vault, "w"), "talk").id;
    let mut next = 1;
    for _ in 0..10 {
        let events: Vec<_> = (0..1000).map(|n| event("n", &n.to_string())).collect();
        next = append(&vault, &session, next, &events).unwrap().events + 1;
    }
    let (mut at, mut seen) = (1, 0);
    loop {
        let page = vault.session_events(&session, at, u32::MAX).unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 256, "{}", page.len());
        seen += page.len();
        at = last.number + 1;
    }
    assert_eq!(seen, 10_000);
    // Of long bodies a page has no more than a few MiB.
    let long = format!("\"{}\"", "z".repeat(3 << 20));
    append(&vault, &session, 10_001, &vec![event("long", &long); 4]).unwrap();
    assert_eq!(vault.session_events(&session, 10_001, 256).unwrap().len(), 1);
    let started = std::time::Instant::now();
    assert_eq!(vault.session_events(&session, 9_990, 10).unwrap().len(), 10);
    assert!(started.elapsed().as_millis() < 500, "{:?}", started.elapsed());
}

/// Gives all rows the hashes that somebody would give them who knows how they are computed.
fn mend_sums(sql: &Connection) {
    sum_again(sql, "sessions", &SESSIONS);
    sum_again(sql, "session_events", &EVENTS);
}
