//! One open vault.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use offshoot_host::disk;
use offshoot_store::{
    Catalog, CutShort, DraftBackend, Id, IdPrefix, ObjectKind, OpenOptions, Presence, Reader,
    RefKey, SqliteBackend, StoreError, Writer,
};
use offshoot_tree::{Batch, Objects, RootId, Tree, TreeError};
use serde::de::DeserializeOwned;

use crate::actor::Actor;
use crate::audit::SignedHead;
use crate::audit::signing::Signing;
use crate::cache_file;
use crate::error::{Result, VaultError, io_error};
use crate::gate::{COLLECTING, Gate};
use crate::lock::vault_lock::VaultLock;
use crate::operation::Scope;
use crate::refs::{
    Binding, CHECKPOINT, Checkpoint, WORKSPACE, WorkspaceRecord, bindings, head_key, head_snapshot,
    reachable_heads,
};
use crate::reserve::{self, Released};
use crate::snapshot::{self, Snapshot};
use crate::transact::{
    APPLIED, AUDIT_RULES, AUDIT_SIGNATURE, Committed, DECLINED, GIT_DUE, Recorded, Transaction,
    VAULT,
};

/// At most so many ids are looked for that start alike: enough to choose from.
pub(crate) const MOST_FITTING: u32 = 10;

/// How to open a vault.
#[derive(Clone, Copy, Debug)]
pub struct VaultOptions {
    /// How long to wait for another process that writes.
    pub busy_timeout: Duration,
    /// It is opened to free space: on a full disk what is kept in reserve may be used.
    pub frees_space: bool,
}

impl Default for VaultOptions {
    fn default() -> Self {
        Self { busy_timeout: OpenOptions::default().busy_timeout, frees_space: false }
    }
}

/// One open vault. Can be shared by threads; several processes can have it open.
#[derive(Debug)]
pub struct Vault {
    dir: PathBuf,
    id: Id,
    catalog: Catalog,
    /// Opened when first needed: moving refs does not touch objects.
    objects: OnceLock<Objects>,
    /// This process's mark, made by its first change.
    presence: Mutex<Option<Presence>>,
    /// Keeps garbage collection away.
    gate: Gate,
    /// What the catalog has lost of what was acknowledged. Nothing is changed before somebody accepts that.
    cut_short: Mutex<Option<CutShort>>,
    /// There was next to no room on the disk, and what is kept for that was given back. Comes last, so that it is taken
    /// again when everything else is done.
    released: Option<Released>,
    /// Keeps it from being deleted.
    lock: Option<VaultLock>,
    signing: Signing,
}

impl Vault {
    /// Opens the vault in a directory; read-only where nothing can be written there, and for root where it is somebody else's.
    pub fn open(dir: &Path, id: Id, options: &VaultOptions) -> Result<Self> {
        let vault = Self::inspect(dir, id, options)?;
        // Where nothing can be written nothing can be mended, and reads verify what they read anyway.
        if !vault.is_read_only() && vault.cut_short().is_none() {
            offshoot_store::unclean_stop(dir, || vault.recover())?;
        }
        Ok(vault)
    }

    /// Opens a vault as it is, without looking first whether it is in order: for those who want to know what is not.
    pub fn inspect(dir: &Path, id: Id, options: &VaultOptions) -> Result<Self> {
        let lock = VaultLock::share(dir, options.busy_timeout)?;
        let read_only = rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_err()
            || owner_to_spare(dir).is_some();
        let open = OpenOptions { busy_timeout: options.busy_timeout, read_only };
        // Before the catalog: opening it takes room, too.
        let frees = options.frees_space && !read_only;
        let released = frees.then(|| reserve::release_if_full(dir)).flatten();
        let catalog = Catalog::open(&dir.join("catalog.db"), open)?;
        // Where not even that can be read, whoever reads more hears about it.
        let cut_short = catalog.cut_short().unwrap_or_default();
        let vault = Self { released, lock: Some(lock), ..Self::new(dir, id, catalog) };
        vault.set_cut_short(cut_short);
        Ok(vault)
    }

