//! Files that were made to do harm, in the form of an exported vault: none comes in, and none leaves anything behind.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use offshoot_host::Mtime;
use offshoot_store::ObjectKind;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier::cases;
use offshoot_tree::pack::{ChunkRef, PackRecord};
use offshoot_tree::{Batch, BlobId, Body, DirRef, Entry, Meta, ObjectLocation};
use offshoot_vault::{
    ArchiveOptions, Binding, CheckDepth, FromArchive, Scope, Vault, VaultError, VaultRegistryError,
};
use rusqlite::{Connection, params};

use crate::formats::{without_hashes, without_sessions};
use crate::mutations::full_vault;
use crate::support::{Scratch, actor, commit, empty_vault, file, head, home_at, meta};

/// An export of a vault, and a home elsewhere that it can come to.
struct Sent {
    scratch: Scratch,
    file: PathBuf,
}

impl Sent {
    /// What somebody sends who exported a vault and did nothing else.
    fn honest(make: impl FnOnce(&Scratch) -> Vault) -> Self {
        let scratch = Scratch::new();
        let vault = make(&scratch);
        let file = scratch.path().join("sent");
        vault.export_archive(&file, "v").unwrap();
        Self { scratch, file }
    }

    /// The same in the form that has no hashes of rows, so that every change of one is as good as its maker's word.
    fn forged(make: impl FnOnce(&Scratch) -> Vault) -> Self {
        let sent = Self::honest(make);
        let connection = Connection::open(&sent.file).unwrap();
        let carried =
            ["meta", "snapshots", "refs", "operations", "audit", "exec_outputs", "collected"];
        without_sessions(&connection);
        without_hashes(&connection, &carried);
        connection.pragma_update(None, "user_version", 2).unwrap();
        sent
    }

