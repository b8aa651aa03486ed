//! Finding files that were moved among what was deleted and added.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::similarity::Fingerprint;
use super::{Change, DiffOptions};
use crate::entry::Body;
use crate::error::Result;
use crate::hash::BlobId;
use crate::objects::Objects;

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
    let mut pairs = equal_pairs(&changes);
    alike_pairs(objects, &changes, options, &mut pairs)?;
    Ok(join_pairs(changes, &pairs))
}

/// Which deleted change became which added one, and how alike they are; by the added one's place.
#[derive(Default)]
struct Pairs {
    by_added: BTreeMap<usize, (usize, u8)>,
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

fn equal_pairs(changes: &[Change]) -> Pairs {
    let mut pairs = Pairs::default();
    let added: Vec<(usize, BlobId)> = with_content(changes, is_added).collect();
    let wanted: HashSet<BlobId> = added.iter().map(|(_, blob)| *blob).collect();
    // In the order of paths, and of each name by itself.
    let mut deleted: HashMap<BlobId, VecDeque<usize>> = HashMap::new();
    let mut named: HashMap<(BlobId, Option<&[u8]>), VecDeque<usize>> = HashMap::new();
    for (at, blob) in with_content(changes, is_deleted).filter(|(_, blob)| wanted.contains(blob)) {
        deleted.entry(blob).or_default().push_back(at);
        named.entry((blob, changes[at].path.name())).or_default().push_back(at);
    }
    let first_free = |candidates: Option<&mut VecDeque<usize>>, pairs: &Pairs| {
        let candidates = candidates?;
        while pairs.used.contains(candidates.front()?) {
            candidates.pop_front();
        }
        candidates.pop_front()
    };
    for (at, blob) in added {
        // Of several equal files the one of the same name is meant.
        let of_name = named.get_mut(&(blob, changes[at].path.name()));
        let same_name = first_free(of_name, &pairs);
        let from = same_name.or_else(|| first_free(deleted.get_mut(&blob), &pairs));
        if let Some(from) = from {
            pairs.add(from, at, 100);
        }
    }
    pairs
}

/// Where there is content that is worth finding again.
fn with_content(
    changes: &[Change],
    wanted: fn(&Change) -> bool,
) -> impl Iterator<Item = (usize, BlobId)> {
    let all = changes.iter().enumerate().filter(move |(_, change)| wanted(change));
    all.filter_map(|(at, change)| content_of(change).map(|(blob, _)| (at, blob)))
}

fn alike_pairs(
    objects: &Objects,
    changes: &[Change],
    options: &DiffOptions,
    pairs: &mut Pairs,
) -> Result<()> {
    let candidates = |wanted: fn(&Change) -> bool, taken: &dyn Fn(usize) -> bool| -> Vec<usize> {
        let all = changes.iter().enumerate();
        let free = all.filter(|(at, change)| wanted(change) && !taken(*at));
        let short =
            free.filter(|(_, c)| content_of(c).is_some_and(|(_, size)| size <= LONGEST_COMPARED));
        short.map(|(at, _)| at).collect()
    };
    let deleted = candidates(is_deleted, &|at| pairs.used.contains(&at));
    let added = candidates(is_added, &|at| pairs.by_added.contains_key(&at));
    if deleted.is_empty() || added.is_empty() || deleted.len() * added.len() > MOST_PAIRS {
        return Ok(());
    }
    let old = fingerprints(objects, changes, &deleted)?;
    let new = fingerprints(objects, changes, &added)?;
    let mut scored: Vec<(u8, bool, usize, usize)> = Vec::new();
    for (from, before) in &old {
        for (to, after) in &new {
            let similarity = before.similarity(after);
            if similarity >= options.rename_similarity {
                let same_name = changes[*from].path.name() == changes[*to].path.name();
                scored.push((similarity, same_name, *from, *to));
            }
        }
    }
    scored.sort_by(|a, b| (b.0, b.1, a.2, a.3).cmp(&(a.0, a.1, b.2, b.3)));
    for (similarity, _, from, to) in scored {
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
