//! Bringing host directories into a vault.
//!
//! In passes, each with its own type: *scan* lists and stats everything in parallel; *read* reads, hashes and copies the
//! files that the stat cache does not know; *build* makes the tree. A second import of an unchanged directory does
//! stats only.

mod build;
pub(crate) mod cache;
mod content;
mod folders;
pub(crate) mod ignore;
pub(crate) mod options;
pub(crate) mod plan;
mod read;
pub(crate) mod report;
mod scan;
mod unreadable;

use std::path::{Path, PathBuf};

use offshoot_host::{Mtime, workers};
use offshoot_store::StackRow;
use offshoot_tree::links::Links;
use offshoot_tree::{Batch, ContentId, Entry, Meta, RootId, VaultPath};

use crate::actor::Actor;
use crate::audit::records::Records;
use crate::cache_file;
use crate::error::{Result, io_error};
use crate::import::options::ImportOptions;
use crate::import::report::ImportReport;
use crate::layer::LayerKind;
use crate::operation::{ARRIVE, CREATE};
use crate::refs::Binding;
use crate::transact::{NewSnapshot, Transaction};
use crate::vault::Vault;

/// Where a new vault's files come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// Nowhere: it starts empty.
    Nothing,
    /// A host directory, which the vault is bound to.
    Directory(&'a Path),
}

/// Files that came in, stored but not yet part of any history.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The state of the imported directory.
    pub root: RootId,
    /// Its content.
    pub content: ContentId,
    /// Its top directory.
    pub top: Entry,
    /// What happened.
    pub report: ImportReport,
    /// The layers that show the root, where the import made one.
    stack: Option<StackRow>,
    /// Which of its paths are hard links.
    links: Links,
}

impl Imported {
    /// Records how to show the root and what it links; belongs into the transaction that first mentions it.
    pub fn record(&self, tx: &mut Transaction<'_, '_>) -> Result<()> {
        if let Some(stack) = &self.stack {
            tx.set_stack(stack)?;
        }
        tx.set_links(&self.root, &self.links.encode())
    }
}

/// Files that came in, and what the next import of them need not read.
struct Taken {
    imported: Imported,
    cache: PendingCache,
}

/// A stat cache that is to be written once it is known which root keeps its contents.
struct PendingCache {
    file: PathBuf,
    /// None where the file says enough already.
    rows: Option<cache::Rows>,
}

impl PendingCache {
    fn save(self, root: &RootId) {
        if let Some(rows) = self.rows {
            cache::save(&self.file, root, &rows);
        }
    }

    /// Makes also a file that says enough already count for this root.
    fn save_by(self, root: &RootId) {
        let file = self.file.clone();
        self.save(root);
        cache::keep_by(&file, root);
    }
}

impl Vault {
    /// Reads a host directory and stores what is new in it.
    pub fn import(&self, source: &Path, options: &ImportOptions) -> Result<Imported> {
        self.enter()?;
        let source = source.canonicalize().map_err(io_error("open", source))?;
        let mut options = options.clone();
        options.never.push(self.dir().to_owned());
        self.import_as(LayerKind::Content, &source, &options)
    }

    pub(crate) fn import_as(
        &self,
        kind: LayerKind,
        source: &Path,
        options: &ImportOptions,
    ) -> Result<Imported> {
        let Taken { imported, cache } = self.take(kind, source, None, options)?;
        cache.save(&imported.root);
        Ok(imported)
    }

    /// Reads a directory; `at` is where it lies in the vault's tree if the vault is bound to it.
    fn take(
        &self,
        kind: LayerKind,
        source: &Path,
        at: Option<&VaultPath>,
        options: &ImportOptions,
    ) -> Result<Taken> {
        let _held = self.hold()?;
        workers::with_own(options.threads, || self.run_import(kind, source, at, options))?
    }

