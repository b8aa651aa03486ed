//! Tests of the catalog as a whole.

mod damage;

use std::process::Command;

use rusqlite::params;

use super::rows::*;
use super::*;
use crate::id::Id;

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    (folder, path)
}

fn named(name: &str, value: &str) -> RefRow {
    RefRow { scope: String::new(), name: Some(name.to_owned()), value: value.to_owned() }
}

fn key(id: &str) -> RefKey {
    RefKey { kind: "workspace".to_owned(), id: id.to_owned() }
}

fn change(id: &str, before: Option<RefRow>, after: Option<RefRow>) -> RefChange {
    RefChange { key: key(id), before, after }
}

fn apply(catalog: &Catalog, changes: &[RefChange]) -> Result<(), StoreError> {
    catalog.write(|writer| writer.change_refs(changes))
}

#[test]
fn refs_are_compared_before_they_are_set() {
    let (_folder, path) = scratch();
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    apply(&catalog, &[change("1", None, Some(named("a", "x")))]).unwrap();
    let stale = apply(&catalog, &[change("1", None, Some(named("a", "y")))]);
    assert!(matches!(stale, Err(StoreError::Stale { .. })), "{stale:?}");
    let taken = apply(&catalog, &[change("2", None, Some(named("a", "y")))]);
    assert!(matches!(taken, Err(StoreError::NameTaken { .. })), "{taken:?}");
    let rows = catalog.read(|reader| reader.refs("workspace")).unwrap();
    assert_eq!(rows, [(key("1"), named("a", "x"))]);
}

#[test]
fn refs_can_trade_names_in_one_step() {
    let (_folder, path) = scratch();
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    let (a, b) = (named("a", "1"), named("b", "2"));
    apply(&catalog, &[change("1", None, Some(a.clone())), change("2", None, Some(b.clone()))])
        .unwrap();
    let trade =
        [change("1", Some(a), Some(named("b", "1"))), change("2", Some(b), Some(named("a", "2")))];
    apply(&catalog, &trade).unwrap();
    let found = catalog.read(|reader| reader.ref_by_name("workspace", "", "a")).unwrap();
    assert_eq!(found.unwrap().0, key("2"));
}

#[test]
fn an_error_inside_a_write_changes_nothing() {
    let (_folder, path) = scratch();
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    let failed: Result<(), StoreError> = catalog.write(|writer| {
        writer.change_refs(&[change("1", None, Some(named("a", "x")))])?;
        Err(StoreError::Foreign(PathBuf::new()))
    });
    assert!(failed.is_err());
    assert!(catalog.read(|reader| reader.all_refs()).unwrap().is_empty());
}

#[test]
fn ids_go_up_even_when_the_clock_goes_back() {
    let (_folder, path) = scratch();
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    let future = (u64::MAX >> 16) - 10_000;
    let write = || catalog.write(|writer| Ok::<Id, StoreError>(writer.new_id()));
    let first = write().unwrap();
    catalog.write(|writer| writer.set_meta("last_id_ms", &future.to_be_bytes())).unwrap();
    let second = write().unwrap();
    let third = write().unwrap();
    assert!(first < second && second < third);
    assert_eq!(third.time_ms(), future + 2);
}

#[test]
fn a_newer_format_and_a_foreign_file_are_refused_untouched() {
    let (folder, path) = scratch();
    Catalog::create(&path, OpenOptions::default()).unwrap();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let newer = Catalog::open(&path, OpenOptions::default());
    assert!(matches!(newer, Err(StoreError::Newer { found: 99, .. })), "{newer:?}");

    let text = folder.path().join("text");
    std::fs::write(&text, "not a database, but long enough to look like one".repeat(40)).unwrap();
    let foreign = Catalog::open(&text, OpenOptions::default());
    assert!(matches!(foreign, Err(StoreError::Foreign(_))), "{foreign:?}");
    let missing = Catalog::open(&folder.path().join("none"), OpenOptions::default());
    assert!(matches!(missing, Err(StoreError::Missing(_))), "{missing:?}");
}

#[test]
fn many_writers_never_see_a_lock() {
    let (_folder, path) = scratch();
    Catalog::create(&path, OpenOptions::default()).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let path = &path;
            scope.spawn(move || {
                for i in 0..20 {
                    let catalog = Catalog::open(path, OpenOptions::default()).unwrap();
                    let name = format!("{writer}-{i}");
                    apply(&catalog, &[change(&name, None, Some(named(&name, "v")))]).unwrap();
                }
            });
        }
    });
    let catalog = Catalog::open(&path, OpenOptions::default()).unwrap();
    assert_eq!(catalog.read(|reader| reader.refs("workspace")).unwrap().len(), 120);
    catalog.check(true).unwrap();
}