    fn change(&self, statement: &str) {
        let connection = Connection::open(&self.file).unwrap();
        connection.execute_batch(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }

    fn elsewhere(&self) -> PathBuf {
        self.scratch.path().join("elsewhere")
    }

    fn arrive(&self, options: &ArchiveOptions<'_>) -> Result<FromArchive, VaultRegistryError> {
        home_at(&self.elsewhere()).import(&self.file, options)
    }

    /// Fails unless it is refused for a reason that says so, and nothing of it is left.
    #[track_caller]
    fn is_refused(&self, named: &str) {
        let error = match self.arrive(&ArchiveOptions::default()) {
            Ok(_) => panic!("it came in; expected: {named}"),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(named), "expected {named}: {error}");
        assert!(!error.contains('\x1b'), "{error}");
        self.left_nothing();
    }

    #[track_caller]
    fn left_nothing(&self) {
        for part in ["vaults", "names", "bindings"] {
            let left = fs::read_dir(self.elsewhere().join("home").join(part));
            let left = left.into_iter().flatten().map(|entry| entry.unwrap().file_name());
            assert_eq!(left.collect::<Vec<_>>(), Vec::<std::ffi::OsString>::new(), "{part}");
        }
    }
}

#[track_caller]
fn in_order(vault: &Vault) {
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
}

#[test]
fn records_that_no_vault_has_are_refused() {
    let attacks = [
        ("UPDATE refs SET name = char(27) || ']0;owned' WHERE kind = 'workspace'", "is called"),
        ("UPDATE refs SET name = '../../etc' WHERE kind = 'workspace'", "is called"),
        ("UPDATE refs SET name = 'a/b' WHERE kind = 'checkpoint'", "is called"),
        ("UPDATE refs SET name = '' WHERE kind = 'workspace'", "is called"),
        (
            "UPDATE refs SET name = printf('%.*c', 101, 'x') WHERE kind = 'workspace'",
            "longer than 100",
        ),
        ("UPDATE refs SET scope = 'x' WHERE kind = 'workspace'", "wrong place"),
        ("UPDATE refs SET id = 'head2' WHERE kind = 'head'", "not known"),
        (
            "INSERT INTO refs (kind, id, scope, value) VALUES ('hook', '1', '', '{}')",
            "a hook in it, which is not known",
        ),
        (
            "UPDATE refs SET value = json_set(value, '$.parent', id) WHERE kind = 'workspace'",
            "comes from itself",
        ),
        (
            "UPDATE refs SET value = json_set(value, '$.head', '01arz3ndektsv4rrffq69g5fav')
             WHERE kind = 'workspace'",
            "which is missing",
        ),
        (
            "UPDATE refs SET value = json_set(value, '$.expires_ms', 4000000000000000000)
             WHERE kind = 'workspace'",
            "in no calendar",
        ),
        ("DELETE FROM refs WHERE kind = 'workspace'", "is of no workspace"),
        ("UPDATE snapshots SET parents = id WHERE length(parents) = 16", "is no older"),
        ("UPDATE snapshots SET parents = zeroblob(16)", "is missing"),
        ("UPDATE snapshots SET time_ms = 9000000000000000", "yet to come"),
        ("UPDATE snapshots SET operation = zeroblob(16)", "no operation of the log"),
        ("UPDATE snapshots SET actor = '[]'", "cannot be read"),
        ("UPDATE snapshots SET message = printf('%.*c', 2000000, 'x')", "too long"),
        ("UPDATE operations SET kind = kind || char(27) || '[2J'", "is called"),
        ("UPDATE operations SET reverts = id WHERE seq = 2", "not before it"),
        ("UPDATE operations SET time_ms = 9000000000000000", "yet to come"),
        ("UPDATE operations SET scope = 'x' WHERE scope != ''", "no workspace that there can be"),
        (
            "UPDATE operations SET changes = replace(changes, '\"fix\"', '\"../fix\"')",
            "is called \"../fix\"",
        ),
        ("UPDATE operations SET changes = '[' || changes", "cannot be read"),
        ("UPDATE audit SET operation = zeroblob(16)", "has no audit event in its place"),
        ("UPDATE audit SET time_ms = 9000000000000000", "yet to come"),
        ("UPDATE meta SET value = x'ffffffffffffffff' WHERE key = 'last_id_ms'", "yet to come"),
        ("UPDATE execs SET state = 'completed' || char(10) || 'x'", "is called"),
        ("UPDATE execs SET ended_ms = 9000000000000000", "yet to come"),
        ("UPDATE execs SET operation = zeroblob(16)", "no operation of the log"),
        ("UPDATE execs SET before = zeroblob(16)", "which is missing"),
        ("UPDATE execs SET envelope = '{'", "cannot be read"),
        ("UPDATE exec_outputs SET exec = zeroblob(16)", "which is missing"),
        (
            "UPDATE objects SET value = CAST(x'01' || zeroblob(16) || '../../passwd' AS BLOB)
             WHERE kind = 1",
            "is not in the file itself",
        ),
        ("UPDATE objects SET kind = 9 WHERE kind = 1", "unknown kind"),
        ("UPDATE objects SET kind = 4 WHERE kind = 1", "unknown kind"),
    ];
    for (attack, named) in attacks {
        let sent = Sent::forged(full_vault);
        sent.change(attack);
        println!("{attack}");
        sent.is_refused(named);
    }
    in_order(&Sent::forged(full_vault).arrive(&ArchiveOptions::default()).unwrap().vault);
}

#[test]
fn what_an_export_does_not_define_is_refused() {
    let attacks = [
        "CREATE VIEW shown AS SELECT * FROM refs",
        "CREATE TRIGGER ran AFTER INSERT ON refs BEGIN DELETE FROM refs; END",
        "CREATE TABLE more (a)",
        "CREATE INDEX computed ON refs (upper(name))",
        "CREATE VIRTUAL TABLE found USING fts5(a)",
        "ALTER TABLE refs ADD computed TEXT AS (upper(name))",
        "DROP INDEX refs_by_name; CREATE INDEX refs_by_name ON refs (upper(name))",
        "ALTER TABLE chunks RENAME TO other; CREATE VIEW chunks AS SELECT * FROM other",
        "DROP TABLE collected",
    ];
    for attack in attacks {
        for sent in [Sent::honest(full_vault), Sent::forged(full_vault)] {
            sent.change(attack);
            println!("{attack}");
            let error = sent.arrive(&ArchiveOptions::default()).unwrap_err().to_string();
            let named = ["which no export has", "is not that of an export"];
            assert!(named.iter().any(|named| error.contains(named)), "{error}");
            sent.left_nothing();
        }
    }
}

#[test]
fn what_is_no_file_or_no_database_is_refused() {
    let scratch = Scratch::new();
    let folder = scratch.folder("sent");
    let refused = |path: &Path, named: &str| {
        let started = Instant::now();
        let error = home_at(scratch.path()).import(path, &ArchiveOptions::default()).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
        assert!(started.elapsed() < Duration::from_secs(5), "{path:?}");
    };
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    refused(&folder.join("pipe"), "named pipe");
    symlink("/dev/zero", folder.join("zero")).unwrap();
    refused(&folder.join("zero"), "a device");
    refused(&folder, "a directory");
    fs::write(folder.join("text"), "hello\n".repeat(1000)).unwrap();
    refused(&folder.join("text"), "is not an exported vault");
    fs::write(folder.join("empty"), "").unwrap();
    refused(&folder.join("empty"), "is not an exported vault");
}

/// A log or a journal beside the file is no part of it, and nothing is written beside it.
#[test]
fn what_lies_beside_the_file_is_not_read() {
    let sent = Sent::honest(full_vault);
    for suffix in ["-journal", "-wal", "-shm"] {
        fs::write(format!("{}{suffix}", sent.file.display()), [0xd9; 4096]).unwrap();
    }
    in_order(&sent.arrive(&ArchiveOptions::default()).unwrap().vault);
    for suffix in ["-journal", "-wal", "-shm"] {
        let beside = fs::read(format!("{}{suffix}", sent.file.display())).unwrap();
        assert_eq!(beside, [0xd9; 4096]);
    }
}

/// A root whose top has these entries, stored as somebody would who checks nothing.
fn commit_entries(vault: &Vault, entries: &[Entry]) {
    let mut batch = Batch::default();
    let dir = batch.directory(entries);
    commit_dir(vault, batch, dir);
}

fn commit_dir(vault: &Vault, mut batch: Batch, dir: DirRef) {
    let root = batch.root(&Entry::new(meta(0o755), Body::Directory(dir.into())));
    vault.store(&batch).unwrap();
    commit(vault, &root);
}

fn named(name: &str, entry: Entry) -> Entry {
    Entry { name: name.as_bytes().to_vec(), ..entry }
}

#[test]
fn entries_that_no_folder_has_are_refused() {
    let with = |meta: Meta| named("x", Entry::new(meta, Body::Fifo));
    let attribute = |name: &str, length: usize| {
        with(Meta { xattrs: vec![(name.as_bytes().to_vec(), vec![1; length])], ..meta(0o644) })
    };
    let link = |target: &[u8]| {
        named("x", Entry::new(meta(0o777), Body::Symlink { target: target.to_vec() }))
    };
    let absurd = Mtime { seconds: i64::MAX / 2, nanoseconds: 0 };
    let attacks = [
        (attribute("security.capability", 20), "has the attribute"),
        (attribute("trusted.overlay.opaque", 1), "has the attribute"),
        (attribute("user.", 1), "has the attribute"),
        (attribute("user.large", 70_000), "has the attribute"),
        (attribute(&format!("user.{}", "x".repeat(260)), 1), "has the attribute"),
        (with(Meta { mtime: absurd, ..meta(0o644) }), "in no calendar"),
        (with(Meta { uid: u32::MAX, ..meta(0o644) }), "nobody can be"),
        (link(b""), "link to nothing"),
        (link(b"a\0b"), "link to nothing"),
        (link(&[b'x'; 5000]), "link to nothing"),
    ];
    for (entry, why) in attacks {
        let sent = Sent::honest(|scratch| {
            let vault = empty_vault(scratch);
            commit_entries(&vault, std::slice::from_ref(&entry));
            vault
        });
        sent.is_refused(why);
    }
    // Those that overlayfs would read are escaped in layers, and do no harm.
    let kept = Sent::honest(|scratch| {
        let vault = empty_vault(scratch);
        commit_entries(&vault, &[attribute("user.overlay.opaque", 1)]);
        vault
    });
    in_order(&kept.arrive(&ArchiveOptions::default()).unwrap().vault);
}

/// Names are checked when a node is decoded, whoever made it.
#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in ["..", ".", "", "a/b", "a\0b", &"x".repeat(256)] {
        let sent = Sent::honest(|scratch| {
            let vault = empty_vault(scratch);
            commit_entries(&vault, &[named("name", Entry::new(meta(0o644), Body::Fifo))]);
            vault
        });
        let mut batch = Batch::default();
        let dir = batch.directory(&[named(name, Entry::new(meta(0o644), Body::Fifo))]);
        replace_head(&sent, batch, dir);
        sent.is_refused("impossible name");
    }
}

