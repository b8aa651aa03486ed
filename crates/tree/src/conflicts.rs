//! Conflicts that a tree keeps: finding them, and saying whether what was written decides them.

use offshoot_host::workers::{FEW, share};
use offshoot_text::lines::is_binary;
use offshoot_text::markers::has_markers;
use rayon::prelude::*;

use crate::diff::change::Change;
use crate::entry::record::ConflictRecord;
use crate::entry::{Body, DirRef, Entry};
use crate::error::{Result, TreeError};
use crate::node::Node;
use crate::objects::Objects;
use crate::path::VaultPath;
use crate::tree::Tree;

/// What is longer is not read to look for markers, and counts as no text.
const LONGEST_TEXT: u64 = 64 << 20;

impl Tree<'_> {
    /// How many entries somebody has to decide about; known without looking for them.
    pub fn conflict_count(&self) -> u64 {
        self.top().conflicts()
    }

    /// The entries that somebody has to decide about, at `path` and below, in byte order of paths. Only directories on the way to one
    /// are read.
    pub fn conflicts(&self, path: &VaultPath) -> Result<Vec<(VaultPath, Entry)>> {
        let mut found = Vec::new();
        let mut pending: Vec<(VaultPath, Entry)> =
            self.get(path)?.map(|entry| (path.clone(), entry)).into_iter().collect();
        while let Some((path, entry)) = pending.pop() {
            if let Some(dir) = entry.directory() {
                let below = self.objects().conflicted(dir)?;
                pending.extend(below.into_iter().map(|entry| (path.join(&entry.name), entry)));
            }
            if entry.conflict.is_some() {
                found.push((path, entry));
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }
}

/// The paths of changes whose text has a whole set of conflict markers that what was there before had not: somebody moved, copied or wrote
/// a conflict that nothing else records.
pub fn texts_with_markers(objects: &Objects, changes: &[Change]) -> Result<Vec<VaultPath>> {
    let marked = |entry: Option<&Entry>| match entry.map(|entry| &entry.body) {
        Some(Body::File { size, blob }) if *size <= LONGEST_TEXT => {
            let bytes = objects.blob(blob)?;
            Ok(!is_binary(&bytes) && has_markers(&bytes))
        }
        _ => Ok::<bool, TreeError>(false),
    };
    let look = |change: &Change| {
        let written = change
            .after
            .as_deref()
            .filter(|after| change.before.as_ref().is_none_or(|before| before.body != after.body));
        let is_new = marked(written)? && !marked(change.before.as_deref())?;
        Ok(is_new.then(|| change.path.clone()))
    };
    let found: Result<Vec<Option<VaultPath>>> = if changes.len() < FEW {
        changes.iter().map(look).collect()
    } else {
        share(changes).map(look).collect()
    };
    Ok(found?.into_iter().flatten().collect())
}

impl Objects {
    /// The entries of a directory that have conflicts, or have some beneath.
    fn conflicted(&self, dir: &DirRef) -> Result<Vec<Entry>> {
        if dir.conflicts == 0 {
            return Ok(Vec::new());
        }
        Ok(match self.node(&dir.node)? {
            Node::Leaf(mut entries) => {
                entries.retain(|entry| entry.conflicts() > 0);
                entries
            }
            Node::Index(children) => {
                let mut all = Vec::new();
                for child in children {
                    all.append(&mut self.conflicted(&child.dir)?);
                }
                all
            }
        })
    }

    /// What is still to be decided where `new` takes the place of `old`. The content of `new` is stored already.
    pub fn still_open(&self, old: &Entry, new: &Entry) -> Result<Option<Box<ConflictRecord>>> {
        still_open(old, &new.body, |body| match body {
            Body::File { blob, .. } => self.blob(blob),
            _ => Ok(Vec::new()),
        })
    }
}

/// What is still to be decided where something else takes the place of `old`: a text that had markers is decided when
/// none is left, anything else by nobody but who says so. `read` gives the bytes of a file.
pub fn still_open<E>(
    old: &Entry,
    new: &Body,
    read: impl FnOnce(&Body) -> Result<Vec<u8>, E>,
) -> Result<Option<Box<ConflictRecord>>, E> {
    let Some(record) = &old.conflict else { return Ok(None) };
    let open = if !record.has_markers() || old.body == *new {
        true
    } else {
        match new {
            Body::File { size, .. } if *size <= LONGEST_TEXT => {
                let bytes = read(new)?;
                !is_binary(&bytes) && record.is_marked(&bytes)
            }
            _ => false,
        }
    };
    Ok(open.then(|| record.clone()))
}
