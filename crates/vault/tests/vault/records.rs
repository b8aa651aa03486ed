//! What the log says about records that lie beside it: one that is changed, lost or added is found, also by who knows how rows are hashed.

use offshoot_store::{Catalog, Id, OpenOptions};
use offshoot_vault::{
    ArchiveOptions, AuditFlaw, AuditVerifier, Binding, Checkpoint, CheckpointState, ExecRecord,
    Scope, Vault, WorkspaceRecord,
};
use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};

use crate::garbage::NOTHING;
use crate::mutations::full_vault;
use crate::support::{Scratch, actor, commit, edit, empty_vault, file, head, home, path};

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
const REF: [&str; 5] = ["kind", "id", "scope", "name", "value"];
const OPERATION: [&str; 9] =
    ["seq", "id", "time_ms", "actor", "kind", "scope", "summary", "reverts", "changes"];
const SNAPSHOT: [&str; 9] =
    ["id", "root", "content", "parents", "time_ms", "actor", "reason", "message", "operation"];
const AUDIT: [&str; 5] = ["seq", "time_ms", "operation", "event", "chain"];

fn exec(vault: &Vault) -> Id {
    printing(vault, b"out", b"err")
}

fn printing(vault: &Vault, stdout: &[u8], stderr: &[u8]) -> Id {
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
        tx.add_exec(&exec, stdout, stderr)
    });
    recorded.unwrap();
    id
}

/// Gives the rows of a table the hashes that they should have.
pub(crate) fn sum_again(catalog: &Connection, table: &str, columns: &[&str]) {
    let key = match table {
        "refs" => "kind || id",
        "snapshots" => "id",
        "meta" => "key",
        _ => "rowid",
    };
    let sql = format!("SELECT {key}, {} FROM {table}", columns.join(", "));
    let mut statement = catalog.prepare(&sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut sums: Vec<(Value, [u8; 32])> = Vec::new();
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
        let sql = format!("UPDATE {table} SET sum = ?2 WHERE {key} = ?1");
        catalog.execute(&sql, rusqlite::params![row, sum]).unwrap();
    }
}

/// The newest state with another file.
fn edited(vault: &Vault, name: &str) -> offshoot_tree::RootId {
    let entry = file(vault, name.as_bytes());
    edit(vault, &head(vault), |editor| editor.put(&path(name), entry).unwrap())
}

