//! Finding files that were moved among what was deleted and added. There is one way to find them, for lists and for merges.

mod equal;
mod nearness;

use std::collections::{BTreeMap, BTreeSet};

use offshoot_text::similarity::Fingerprint;

use crate::diff::change::{Change, DiffOptions};
use crate::entry::Body;
use crate::error::Result;
use crate::hash::BlobId;
use crate::objects::Objects;
use crate::path::VaultPath;
use nearness::{DirectoryMoves, nearness};

/// More pairs than this are not compared by content; equal files are still found.
const MOST_PAIRS: usize = 40_000;
/// Files longer than this are only found when they are equal.
const LONGEST_COMPARED: u64 = 1 << 20;

/// Turns pairs of a deleted and an added file into one moved file where they are alike.
pub fn detect_renames(
    objects: &Objects,
    changes: Vec<Change>,
    options: &DiffOptions,
) -> Result<Vec<Change>> {
    if !options.renames {
        return Ok(changes);
    }
    let mut pairs = Pairs::default();
    // What git keeps for itself never became a file of the project, nor the other way round.
    for in_git in [false, true] {
        let all = changes.iter().enumerate();
        let (places, part): (Vec<usize>, Vec<Change>) = all
            .filter(|(_, change)| is_in_git_directory(&change.path) == in_git)
            .map(|(at, change)| (at, change.clone()))
            .unzip();
        for (added, (deleted, similarity)) in
            find_pairs(objects, &part, options, &|_| true)?.by_added
        {
            pairs.add(places[deleted], places[added], similarity);
        }
    }
    Ok(join_pairs(changes, &pairs))
}

/// Whether a path lies below a directory that is called like a git directory.
fn is_in_git_directory(path: &VaultPath) -> bool {
    let above = path.names().split_last().map_or(&[][..], |(_, above)| above);
    let is_git = |name: &[u8]| {
        let end = name.len().checked_sub(4).map(|at| &name[at..]);
        end.is_some_and(|end| end.eq_ignore_ascii_case(b".git"))
    };
    above.iter().any(|name| is_git(name))
}

/// Which deleted file became which added one. What is found is the same whatever is asked for; but content is only compared where a
/// deleted file that `matters` has not been found by its bytes.
pub(crate) fn find_pairs(
    objects: &Objects,
    changes: &[Change],
    options: &DiffOptions,
    matters: &dyn Fn(&Change) -> bool,
) -> Result<Pairs> {
    let (mut pairs, directories) = equal::pairs(changes);
    alike_pairs(objects, changes, options, matters, &directories, &mut pairs)?;
    Ok(pairs)
}

/// Which deleted change became which added one, and how alike they are; by the added one's place.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) by_added: BTreeMap<usize, (usize, u8)>,
    used: BTreeSet<usize>,
}

impl Pairs {
    fn add(&mut self, deleted: usize, added: usize, similarity: u8) {
        self.by_added.insert(added, (deleted, similarity));
        self.used.insert(deleted);
    }

    fn is_free(&self, deleted: usize, added: usize) -> bool {
        !self.by_added.contains_key(&added) && !self.used.contains(&deleted)
    }
}

/// A file with content, which is worth finding again.
fn content_of(change: &Change) -> Option<(BlobId, u64)> {
    match change.entry().body {
        Body::File { size, blob } if size > 0 => Some((blob, size)),
        _ => None,
    }
}

fn is_deleted(change: &Change) -> bool {
    change.after.is_none()
}

fn is_added(change: &Change) -> bool {
    change.before.is_none()
}

fn alike_pairs(
    objects: &Objects,
    changes: &[Change],
    options: &DiffOptions,
    matters: &dyn Fn(&Change) -> bool,
    directories: &DirectoryMoves,
    pairs: &mut Pairs,
) -> Result<()> {
    let candidates = |wanted: fn(&Change) -> bool, taken: &dyn Fn(usize) -> bool| -> Vec<usize> {
        let all = changes.iter().enumerate();
        let free = all.filter(|(at, change)| wanted(change) && !taken(*at));
        let short =
            free.filter(|(_, c)| content_of(c).is_some_and(|(_, size)| size <= LONGEST_COMPARED));
        short.map(|(at, _)| at).collect()
    };
    let mut deleted = candidates(is_deleted, &|at| pairs.used.contains(&at));
    let added = candidates(is_added, &|at| pairs.by_added.contains_key(&at));
    if !deleted.iter().any(|at| matters(&changes[*at])) {
        return Ok(());
    }
    if deleted.len() * added.len() > MOST_PAIRS {
        // Too many to compare them all.
        deleted.retain(|at| matters(&changes[*at]));
    }
    if added.is_empty() || deleted.len() * added.len() > MOST_PAIRS {
        return Ok(());
    }
    let old = fingerprints(objects, changes, &deleted)?;
    let new = fingerprints(objects, changes, &added)?;
    let mut scored = Vec::new();
    for (from, before) in &old {
        for (to, after) in &new {
            let similarity = before.similarity(after);
            if similarity >= options.rename_similarity {
                let (old, new) = (&changes[*from].path, &changes[*to].path);
                let rank = (directories.lead(old, new), similarity, nearness(old, new));
                scored.push((rank, *from, *to));
            }
        }
    }
    scored.sort_by(|a, b| (&b.0, a.1, a.2).cmp(&(&a.0, b.1, b.2)));
    for ((_, similarity, _), from, to) in scored {
        if pairs.is_free(from, to) {
            pairs.add(from, to, similarity);
        }
    }
    Ok(())
}

fn fingerprints(
    objects: &Objects,
    changes: &[Change],
    places: &[usize],
) -> Result<Vec<(usize, Fingerprint)>> {
    let mut found = Vec::new();
    for &at in places {
        if let Some((blob, _)) = content_of(&changes[at]) {
            found.push((at, Fingerprint::of(&objects.blob(&blob)?)));
        }
    }
    Ok(found)
}

fn join_pairs(changes: Vec<Change>, pairs: &Pairs) -> Vec<Change> {
    let origins: BTreeMap<usize, Change> =
        pairs.used.iter().map(|&from| (from, changes[from].clone())).collect();
    let kept = changes.into_iter().enumerate().filter(|(at, _)| !origins.contains_key(at));
    kept.map(|(at, mut change)| {
        if let Some((from, similarity)) = pairs.by_added.get(&at) {
            let origin = &origins[from];
            change.before.clone_from(&origin.before);
            change.moved = Some((origin.path.clone(), *similarity));
        }
        change
    })
    .collect()
}
