//! One value of the catalog is changed at a time, in every column of every table: a check finds each and says where it is.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_store::{Id, StoreError};
use offshoot_tests::tier::Tier;
use offshoot_tree::TreeError;
use offshoot_vault::{
    CallKey, CheckDepth, Checkpoint, CheckpointState, ExecRecord, NewSessionEvent, Scope, Vault,
    VaultError, WorkspaceRecord, WorkspaceState,
};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::garbage::NOTHING;
use crate::sessions::{append, session_in};
use crate::support::{Scratch, actor, commit, edit, file, head, home, path, vault_of};

/// Columns that are deliberately not covered, and why. There is none: what tells where the bytes of a content are is not hashed
/// itself, but a place that holds other bytes is found when they are read. The header of the file is not a column: a format
/// that is too high is one of a newer program, and one that is too low is brought up to date, which fails.
const NOT_COVERED: &[(&str, &str)] = &[];

/// A vault with at least one row in every table.
pub(crate) fn full_vault(scratch: &Scratch) -> Vault {
    let source = scratch.folder("source");
    fs::write(source.join("in-layer"), vec![7; 100_000]).unwrap();
    fs::write(source.join("one"), "linked").unwrap();
    fs::hard_link(source.join("one"), source.join("two")).unwrap();
    let vault = vault_of(scratch, &source);
    let (id, checkpoint) = (Id::random(), Id::random());
    let inline = file(&vault, b"in the catalog");
    let root = edit(&vault, &head(&vault), |editor| editor.put(&path("/inline"), inline).unwrap());
    commit(&vault, &root);
    // What nothing needs any more is collected, and what stays is packed.
    let gone = file(&vault, b"soon gone");
    let other = edit(&vault, &root, |editor| editor.put(&path("/gone"), gone).unwrap());
    commit(&vault, &other);
    vault.undo(Scope::Vault, &actor()).unwrap();
    vault.pack(&actor()).unwrap();
    assert!(vault.collect(&NOTHING, &actor()).unwrap().roots.count > 0);
    let base = vault.head().unwrap().id;
    let state = WorkspaceState {
        head: vault.head().unwrap().id,
        base,
        parent: None,
        created_ms: 1,
        expires_ms: Some(4_000_000_000_000),
    };
    let workspace = WorkspaceRecord { id, name: "fix".to_owned(), state };
    let kept = Checkpoint {
        id: checkpoint,
        workspace: id,
        name: "kept".to_owned(),
        state: CheckpointState {
            snapshot: vault.head().unwrap().id,
            automatic: false,
            created_ms: 2,
            reason: "because".to_owned(),
        },
    };
    let exec = ExecRecord {
        id: Id::random(),
        workspace: Some(id),
        operation: None,
        started_ms: 5,
        ended_ms: 6,
        state: "completed".to_owned(),
        command: "make test".to_owned(),
        exit_code: Some(0),
        signal: None,
        changed: 2,
        before: Some(base),
        after: Some(vault.head().unwrap().id),
        actor: actor(),
        envelope: Some("{\"schema_version\":1}".to_owned()),
    };
    let filled = vault.transact("test", &actor(), |tx| {
        tx.scope(id);
        tx.set_workspace(&workspace)?;
        tx.set_checkpoint(&kept)?;
        tx.mark_applied(&Id::random())?;
        tx.add_exec(&exec, b"out", b"err")
    });
    filled.unwrap();
    vault.stack(&head(&vault), &[]).unwrap();
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    vault
}

/// Adds a conversation, with a row in every table of those.
fn with_session(vault: &Vault) {
    let workspace = vault.workspaces().unwrap().remove(0);
    let session = session_in(vault, &workspace, "talk").id;
    let body = |text: &str| format!("{{\"text\":\"{text}\"}}");
    let event = |body: String| NewSessionEvent { kind: "said".to_owned(), body, snapshot: None };
    let events = [event(body("short")), event(body(&"long".repeat(10_000)))];
    append(vault, &session, 1, &events).unwrap();
    vault.put_session_text(&session, &mut &b"a text"[..], &actor()).unwrap();
    let key = CallKey { session, call: "call-1".to_owned() };
    vault.transact("test", &actor(), |tx| tx.call_change(&key)).unwrap();
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
}

/// The catalog of a vault as it was, to be put back after each change.
struct Original {
    file: PathBuf,
    bytes: Vec<u8>,
}

