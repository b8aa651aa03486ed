//! Vaults and exports of every older format: they open, come in, and hold all that they held.

use std::fs;
use std::path::Path;

use offshoot_store::{Catalog, OpenOptions};
use offshoot_tree::RootId;
use offshoot_vault::{ArchiveOptions, CheckDepth, Scope, Vault};
use rusqlite::Connection;

use crate::mutations::full_vault;
use crate::records::sum_again;
use crate::support::{Scratch, actor, commit, edit, file, head, home, home_at, path, vault_of};

/// Tables whose rows have had hashes since format 5 of catalogs.
const HASHED: [&str; 11] = [
    "meta",
    "snapshots",
    "refs",
    "operations",
    "audit",
    "layers",
    "stacks",
    "exec_outputs",
    "links",
    "packs",
    "collected",
];

/// The table of commands before there were hashes.
const EXECS: &str = "
ALTER TABLE execs RENAME TO newer;
DROP INDEX execs_by_workspace;
CREATE TABLE execs (
    id         BLOB PRIMARY KEY NOT NULL,
    workspace  BLOB,
    operation  BLOB,
    started_ms INTEGER NOT NULL,
    ended_ms   INTEGER NOT NULL,
    state      TEXT NOT NULL,
    command    TEXT NOT NULL,
    exit_code  INTEGER,
    signal     INTEGER,
    changed    INTEGER NOT NULL,
    before     BLOB,
    after      BLOB,
    actor      TEXT NOT NULL,
    envelope   TEXT NOT NULL
) STRICT;
INSERT INTO execs SELECT id, workspace, operation, started_ms, ended_ms, state, command, exit_code, signal, changed,
    before, after, actor, envelope FROM newer;
DROP TABLE newer;
CREATE INDEX execs_by_workspace ON execs (workspace, id);
";

/// Takes the hashes of rows away, as before they were kept.
pub(crate) fn without_hashes(connection: &Connection, tables: &[&str]) {
    connection.execute("DELETE FROM meta WHERE key = 'rows'", []).unwrap();
    for table in tables {
        connection.execute_batch(&format!("ALTER TABLE {table} DROP COLUMN sum")).unwrap();
    }
    connection.execute_batch(EXECS).unwrap();
}

/// Takes away what came with sessions, and the tallies of that.
pub(crate) fn without_sessions(connection: &Connection) {
    for table in ["sessions", "session_events", "session_contents", "calls"] {
        connection.execute_batch(&format!("DROP TABLE {table}")).unwrap();
    }
    let sql = "UPDATE meta SET value = substr(value, 1, 12 * 40) WHERE key = 'rows'";
    connection.execute(sql, []).unwrap();
    sum_again(connection, "meta", &["key", "value"]);
}

