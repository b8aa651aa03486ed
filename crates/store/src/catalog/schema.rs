//! The tables, and how older catalogs become new ones.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::options::OpenOptions;
use super::sums;
use crate::error::{StoreError, is_out_of_room, sqlite_error};

/// "Offs": marks the file as ours.
pub(super) const APPLICATION_ID: i64 = 0x4f66_6673;

/// One step from each version to the next. Steps are never changed once released.
const MIGRATIONS: [&str; 7] =
    [VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5, VERSION_6, VERSION_7];

/// The newest format.
const NEWEST: i64 = MIGRATIONS.len() as i64;

pub(super) const VERSION_1: &str = "
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE objects (
    kind  INTEGER NOT NULL,
    id    BLOB NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT;

CREATE TABLE snapshots (
    id        BLOB PRIMARY KEY,
    root      BLOB NOT NULL,
    content   BLOB NOT NULL,
    parents   BLOB NOT NULL,
    time_ms   INTEGER NOT NULL,
    actor     TEXT NOT NULL,
    reason    TEXT NOT NULL,
    message   TEXT,
    operation BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE refs (
    kind  TEXT NOT NULL,
    id    TEXT NOT NULL,
    scope TEXT NOT NULL,
    name  TEXT,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX refs_by_name ON refs (kind, scope, name) WHERE name IS NOT NULL;

CREATE TABLE operations (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    id      BLOB NOT NULL UNIQUE,
    time_ms INTEGER NOT NULL,
    actor   TEXT NOT NULL,
    kind    TEXT NOT NULL,
    scope   TEXT NOT NULL,
    summary TEXT NOT NULL,
    reverts BLOB,
    changes TEXT NOT NULL
) STRICT;
CREATE INDEX operations_by_scope ON operations (scope, seq);

CREATE TABLE audit (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    time_ms   INTEGER NOT NULL,
    operation BLOB NOT NULL,
    event     TEXT NOT NULL,
    chain     BLOB NOT NULL
) STRICT;

CREATE TABLE layers (
    id         BLOB PRIMARY KEY,
    kind       TEXT NOT NULL,
    root       BLOB,
    bytes      INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE stacks (
    root   BLOB PRIMARY KEY,
    layers BLOB NOT NULL
) STRICT, WITHOUT ROWID;
";

/// What commands did, and which paths of a root are hard links. Envelopes come last in their rows and outputs have a
/// table of their own, so that a listing reads neither.
pub(super) const VERSION_2: &str = "
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
CREATE INDEX execs_by_workspace ON execs (workspace, id);

CREATE TABLE exec_outputs (
    exec   BLOB NOT NULL,
    stream INTEGER NOT NULL,
    bytes  BLOB NOT NULL,
    PRIMARY KEY (exec, stream)
) STRICT;

CREATE TABLE links (
    root  BLOB PRIMARY KEY NOT NULL,
    paths BLOB NOT NULL
) STRICT;
";

/// Packs, what the collection of garbage took (roots, and commands whose output is gone), and layers of a stack that hold
/// only bytes, for files that others describe.
const VERSION_3: &str = "
ALTER TABLE stacks ADD COLUMN data BLOB NOT NULL DEFAULT x'';

CREATE TABLE packs (
    id         BLOB PRIMARY KEY NOT NULL,
    bytes      INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE collected (
    id      BLOB PRIMARY KEY NOT NULL,
    time_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

/// Conflicts in trees. No table changes: the version keeps those away who could not read such trees.
const VERSION_4: &str = "";

/// A hash over each row. What listings of commands read comes before their envelopes, so that table is made anew. The text is
/// short, so that the whole schema stays on one page: every open reads it.
const VERSION_5: &str = "
ALTER TABLE meta ADD sum BLOB;
ALTER TABLE snapshots ADD sum BLOB;
ALTER TABLE refs ADD sum BLOB;
ALTER TABLE operations ADD sum BLOB;
ALTER TABLE audit ADD sum BLOB;
ALTER TABLE layers ADD sum BLOB;
ALTER TABLE stacks ADD sum BLOB;
ALTER TABLE exec_outputs ADD sum BLOB;
ALTER TABLE links ADD sum BLOB;
ALTER TABLE packs ADD sum BLOB;
ALTER TABLE collected ADD sum BLOB;

CREATE TEMP TABLE carried AS SELECT * FROM execs;
DROP TABLE execs;
CREATE TABLE execs (
id BLOB PRIMARY KEY NOT NULL, workspace BLOB, operation BLOB, started_ms INTEGER NOT NULL,
ended_ms INTEGER NOT NULL, state TEXT NOT NULL, command TEXT NOT NULL, exit_code INTEGER,
signal INTEGER, changed INTEGER NOT NULL, before BLOB, after BLOB, actor TEXT NOT NULL,
envelope_sum BLOB, sum BLOB, envelope TEXT NOT NULL
) STRICT;
INSERT INTO execs SELECT
    id, workspace, operation, started_ms, ended_ms, state, command, exit_code, signal, changed,
    before, after, actor, NULL, NULL, envelope
FROM temp.carried;
DROP TABLE temp.carried;
CREATE INDEX execs_by_workspace ON execs (workspace, id);
";

/// The version that brought the tables of commands and links.
pub(super) const HAS_EXECS: i64 = 2;
/// The version that brought the tables of packs and of what was collected.
pub(super) const HAS_PACKS: i64 = 3;

/// The version that brought layers that hold only bytes.
pub(super) const HAS_DATA_LAYERS: i64 = 3;

/// Approvals and a signed log. No table changes: the version keeps those away who would collect what waits for a person, and add events that
/// nobody signs.
const VERSION_6: &str = "";

/// Sessions of agents and the calls that were made in them. The text is short for the same reason as that of version 5.
pub(super) const VERSION_7: &str = "
CREATE TABLE sessions (
id BLOB PRIMARY KEY NOT NULL, events INTEGER NOT NULL, chain BLOB NOT NULL,
changed_ms INTEGER NOT NULL, state TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
tokens_in INTEGER, tokens_out INTEGER, cost TEXT, signature BLOB NOT NULL, sum BLOB
) STRICT;
CREATE TABLE session_events (
session BLOB NOT NULL, number INTEGER NOT NULL, time_ms INTEGER NOT NULL, kind TEXT NOT NULL,
content BLOB NOT NULL, bytes INTEGER NOT NULL, snapshot BLOB, chain BLOB NOT NULL, body TEXT NOT NULL,
sum BLOB, PRIMARY KEY (session, number)
) STRICT;
CREATE TABLE session_contents (
seq INTEGER PRIMARY KEY AUTOINCREMENT, session BLOB NOT NULL, name TEXT NOT NULL,
content BLOB NOT NULL, bytes INTEGER NOT NULL, sum BLOB, UNIQUE (session, name)
) STRICT;
CREATE TABLE calls (
session BLOB NOT NULL, call TEXT NOT NULL, what TEXT NOT NULL, id BLOB NOT NULL,
time_ms INTEGER NOT NULL, sum BLOB, PRIMARY KEY (session, call)
) STRICT;
CREATE INDEX calls_by_id ON calls (id);
";

/// The version that brought sessions.
pub(crate) const HAS_SESSIONS: i64 = 7;

/// The version that brought hashes of rows.
pub(super) const HAS_SUMS: i64 = 5;

/// Checks that the file is ours and of a known format, and runs what migrations it lacks.
pub(crate) fn upgrade(
    connection: &mut Connection,
    path: &Path,
    options: &OpenOptions,
) -> Result<(), StoreError> {
    if version(connection, path, options)? == NEWEST || options.read_only {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| options.error(path, error))?;
    // Another process may have done it while this one waited for the lock.
    let found = version(&transaction, path, options)?;
    let missing = usize::try_from(found).map_or(&[][..], |done| &MIGRATIONS[done..]);
    for migration in missing {
        transaction.execute_batch(migration).map_err(sqlite_error(path))?;
    }
    if found < HAS_SUMS {
        sums::fill(&transaction).map_err(sqlite_error(path))?;
    }
    transaction.pragma_update(None, "user_version", NEWEST).map_err(sqlite_error(path))?;
    transaction.commit().map_err(|error| options.error(path, error))
}

/// Everything that the tables of a format are made of, as SQLite keeps it.
pub(super) fn expected(version: i64) -> rusqlite::Result<Vec<SchemaRow>> {
    found(&of_version(version)?)
}

/// An empty catalog of the newest format, in memory.
pub(crate) fn newest() -> rusqlite::Result<Connection> {
    of_version(NEWEST)
}

fn of_version(version: i64) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    let count = usize::try_from(version).unwrap_or(0);
    for migration in MIGRATIONS.iter().take(count) {
        connection.execute_batch(migration)?;
    }
    Ok(connection)
}

/// A row of the schema: type, name, table and text.
pub(crate) type SchemaRow = (String, String, String, Option<String>);

/// The schema of a file.
pub(crate) fn found(connection: &Connection) -> rusqlite::Result<Vec<SchemaRow>> {
    let sql = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name, tbl_name";
    let mut statement = connection.prepare(sql)?;
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    rows.collect()
}

/// At its first read SQLite gives the room of the log's index up and takes it again. A file system without any other may need a moment to
/// have it back.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(100), Duration::from_millis(400)];

fn version(connection: &Connection, path: &Path, options: &OpenOptions) -> Result<i64, StoreError> {
    let mut pauses = PAUSES.into_iter();
    let mut pragma = |name: &str| -> Result<i64, StoreError> {
        loop {
            let found = connection.pragma_query_value(None, name, |row| row.get(0));
            match (found, pauses.as_slice()) {
                (Err(error), [_, ..]) if is_out_of_room(&error) => {
                    pauses.next().into_iter().for_each(std::thread::sleep);
                }
                (found, _) => {
                    return found.map_err(|error| options.error(path, error));
                }
            }
        }
    };
    if pragma("application_id")? != APPLICATION_ID {
        return Err(StoreError::Foreign(path.to_owned()));
    }
    let found = pragma("user_version")?;
    if !(0..=NEWEST).contains(&found) {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: NEWEST });
    }
    Ok(found)
}