impl Original {
    fn of(vault: Vault) -> Self {
        let file = vault.dir().join("catalog.db");
        drop(vault);
        empty_log(&Connection::open(&file).unwrap());
        Self { bytes: fs::read(&file).unwrap(), file }
    }

    /// A connection to the catalog as it was.
    fn restore(&self) -> Connection {
        for suffix in ["-wal", "-shm"] {
            let beside = PathBuf::from(format!("{}{suffix}", self.file.display()));
            drop(fs::remove_file(beside));
        }
        fs::write(&self.file, &self.bytes).unwrap();
        Connection::open(&self.file).unwrap()
    }
}

fn empty_log(connection: &Connection) {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

/// What a check says, or the error of an open that is no more to be had.
fn found(scratch: &Scratch) -> String {
    let checked = home(scratch).inspect("v").map_err(|error| error.to_string()).and_then(|vault| {
        let report = vault.check(CheckDepth::Content).map_err(|error| match &error {
            VaultError::Store(StoreError::Damaged { .. }) => error.to_string(),
            other => panic!("no damage: {other:?}"),
        })?;
        Ok(report.problems.join("\n"))
    });
    checked.unwrap_or_else(|error| error)
}

/// A value that differs in as little as possible.
fn changed(value: &Value, kind: &str) -> Value {
    match value {
        Value::Null if kind == "INTEGER" => Value::Integer(1),
        Value::Null if kind == "TEXT" => Value::Text("x".to_owned()),
        Value::Null => Value::Blob(vec![1; 16]),
        Value::Integer(number) => Value::Integer(number + 1000),
        Value::Real(number) => Value::Real(number + 1.0),
        Value::Text(text) if text.is_empty() => Value::Text("x".to_owned()),
        Value::Text(text) => {
            // The last letter or digit: what is around may be syntax.
            match text.rfind(|c: char| c.is_ascii_alphanumeric()) {
                Some(at) => {
                    let other = if &text[at..=at] == "1" { "2" } else { "1" };
                    Value::Text(format!("{}{other}{}", &text[..at], &text[at + 1..]))
                }
                None => Value::Text(format!("{text} ")),
            }
        }
        Value::Blob(bytes) if bytes.is_empty() => Value::Blob(vec![1]),
        Value::Blob(bytes) => {
            let mut bytes = bytes.clone();
            *bytes.last_mut().unwrap() ^= 1;
            Value::Blob(bytes)
        }
    }
}

struct Column {
    name: String,
    kind: String,
    is_key: bool,
}

fn columns(connection: &Connection, table: &str) -> Vec<Column> {
    let sql = format!("SELECT name, type, pk FROM pragma_table_info('{table}')");
    let mut statement = connection.prepare(&sql).unwrap();
    let rows = statement.query_map([], |row| {
        let key: i64 = row.get(2)?;
        Ok(Column { name: row.get(0)?, kind: row.get(1)?, is_key: key > 0 })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

fn tables(connection: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
    let mut statement = connection.prepare(sql).unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    names.map(Result::unwrap).collect()
}

/// The values of up to so many rows, spread over the table.
fn rows(connection: &Connection, table: &str, columns: usize, limit: usize) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
    let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect()).unwrap();
    let rows: Vec<Vec<Value>> = rows.map(Result::unwrap).collect();
    let step = rows.len().div_ceil(limit).max(1);
    rows.into_iter().step_by(step).collect()
}

#[test]
fn every_changed_value_is_found() {
    let scratch = Scratch::new();
    let vault = full_vault(&scratch);
    with_session(&vault);
    let original = Original::of(vault);
    let limit = Tier::from_env().pick(4, usize::MAX);
    let (mut unseen, mut tried) = (Vec::new(), 0);
    let connection = original.restore();
    for table in tables(&connection) {
        let columns = columns(&connection, &table);
        let rows = rows(&connection, &table, columns.len(), limit);
        assert!(!rows.is_empty(), "table {table} is empty, so nothing is tried there");
        for (at, column) in columns.iter().enumerate() {
            let excused = NOT_COVERED.contains(&(table.as_str(), column.name.as_str()));
            // A higher number only leaves places unused.
            let higher = |row: &[Value]| {
                table == "sqlite_sequence"
                    && column.name == "seq"
                    && row.contains(&Value::Text("session_contents".to_owned()))
            };
            for row in rows.iter().filter(|row| !excused && !higher(row)) {
                let connection = original.restore();
                change(&connection, &table, &columns, row, at);
                empty_log(&connection);
                drop(connection);
                tried += 1;
                let found = found(&scratch);
                if found.is_empty() || !found.contains(name_of(&table)) {
                    unseen.push(format!("{table}.{} {:?}: {found:?}", column.name, row[at]));
                }
            }
        }
    }
    assert!(tried > 150, "only {tried} changes were tried");
    assert_eq!(unseen, Vec::<String>::new(), "of {tried} changes");
    original.restore();
    assert_eq!(found(&scratch), "");
}

/// Changes one value of the row that has these values.
fn change(connection: &Connection, table: &str, columns: &[Column], row: &[Value], at: usize) {
    let keys: Vec<usize> = match columns.iter().any(|column| column.is_key) {
        true => (0..columns.len()).filter(|at| columns[*at].is_key).collect(),
        false => vec![0],
    };
    let condition: Vec<String> = keys
        .iter()
        .enumerate()
        .map(|(n, at)| format!("{} = ?{}", columns[*at].name, n + 2))
        .collect();
    let sql = format!(
        "UPDATE \"{table}\" SET {} = ?1 WHERE {}",
        columns[at].name,
        condition.join(" AND ")
    );
    let values: Vec<Value> = [changed(&row[at], &columns[at].kind)]
        .into_iter()
        .chain(keys.iter().map(|at| row[*at].clone()))
        .collect();
    assert_eq!(connection.execute(&sql, rusqlite::params_from_iter(values)).unwrap(), 1, "{sql}");
}

/// A word that is in every message about a row of a table.
fn name_of(table: &str) -> &str {
    match table {
        "meta" => "setting",
        "snapshots" => "snapshot",
        "refs" => "ref ",
        "operations" => "operation",
        "execs" => "command",
        "exec_outputs" => "output",
        "layers" => "layer",
        "packs" => "pack",
        "collected" => "collected",
        "stacks" => "stack",
        "links" => "hard links",
        // By the object, and where it was looked for.
        "objects" => "",
        "sqlite_sequence" => "numbered",
        "sessions" => "session",
        "session_events" => "event of session",
        "session_contents" => "content of session",
        "calls" => "call of session",
        other => other,
    }
}

#[test]
fn every_lost_row_is_found() {
    let scratch = Scratch::new();
    let original = Original::of(full_vault(&scratch));
    let connection = original.restore();
    for table in tables(&connection).iter().filter(|name| *name != "objects") {
        let columns = columns(&connection, table);
        for row in rows(&connection, table, columns.len(), 4) {
            let connection = original.restore();
            let key = &columns[0].name;
            let sql = format!("DELETE FROM \"{table}\" WHERE {key} = ?1");
            assert!(connection.execute(&sql, [&row[0]]).unwrap() > 0);
            empty_log(&connection);
            drop(connection);
            let found = found(&scratch);
            let named = found.contains(table.as_str()) || found.contains("numbers of rows");
            assert!(named || table == "sqlite_sequence", "{table} {:?}: {found:?}", row[0]);
            assert!(!found.is_empty(), "{table} {:?}", row[0]);
        }
    }
}

#[test]
fn every_change_of_the_tables_themselves_is_damage() {
    let scratch = Scratch::new();
    let original = Original::of(full_vault(&scratch));
    let connection = original.restore();
    let parts = ["type", "name", "tbl_name", "rootpage", "sql"];
    let sql = "SELECT rowid, type, name, tbl_name, rootpage, sql FROM sqlite_master";
    let mut statement = connection.prepare(sql).unwrap();
    let rows: Vec<Vec<Value>> = statement
        .query_map([], |row| (0..6).map(|at| row.get(at)).collect())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    drop(statement);
    drop(connection);
    for row in rows {
        for (at, part) in parts.iter().enumerate().filter(|(at, _)| row[at + 1] != Value::Null) {
            let connection = original.restore();
            connection.pragma_update(None, "writable_schema", true).unwrap();
            let value = changed(&row[at + 1], "TEXT");
            let sql = format!("UPDATE sqlite_master SET {part} = ?1 WHERE rowid = ?2");
            connection.execute(&sql, rusqlite::params![value, row[0]]).unwrap();
            empty_log(&connection);
            drop(connection);
            assert_ne!(found(&scratch), "", "{part} of {:?}", row[2]);
            assert_no_failure(&scratch);
        }
    }
}

/// Whoever uses the vault is told that it is damaged, or does not notice.
#[track_caller]
fn assert_no_failure(scratch: &Scratch) {
    let opened = home(scratch).open("v").map_err(|error| match error {
        offshoot_vault::VaultRegistryError::Vault(error) => error,
        other => panic!("{other:?}"),
    });
    let used = opened.and_then(|vault| {
        vault.bindings()?;
        vault.execs(None, None, 10)?;
        vault.operations(Scope::Vault, None, 10)?;
        vault.stack(&vault.head()?.root, &[]).map(drop)
    });
    match used {
        Ok(()) | Err(VaultError::Store(StoreError::Damaged { .. })) => {}
        Err(
            VaultError::Tree(TreeError::Damaged { .. })
            | VaultError::Tree(TreeError::MissingObject(_)),
        ) => {}
        Err(other) => panic!("{other:?}"),
    }
}

/// The log of the catalog of a vault, without what is in it from `from` on.
fn spoil_log(dir: &Path, from: u64) {
    let log = dir.join("catalog.db-wal");
    let mut bytes = fs::read(&log).unwrap();
    bytes[usize::try_from(from).unwrap() + 40] ^= 1;
    fs::write(&log, bytes).unwrap();
    fs::remove_file(dir.join("catalog.db-shm")).unwrap();
}

#[test]
fn a_vault_that_lost_operations_is_read_and_not_changed_until_that_is_accepted() {
    let scratch = Scratch::new();
    let vault = full_vault(&scratch);
    let dir = vault.dir().to_owned();
    let step = |vault: &Vault, name: &str| {
        let file = file(vault, name.as_bytes());
        let put = |editor: &mut offshoot_tree::TreeEditor<'_>| {
            editor.put(&path(&format!("/{name}")), file).unwrap();
        };
        commit(vault, &edit(vault, &head(vault), put))
    };
    let kept = step(&vault, "kept");
    let length = fs::metadata(dir.join("catalog.db-wal")).unwrap().len();
    let lost = step(&vault, "lost");
    drop(vault);
    spoil_log(&dir, length);

    let vault = home(&scratch).open("v").unwrap();
    let told = vault.cut_short().unwrap();
    assert_eq!((told.ends, told.acknowledged), (Some(kept.operation), lost.operation));
    assert_eq!(vault.head().unwrap().id, kept.id, "what is there can be read");
    let refused = vault.transact("test", &actor(), |tx| {
        tx.record_always();
        Ok(())
    });
    let text = format!(
        "the catalog ends at operation {}, but operation {} was acknowledged",
        kept.operation, lost.operation
    );
    assert!(refused.unwrap_err().to_string().contains(&text));
    assert!(vault.check(CheckDepth::Structure).unwrap().problems.contains(&text));

    let report = vault.repair(CheckDepth::Structure, &actor()).unwrap();
    assert!(report.repaired[0].contains(&text), "{report:?}");
    assert_eq!(report.check.problems, Vec::<String>::new());
    assert_eq!(home(&scratch).open("v").unwrap().cut_short(), None);
    let log = vault.operations(Scope::Vault, None, 2).unwrap();
    assert!(log.iter().any(|operation| operation.summary.contains("accept the loss")), "{log:?}");
    step(&vault, "again");
    drop(vault);
    assert_eq!(home(&scratch).open("v").unwrap().cut_short(), None);
}

#[test]
fn an_older_note_is_no_alarm() {
    let scratch = Scratch::new();
    let vault = full_vault(&scratch);
    let note = vault.dir().join("newest");
    let before = fs::read(&note).unwrap();
    let inline = file(&vault, b"later");
    let root = edit(&vault, &head(&vault), |editor| editor.put(&path("/later"), inline).unwrap());
    commit(&vault, &root);
    assert_ne!(fs::read(&note).unwrap(), before, "each operation is noted");
    for bytes in [&before[..], &before[..10], b""] {
        fs::write(&note, bytes).unwrap();
        assert_eq!(home(&scratch).open("v").unwrap().cut_short(), None);
    }
    fs::remove_file(&note).unwrap();
    assert_eq!(home(&scratch).open("v").unwrap().cut_short(), None);
}