/// Makes a catalog what a program wrote that knew no newer format.
fn make_older(catalog: &Path, format: i64) {
    let connection = Connection::open(catalog).unwrap();
    without_sessions(&connection);
    if format < 5 {
        without_hashes(&connection, &HASHED);
    }
    if format < 3 {
        let gone = "DROP TABLE packs; DROP TABLE collected; ALTER TABLE stacks DROP COLUMN data";
        connection.execute_batch(gone).unwrap();
    }
    if format < 2 {
        let gone = "DROP TABLE execs; DROP TABLE exec_outputs; DROP TABLE links";
        connection.execute_batch(gone).unwrap();
    }
    connection.pragma_update(None, "user_version", format).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

fn format_of(file: &Path) -> i64 {
    let connection = Connection::open(file).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

/// A vault that has nothing which the first formats did not know.
fn simple_vault(scratch: &Scratch) -> Vault {
    let source = scratch.folder("source");
    fs::write(source.join("in-layer"), vec![7; 100_000]).unwrap();
    fs::write(source.join("one"), "linked").unwrap();
    fs::hard_link(source.join("one"), source.join("two")).unwrap();
    let vault = vault_of(scratch, &source);
    let inline = file(&vault, b"in the catalog");
    let root = edit(&vault, &head(&vault), |editor| editor.put(&path("/inline"), inline).unwrap());
    commit(&vault, &root);
    vault
}

/// What a vault holds, as far as every format does.
#[derive(Debug, PartialEq)]
struct Held {
    head: RootId,
    operations: Vec<String>,
    workspaces: Vec<String>,
    checkpoints: Vec<String>,
    commands: Vec<(String, Option<String>)>,
}

impl Held {
    fn of(vault: &Vault) -> Self {
        let operations = vault.operations(Scope::Vault, None, 1000).unwrap().into_iter();
        let workspaces = vault.workspaces().unwrap().into_iter();
        let checkpoints = vault.checkpoints().unwrap().into_iter();
        let commands = vault.execs(None, None, 1000).unwrap().into_iter().map(|found| {
            let found = vault.exec(&found.id).unwrap().unwrap();
            (found.command, found.envelope)
        });
        Self {
            head: head(vault),
            operations: operations.map(|it| format!("{} {}", it.id, it.summary)).collect(),
            workspaces: workspaces.map(|it| it.name).collect(),
            checkpoints: checkpoints.map(|it| it.name).collect(),
            commands: commands.collect(),
        }
    }
}

#[track_caller]
fn in_order(vault: &Vault) {
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_vault_of_each_older_format_opens_and_goes_on() {
    for format in 1..=6 {
        let scratch = Scratch::new();
        let vault = if format < 3 { simple_vault(&scratch) } else { full_vault(&scratch) };
        let (before, catalog) = (Held::of(&vault), vault.dir().join("catalog.db"));
        drop(vault);
        make_older(&catalog, format);
        assert_eq!(format_of(&catalog), format);
        let vault = home(&scratch).open("v").unwrap();
        assert_eq!(Held::of(&vault), before, "format {format}");
        in_order(&vault);
        assert_eq!(format_of(&catalog), 7);
        // It is a vault as any other from here on.
        let added = file(&vault, b"added");
        let root =
            edit(&vault, &head(&vault), |editor| editor.put(&path("/added"), added).unwrap());
        commit(&vault, &root);
        vault.undo(Scope::Vault, &actor()).unwrap();
        assert_eq!(head(&vault), before.head, "format {format}");
        vault.pack(&actor()).unwrap();
        in_order(&vault);
        drop(vault);
        in_order(&home(&scratch).open("v").unwrap());
    }
}

#[test]
fn an_export_of_each_older_format_comes_in() {
    for format in 1..=4 {
        let scratch = Scratch::new();
        let vault = full_vault(&scratch);
        let (before, exported) = (Held::of(&vault), scratch.path().join("exported"));
        vault.export_archive(&exported, "v").unwrap();
        if format < 4 {
            let connection = Connection::open(&exported).unwrap();
            without_sessions(&connection);
            connection.pragma_update(None, "user_version", format).unwrap();
        }
        if format < 3 {
            let connection = Connection::open(&exported).unwrap();
            let carried = HASHED.into_iter();
            let carried: Vec<&str> = carried
                .filter(|table| !["layers", "stacks", "links", "packs"].contains(table))
                .collect();
            without_hashes(&connection, &carried);
        }
        assert_eq!(format_of(&exported), format);
        let elsewhere = home_at(&scratch.folder("elsewhere"));
        let came = elsewhere.import(&exported, &ArchiveOptions::default()).unwrap();
        assert_eq!(Held::of(&came.vault), before, "format {format}");
        in_order(&came.vault);
        assert_eq!(format_of(&came.vault.dir().join("catalog.db")), 7);
        let added = file(&came.vault, b"added");
        let root =
            edit(&came.vault, &before.head, |editor| editor.put(&path("/added"), added).unwrap());
        commit(&came.vault, &root);
        in_order(&came.vault);
    }
}

/// An older export without hashes of its rows is not taken on trust: what it holds is checked all the same.
#[test]
fn a_damaged_export_of_an_older_format_does_not_come_in() {
    for (statement, named) in [
        ("UPDATE audit SET event = replace(event, 'user', 'User') WHERE seq = 2", "audit"),
        ("DELETE FROM chunks WHERE id = (SELECT min(id) FROM chunks)", "chunk"),
        ("UPDATE snapshots SET content = zeroblob(32)", "content"),
    ] {
        let scratch = Scratch::new();
        let vault = full_vault(&scratch);
        let exported = scratch.path().join("exported");
        vault.export_archive(&exported, "v").unwrap();
        let connection = Connection::open(&exported).unwrap();
        without_sessions(&connection);
        let carried =
            ["meta", "snapshots", "refs", "operations", "audit", "exec_outputs", "collected"];
        without_hashes(&connection, &carried);
        connection.pragma_update(None, "user_version", 2).unwrap();
        assert!(connection.execute(statement, []).unwrap() > 0, "{statement}");
        drop(connection);
        let folder = scratch.folder("elsewhere");
        let error =
            home_at(&folder).import(&exported, &ArchiveOptions::default()).unwrap_err().to_string();
        assert!(error.contains(named), "{statement}: {error}");
        assert!(home_at(&folder).list().unwrap().is_empty(), "{statement}");
    }
}

/// Where nothing can be written the catalog stays as old as it is, and has no sessions.
#[test]
fn a_catalog_of_before_sessions_is_read_as_it_is() {
    let scratch = Scratch::new();
    let vault = full_vault(&scratch);
    let catalog = vault.dir().join("catalog.db");
    drop(vault);
    make_older(&catalog, 6);
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    let old = Catalog::open(&catalog, options).unwrap();
    old.read(|reader| {
        assert_eq!(reader.check_rows()?, Vec::<String>::new());
        assert_eq!(reader.sessions()?, []);
        assert_eq!(reader.session_owners()?, []);
        assert_eq!(reader.calls()?, []);
        Ok::<(), offshoot_store::StoreError>(())
    })
    .unwrap();
    drop(old);
    assert_eq!(format_of(&catalog), 6);
}
