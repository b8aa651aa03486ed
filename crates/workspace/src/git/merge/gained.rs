//! How many commits a branch gained, by its history. What a log says about it is what whoever moved the branch wanted it to say.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use offshoot_tree::diff::Change;
use offshoot_tree::{BlobId, Body, Objects, Tree, VaultPath};

use super::ancestry::headers;
use super::store::{Kind, LONGEST, Store, is_id, loose_object};
use crate::git::repository::State;

/// More commits of a repository are not read.
const MOST: usize = 10_000;

/// The commits of a repository that changed.
pub(crate) struct Commits<'a> {
    objects: &'a Objects,
    /// The files of new objects: there may be no state yet that has them.
    new: HashMap<Vec<u8>, BlobId>,
    stores: Vec<Store<'a>>,
    /// What was read, for branches share most of their history.
    read: RefCell<HashMap<Vec<u8>, Option<Node>>>,
}

/// What an object leads to.
#[derive(Clone)]
enum Node {
    Commit(Vec<Vec<u8>>),
    Tag(Vec<u8>),
}

/// The commits on the way from some to others, without these.
#[derive(Default)]
struct Way {
    commits: BTreeSet<Vec<u8>>,
    /// It came to one of the others.
    is_met: bool,
    /// It came to a commit without parents: it may have gone around the others, into their history.
    is_to_the_end: bool,
}

impl<'a> Commits<'a> {
    /// Those of a repository, by its changes and the states that they may begin or end with.
    pub(crate) fn new(
        objects: &'a Objects,
        trees: &'a [Tree<'a>],
        repository: &VaultPath,
        changes: &[&Change],
    ) -> Self {
        let place = repository.join(b"objects");
        let new = changes.iter().filter(|change| change.before.is_none()).filter_map(|change| {
            let [first, rest] = change.path.names().strip_prefix(place.names())? else {
                return None;
            };
            match change.after.as_deref()?.body {
                Body::File { size, blob } if size <= LONGEST as u64 => {
                    Some(([first.as_slice(), rest].concat(), blob))
                }
                _ => None,
            }
        });
        let stores = trees.iter().map(|tree| Store::new(State { objects, tree }, repository));
        Self { objects, new: new.collect(), stores: stores.collect(), read: RefCell::default() }
    }

    /// The commits that a branch gained which went on from one to another; nothing where it did not, or that cannot be told.
    pub(crate) fn gained(&self, before: &[u8], after: &[u8]) -> Option<BTreeSet<Vec<u8>>> {
        let known = BTreeSet::from([before.to_vec()]);
        let way = self.way(vec![after.to_vec()], &known)?;
        match (way.is_met, way.is_to_the_end) {
            (false, _) => None,
            // No other way leads into the history of that one.
            (true, false) => Some(way.commits),
            (true, true) => self.without_history(way.commits, known),
        }
    }

    /// The commits of a new branch that are not among some and are not in the history of refs; nothing where that cannot be told.
    pub(crate) fn beyond<'k>(
        &self,
        tip: &[u8],
        told: &BTreeSet<Vec<u8>>,
        refs: impl Iterator<Item = &'k Vec<u8>>,
    ) -> Option<BTreeSet<Vec<u8>>> {
        let mut known = BTreeSet::new();
        for id in refs.filter(|id| is_id(id)) {
            known.extend(self.tagged(id));
            known.insert(id.clone());
        }
        let way = self.way(vec![tip.to_vec()], &known.union(told).cloned().collect())?;
        // What was not there before is in no history of what was.
        match way.commits.iter().all(|id| self.is_new(id)) {
            true => Some(way.commits),
            false => self.without_history(way.commits, known),
        }
    }

    fn is_new(&self, id: &[u8]) -> bool {
        let is_packed = |store: &Store<'_>| store.is_packed(id).unwrap_or(true);
        self.new.contains_key(id) && !self.stores.iter().any(is_packed)
    }

    fn without_history(
        &self,
        mut commits: BTreeSet<Vec<u8>>,
        known: BTreeSet<Vec<u8>>,
    ) -> Option<BTreeSet<Vec<u8>>> {
        let history = self.way(known.into_iter().collect(), &BTreeSet::new())?.commits;
        commits.retain(|id| !history.contains(id));
        Some(commits)
    }

    /// Nothing where not all of it can be read.
    fn way(&self, mut pending: Vec<Vec<u8>>, known: &BTreeSet<Vec<u8>>) -> Option<Way> {
        let mut way = Way::default();
        while let Some(id) = pending.pop() {
            if known.contains(&id) {
                way.is_met = true;
                continue;
            }
            if way.commits.contains(&id) {
                continue;
            }
            match self.node(&id)? {
                Node::Commit(parents) => {
                    way.is_to_the_end |= parents.is_empty();
                    pending.extend(parents);
                    way.commits.insert(id);
                }
                Node::Tag(target) => pending.push(target),
            }
        }
        Some(way)
    }

    /// What a tag names, if it is one.
    fn tagged(&self, id: &[u8]) -> Option<Vec<u8>> {
        match self.node(id)? {
            Node::Tag(target) => Some(target),
            Node::Commit(_) => None,
        }
    }

    fn node(&self, id: &[u8]) -> Option<Node> {
        if let Some(known) = self.read.borrow().get(id) {
            return known.clone();
        }
        if self.read.borrow().len() >= MOST {
            return None;
        }
        let node = self.object(id).and_then(|(kind, bytes)| match kind {
            Kind::Commit => Some(Node::Commit(headers(&bytes, b"parent "))),
            Kind::Tag => headers(&bytes, b"object ").pop().map(Node::Tag),
            Kind::Tree | Kind::Blob => None,
        });
        self.read.borrow_mut().insert(id.to_vec(), node.clone());
        node
    }

    fn object(&self, id: &[u8]) -> Option<(Kind, Vec<u8>)> {
        let new = self.new.get(id).and_then(|blob| self.objects.blob(blob).ok());
        let new = new.and_then(|bytes| loose_object(id, &bytes));
        // A state that cannot be read has nothing: the others may.
        new.or_else(|| self.stores.iter().find_map(|store| store.read(id).ok().flatten()))
    }
}