    fn run_import(
        &self,
        kind: LayerKind,
        source: &Path,
        at: Option<&VaultPath>,
        options: &ImportOptions,
    ) -> Result<Taken> {
        let objects = self.objects()?;
        let file = cache::file_for(self.dir(), source);
        let bytes = if options.everything { Vec::new() } else { cache_file::load(&file) };
        let started = Mtime::now();
        let (known, scanned) = rayon::join(
            || cache::parse(&bytes, |root| objects.root(root).is_ok()),
            || scan::scan(source, at, options),
        );
        let scanned = scanned?;
        let place = at.map(VaultPath::relative).unwrap_or_default();
        let plan = plan::Plan::new(&scanned, &known, kind, &place);
        let reader = read::Reader { objects, source, options, kind, layers: self.layers_dir() };
        let contents = reader.run(&scanned, &plan)?;
        let is_worth_it = cache::is_worth_writing(known.len(), plan.files, plan.totals());
        let remember = (is_worth_it && !options.everything).then_some(started);
        let mut built = build::build(&scanned, &plan, contents.files, remember);
        let layer = contents.stage.map(|stage| stage.seal(Some(built.root))).transpose()?;
        if let Some(layer) = &layer {
            self.record_layer(layer)?;
        }
        let layer = layer.map(|layer| layer.id);
        // A root that is there came with all its nodes, so without new content there is nothing to store.
        if !contents.blobs.is_empty() || objects.root(&built.root).is_err() {
            contents.blobs.add_to(&mut built.batch, layer);
            objects.store(&built.batch)?;
        } else {
            objects.keep_made(built.batch);
        }
        let cache = PendingCache { file, rows: remember.map(|_| built.rows) };
        let stack = layer.filter(|_| kind == LayerKind::Base);
        let stack = stack.map(|layer| {
            let (layers, data) = (vec![layer], Vec::new());
            StackRow { root: built.root.0, layers, data }
        });
        let mut report = built.report;
        report.skipped.extend(contents.skipped);
        report.skipped.sort_by(|a, b| a.path.cmp(&b.path));
        let (root, content, top, links) = (built.root, built.content, built.top, built.links);
        Ok(Taken { imported: Imported { root, content, top, report, stack, links }, cache })
    }

    /// Makes the first state of a new vault.
    pub(crate) fn found(
        &self,
        name: &str,
        source: Source<'_>,
        options: &ImportOptions,
        actor: &Actor,
    ) -> Result<ImportReport> {
        let _held = self.hold()?;
        let imported = match source {
            Source::Directory(dir) => self.import_first(LayerKind::Base, dir, options)?,
            Source::Nothing => self.empty()?,
        };
        self.transact(CREATE, actor, |tx| {
            imported.record(tx)?;
            let reason = if matches!(source, Source::Nothing) { "create" } else { "import" };
            let snapshot = tx.add_snapshot(NewSnapshot {
                root: imported.root,
                content: imported.content,
                parents: Vec::new(),
                reason: reason.to_owned(),
                message: None,
            })?;
            tx.set_head(snapshot.id)?;
            if let Source::Directory(dir) = source {
                let (id, created_ms) = (tx.new_id(), tx.time_ms());
                tx.set_binding(&Binding::new(id, "", dir, created_ms))?;
            }
            tx.summary(format!("create vault {name}"));
            tx.record_vault(&self.id(), name)
        })?;
        Ok(imported.report)
    }

    fn empty(&self) -> Result<Imported> {
        let meta = Meta::of_new(0o755);
        let mut batch = Batch::default();
        let dir = batch.directory(&[]);
        let body = offshoot_tree::Body::Directory(dir.into());
        let top = Entry::new(meta, body);
        let root = batch.root(&top);
        self.objects()?.store(&batch)?;
        // A layer with nothing in it, so that there is a stack to build upon.
        self.stack(&root, &[])?;
        let report = ImportReport::default();
        let links = Links::default();
        Ok(Imported { root, content: dir.content, top, report, stack: None, links })
    }

    /// Records that the vault came from elsewhere, the name that it has here, and which records are others here. From here on the key of this machine signs.
    pub(crate) fn record_arrival(&self, name: &str, actor: &Actor, altered: Records) -> Result<()> {
        self.record_event(ARRIVE, actor, |tx| {
            tx.cover(altered);
            let id = tx.new_id();
            tx.summary(format!("import vault {name}"));
            let writer = tx.writer();
            writer.set_meta("arrived", id.as_bytes())?;
            Ok(writer.set_meta("name", name.as_bytes())?)
        })
    }

    /// The name that the vault was made with.
    pub(crate) fn recorded_name(&self) -> Result<String> {
        let name = self.read(|reader| Ok(reader.meta("name")?))?;
        let name = name.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(name.unwrap_or_else(|| self.id().to_string()))
    }
}
