//! Checking a whole vault: everything that refs reach is there and is what its hash says.

mod execs;
pub(crate) mod repair;
mod sessions;
mod stacks;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use offshoot_host::lock::DirLock;
use offshoot_host::says_damage;
use offshoot_store::Id;
use offshoot_tree::{BlobId, Body, DirRef, Entry, Node, NodeId, ObjectLocation};

use crate::audit::log;
use crate::audit::verify::{AuditFlaw, AuditVerifier};
use crate::error::{Result, VaultError, cut_short, io_error};
use crate::gate::COLLECTING;
use crate::refs::head_key;
use crate::snapshot::Snapshot;
use crate::vault::Vault;

/// How much to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckDepth {
    /// Everything but the bytes of files: that they are there, and as long as they should be.
    Structure,
    /// The bytes of every file too.
    Content,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Snapshots looked at.
    pub snapshots: u64,
    /// Directory nodes looked at.
    pub nodes: u64,
    /// Contents looked at.
    pub blobs: u64,
    /// Bytes of file content that were read.
    pub bytes: u64,
    /// Operations in the log.
    pub operations: u64,
    /// Commands looked at.
    pub execs: u64,
    /// Audit events whose chain holds.
    pub audit_events: u64,
    /// What is wrong; empty for a vault in order.
    pub problems: Vec<String>,
    /// Layers of stacks that are gone or do not hold what they should; [`Vault::rebuild_layer`] does without them, where the
    /// bytes are elsewhere too.
    pub damaged_layers: Vec<Id>,
    /// Layer directories that nothing refers to and nobody is writing: left over from a crash, harmless.
    pub stray_layers: Vec<String>,
}

struct Checker<'a> {
    vault: &'a Vault,
    depth: CheckDepth,
    report: CheckReport,
    /// With how many conflicts are in each and beneath.
    nodes: HashMap<NodeId, u64>,
    blobs: HashSet<BlobId>,
    /// Layers in which the bytes of some reachable content are.
    homes: HashSet<Id>,
    /// The first thing that could not be looked at, which says nothing about whether it is in order.
    unread: Option<VaultError>,
}

impl Vault {
    /// Checks every record, and everything that any snapshot reaches. Nothing is collected or moved meanwhile, and records are
    /// compared with each other as they are at one moment; others can go on working. Fails where no damage was found and something
    /// could not be read.
    pub fn check(&self, depth: CheckDepth) -> Result<CheckReport> {
        let _shared = match self.is_read_only() {
            true => None,
            false => Some(self.take_shared(COLLECTING)?),
        };
        self.check_held(depth)
    }

    /// The same by somebody who keeps everybody from collecting.
    fn check_held(&self, depth: CheckDepth) -> Result<CheckReport> {
        let mut checker = Checker {
            vault: self,
            depth,
            report: CheckReport::default(),
            nodes: HashMap::new(),
            blobs: HashSet::new(),
            homes: HashSet::new(),
            unread: None,
        };
        checker.catalog();
        // A part that cannot be checked at all is a problem too, and no reason to leave the others out.
        let parts = [
            Checker::records,
            Checker::snapshots,
            Checker::refs,
            Checker::execs,
            Checker::sessions,
            Checker::audit,
            Checker::layers,
            Checker::stacks,
        ];
        for part in parts {
            let checked = part(&mut checker);
            checker.note(checked);
        }
        let Checker { mut report, unread, .. } = checker;
        match unread {
            Some(error) if report.problems.is_empty() => return Err(error),
            unread => report.problems.extend(unread.map(|error| error.to_string())),
        }
        Ok(report)
    }
}

