//! What most tests need: a place that leaves nothing behind, a home in it, and short ways to say things.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_host::Mtime;
use offshoot_tests::awkward;
use offshoot_tests::scan::{CompareOptions, Scan, compare, scan};
use offshoot_tree::{Batch, Body, Entry, Meta, RootId, TreeEditor, VaultPath};
use offshoot_vault::{
    Actor, ExportOptions, ImportOptions, Imported, NewSnapshot, Snapshot, Vault, VaultOptions,
    VaultRegistry,
};

/// A directory that is removed at the end, whatever is in it by then.
pub(crate) struct Scratch(Option<tempfile::TempDir>);

impl Scratch {
    pub(crate) fn new() -> Self {
        raise_descriptor_limit();
        Self(Some(tempfile::tempdir().unwrap()))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.as_ref().unwrap().path()
    }

    /// A new directory in it.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir(&path).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let dir = self.0.take().unwrap();
        // Of this crate the tests want nothing, not even to be tidied up after; so by recursion, with room for it.
        let clear = move || {
            awkward::clear(dir.path())?;
            dir.close()
        };
        let cleared = big_stack(clear);
        assert!(cleared.is_ok() || std::thread::panicking(), "{cleared:?}");
    }
}

/// Runs something that recurses as deep as the deepest tree.
pub(crate) fn big_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 20);
        thread.spawn_scoped(scope, work).unwrap().join().unwrap()
    })
}

/// The scanner and the removal of temporary directories hold a descriptor for each level of a tree.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if std::env::var_os(KEEP_LIMITS).is_none() && limit.current < limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        setrlimit(Resource::Nofile, raised).unwrap();
    }
}

/// Set where the usual limit on descriptors is what is tested.
pub(crate) const KEEP_LIMITS: &str = "OFFSHOOT_TEST_KEEP_LIMITS";

/// Whether tests may take minutes.
pub(crate) fn is_long() -> bool {
    std::env::var_os("OFFSHOOT_TEST_TIER").is_some_and(|tier| tier == "long")
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
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

pub(crate) fn scanned(dir: &Path) -> Scan {
    big_stack(|| scan(dir).unwrap())
}

/// Fails with every difference of two trees, one a line.
#[track_caller]
pub(crate) fn assert_same(a: &Scan, b: &Scan, options: &CompareOptions) {
    let differences = compare(a, b, options);
    let shown = &differences[..differences.len().min(40)];
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), shown.join("\n"));
}

/// Owners can only be kept by root.
pub(crate) fn everything_kept() -> CompareOptions {
    CompareOptions { owners: is_root(), special: false, ..CompareOptions::default() }
}