#[test]
fn sums_that_do_not_agree_with_what_is_there_are_refused() {
    let attacks: [fn(&mut DirRef); 3] =
        [|dir| dir.bytes += 1, |dir| dir.entries += 1, |dir| dir.content.0 = [7; 32]];
    for attack in attacks {
        let sent = Sent::honest(|scratch| {
            let vault = empty_vault(scratch);
            let file = named("file", file(&vault, b"bytes"));
            let mut batch = Batch::default();
            let mut inner = batch.directory(&[file]);
            attack(&mut inner);
            let inner = named("dir", Entry::new(meta(0o755), Body::Directory(inner.into())));
            let dir = batch.directory(&[inner]);
            commit_dir(&vault, batch, dir);
            vault
        });
        sent.is_refused("is not what is said of it");
    }
}

/// Puts other objects in the place of the main line's tree, with everything that names it.
fn replace_head(sent: &Sent, mut batch: Batch, dir: DirRef) {
    let root = batch.root(&Entry::new(meta(0o755), Body::Directory(dir.into())));
    let scratch = Scratch::new();
    let other = empty_vault(&scratch);
    other.store(&batch).unwrap();
    let connection = Connection::open(&sent.file).unwrap();
    let put = "INSERT OR REPLACE INTO objects (kind, id, value) VALUES (?1, ?2, ?3)";
    for kind in [ObjectKind::Root, ObjectKind::Node] {
        let backend = other.objects().unwrap().backend();
        for object in backend.list_values(kind, None, 1000, usize::MAX >> 1).unwrap() {
            connection.execute(put, params![kind as u8, object.id, object.start]).unwrap();
        }
    }
    let head = "UPDATE snapshots SET root = ?1, content = ?2
                WHERE id = (SELECT max(id) FROM snapshots)";
    connection.execute_batch("ALTER TABLE snapshots RENAME COLUMN sum TO sum").unwrap();
    connection.execute(head, params![root.0, dir.content.0]).unwrap();
    let carried = ["meta", "snapshots", "refs", "operations", "audit", "exec_outputs", "collected"];
    without_sessions(&connection);
    without_hashes(&connection, &carried);
    connection.pragma_update(None, "user_version", 2).unwrap();
}