/// What is found after a change of a table whose rows have their hashes again.
fn found(change: &str, table: &str, columns: &[&str]) -> String {
    let scratch = Scratch::new();
    let vault = full_vault(&scratch);
    exec(&vault);
    exec(&vault);
    printing(&vault, b"", b"");
    commit(&vault, &edited(&vault, "last"));
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
    let changed = "UPDATE execs SET exit_code = 7 WHERE rowid = 1";
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

#[test]
fn nothing_is_put_into_the_mouth_of_a_command() {
    let added =
        "INSERT INTO exec_outputs (exec, stream, bytes, sum) SELECT id, 1, x'00', zeroblob(32)
                 FROM execs WHERE id NOT IN (SELECT exec FROM exec_outputs)";
    let said = found(added, "exec_outputs", &OUTPUT);
    assert!(said.contains("stdout of command") && said.contains("is there, and no"), "{said}");
}

/// Where a commit writes to.
#[test]
fn bindings_are_covered() {
    let changed =
        "UPDATE refs SET value = replace(value, 'source', 'victim') WHERE kind = 'binding'";
    let said = found(changed, "refs", &REF);
    assert!(said.contains("binding") && said.contains("is not what the log says"), "{said}");
    let lost = "DELETE FROM refs WHERE kind = 'binding'";
    let said = found(lost, "refs", &REF);
    assert!(said.contains("binding") && said.contains("is gone, and no event says so"), "{said}");
    let added = "INSERT INTO refs SELECT kind, '0' || substr(id, 2, 24) || 'z', scope, 'more', value, sum FROM refs
                 WHERE kind = 'binding'";
    let said = found(added, "refs", &REF);
    assert!(said.contains("binding more is there, and no event says so"), "{said}");
}

/// What undo takes back and brings back.
#[test]
fn operations_are_covered() {
    let columns = OPERATION[2..].join(", ");
    let forged = format!(
        "INSERT INTO operations (seq, id, {columns}, sum)
         SELECT 1 + seq, x'ffffffffffffffffffffffffffffffff', {columns}, sum FROM operations ORDER BY seq DESC LIMIT 1"
    );
    let said = found(&forged, "operations", &OPERATION);
    assert!(said.contains("operation 7") && said.contains("is there, and no event"), "{said}");
    // Older than the vault, and still the newest that undo finds.
    let forged =
        forged.replace("ffffffffffffffffffffffffffffffff", "01000000000000000000000000000000");
    let said = found(&forged, "operations", &OPERATION);
    assert!(said.contains("is not in its place"), "{said}");
    let forged = forged.replace("1 + seq", "0");
    let said = found(&forged, "operations", &OPERATION);
    assert!(said.contains("is there, and no event"), "{said}");
    let changed = "UPDATE operations SET changes = '[]' WHERE seq = 2";
    let said = found(changed, "operations", &OPERATION);
    assert!(said.contains("operation ") && said.contains("is not what the log says"), "{said}");
    let said = found("DELETE FROM operations WHERE seq = 2", "operations", &OPERATION);
    assert!(said.contains("is gone, and no event says so"), "{said}");
    let said = found("UPDATE operations SET seq = -seq", "operations", &OPERATION);
    assert!(said.contains("is not in its place"), "{said}");
}

/// Undo goes back to snapshots that no ref names any more.
#[test]
fn snapshots_of_before_are_covered() {
    let swapped = "UPDATE snapshots SET root = (SELECT root FROM snapshots ORDER BY id LIMIT 1)
                   WHERE id = (SELECT id FROM snapshots ORDER BY id DESC LIMIT 1 OFFSET 1)";
    let said = found(swapped, "snapshots", &SNAPSHOT);
    assert!(said.contains("has other files than the log says"), "{said}");
}

#[test]
fn a_checkpoint_does_not_vanish_unseen() {
    let said = found("DELETE FROM refs WHERE kind = 'checkpoint'", "refs", &REF);
    assert!(said.contains("checkpoint kept is gone, and no event says so"), "{said}");
}

/// Automatic checkpoints lapse, and the log says so.
#[test]
fn what_lapses_is_recorded() {
    let scratch = Scratch::new();
    let vault = full_vault(&scratch);
    lapse(&vault);
    assert_eq!(vault.audit_differences().unwrap(), [""; 0]);
    let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
    let events = "UPDATE audit SET event = replace(event, '\"checkpoint ', '\"other ') WHERE event LIKE '%\"checkpoint %\":null%'";
    assert!(catalog.execute(events, []).unwrap() > 0);
    let said = vault.audit_differences().unwrap().join("\n");
    assert!(said.contains("checkpoint auto is gone, and no event says so"), "{said}");
}

/// Makes an automatic checkpoint, and has it collected.
fn lapse(vault: &Vault) {
    let workspace: WorkspaceRecord = vault.workspaces().unwrap().remove(0);
    let before = vault.checkpoints().unwrap().len();
    let made = vault.transact("checkpoint create", &actor(), |tx| {
        let (created_ms, reason, snapshot) = (tx.time_ms(), String::new(), workspace.state.head);
        let state = CheckpointState { snapshot, automatic: true, created_ms, reason };
        let (id, name) = (tx.new_id(), "auto".to_owned());
        tx.set_checkpoint(&Checkpoint { id, workspace: workspace.id, name, state })
    });
    made.unwrap();
    commit(vault, &edited(vault, "later"));
    vault.collect(&NOTHING, &actor()).unwrap();
    assert_eq!(vault.checkpoints().unwrap().len(), before);
}

/// Programs of before recorded neither operations nor what lapsed: what they left is no difference, and what came later is still compared.
#[test]
fn what_older_programs_left_is_no_difference() {
    let scratch = Scratch::new();
    let vault = full_vault(&scratch);
    lapse(&vault);
    let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
    let mut statement = catalog.prepare("SELECT seq, event FROM audit").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    for (seq, event) in rows.map(Result::unwrap).collect::<Vec<(i64, String)>>() {
        let (start, rest) = event.split_once(",\"records\":{").unwrap();
        let (kept, rest) = rest.split_once('}').unwrap();
        let kept = kept
            .split(',')
            .filter(|part| !part.starts_with("\"operation ") && !part.starts_with("\"checkpoint "));
        let kept: Vec<&str> = kept.collect();
        let records = match kept.is_empty() {
            true => String::new(),
            false => format!(",\"records\":{{{}}}", kept.join(",")),
        };
        let values = rusqlite::params![seq, format!("{start}{records}{rest}")];
        catalog.execute("UPDATE audit SET event = ?2 WHERE seq = ?1", values).unwrap();
    }
    assert_eq!(vault.audit_differences().unwrap(), [""; 0]);
    exec(&vault);
    assert_eq!(vault.audit_differences().unwrap(), [""; 0]);
    catalog
        .execute("DELETE FROM operations WHERE seq = (SELECT max(seq) FROM operations)", [])
        .unwrap();
    let said = vault.audit_differences().unwrap().join("\n");
    assert!(said.contains("is gone, and no event says so"), "{said}");
}

/// Whatever people do with a vault is no difference, here or where it arrives.
#[test]
fn ordinary_work_is_no_difference() {
    let scratch = Scratch::new();
    let vault = full_vault(&scratch);
    let same = |vault: &Vault| assert_eq!(vault.audit_differences().unwrap(), [""; 0]);
    exec(&vault);
    let binding = vault.bindings().unwrap().remove(0);
    let moved = Binding::new(binding.id, "", &scratch.folder("elsewhere"), 1);
    let further = Binding::new(Id::random(), "further", &scratch.folder("further"), 1);
    let bound = vault.transact("binding move", &actor(), |tx| {
        tx.set_binding(&moved)?;
        tx.set_binding(&further)
    });
    bound.unwrap();
    for name in ["a", "b"] {
        commit(&vault, &edited(&vault, name));
    }
    vault.undo(Scope::Vault, &actor()).unwrap();
    vault.undo(Scope::Vault, &actor()).unwrap();
    vault.redo(Scope::Vault, &actor()).unwrap();
    lapse(&vault);
    vault.rotate_audit_key(&actor()).unwrap();
    same(&vault);
    let (file, target) = (scratch.path().join("v.vault"), Scratch::new());
    vault.export_archive(&file, "v").unwrap();
    let came = home(&target).import(&file, &ArchiveOptions::default()).unwrap().vault;
    same(&came);
    assert!(came.verify_audit(AuditVerifier::new(came.id(), None)).unwrap().is_ok());
    commit(&came, &edited(&came, "c"));
    came.undo(Scope::Vault, &actor()).unwrap();
    same(&came);
    // It goes on to a third place.
    let (again, third) = (scratch.path().join("again.vault"), Scratch::new());
    came.export_archive(&again, "v").unwrap();
    same(&home(&third).import(&again, &ArchiveOptions::default()).unwrap().vault);
    vault.prune_audit(u64::MAX, &actor()).unwrap();
    exec(&vault);
    same(&vault);
    // What came after is still compared.
    let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
    let columns = OPERATION[2..].join(", ");
    let forged = format!(
        "INSERT INTO operations (seq, id, {columns}, sum)
         SELECT 1 + seq, x'ffffffffffffffffffffffffffffffff', {columns}, sum FROM operations ORDER BY seq DESC LIMIT 1"
    );
    catalog.execute(&forged, []).unwrap();
    assert_ne!(vault.audit_differences().unwrap(), [""; 0]);
}

/// An operation that was forged in the file is one where it arrives.
#[test]
fn an_import_makes_nothing_true() {
    let scratch = Scratch::new();
    let vault = full_vault(&scratch);
    let catalog = vault.dir().join("catalog.db");
    let catalog = Catalog::open(&catalog, OpenOptions::default()).unwrap();
    let forged = catalog.write(|writer| {
        let row = writer.operations_after(0)?.remove(0);
        assert!(row.operation.changes.contains("binding"), "it is one that is left out in part");
        writer.set_changes(&row, &format!(" {}", row.operation.changes))
    });
    forged.unwrap();
    let (file, target) = (scratch.path().join("v.vault"), Scratch::new());
    vault.export_archive(&file, "v").unwrap();
    let came = home(&target).import(&file, &ArchiveOptions::default()).unwrap().vault;
    let said = came.audit_differences().unwrap().join("\n");
    assert!(said.contains("operation ") && said.contains("is not what the log says"), "{said}");
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