    /// Opens a vault to read alone, whoever writes there: nothing is mended, and nobody is waited for longer than the options say.
    pub(crate) fn peek(dir: &Path, id: Id, options: &VaultOptions) -> Result<Self> {
        let open = OpenOptions { busy_timeout: options.busy_timeout, read_only: true };
        let catalog = Catalog::open(&dir.join("catalog.db"), open)?;
        Ok(Self::new(dir, id, catalog))
    }

    /// Makes the files of an empty vault in an existing directory.
    pub(crate) fn create(dir: &Path, id: Id, options: &VaultOptions) -> Result<Self> {
        let layers = dir.join("layers");
        std::fs::create_dir(&layers).map_err(io_error("create", &layers))?;
        let open = OpenOptions { busy_timeout: options.busy_timeout, read_only: false };
        let catalog = Catalog::create(&dir.join("catalog.db"), open)?;
        Ok(Self::new(dir, id, catalog))
    }

    fn new(dir: &Path, id: Id, catalog: Catalog) -> Self {
        let (objects, presence) = (OnceLock::new(), Mutex::new(None));
        let (gate, released, lock) = (Gate::default(), None, None);
        let (signing, cut_short) = (Signing::new(dir, id), Mutex::new(None));
        let dir = dir.to_owned();
        Self { dir, id, catalog, objects, presence, gate, cut_short, released, lock, signing }
    }

    /// Lets others delete the vault although it is open: for those who only tidy up in it. What they do then fails.
    pub fn allow_deletion(&mut self) {
        self.lock = None;
    }