/// A content of one chunk that is said to be there a million times over.
#[test]
fn what_expands_without_measure_is_refused_and_can_be_asked_for() {
    let sent = Sent::forged(|scratch| {
        let vault = empty_vault(scratch);
        commit_entries(&vault, &[named("bomb", file(&vault, b"bomb"))]);
        vault
    });
    let zeros = vec![0; 4 << 20];
    let chunk = *blake3::hash(&zeros).as_bytes();
    let list = ObjectLocation::Chunks(vec![ChunkRef { id: chunk, length: 4 << 20 }; 300]);
    let connection = Connection::open(&sent.file).unwrap();
    let record = PackRecord::new(chunk, &zeros).encode();
    connection
        .execute("INSERT INTO chunks (id, record) VALUES (?1, ?2)", params![chunk, record])
        .unwrap();
    let id = *blake3::hash(b"bomb").as_bytes();
    connection
        .execute("UPDATE objects SET value = ?1 WHERE id = ?2", params![list.encode(), id])
        .unwrap();
    drop(connection);
    assert!(fs::metadata(&sent.file).unwrap().len() < 200_000);
    let started = Instant::now();
    match sent.arrive(&ArchiveOptions::default()) {
        Err(VaultRegistryError::Vault(VaultError::ArchiveExpands { bytes, limit, .. })) => {
            assert_eq!((bytes, limit), ((4 << 20) * 300, 1 << 30));
        }
        other => panic!("{other:?}"),
    }
    assert!(started.elapsed() < Duration::from_secs(5));
    sent.left_nothing();
    // Who allows that much gets told what else is wrong: it is not what its hash says.
    let options = ArchiveOptions { max_size: Some(4 << 30), ..ArchiveOptions::default() };
    let error = sent.arrive(&options).unwrap_err().to_string();
    assert!(error.contains("\"bomb\" has 4 bytes"), "{error}");
    sent.left_nothing();
}

