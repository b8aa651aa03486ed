//! What the log says about records that lie beside it: one that is changed, lost or added is found, also by who knows how rows are hashed.

use offshoot_store::Id;
use offshoot_vault::{AuditFlaw, AuditVerifier, ExecRecord, Vault};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::support::{Scratch, actor, empty_vault};

const EXEC: [&str; 14] = [
    "id",
    "workspace",
    "operation",
    "started_ms",
    "ended_ms",
    "state",
    "command",
    "exit_code",
    "signal",
    "changed",
    "before",
    "after",
    "actor",
    "envelope_sum",
];
const OUTPUT: [&str; 3] = ["exec", "stream", "bytes"];
const AUDIT: [&str; 5] = ["seq", "time_ms", "operation", "event", "chain"];

fn exec(vault: &Vault) -> Id {
    let id = Id::random();
    let exec = ExecRecord {
        id,
        workspace: None,
        operation: None,
        started_ms: id.time_ms(),
        ended_ms: id.time_ms() + 3,
        state: "completed".to_owned(),
        command: "make test".to_owned(),
        exit_code: Some(1),
        signal: None,
        changed: 0,
        before: None,
        after: None,
        actor: actor(),
        envelope: Some("{\"schema_version\":1}".to_owned()),
    };
    let recorded = vault.transact("exec", &actor(), |tx| {
        tx.record_always();
        tx.add_exec(&exec, b"out", b"err")
    });
    recorded.unwrap();
    id
}

/// Gives the rows of a table the hashes that they should have.
fn sum_again(catalog: &Connection, table: &str, columns: &[&str]) {
    let sql = format!("SELECT rowid, {} FROM {table}", columns.join(", "));
    let mut statement = catalog.prepare(&sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut sums: Vec<(i64, [u8; 32])> = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let mut hasher = blake3::Hasher::new_derive_key("offshoot v1 row");
        let mut add = |tag: u8, bytes: &[u8]| {
            hasher.update(&[tag]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        };
        add(0, table.as_bytes());
        for at in 1..=columns.len() {
            match row.get_ref(at).unwrap() {
                ValueRef::Null => add(1, &[]),
                ValueRef::Integer(number) => add(2, &number.to_le_bytes()),
                ValueRef::Real(number) => add(3, &number.to_le_bytes()),
                ValueRef::Text(text) => add(4, text),
                ValueRef::Blob(blob) => add(5, blob),
            }
        }
        sums.push((row.get(0).unwrap(), *hasher.finalize().as_bytes()));
    }
    for (row, sum) in sums {
        let sql = format!("UPDATE {table} SET sum = ?2 WHERE rowid = ?1");
        catalog.execute(&sql, rusqlite::params![row, sum]).unwrap();
    }
}

/// What is found after a change of a table whose rows have their hashes again.
fn found(change: &str, table: &str, columns: &[&str]) -> String {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    exec(&vault);
    exec(&vault);
    assert_eq!(vault.audit_differences().unwrap(), [""; 0]);
    let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
    sum_again(&catalog, table, columns);
    assert_eq!(vault.audit_differences().unwrap(), [""; 0], "the hashes are those of the product");
    assert!(catalog.execute(change, []).unwrap() > 0, "{change}");
    sum_again(&catalog, table, columns);
    vault.audit_differences().unwrap().join("\n")
}

#[test]
fn the_record_of_a_command_is_covered() {
    let changed = "UPDATE execs SET exit_code = 0 WHERE rowid = 1";
    let said = found(changed, "execs", &EXEC);
    assert!(
        said.contains("the record of command") && said.contains("is not what the log"),
        "{said}"
    );
    let lost = "DELETE FROM execs WHERE rowid = 1";
    let said = found(lost, "execs", &EXEC);
    assert!(said.contains("is gone, and no event says so"), "{said}");
    let columns = format!("{}, envelope, sum", EXEC[1..].join(", "));
    let added = format!(
        "INSERT INTO execs (id, {columns}) SELECT x'ffffffffffffffffffffffffffffffff', {columns} FROM execs WHERE rowid = 1"
    );
    let said = found(&added, "execs", &EXEC);
    assert!(said.contains("is there, and no event says so"), "{said}");
}

#[test]
fn what_a_command_printed_is_covered() {
    let changed = "UPDATE exec_outputs SET bytes = x'00' WHERE rowid = 1";
    let said = found(changed, "exec_outputs", &OUTPUT);
    assert!(said.contains("stdout of command") && said.contains("is not what the log"), "{said}");
    let lost = "DELETE FROM exec_outputs WHERE stream = 2";
    let said = found(lost, "exec_outputs", &OUTPUT);
    assert!(said.contains("stderr of command") && said.contains("is gone"), "{said}");
}

/// Lists and retention go by columns that the chain does not cover.
#[test]
fn the_columns_of_an_event_are_those_of_its_text() {
    for (resummed, change) in [
        (false, "UPDATE audit SET sum = zeroblob(32) WHERE seq = 2"),
        (true, "UPDATE audit SET time_ms = time_ms - 1 WHERE seq = 2"),
        (true, "UPDATE audit SET operation = zeroblob(16) WHERE seq = 2"),
    ] {
        let scratch = Scratch::new();
        let vault = empty_vault(&scratch);
        exec(&vault);
        let verify = || vault.verify_audit(AuditVerifier::new(vault.id(), None)).unwrap();
        assert!(verify().is_ok());
        let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
        assert_eq!(catalog.execute(change, []).unwrap(), 1, "{change}");
        if resummed {
            sum_again(&catalog, "audit", &AUDIT);
        }
        assert_eq!(verify().unwrap_err(), AuditFlaw::Altered(2), "{change}");
    }
}
