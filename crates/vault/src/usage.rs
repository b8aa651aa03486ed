//! What a vault takes, and what for.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use offshoot_store::{Hash, Id, StackRow};

use crate::error::Result;
use crate::gc::due::LastCollection;
use crate::gc::layers::shown;
use crate::gc::pins::Pins;
use crate::gc::report::Taken;
use crate::refs::{head_key, head_snapshot};
use crate::reserve;
use crate::vault::Vault;

/// What a vault takes, by what it is there for. Layers count with the bytes of their files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageUsage {
    /// Layers that show the main line.
    pub base: Taken,
    /// Further layers that show workspaces, or that a command uses now.
    pub workspaces: Taken,
    /// Layers that the last collection kept for something else: to undo, or for checkpoints.
    pub history: Taken,
    /// Layers since then that nothing is shown with any more. The next collection packs or removes most of them.
    pub uncollected: Taken,
    /// Packs: content of any age.
    pub packs: Taken,
    /// The catalog with its log.
    pub catalog: u64,
    /// Caches.
    pub caches: Taken,
    /// What interrupted commands left.
    pub left: Taken,
    /// What is kept for freeing space on a full disk.
    pub reserve: u64,
}

impl Vault {
    /// What the vault takes. Costs as much as there are layers, caches and files that interrupted commands left.
    pub fn storage_usage(&self, last: Option<&LastCollection>) -> Result<StorageUsage> {
        let pins = Pins::read(self)?;
        let mut usage = self.read(|reader| {
            let stacks: HashMap<Hash, StackRow> =
                reader.stacks()?.into_iter().map(|stack| (stack.root, stack)).collect();
            let layers_of = |root: &Hash| -> HashSet<Id> {
                stacks.get(root).iter().flat_map(|stack| stack.all_layers().copied()).collect()
            };
            let mut base = HashSet::new();
            if let Some(head) = reader.get_ref(&head_key())?
                && let Some(row) = reader.snapshot(&head_snapshot(&head)?)?
            {
                base = layers_of(&row.root);
                for parent in row.parents.iter().filter(|_| !stacks.contains_key(&row.root)) {
                    // Its own are made with the first command, upon these.
                    base.extend(
                        reader.snapshot(parent)?.iter().flat_map(|row| layers_of(&row.root)),
                    );
                }
            }
            let mut used = pins.layers.clone();
            for root in shown(reader, &pins, &stacks)? {
                used.extend(layers_of(&root));
            }
            let mut usage = StorageUsage::default();
            for layer in reader.layers()? {
                let kind = if base.contains(&layer.id) {
                    &mut usage.base
                } else if used.contains(&layer.id) {
                    &mut usage.workspaces
                } else if last.is_some_and(|last| layer.id <= last.mark) {
                    &mut usage.history
                } else {
                    &mut usage.uncollected
                };
                kind.add(layer.bytes);
            }
            reader.packs()?.iter().for_each(|pack| usage.packs.add(pack.bytes));
            Ok(usage)
        })?;
        usage.catalog = self.catalog().bytes();
        for entry in fs::read_dir(self.dir().join("cache")).into_iter().flatten().flatten() {
            usage.caches.add(entry.metadata().map_or(0, |data| data.len()));
        }
        usage.left.count = self.left()?.len() as u64;
        usage.left.bytes = disk_bytes(&self.dir().join("left"));
        usage.reserve = reserve::bytes(self.dir());
        Ok(usage)
    }

    /// The blocks that all files of the vault take on disk, in bytes; looks at every one of them.
    pub fn disk_bytes(&self) -> u64 {
        disk_bytes(self.dir())
    }
}

/// The blocks of everything below a directory. What cannot be looked at does not count.
fn disk_bytes(dir: &Path) -> u64 {
    let mut pending: Vec<PathBuf> = vec![dir.to_owned()];
    let mut linked = HashSet::new();
    let mut blocks = 0;
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(data) = entry.metadata() else { continue };
            if data.is_dir() {
                pending.push(entry.path());
            } else if data.nlink() > 1 && !linked.insert((data.dev(), data.ino())) {
                continue;
            }
            blocks += data.blocks();
        }
    }
    blocks * 512
}