/// Ten directories, each of which holds the next one 200 times: few bytes that become more entries than can be counted.
#[test]
fn directories_that_multiply_are_refused() {
    let sent = Sent::honest(|scratch| {
        let vault = empty_vault(scratch);
        let mut batch = Batch::default();
        let mut dir = batch.directory(&[named("file", file(&vault, b"laugh"))]);
        for _ in 0..10 {
            let entry = |at: u32| {
                named(&format!("{at:03}"), Entry::new(meta(0o755), Body::Directory(dir.into())))
            };
            let entries: Vec<Entry> = (0..200).map(entry).collect();
            dir = batch.directory(&entries);
        }
        commit_dir(&vault, batch, dir);
        vault
    });
    let started = Instant::now();
    sent.is_refused("expands to");
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// An imported vault is bound to no folder, and nothing in its log binds it again.
#[test]
fn no_binding_comes_along() {
    let target = Scratch::new();
    let victim = target.folder("victim");
    fs::write(victim.join("mine"), "mine").unwrap();
    let sent = Sent::honest(|scratch| {
        let vault = full_vault(scratch);
        let before = vault.bindings().unwrap().remove(0);
        let moved = Binding::new(before.id, "", &victim, 1);
        // Bound, let go of and bound again: each step could be taken back.
        for binding in [Some(&moved), None, Some(&moved), None] {
            let changed = vault.transact("binding move", &actor(), |tx| match binding {
                Some(binding) => tx.set_binding(binding),
                None => tx.remove_binding(&before.id),
            });
            changed.unwrap();
        }
        let further = Binding::new(offshoot_store::Id::random(), "further", &victim, 1);
        let bound = vault.transact("binding move", &actor(), |tx| {
            tx.set_binding(&moved)?;
            tx.set_binding(&further)?;
            tx.decline_git_directory(b"/somewhere")?;
            tx.set_git_due(b"{}")
        });
        bound.unwrap();
        vault
    });
    let came = sent.arrive(&ArchiveOptions::default()).unwrap();
    let told: Vec<PathBuf> = came.was_bound.iter().map(Binding::host_path).collect();
    assert_eq!(told, [victim.clone(), victim.clone()]);
    assert_eq!(came.vault.bindings().unwrap(), []);
    assert_eq!(came.vault.audit_differences().unwrap(), [""; 0]);
    assert_eq!(came.vault.declined_git_directory().unwrap(), None);
    assert_eq!(came.vault.git_due().unwrap(), None);
    assert!(came.vault.names_ever_bound().unwrap().is_empty());
    in_order(&came.vault);
    // However far it goes back, and forth again.
    let operations = came.vault.operations(Scope::Vault, None, 1000).unwrap();
    for operation in &operations {
        drop(came.vault.restore_operation(&operation.id, Scope::Vault, &actor()));
        assert_eq!(came.vault.bindings().unwrap(), [], "{}", operation.summary);
    }
    while came.vault.undo(Scope::Vault, &actor()).is_ok() {
        assert_eq!(came.vault.bindings().unwrap(), []);
    }
    let links = fs::read_dir(sent.elsewhere().join("home/bindings")).unwrap().count();
    assert_eq!(links, 0);
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
}

fn below(rng: &mut Rng, end: usize) -> usize {
    rng.below(end as u64) as usize
}

/// Whatever bytes are changed, it either comes in and is in order or leaves nothing behind, soon and without a panic.
#[test]
fn any_change_of_bytes_is_refused_or_does_no_harm() {
    let sent = Sent::honest(full_vault);
    let (good, mut rng) = (fs::read(&sent.file).unwrap(), Rng::new(seed_from_env_or(17)));
    let (mut came_in, started) = (0, Instant::now());
    for case in 0..cases(2000, 100_000) {
        let mut bytes = good.clone();
        match below(&mut rng, 4) {
            // Where it matters most: the header, and the first page with what is defined.
            0 => {
                let at = below(&mut rng, 4096);
                bytes[at] = below(&mut rng, 256) as u8;
            }
            1 => {
                for _ in 0..=below(&mut rng, 8) {
                    let at = below(&mut rng, bytes.len());
                    bytes[at] ^= 1 << below(&mut rng, 8);
                }
            }
            2 => bytes.truncate(below(&mut rng, good.len())),
            _ => {
                let (from, to) = (below(&mut rng, good.len()), below(&mut rng, good.len()));
                let length = below(&mut rng, 4096).min(good.len() - from.max(to));
                bytes.copy_within(from..from + length, to);
            }
        }
        fs::write(&sent.file, &bytes).unwrap();
        came_in += u32::from(harmless(&sent, &format!("case {case}")));
        // The quick tier stays quick on a slow machine.
        if started.elapsed() > Duration::from_secs(15) && cases(0, 1) == 0 {
            break;
        }
    }
    println!("{came_in} came in");
}

/// The same for values of rows, in a file that has no hashes over them.
#[test]
fn any_change_of_values_is_refused_or_does_no_harm() {
    let sent = Sent::forged(full_vault);
    let (good, mut rng) = (fs::read(&sent.file).unwrap(), Rng::new(seed_from_env_or(4)));
    let (mut came_in, started) = (0, Instant::now());
    for case in 0..cases(1000, 20_000) {
        fs::write(&sent.file, &good).unwrap();
        let connection = Connection::open(&sent.file).unwrap();
        let statement = random_statement(&connection, &mut rng);
        // What the tables refuse nobody can send.
        let changed = connection.execute_batch(&statement);
        drop(connection);
        if changed.is_ok() {
            came_in += u32::from(harmless(&sent, &format!("case {case}: {statement}")));
        }
        if started.elapsed() > Duration::from_secs(15) && cases(0, 1) == 0 {
            break;
        }
    }
    println!("{came_in} came in");
}

/// Imports a file; says whether it came in, and takes it away again.
fn harmless(sent: &Sent, case: &str) -> bool {
    let started = Instant::now();
    let came = sent.arrive(&ArchiveOptions::default());
    assert!(started.elapsed() < Duration::from_secs(10), "{case} takes too long");
    let Ok(came) = came else {
        sent.left_nothing();
        return false;
    };
    let problems = came.vault.check(CheckDepth::Content).unwrap().problems;
    assert!(problems.is_empty(), "{case}: {problems:?}");
    assert_eq!(came.vault.bindings().unwrap(), [], "{case}");
    let name = came.name.clone();
    drop(came);
    home_at(&sent.elsewhere()).delete(&name).unwrap();
    true
}

fn random_statement(connection: &Connection, rng: &mut Rng) -> String {
    let tables = [
        "meta",
        "objects",
        "snapshots",
        "refs",
        "operations",
        "execs",
        "exec_outputs",
        "audit",
        "collected",
        "chunks",
    ];
    let table = tables[below(rng, tables.len())];
    let sql = format!("SELECT name, type FROM pragma_table_info('{table}')");
    let mut statement = connection.prepare(&sql).unwrap();
    let columns = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let columns: Vec<(String, String)> = columns.map(Result::unwrap).collect();
    let (column, kind) = &columns[below(rng, columns.len())];
    let values = match kind.as_str() {
        "INTEGER" => ["0", "-1", "9223372036854775807", "1", "2", "4", "NULL"].to_vec(),
        "TEXT" => [
            "''",
            "'{}'",
            "'[]'",
            "'..'",
            "'a/b'",
            "char(27) || '[2J'",
            "'head'",
            "'workspace'",
            "'null'",
            "NULL",
        ]
        .to_vec(),
        _ => ["x''", "zeroblob(16)", "zeroblob(32)", "zeroblob(48)", "x'03ffff'", "NULL"].to_vec(),
    };
    let value = values[below(rng, values.len())];
    let row = format!("rowid IN (SELECT rowid FROM {table} ORDER BY random() LIMIT 1)");
    let without_rowid = ["meta", "snapshots", "refs", "collected"].contains(&table);
    let which = if without_rowid || below(rng, 3) == 0 { "1".to_owned() } else { row };
    match below(rng, 6) {
        0 => format!("DELETE FROM {table} WHERE {which}"),
        _ => format!("UPDATE {table} SET {column} = {value} WHERE {which}"),
    }
}

/// What came in can be worked with.
#[test]
fn an_honest_vault_comes_in_and_goes_on() {
    let sent = Sent::honest(full_vault);
    let came = sent.arrive(&ArchiveOptions::default()).unwrap();
    let root = head(&came.vault);
    let blob = BlobId(*blake3::hash(b"in the catalog").as_bytes());
    assert!(came.vault.objects().unwrap().has_blob(&blob).unwrap());
    commit(&came.vault, &root);
    in_order(&came.vault);
    // The new id is later than all that came along.
    let snapshots = came.vault.ancestry(came.vault.head().unwrap().id, usize::MAX).unwrap();
    assert!(snapshots.windows(2).all(|pair| pair[0].id > pair[1].id));
}