#[test]
fn a_lock_that_is_never_freed_is_our_own_error() {
    let (_folder, path) = scratch();
    let holder = Catalog::create(&path, OpenOptions::default()).unwrap();
    let hasty = OpenOptions { busy_timeout: Duration::from_millis(50), ..OpenOptions::default() };
    holder
        .write(|_| {
            let other = Catalog::open(&path, hasty)?;
            let busy = other.write(|_| Ok::<(), StoreError>(()));
            assert!(matches!(busy, Err(StoreError::Busy { .. })), "{busy:?}");
            Ok::<(), StoreError>(())
        })
        .unwrap();
}

#[test]
fn a_damaged_file_is_reported_as_damaged() {
    let (_folder, path) = scratch();
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    for i in 0..400 {
        let name = format!("{i}");
        apply(&catalog, &[change(&name, None, Some(named(&name, &"v".repeat(500))))]).unwrap();
    }
    drop(catalog);
    let connection = Connection::open(&path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let status = Command::new("dd")
        .args(["if=/dev/zero", "bs=4096", "seek=50", "count=20", "conv=notrunc", "status=none"])
        .arg(format!("of={}", path.display()))
        .status()
        .unwrap();
    assert!(status.success());
    let catalog = Catalog::open(&path, OpenOptions::default()).unwrap();
    let damaged = catalog.check(false);
    assert!(matches!(damaged, Err(StoreError::Damaged { .. })), "{damaged:?}");
}

#[test]
fn a_long_log_is_shortened_by_the_next_write() {
    let (folder, path) = scratch();
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    let log = folder.path().join("catalog.db-wal");
    catalog.write(|writer| writer.set_meta("large", &vec![7; 6 << 20])).unwrap();
    assert!(std::fs::metadata(&log).unwrap().len() < LONG_LOG);
    let large = catalog.read(|reader| reader.meta("large")).unwrap();
    assert_eq!(large.map(|bytes| bytes.len()), Some(6 << 20));
}

#[test]
fn a_catalog_without_a_log_can_be_read_where_nothing_can_be_written() {
    let (folder, path) = scratch();
    let odd = folder.path().join("odd ?#% name.db");
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    catalog.write(|writer| writer.set_meta("key", b"value")).unwrap();
    drop(catalog);
    let connection = Connection::open(&path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    std::fs::copy(&path, &odd).unwrap();
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    let catalog = Catalog::open(&odd, options).unwrap();
    assert_eq!(catalog.read(|reader| reader.meta("key")).unwrap(), Some(b"value".to_vec()));
    assert!(!folder.path().join("odd ?#% name.db-wal").exists());
}

/// A catalog as the first format had it.
fn first_format(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "application_id", schema::APPLICATION_ID).unwrap();
    connection.execute_batch(schema::VERSION_1).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection
}

fn exec(id: u64, workspace: Option<Id>) -> ExecRow {
    ExecRow {
        id: Id::at(id),
        workspace,
        operation: None,
        started_ms: id,
        ended_ms: id + 5,
        state: "completed".to_owned(),
        command: "true".to_owned(),
        exit_code: Some(0),
        signal: None,
        changed: 0,
        before: None,
        after: None,
        actor: "{}".to_owned(),
        envelope: Some("{\"schema_version\":1}".to_owned()),
    }
}

#[test]
fn a_catalog_of_the_first_format_is_upgraded_with_what_it_holds() {
    let (_folder, path) = scratch();
    let old = first_format(&path);
    old.execute("INSERT INTO refs VALUES ('workspace', '1', '', 'a', 'x')", []).unwrap();
    drop(old);
    let read_only = OpenOptions { read_only: true, ..OpenOptions::default() };
    let catalog = Catalog::open(&path, read_only).unwrap();
    let found = catalog.read(|reader| {
        assert_eq!(reader.exec(&Id::at(1))?, None);
        assert_eq!(reader.exec_output(&Id::at(1), 1)?, None);
        assert_eq!(reader.links(&[0; 32])?, None);
        assert_eq!(reader.execs_between(&Id::at(0), &Id::at(9), 9)?, []);
        reader.execs(None, None, 10)
    });
    assert_eq!(found.unwrap(), [], "an old catalog can be read where it cannot be written");
    drop(catalog);

    let catalog = Catalog::open(&path, OpenOptions::default()).unwrap();
    assert_eq!(catalog.read(|reader| reader.refs("workspace")).unwrap()[0].0, key("1"));
    let row = exec(7, None);
    catalog.write(|writer| writer.add_exec(&row)).unwrap();
    assert_eq!(catalog.read(|reader| reader.exec(&row.id)).unwrap(), Some(row));
    drop(catalog);
    let version =
        Connection::open(&path)
            .unwrap()
            .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    assert_eq!(version.unwrap(), 7);
    Catalog::open(&path, OpenOptions::default()).unwrap().check(true).unwrap();
}

#[test]
fn commands_are_listed_newest_first_without_their_envelopes() {
    let (_folder, path) = scratch();
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    let (mine, other) = (Id::at(100), Id::at(200));
    let rows = [exec(1, Some(mine)), exec(2, Some(other)), exec(3, None), exec(4, Some(mine))];
    let added = catalog.write(|writer| {
        writer.add_exec_output(&rows[0].id, 2, b"said")?;
        rows.iter().try_for_each(|row| writer.add_exec(row))
    });
    added.unwrap();
    let list = |workspace: Option<&Id>, before: Option<&Id>, limit| -> Vec<u64> {
        let found = catalog.read(|reader| reader.execs(workspace, before, limit)).unwrap();
        assert!(found.iter().all(|row| row.envelope.is_none()));
        found.iter().map(|row| row.started_ms).collect()
    };
    assert_eq!(list(None, None, 10), [4, 3, 2, 1]);
    assert_eq!(list(None, None, 2), [4, 3]);
    assert_eq!(list(None, Some(&rows[2].id), 10), [2, 1]);
    assert_eq!(list(Some(&mine), None, 10), [4, 1]);
    assert_eq!(list(Some(&mine), Some(&rows[3].id), 10), [1]);
    let output = |stream| catalog.read(|reader| reader.exec_output(&rows[0].id, stream)).unwrap();
    assert_eq!((output(1), output(2)), (None, Some(b"said".to_vec())));
}

#[test]
fn links_are_remembered_by_root() {
    let (_folder, path) = scratch();
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    let links = || catalog.read(|reader| reader.links(&[1; 32])).unwrap();
    assert_eq!(links(), None);
    for paths in [b"".as_slice(), b"\x01a"] {
        catalog.write(|writer| writer.set_links(&[1; 32], paths)).unwrap();
        assert_eq!(links(), Some(paths.to_vec()));
    }
}

#[test]
fn stacks_of_an_older_format_have_no_layers_that_only_hold_bytes() {
    let (_folder, path) = scratch();
    let (root, layers) = ([1; 32], vec![Id::at(2), Id::at(1)]);
    let joined: Vec<u8> = layers.iter().flat_map(|id| *id.as_bytes()).collect();
    let old = first_format(&path);
    old.execute("INSERT INTO stacks VALUES (?1, ?2)", params![root, joined]).unwrap();
    drop(old);
    let mut row = StackRow { root, layers, data: Vec::new() };
    for read_only in [true, false] {
        let options = OpenOptions { read_only, ..OpenOptions::default() };
        let catalog = Catalog::open(&path, options).unwrap();
        assert_eq!(catalog.read(|reader| reader.stack(&root)).unwrap().as_ref(), Some(&row));
        assert_eq!(catalog.read(|reader| reader.stacks()).unwrap(), [row.clone()]);
    }
    row.data = vec![Id::at(9), Id::at(3)];
    let all: std::collections::BTreeSet<Id> = row.all_layers().copied().collect();
    let catalog = Catalog::open(&path, OpenOptions::default()).unwrap();
    catalog.write(|writer| writer.set_stack(&row)).unwrap();
    assert_eq!(catalog.read(|reader| reader.stack(&root)).unwrap(), Some(row));
    let named = catalog.read(|reader| reader.stacked_layers()).unwrap();
    assert_eq!(named, all, "also those that only hold bytes");
    assert_eq!(named.len(), 4);
    catalog.write(|writer| writer.remove_stack(&root)).unwrap();
    assert_eq!(catalog.read(|reader| reader.stack(&root)).unwrap(), None);
}

/// Fills the objects, empties them again, and gives the room back.
fn room_given_back(path: &Path) -> (u64, u64) {
    let catalog = Catalog::open(path, OpenOptions::default()).unwrap();
    let backend = crate::SqliteBackend::new(&catalog);
    let puts: Vec<crate::Put> = (0..200u8)
        .map(|n| crate::Put { kind: crate::ObjectKind::Blob, id: [n; 32], value: vec![n; 20_000] })
        .collect();
    let ids: Vec<crate::Hash> = puts.iter().map(|put| put.id).collect();
    crate::ObjectBackend::put(&backend, &puts).unwrap();
    catalog.write(|writer| writer.set_meta("key", b"1")).unwrap();
    let full = catalog.bytes();
    crate::ObjectBackend::remove(&backend, crate::ObjectKind::Blob, &ids).unwrap();
    drop(backend);
    while catalog.shrink(64).unwrap() > 0 {}
    catalog.check(true).unwrap();
    (full, catalog.bytes())
}

#[test]
fn freed_pages_are_given_back() {
    let (_folder, path) = scratch();
    Catalog::create(&path, OpenOptions::default()).unwrap();
    let (full, left) = room_given_back(&path);
    assert!(full > 4_000_000 && left < 1_000_000, "{full} {left}");
}

#[test]
fn freed_pages_of_an_older_catalog_are_given_back_too() {
    let (_folder, path) = scratch();
    drop(first_format(&path));
    let (full, left) = room_given_back(&path);
    assert!(full > 4_000_000 && left < 1_000_000, "{full} {left}");
}