    /// What the catalog has lost of what was acknowledged. The vault can be read then, and is not changed before
    /// [`repair`](Self::repair) accepts the loss.
    pub fn cut_short(&self) -> Option<CutShort> {
        *self.cut_short.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails where it shows without reading much that the vault is damaged: what was acknowledged is lost, the catalog is cut short, or
    /// there is no main line.
    pub fn check_at_a_glance(&self) -> Result<()> {
        match self.cut_short() {
            Some(lost) => Err(VaultError::CutShort(lost)),
            None => {
                self.catalog.check_extent()?;
                self.head().map(drop)
            }
        }
    }

    pub(crate) fn set_cut_short(&self, found: Option<CutShort>) {
        *self.cut_short.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// The vault's id.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Where the vault is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether it was opened where nothing can be written.
    pub fn is_read_only(&self) -> bool {
        self.catalog.options().read_only
    }

    /// Whether it was opened to free space on a disk that had next to none.
    pub(crate) fn is_tight(&self) -> bool {
        self.released.is_some()
    }

    pub(crate) fn signing(&self) -> &Signing {
        &self.signing
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The objects of the vault.
    pub fn objects(&self) -> Result<&Objects> {
        if let Some(objects) = self.objects.get() {
            return Ok(objects);
        }
        let backend = SqliteBackend::new(&self.catalog);
        let opened = Objects::new(Box::new(backend), self.layers_dir());
        Ok(self.objects.get_or_init(|| opened))
    }

    /// The objects of the vault with some above them that are not stored, to look at a state that may never be.
    pub(crate) fn draft(&self, batch: &Batch) -> Result<Objects> {
        let backend = SqliteBackend::new(&self.catalog);
        let draft = Objects::new(Box::new(DraftBackend::new(backend)), self.layers_dir());
        draft.store(batch)?;
        Ok(draft)
    }

    pub(crate) fn packs_dir(&self) -> PathBuf {
        self.dir.join("packs")
    }

    pub(crate) fn layers_dir(&self) -> PathBuf {
        self.dir.join("layers")
    }

    /// Runs `work` over refs and commits what it changed, with its operation and audit event, durably.
    ///
    /// `kind` names the operation. An error from `work` changes nothing.
    pub fn transact<T>(
        &self,
        kind: &str,
        actor: &Actor,
        work: impl FnOnce(&mut Transaction<'_, '_>) -> Result<T>,
    ) -> Result<Committed<T>> {
        self.enter()?;
        let _held = self.hold()?;
        self.catalog
            .write(|writer| self.transact_on(writer, Recorded::Operation, (kind, actor), work))
    }

    /// Records an event of the audit log that belongs to no operation: it moves no ref, and nobody undoes it. It is durable.
    pub fn record_event<T>(
        &self,
        kind: &str,
        actor: &Actor,
        work: impl FnOnce(&mut Transaction<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        self.event(true, (kind, actor), work)
    }

    /// The same, but durable only with what is committed next: for what is announced before it is done. Without its announcement nothing
    /// that comes after is ever there.
    pub fn announce<T>(
        &self,
        kind: &str,
        actor: &Actor,
        work: impl FnOnce(&mut Transaction<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        self.event(false, (kind, actor), work)
    }

    /// The same with whatever else is written under the write lock that is held.
    pub(crate) fn record_on<T>(
        &self,
        kind: &str,
        (writer, actor): (&mut Writer<'_>, &Actor),
        work: impl FnOnce(&mut Transaction<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        Ok(self.transact_on(writer, Recorded::Event, (kind, actor), work)?.value)
    }

    fn event<T>(
        &self,
        durable: bool,
        about: (&str, &Actor),
        work: impl FnOnce(&mut Transaction<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        self.enter()?;
        let record =
            |writer: &mut Writer<'_>| self.transact_on(writer, Recorded::Event, about, work);
        let recorded = match durable {
            true => self.catalog.write(record),
            false => self.catalog.write_ordered(record),
        };
        Ok(recorded?.value)
    }

    fn transact_on<T>(
        &self,
        writer: &mut Writer<'_>,
        recorded: Recorded,
        (kind, actor): (&str, &Actor),
        work: impl FnOnce(&mut Transaction<'_, '_>) -> Result<T>,
    ) -> Result<Committed<T>> {
        let mut transaction = Transaction::new(writer, &self.signing, recorded, kind, actor);
        let value = work(&mut transaction)?;
        Ok(Committed { value, operation: transaction.finish()? })
    }

    /// Has the key whose signature the log has lie in its place.
    pub(crate) fn settle_key(&self) -> Result<()> {
        self.catalog.write(|writer| {
            let recorded = writer.meta(AUDIT_SIGNATURE)?;
            let recorded = recorded.and_then(|bytes| SignedHead::from_bytes(&bytes));
            self.signing.key(recorded.as_ref().map(|signed| &signed.key)).map(drop)
        })
    }

    fn check_writable(&self) -> Result<()> {
        self.require_own()?;
        match (self.is_read_only(), self.cut_short()) {
            (true, _) => Err(StoreError::ReadOnly(self.dir.clone()).into()),
            (false, Some(lost)) => Err(VaultError::CutShort(lost)),
            (false, None) => Ok(()),
        }
    }

    /// Fails for root where the vault is somebody else's: nothing is changed in it, and what its owner would have to settle first cannot be seen.
    pub fn require_own(&self) -> Result<()> {
        require_own(&self.dir)
    }

    /// Marks this process as one that writes; called before anything is changed.
    pub fn enter(&self) -> Result<()> {
        self.check_writable()?;
        let mut presence = self.presence.lock().unwrap_or_else(PoisonError::into_inner);
        if presence.is_none() {
            *presence = Some(Presence::enter(&self.dir)?);
            reserve::keep(&self.dir);
        }
        Ok(())
    }

    /// What an open after an unclean stop does before anything else.
    fn recover(&self) -> Result<()> {
        self.catalog.check(false)?;
        let heads = self.catalog.read(reachable_heads)?;
        for snapshot in heads {
            let root = self.snapshot(&snapshot)?.root;
            self.objects()?.root(&root)?;
        }
        self.sweep_layers()?;
        self.clear_packs();
        cache_file::clear(&self.dir);
        Ok(())
    }

    /// Removes packs that were being written, unless somebody writes them now.
    fn clear_packs(&self) {
        let Ok(Some(_alone)) = self.try_alone(COLLECTING) else { return };
        for entry in std::fs::read_dir(self.packs_dir()).into_iter().flatten().flatten() {
            if entry.file_name().as_encoded_bytes().ends_with(b".tmp") {
                // What cannot be removed now is removed when garbage is collected.
                drop(std::fs::remove_file(entry.path()));
            }
        }
    }

    /// The vault's main line.
    pub fn head(&self) -> Result<Snapshot> {
        self.read(|reader| {
            let row = reader.get_ref(&head_key())?;
            let row = row.ok_or_else(|| self.headless())?;
            Snapshot::load(reader, &head_snapshot(&row)?)
        })
    }

    /// Why there is no main line.
    pub(crate) fn headless(&self) -> VaultError {
        match self.cut_short() {
            Some(lost) => VaultError::CutShort(lost),
            None => VaultError::Tree(TreeError::MissingObject("the head".to_owned())),
        }
    }

    /// A snapshot.
    pub fn snapshot(&self, id: &Id) -> Result<Snapshot> {
        self.read(|reader| Snapshot::load(reader, id))
    }

    /// Fails where the files of a snapshot are gone, and says whether they were collected as garbage.
    pub fn require_files(&self, snapshot: &Snapshot) -> Result<()> {
        match self.files_gone(snapshot)? {
            None => Ok(()),
            Some(Some(time_ms)) => Err(VaultError::Collected { snapshot: snapshot.id, time_ms }),
            Some(None) => {
                Err(VaultError::Tree(TreeError::MissingObject(format!("root {}", snapshot.root))))
            }
        }
    }

    /// Whether the files of a snapshot were collected as garbage.
    pub fn is_collected(&self, snapshot: &Snapshot) -> Result<bool> {
        Ok(matches!(self.files_gone(snapshot)?, Some(Some(_))))
    }

    /// Whether the files of a snapshot are gone, and when they were collected.
    fn files_gone(&self, snapshot: &Snapshot) -> Result<Option<Option<u64>>> {
        self.read(|reader| {
            if reader.has_object(ObjectKind::Root, &snapshot.root.0)? {
                return Ok(None);
            }
            Ok(Some(reader.collected(&snapshot.root.0)?))
        })
    }

    /// When the output of a command was collected as garbage, if it was.
    pub fn output_collected(&self, exec: &Id) -> Result<Option<u64>> {
        self.read(|reader| Ok(reader.collected(exec.as_bytes())?))
    }

    /// A snapshot and what came before it, newest first.
    pub fn ancestry(&self, from: Id, limit: usize) -> Result<Vec<Snapshot>> {
        self.read(|reader| snapshot::ancestry(reader, from, limit))
    }

    /// Snapshots whose ids start so; only the first few are looked for.
    pub fn snapshots_by_prefix(&self, prefix: &IdPrefix) -> Result<Vec<Id>> {
        let (low, high) = prefix.range();
        self.read(|reader| Ok(reader.snapshots_between(&low, &high, MOST_FITTING)?))
    }

    /// Operations whose ids start so; only the first few are looked for.
    pub fn operations_by_prefix(&self, prefix: &IdPrefix) -> Result<Vec<Id>> {
        let (low, high) = prefix.range();
        self.read(|reader| Ok(reader.operations_between(&low, &high, MOST_FITTING)?))
    }

    /// All workspaces, oldest first.
    pub fn workspaces(&self) -> Result<Vec<WorkspaceRecord>> {
        let rows = self.read(|reader| Ok(reader.refs(WORKSPACE)?))?;
        rows.into_iter().map(|(key, row)| WorkspaceRecord::from_row(&key, row)).collect()
    }

    /// The workspace of an id.
    pub fn workspace(&self, id: &Id) -> Result<Option<WorkspaceRecord>> {
        let key = RefKey { kind: WORKSPACE.to_owned(), id: id.to_string() };
        let row = self.read(|reader| Ok(reader.get_ref(&key)?))?;
        row.map(|row| WorkspaceRecord::from_row(&key, row)).transpose()
    }

    /// The workspace of a name.
    pub fn workspace_named(&self, name: &str) -> Result<Option<WorkspaceRecord>> {
        let found = self.read(|reader| Ok(reader.ref_by_name(WORKSPACE, "", name)?))?;
        found.map(|(key, row)| WorkspaceRecord::from_row(&key, row)).transpose()
    }

    /// The ids of workspaces by their last operation, newest first.
    pub fn recently_used(&self) -> Result<Vec<Id>> {
        let ids = self.read(|reader| Ok(reader.recently_used(WORKSPACE)?))?;
        Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
    }

    /// All checkpoints, oldest first.
    pub fn checkpoints(&self) -> Result<Vec<Checkpoint>> {
        let rows = self.read(|reader| Ok(reader.refs(CHECKPOINT)?))?;
        rows.into_iter().map(|(key, row)| Checkpoint::from_row(&key, row)).collect()
    }

    /// The host directories that the vault is bound to, the top of the tree first.
    pub fn bindings(&self) -> Result<Vec<Binding>> {
        self.read(bindings)
    }

    /// The id that the catalog itself says the vault has.
    pub fn recorded_id(&self) -> Result<Option<Id>> {
        let recorded = self.read(|reader| Ok(reader.meta(VAULT)?))?;
        Ok(recorded.and_then(|bytes| bytes.try_into().ok()).map(Id::from_bytes))
    }

    /// The path of the git directory that somebody let go of last.
    pub fn declined_git_directory(&self) -> Result<Option<Vec<u8>>> {
        self.read(|reader| Ok(reader.meta(DECLINED)?))
    }

    /// What is remembered of git commits that are still to be made.
    pub fn git_due(&self) -> Result<Option<Vec<u8>>> {
        self.read(|reader| Ok(reader.meta(GIT_DUE)?))
    }

    /// The rules and settings that the audit log knows as those in force; nothing where it knows none.
    pub fn rules_in_force<T: DeserializeOwned>(&self) -> Result<Option<T>> {
        let known = self.read(|reader| Ok(reader.meta(AUDIT_RULES)?))?;
        Ok(known.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Whether an apply is the last one that was recorded.
    pub fn is_recorded(&self, apply: &Id) -> Result<bool> {
        let last = self.read(|reader| Ok(reader.meta(APPLIED)?))?;
        Ok(last.as_deref() == Some(apply.as_bytes().as_slice()))
    }

    /// Makes everything durable that was stored until now, before something is done outside of the vault that builds upon it.
    pub fn make_durable(&self) -> Result<()> {
        self.enter()?;
        let written = self.catalog.write(|writer| {
            // A commit that writes nothing syncs nothing.
            let id = writer.new_id();
            writer.set_meta("durable", id.as_bytes())
        });
        written.map_err(|error| match error {
            // Whether that is recorded matters to nobody.
            StoreError::Undecided { source, .. } => (*source).into(),
            other => other.into(),
        })
    }

    /// A state of files, to look at.
    pub fn tree(&self, root: &RootId) -> Result<Tree<'_>> {
        Ok(Tree::open(self.objects()?, root)?)
    }

    /// The newest operation of a scope.
    pub fn last_operation(&self, scope: Scope) -> Result<Option<crate::operation::Operation>> {
        Ok(self.operations(scope, None, 1)?.pop())
    }

    pub(crate) fn read<T>(&self, work: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
        self.catalog.read(work)
    }

    /// Makes the vault's own directory entries durable.
    pub(crate) fn sync_dirs(&self) -> Result<()> {
        for dir in [&self.layers_dir(), &self.dir] {
            disk::sync_dir(dir).map_err(io_error("sync", dir))?;
        }
        Ok(())
    }
}

/// Fails where root must not change what is in a directory.
pub(crate) fn require_own(dir: &Path) -> Result<()> {
    match owner_to_spare(dir) {
        Some(owner) => Err(VaultError::SomebodyElses { dir: dir.to_owned(), owner }),
        None => Ok(()),
    }
}

/// Whose a vault or a home is that root must not change: its owner could not open what root makes there.
pub(crate) fn owner_to_spare(dir: &Path) -> Option<u32> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let owner = std::fs::symlink_metadata(dir).ok()?.uid();
    (owner != 0).then_some(owner)
}

/// Counts and sizes of a vault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Operations in the log.
    pub operations: u64,
    /// Sealed layers.
    pub layers: u64,
    /// Bytes of the files in them.
    pub layers_bytes: u64,
    /// Sealed packs.
    pub packs: u64,
    /// Bytes of them.
    pub packs_bytes: u64,
}

impl Vault {
    /// Counts and sizes.
    pub fn figures(&self) -> Result<Figures> {
        self.read(|reader| {
            let (layers, packs) = (reader.layers()?, reader.packs()?);
            Ok(Figures {
                operations: reader.operation_count()?,
                layers: layers.len() as u64,
                layers_bytes: layers.iter().map(|layer| layer.bytes).sum(),
                packs: packs.len() as u64,
                packs_bytes: packs.iter().map(|pack| pack.bytes).sum(),
            })
        })
    }
}
