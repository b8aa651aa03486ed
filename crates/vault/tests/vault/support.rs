//! What most tests need: a place that leaves nothing behind, a home in it, and short ways to say things.

use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_host::Mtime;
use offshoot_tests::scan::{CompareOptions, Scan, compare};
pub(crate) use offshoot_tests::scratch::{
    KEEP_LIMITS, Scratch, big_stack, everything_kept, is_root, scanned,
};
use offshoot_tree::{Batch, Body, Entry, Meta, RootId, TreeEditor, VaultPath};
use offshoot_vault::{
    Actor, ExportOptions, ImportOptions, Imported, NewSnapshot, Snapshot, Vault, VaultOptions,
    VaultRegistry,
};

/// Whether tests may take minutes.
pub(crate) fn is_long() -> bool {
    std::env::var_os("OFFSHOOT_TEST_TIER").is_some_and(|tier| tier == "long")
}

pub(crate) fn actor() -> Actor {
    Actor::user("tester")
}

pub(crate) fn home(scratch: &Scratch) -> VaultRegistry {
    home_at(scratch.path())
}

pub(crate) fn home_at(dir: &Path) -> VaultRegistry {
    VaultRegistry::new(
        dir.join("home"),
        VaultOptions { busy_timeout: Duration::from_secs(60), ..VaultOptions::default() },
    )
}

/// An empty vault.
pub(crate) fn empty_vault(scratch: &Scratch) -> Vault {
    home(scratch).create("v", None, &ImportOptions::default(), &actor()).unwrap().vault
}

/// A vault made from a directory.
pub(crate) fn vault_of(scratch: &Scratch, source: &Path) -> Vault {
    home(scratch).create("v", Some(source), &ImportOptions::default(), &actor()).unwrap().vault
}

pub(crate) fn import(vault: &Vault, source: &Path) -> Imported {
    vault.import(source, &ImportOptions::default()).unwrap()
}

pub(crate) fn head(vault: &Vault) -> RootId {
    vault.head().unwrap().root
}

/// Makes a root the newest state of the vault's main line.
pub(crate) fn commit(vault: &Vault, root: &RootId) -> Snapshot {
    let content = vault.objects().unwrap().root(root).unwrap().directory().unwrap().content;
    let committed = vault.transact("test", &actor(), |tx| {
        let parents = tx.head()?.into_iter().collect();
        let (root, reason) = (*root, "test".to_owned());
        let new = NewSnapshot { root, content, parents, reason, message: None };
        let snapshot = tx.add_snapshot(new)?;
        tx.set_head(snapshot.id)?;
        Ok(snapshot)
    });
    committed.unwrap().value
}

/// Exports a root to a new directory and gives its path.
pub(crate) fn export(vault: &Vault, root: &RootId, to: &Path) -> PathBuf {
    let options = ExportOptions { owners: is_root(), threads: 0 };
    vault.export(root, &VaultPath::top(), to, &options).unwrap();
    to.to_owned()
}

pub(crate) fn path(text: &str) -> VaultPath {
    VaultPath::parse(text.as_bytes()).unwrap()
}

/// Edits a root.
pub(crate) fn edit(
    vault: &Vault,
    root: &RootId,
    change: impl FnOnce(&mut TreeEditor<'_>),
) -> RootId {
    let mut editor = TreeEditor::open(vault.objects().unwrap(), root, NOON).unwrap();
    change(&mut editor);
    let mut batch = Batch::default();
    let (root, _) = editor.finish(&mut batch).unwrap();
    vault.store(&batch).unwrap();
    root
}

/// A time that every edit in a test has.
pub(crate) const NOON: Mtime = Mtime { seconds: 1_700_000_000, nanoseconds: 12 };

/// A file with content that is stored in the vault.
pub(crate) fn file(vault: &Vault, bytes: &[u8]) -> Entry {
    let content = vault.add_content(&mut &*bytes, Path::new("test")).unwrap();
    let body = Body::File { size: content.size, blob: content.blob };
    Entry::new(meta(0o644), body)
}

pub(crate) fn meta(mode: u16) -> Meta {
    Meta { mtime: NOON, ..Meta::of_new(mode) }
}

/// Fails with every difference of two trees, one a line.
#[track_caller]
pub(crate) fn assert_same(a: &Scan, b: &Scan, options: &CompareOptions) {
    let differences = compare(a, b, options);
    let shown = &differences[..differences.len().min(40)];
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), shown.join("\n"));
}
