//! What is checked out, in the repository itself and in its further working trees, and the refs, which depend on it.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::VaultPath;

use super::super::ancestry::includes;
use super::super::both::{Both, short};
use super::super::checkout::Checkout;
use super::super::flaw::flaw;
use super::super::own_name::namespaces;
use super::super::refs::{Name, RefPlan, RefStates, plan};
use super::super::report::{GitEvent, InUse};
use super::super::store::Store;
use super::super::taking::{Taking, UnclearRefs};
use super::worktree::{Linked, refs_with_own};
use crate::error::Result;
use crate::git::repository::{Refs, State, resolve};

/// A checkout in all three states.
pub(in super::super) struct Checkouts {
    pub(in super::super) at: VaultPath,
    pub(in super::super) base: Checkout,
    pub(in super::super) target: Checkout,
    pub(in super::super) other: Checkout,
    /// The other side's is taken.
    pub(in super::super) take: bool,
    /// Why it cannot be: the target's repository would be broken by it.
    pub(super) flaw: Option<String>,
    /// Files that the other side has otherwise in its index, and does not bring: git would show them as taken back.
    pub(super) left_out: Vec<VaultPath>,
}

impl Checkouts {
    /// Whether the other side has something else checked out than there was.
    pub(super) fn is_changed(&self) -> bool {
        !self.other.is_same(&self.base)
            || !self.other.waits_for_same(&self.base)
            || (self.other.busy && !self.base.busy)
    }

    /// Whether the target's is just what both sides had.
    fn is_untouched(&self) -> bool {
        self.target.is_same(&self.base) && self.target.has_same_progress(&self.base)
    }
}

impl Taking<'_, '_> {
    pub(super) fn refs_and_checkouts(&mut self, repository: &VaultPath) -> Result<()> {
        let mut checkouts = vec![self.checkout_of(repository)?];
        let (mut linked, mut gone) = (Vec::new(), Vec::new());
        for at in self.worktrees(repository)? {
            let becomes = self.worktree(repository, &at)?;
            if matches!(becomes, Linked::Both | Linked::Stays) {
                let mut checkout = self.checkout_of(&at)?;
                checkout.take = checkout.take && !self.is_elsewhere(repository, &at)?;
                checkouts.push(checkout);
            }
            match becomes {
                Linked::Both => linked.push(at),
                Linked::Gone => gone.push(at),
                Linked::Stays | Linked::Other => {}
            }
        }
        let sides = self.sides;
        let states = [self.base_of_refs(repository)?, sides.target, sides.other];
        let refs = states.map(|state| refs_with_own(&state, repository, &linked));
        let [base, target, other] = refs;
        let (base, target, other) = (base?, target?, other?);
        let both = self.both(repository)?;
        let other = self.sound_refs(repository, (&base, &target), other)?;
        for checkout in checkouts.iter_mut().filter(|checkout| checkout.is_changed()) {
            checkout.flaw = checkout_flaw(&both, checkout)?;
            checkout.left_out = self.left_out(checkout)?;
            checkout.take &= checkout.flaw.is_none()
                && checkout.left_out.is_empty()
                && !self.held.trusted.contains(&checkout.at);
        }
        let given = self.given(repository)?;
        // What is taken back goes by where refs are, not by what they hold.
        let follows = self.unclear != UnclearRefs::Stay;
        let states = RefStates {
            base: &base,
            target: &target,
            other: &other,
            there_includes: &|commit, wanted| Ok(follows && includes(&both.other, commit, wanted)?),
            here_includes: &|commit, wanted| Ok(follows && includes(&both.target, commit, wanted)?),
            kept_there: match self.unclear {
                UnclearRefs::Apart => namespaces(self.target_label),
                UnclearRefs::Follow | UnclearRefs::Stay => Vec::new(),
            },
            given,
            taken_back: self.taken_back(repository, &checkouts[0], &target)?,
        };
        let mut plan = settle(&mut checkouts, &states)?;
        let noted = self.report.notes.len();
        let in_use = checkouts.iter().flat_map(|it| [&it.target.in_use, &it.other.in_use]);
        let in_use: BTreeSet<Name> = in_use.flat_map(|names| names.keys().cloned()).collect();
        self.drop_merged(repository, &base, &mut plan, &in_use)?;
        let stash_gone = self.stash(repository)?;
        let taken = self.ref_files(repository, &plan, (&base, &target), stash_gone)?;
        for at in &gone {
            self.tell_gone(repository, at, &taken)?;
        }
        self.ways_on(repository, &checkouts, noted)?;
        for checkout in &checkouts {
            self.checkout(repository, checkout, &taken)?;
        }
        Ok(())
    }

