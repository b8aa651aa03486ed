//! Paths in the folders that are changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use offshoot_host::disk::split_last;
use offshoot_tree::{Entry, VaultPath};
use offshoot_vault::bound_path;

use crate::target::ApplyTarget;

/// A path in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Where {
    pub(crate) folder: usize,
    pub(crate) path: Arc<[u8]>,
}

impl Where {
    /// The directory that it is in.
    pub(crate) fn parent(&self) -> Self {
        Self { folder: self.folder, path: split_last(&self.path).0.into() }
    }
}

/// What is different, by where.
pub(crate) type Changes = BTreeMap<Where, Pair>;

/// What was at a path, and what comes there.
pub(crate) type Pair = (Option<Arc<Entry>>, Option<Arc<Entry>>);

/// The folder that a path of the tree belongs to, and where in it.
pub(crate) fn locate(targets: &[ApplyTarget], path: &VaultPath) -> Option<Where> {
    let within = targets.iter().enumerate().filter(|(_, target)| path.is_within(&target.at));
    let (folder, target) = within.max_by_key(|(_, target)| target.at.names().len())?;
    let below = &path.names()[target.at.names().len()..];
    // Other folders are no part of the first, also where they are not among the targets.
    if target.at.is_top() && path.is_within(&bound_path()) {
        return None;
    }
    Some(Where { folder, path: below.join(&b'/').into() })
}
