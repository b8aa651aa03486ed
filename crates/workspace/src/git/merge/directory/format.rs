//! Repositories that store what they have in another way than before: that and what says so come together, or not at all.

use offshoot_tree::{Tree, VaultPath};

use super::super::report::CHANGED_SINCE;
use super::super::taking::{Taking, UnclearRefs};
use super::super::whole::same;
use crate::error::Result;
use crate::git::error::GitError;
use crate::git::repository::State;
use crate::side_label::HEAD_LABEL;

/// Why a directory stays whole.
const OTHER_FORMAT: &str = "the other side stores its refs or objects in another way";

/// How the formats of a repository fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Formats {
    /// Refs can be moved one by one, or at least are stored the same way.
    Same,
    /// The other side stores its refs in another way: they come all together with the settings that say so.
    Other,
    /// Neither side can take anything from the other.
    Apart,
}

impl Taking<'_, '_> {
    /// How the format of the other side's repository fits that of the target's.
    pub(super) fn formats(&self, repository: &VaultPath) -> Result<Formats> {
        let (target, other) = (self.sides.target, self.sides.other);
        let (here, there) = (target.format(repository)?, other.format(repository)?);
        if here == there {
            return Ok(Formats::Same);
        }
        let settings = repository.join(b"config");
        let was = self.sides.base.tree.get(&settings)?;
        let (now, new) = (target.tree.get(&settings)?, other.tree.get(&settings)?);
        let brought = !same(new.as_ref(), was.as_ref())
            && self.has_seen(&settings, now.as_ref(), was.as_ref())?;
        Ok(match () {
            () if !brought || !here.has_same_objects(&there) => Formats::Apart,
            () if here.has_same_refs(&there) => Formats::Same,
            () if self.is_free_for_refs(repository)? => Formats::Other,
            () => Formats::Apart,
        })
    }

    /// Whether the other side went on from all refs and the checkout that the target has, and nothing waits to be finished.
    fn is_free_for_refs(&self, repository: &VaultPath) -> Result<bool> {
        let checkouts = self.checkout_of(repository)?;
        let linked = self.sides.target.tree.get(&repository.join(b"worktrees"))?;
        let linked = linked.as_ref().and_then(|entry| entry.directory());
        Ok(!checkouts.target.busy
            && !checkouts.other.busy
            && checkouts.target.has_same_index(&checkouts.base)
            && linked.is_none_or(|directory| directory.entries == 0)
            && self.has_seen_refs(repository)?)
    }

    fn has_seen_refs(&self, repository: &VaultPath) -> Result<bool> {
        let sides = self.sides;
        let are_same = |a: &Tree<'_>, b: &Tree<'_>| self.has_same_refs(repository, a, b);
        if self.unclear == UnclearRefs::Apart {
            for (target, other) in self.meetings {
                if are_same(target, other)? {
                    return are_same(sides.target.tree, target);
                }
            }
            if !self.meetings.is_empty() {
                return Ok(false);
            }
        }
        are_same(sides.target.tree, sides.base.tree)
    }

    /// Whether two states have the same refs, in the same format.
    fn has_same_refs(&self, repository: &VaultPath, a: &Tree<'_>, b: &Tree<'_>) -> Result<bool> {
        let refs = |tree| State { objects: self.sides.base.objects, tree }.refs(repository);
        let table = |tree: &Tree<'_>| tree.get(&repository.join(b"reftable"));
        Ok(same(table(a)?.as_ref(), table(b)?.as_ref()) && refs(a)? == refs(b)?)
    }

    /// The state that the other side's refs are compared with: the base, unless that side's repository could take nothing from it.
    pub(super) fn base_of_refs(&self, repository: &VaultPath) -> Result<State<'_>> {
        let base = self.sides.base;
        let asked = self.unclear == UnclearRefs::Apart;
        for (at, (target, other)) in self.meetings.iter().enumerate().filter(|_| asked) {
            let [target, other] = [target, other].map(|tree| State { tree, ..base });
            if target.format(repository)? == other.format(repository)? {
                return Ok(if at == 0 { base } else { target });
            }
        }
        Ok(base)
    }

    /// Nothing is taken from a repository in another format, and what it has must not be lost by that: a workspace would follow the folder.
    pub(super) fn another_format(&mut self, repository: &VaultPath) -> Result<()> {
        let (base, other) = (self.sides.base, self.sides.other);
        let checkouts = self.checkout_of(repository)?;
        let is_unchanged = base.format(repository)? == other.format(repository)?
            && self.has_same_refs(repository, base.tree, other.tree)?
            && checkouts.other.has_same_index(&checkouts.base);
        match self.unclear {
            _ if is_unchanged => {}
            UnclearRefs::Stay => self.directory_kept(repository, CHANGED_SINCE),
            UnclearRefs::Apart if self.target_label == HEAD_LABEL => {
                let why = "one of them stores its refs or objects in another way now";
                let (repository, why) = (repository.clone(), why.to_owned());
                return Err(GitError::BothChanged { repository, why }.into());
            }
            UnclearRefs::Apart | UnclearRefs::Follow => {
                self.directory_kept(repository, OTHER_FORMAT)
            }
        }
        Ok(())
    }

    /// Takes all refs with the checkout.
    pub(super) fn take_refs(&mut self, repository: &VaultPath) -> Result<()> {
        for name in [b"reftable".as_slice(), b"HEAD", b"index", b"refs", b"packed-refs"] {
            self.take_as_it_is(&repository.join(name))?;
        }
        self.take_as_it_is(&repository.join(b"info").join(b"sparse-checkout"))?;
        self.shared_indexes(repository)?;
        // A reftable has the logs as well; those from before it stay.
        let (logs, other) = (repository.join(b"logs"), self.sides.other);
        match other.tree.get(&logs)? {
            Some(_) if !other.format(repository)?.has_reftable() => self.take_as_it_is(&logs),
            _ => Ok(()),
        }
    }
}