    /// Files of a checkout that the other side committed or staged, and does not bring.
    fn left_out(&self, checkout: &Checkouts) -> Result<Vec<VaultPath>> {
        let Checkouts { at, target, other, .. } = checkout;
        let top = self.sides.target.working_tree(at)?;
        let is_said = |below: &[Vec<u8>]| match other.has_unknown_files() {
            true => !other.has_same_index(target),
            false => other.says_other_of(target, &below.join(&b'/')),
        };
        let is_theirs = |path: &&VaultPath| match &top {
            Some(top) => path.names().strip_prefix(top.names()).is_some_and(is_said),
            // Nobody knows where its files are.
            None => (0..path.names().len()).any(|start| is_said(&path.names()[start..])),
        };
        // One may be committed and staged.
        let files: BTreeSet<&VaultPath> = self.left_out.iter().filter(is_theirs).collect();
        Ok(files.into_iter().cloned().collect())
    }

    /// What the folders' refs were when a workspace that follows last took them in.
    fn given(&self, repository: &VaultPath) -> Result<Option<Refs>> {
        let met = self.meetings.first().filter(|_| self.unclear == UnclearRefs::Follow);
        let Some((_, tree)) = met else { return Ok(None) };
        State { objects: self.sides.base.objects, tree }.refs(repository).map(Some)
    }

    pub(super) fn checkout_of(&self, at: &VaultPath) -> Result<Checkouts> {
        let sides = self.sides;
        let read = |state| Checkout::read(state, at);
        let (base, target) = (self.checked_out_last(at)?, read(&sides.target)?);
        let mut other = read(&sides.other)?;
        other.busy |= self.held.unfinished.contains(at);
        let mut checkouts = Checkouts {
            at: at.clone(),
            base,
            target,
            other,
            take: false,
            flaw: None,
            left_out: Vec::new(),
        };
        let Checkouts { target, other, .. } = &checkouts;
        let at_rest = !target.busy && !other.busy;
        // What waits in the target is finished by the other side, or comes back as it was. A workspace that follows keeps its own.
        let may_take = match self.unclear {
            UnclearRefs::Apart => !other.busy,
            UnclearRefs::Follow => at_rest,
            UnclearRefs::Stay => true,
        };
        let free =
            (may_take && checkouts.is_untouched()) || (at_rest && self.is_taken_up(&checkouts)?);
        checkouts.take = free && other.head.is_some() && checkouts.is_changed();
        Ok(checkouts)
    }

    /// Whether the other side has merged what is checked out in the target, and nothing else is staged there.
    fn is_taken_up(&self, checkouts: &Checkouts) -> Result<bool> {
        let Checkouts { at, base, target, other, .. } = checkouts;
        let (Some(here), Some(there)) = (&target.commit, &other.commit) else { return Ok(false) };
        if self.unclear != UnclearRefs::Apart || target.head != other.head {
            return Ok(false);
        }
        let staged = target.staged(other, base, &Store::new(self.sides.target, at))?;
        Ok(staged.is_some_and(|staged| staged.is_empty())
            && includes(&Store::new(self.sides.other, at), there, here)?)
    }

    /// What both sides had checked out when they last had the same.
    fn checked_out_last(&self, at: &VaultPath) -> Result<Checkout> {
        let objects = self.sides.base.objects;
        let mut oldest = None;
        let asked = self.unclear == UnclearRefs::Apart;
        for (target, other) in self.meetings.iter().filter(|_| asked) {
            let target = Checkout::read(&State { objects, tree: target }, at)?;
            if target.is_same(&Checkout::read(&State { objects, tree: other }, at)?) {
                return Ok(target);
            }
            oldest = Some(target);
        }
        match oldest {
            Some(oldest) => Ok(oldest),
            None => Checkout::read(&self.sides.base, at),
        }
    }