impl Checker<'_> {
    /// Notes a problem, once: a broken page is met by every step that needs it.
    fn problem(&mut self, text: impl ToString) {
        let text = text.to_string();
        if !self.report.problems.contains(&text) {
            self.report.problems.push(text);
        }
    }

    /// Notes an error of one step and goes on with the next.
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => return Some(value),
            Err(error) if error.is_of_storage() => drop(self.unread.get_or_insert(error)),
            Err(error) => self.problem(error),
        }
        None
    }

    fn catalog(&mut self) {
        let checked = self.vault.catalog().check(true);
        self.note(checked.map_err(Into::into));
    }

    /// Every row is what its hash says, and there are as many as there should be.
    fn records(&mut self) -> Result<()> {
        if let Some(lost) = self.vault.catalog().cut_short()? {
            self.problem(cut_short(&lost));
        }
        let found = self.vault.read(|reader| Ok(reader.check_rows()?))?;
        found.into_iter().for_each(|problem| self.problem(problem));
        Ok(())
    }

    fn snapshots(&mut self) -> Result<()> {
        let ids = self.vault.read(|reader| Ok(reader.snapshot_ids()?))?;
        for id in ids {
            self.report.snapshots += 1;
            let snapshot = self.vault.snapshot(&id);
            if let Some(snapshot) = self.note(snapshot) {
                // What was collected as garbage is missed by nobody but who goes there, and told then.
                if !self.vault.is_collected(&snapshot)? {
                    self.root(&snapshot);
                }
                for parent in &snapshot.parents {
                    let parent = self.vault.snapshot(parent);
                    self.note(parent);
                }
            }
        }
        Ok(())
    }

    fn root(&mut self, snapshot: &Snapshot) {
        let top = self.vault.objects().and_then(|objects| Ok(objects.root(&snapshot.root)?));
        let Some(top) = self.note(top) else { return };
        if top.directory().map(|dir| dir.content) != Some(snapshot.content) {
            self.problem(format!("snapshot {} has the content hash of another tree", snapshot.id));
        }
        let mut pending: Vec<DirRef> = top.directories().copied().collect();
        self.entry(&top);
        while let Some(dir) = pending.pop() {
            let found = match self.nodes.get(&dir.node) {
                Some(known) => *known,
                None => self.node(&dir, &mut pending),
            };
            // By these numbers conflicts are found, so one that is too low would hide some.
            if found != dir.conflicts {
                let expected = dir.conflicts;
                self.problem(format!(
                    "directory {} has {found} conflicts, not {expected}",
                    dir.node
                ));
            }
        }
    }

    /// Looks at a node for the first time; gives how many conflicts are in it and beneath.
    fn node(&mut self, dir: &DirRef, pending: &mut Vec<DirRef>) -> u64 {
        self.report.nodes += 1;
        let node = self.vault.objects().and_then(|objects| Ok(objects.node(&dir.node)?));
        let conflicts = match self.note(node) {
            Some(Node::Index(children)) => {
                pending.extend(children.iter().map(|child| child.dir));
                children.iter().map(|child| child.dir.conflicts).fold(0, u64::saturating_add)
            }
            Some(Node::Leaf(entries)) => {
                pending.extend(entries.iter().flat_map(Entry::directories));
                entries.iter().for_each(|entry| self.entry(entry));
                entries.iter().map(Entry::conflicts).fold(0, u64::saturating_add)
            }
            None => dir.conflicts,
        };
        self.nodes.insert(dir.node, conflicts);
        conflicts
    }

    /// Looks at the content of an entry, and at every version that its conflict keeps.
    fn entry(&mut self, entry: &Entry) {
        for body in entry.bodies() {
            if let Body::File { size, blob } = body {
                self.blob(blob, *size);
            }
        }
    }

    fn blob(&mut self, blob: &BlobId, size: u64) {
        if !self.blobs.insert(*blob) {
            return;
        }
        self.report.blobs += 1;
        if let Ok(ObjectLocation::Layer { layer, .. }) =
            self.vault.objects().and_then(|o| Ok(o.place(blob)?))
        {
            self.homes.insert(layer);
        }
        let checked = match self.depth {
            CheckDepth::Content => self.read_blob(blob, size),
            CheckDepth::Structure => self.find_blob(blob, size),
        };
        self.note(checked);
    }

    fn read_blob(&mut self, blob: &BlobId, size: u64) -> Result<()> {
        let mut reader = self.vault.objects()?.reader(blob)?;
        let mut buffer = vec![0u8; 1 << 16];
        let mut length = 0u64;
        loop {
            let got = reader.read(&mut buffer)?;
            if got == 0 {
                break;
            }
            length += got as u64;
        }
        self.report.bytes += length;
        self.compare_size(blob, size, length);
        Ok(())
    }

    fn find_blob(&mut self, blob: &BlobId, size: u64) -> Result<()> {
        let length = self.vault.objects()?.length(blob)?;
        self.compare_size(blob, size, length);
        Ok(())
    }

    fn compare_size(&mut self, blob: &BlobId, expected: u64, found: u64) {
        if expected != found {
            self.problem(format!("content {blob} has {found} bytes, not {expected}"));
        }
    }

    fn refs(&mut self) -> Result<()> {
        let refs = self.vault.read(|reader| Ok(reader.all_refs()?))?;
        if !refs.iter().any(|(key, _)| *key == head_key()) {
            self.problem("the head is missing");
        }
        for (key, row) in refs {
            let snapshots = self.note(crate::refs::snapshots_of(&key, row));
            for id in snapshots.unwrap_or_default() {
                let snapshot = self.vault.snapshot(&id);
                self.note(snapshot);
            }
        }
        Ok(())
    }

    /// The chain and its signature. Whose signature it is, only somebody who knows the key can say.
    fn audit(&mut self) -> Result<()> {
        let (id, verifier) = (self.vault.id(), AuditVerifier::new(self.vault.id(), None));
        let (operations, unaudited, is_signed, verified) = self.vault.read(|reader| {
            let is_signed = log::head(reader, id)?.1.is_some();
            let (count, unaudited) = (reader.operation_count()?, reader.unaudited_operations()?);
            Ok((count, unaudited, is_signed, log::verify_on(reader, verifier)?))
        })?;
        self.report.operations = operations;
        match verified {
            Ok(report) => self.report.audit_events = report.events,
            // Nobody has signed yet for a log from before there were signatures.
            Err(AuditFlaw::NeverSigned(events)) if !is_signed => self.report.audit_events = events,
            Err(flaw) => {
                self.problem(VaultError::Audit(flaw.to_string()));
                return Ok(());
            }
        }
        if unaudited > 0 {
            self.problem(format!("{unaudited} operations have no audit event"));
        }
        Ok(())
    }

    fn layers(&mut self) -> Result<()> {
        let (recorded, stacked) =
            self.vault.read(|reader| Ok((reader.layers()?, reader.stacked_layers()?)))?;
        let folder = self.vault.layers_dir();
        for layer in &recorded {
            // A layer that no stack uses any more was only a copy, unless content is at home in it.
            let needed = stacked.contains(&layer.id) || self.homes.contains(&layer.id);
            let place = folder.join(layer.id.to_string());
            if needed && !is_there(&place)? {
                self.problem(format!("layer {} is missing", layer.id));
                self.report.damaged_layers.push(layer.id);
            }
        }
        for entry in fs::read_dir(&folder).map_err(io_error("read", &folder))? {
            let entry = entry.map_err(io_error("read", &folder))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let id: Option<Id> = name.parse().ok();
            let used = id.is_some_and(|id| {
                self.homes.contains(&id) || recorded.iter().any(|layer| layer.id == id)
            });
            // What somebody is writing right now has no record yet.
            let written = name.ends_with(".tmp") && DirLock::take(&entry.path()).is_err();
            if !used && !written {
                self.report.stray_layers.push(name);
            }
        }
        Ok(())
    }
}

/// Whether a directory is at a path.
fn is_there(place: &Path) -> Result<bool> {
    match fs::metadata(place) {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if says_damage(&error) => Ok(false),
        Err(error) => Err(io_error("look at", place)(error)),
    }
}