    /// Takes a checkout, or says that the target's stays.
    fn checkout(
        &mut self,
        repository: &VaultPath,
        checkout: &Checkouts,
        refs: &Refs,
    ) -> Result<()> {
        let Checkouts { at, base, target, other, take, flaw, left_out: _ } = checkout;
        self.tell_left_out(repository, checkout);
        if *take {
            self.tell_switched(repository, checkout);
            for name in [b"HEAD".as_slice(), b"index"] {
                self.take_as_it_is(&at.join(name))?;
            }
            self.take_as_it_is(&at.join(b"info").join(b"sparse-checkout"))?;
            self.shared_indexes(at)?;
            if target.busy || other.busy {
                for path in target.progress_with(other) {
                    self.take_as_it_is(&at.concat(&path))?;
                }
            }
            return self.log(
                &at.join(b"logs").join(b"HEAD"),
                target.commit.as_deref(),
                other.commit.as_deref(),
            );
        }
        if !checkout.is_changed() || other.head.is_none() || other.is_same(target) {
            return Ok(());
        }
        let from = target.commit.as_deref();
        let name = self.name_of_head(repository, at);
        if let Some(flaw) = flaw {
            let event = GitEvent::NotBrought(flaw.clone());
            self.note(repository, event, name, from, other.commit.as_deref());
            return Ok(());
        }
        let event = GitEvent::CheckoutStayed(self.why_it_stays(checkout, refs)?);
        self.note(repository, event, name.clone(), from, other.commit.as_deref());
        let way = match self.way_with_left_out(checkout)? {
            Some(way) => Some(way),
            None => self.way_to_switched(checkout, refs)?,
        };
        self.report.notes.last_mut().expect("a note was just added").way = way;
        // A commit that no branch has would be out of reach. What something in progress made belongs to that.
        let detached = other.branch().is_none() && other.commit != base.commit && !other.busy;
        let reachable = |commit: &Vec<u8>| refs.values().any(|value| value == commit);
        match &other.commit {
            Some(commit) if detached && self.unclear != UnclearRefs::Stay && !reachable(commit) => {
                self.keep_apart(repository, name.as_bytes(), commit, refs, from)
            }
            _ => Ok(()),
        }
    }

    /// An index that is split over several files needs all of them.
    pub(super) fn shared_indexes(&mut self, at: &VaultPath) -> Result<()> {
        let shared: Vec<_> = self
            .toward
            .iter()
            .filter(|change| {
                let names = change.path.names();
                change.path.parent().as_ref() == Some(at)
                    && names.last().is_some_and(|name| name.starts_with(b"sharedindex."))
                    && change.before.is_none()
            })
            .filter_map(|change| Some((change.path.clone(), change.after.as_deref()?.clone())))
            .collect();
        for (path, entry) in shared {
            self.edit.put(&path, entry, &[self.sides.other.tree])?;
        }
        Ok(())
    }

    /// `HEAD`, or that of a further working tree by its path in the repository.
    pub(in super::super) fn name_of_head(&self, repository: &VaultPath, at: &VaultPath) -> String {
        let inside = &at.names()[repository.names().len()..];
        let names = inside.iter().map(|name| String::from_utf8_lossy(name).into_owned());
        names.chain(["HEAD".to_owned()]).collect::<Vec<_>>().join("/")
    }
}

/// Decides about refs and checkouts together: a branch moves under a checkout only if that comes along, and a checkout only if its branch does.
fn settle(checkouts: &mut [Checkouts], states: &RefStates<'_>) -> Result<RefPlan> {
    loop {
        let stay = checkouts.iter().filter(|checkout| !checkout.take);
        let guarded: BTreeMap<Name, InUse> = stay.flat_map(|it| it.target.in_use.clone()).collect();
        let plan = plan(states, &guarded)?;
        let fits = |checkout: &Checkouts| {
            let mut refs = plan.after.clone();
            refs.extend(checkout.other.head.clone().map(|head| (b"HEAD".to_vec(), head)));
            resolve(&refs, b"HEAD") == checkout.other.commit
        };
        let misfit = checkouts.iter().position(|checkout| checkout.take && !fits(checkout));
        match misfit {
            Some(at) => checkouts[at].take = false,
            None => return Ok(plan),
        }
    }
}

/// Why what the other side has checked out cannot be brought; nothing where it can.
fn checkout_flaw(both: &Both<'_>, checkout: &Checkouts) -> Result<Option<String>> {
    let Some(head) = &checkout.other.head else { return Ok(None) };
    if let Some(flaw) = flaw(both, b"HEAD", head)? {
        return Ok(Some(flaw));
    }
    if let Some(flaw) = checkout.other.index_flaw(&checkout.base) {
        return Ok(Some(flaw));
    }
    for id in checkout.other.staged_since(&checkout.target) {
        if !both.have(&id)? {
            return Ok(Some(format!("object {} of its index is missing", short(&id))));
        }
    }
    Ok(None)
}
