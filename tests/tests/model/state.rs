//! The model of a vault: all refs as plain maps, and for each operation a copy of them before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::action::{Action, Edit, Point, Scope};
use crate::tree::{Refused, Stamp, Tree};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Workspace {
    pub(crate) name: String,
    pub(crate) head: usize,
    pub(crate) base: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) workspace: usize,
    pub(crate) name: String,
    pub(crate) snapshot: usize,
}

/// Everything that an operation can change, by the model's own numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refs {
    pub(crate) head: usize,
    pub(crate) workspaces: BTreeMap<usize, Workspace>,
    pub(crate) checkpoints: BTreeMap<usize, Checkpoint>,
}

/// One operation, with everything before and after it.
#[derive(Clone, Debug)]
struct Record {
    scope: Option<usize>,
    before: Refs,
    after: Refs,
    /// Whether it can be undone: it is no undo or redo itself, and is not undone.
    standing: bool,
    /// How long the log was when it was made, or last redone.
    since: usize,
}

/// The model of a vault.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) refs: Refs,
    pub(crate) snapshots: Vec<Rc<Tree>>,
    /// How many workspaces there ever were.
    pub(crate) workspaces_ever: usize,
    checkpoints_ever: usize,
    log: Vec<Record>,
    /// What can be redone, last first: of the vault and of each workspace.
    redo: BTreeMap<Option<usize>, Vec<usize>>,
    steps: u64,
    /// A deliberate mistake: undo and redo are recorded and do nothing.
    pub(crate) forgets_to_undo: bool,
}

impl Model {
    /// A vault that was just made.
    pub(crate) fn new(tree: Tree) -> Self {
        let refs = Refs::default();
        let made = Record {
            scope: None,
            before: refs.clone(),
            after: refs.clone(),
            standing: false,
            since: 0,
        };
        Self {
            refs,
            snapshots: vec![Rc::new(tree)],
            workspaces_ever: 0,
            checkpoints_ever: 0,
            log: vec![made],
            redo: BTreeMap::new(),
            steps: 0,
            forgets_to_undo: false,
        }
    }

    /// How many operations there are.
    pub(crate) fn operations(&self) -> usize {
        self.log.len()
    }

    pub(crate) fn tree_of(&self, workspace: usize) -> &Tree {
        &self.snapshots[self.refs.workspaces[&workspace].head]
    }

    /// Does what a command does; `host` is the bound folder as it is.
    pub(crate) fn act(&mut self, action: &Action, host: &Tree) -> Result<(), Refused> {
        self.steps += 1;
        let mut refs = self.refs.clone();
        match action {
            Action::Undo(scope) => self.undo(*scope),
            Action::Redo(scope) => self.redo(*scope),
            Action::Edit { workspace, edit } => self.edit(*workspace, edit),
            Action::RestoreOperation { operation, scope } => {
                self.restore_operation(*operation, *scope)
            }
            Action::Import => {
                if *self.snapshots[refs.head] != *host {
                    refs.head = self.snapshot(host.clone());
                }
                self.commit(None, refs)
            }
            Action::Fork { name, from } => {
                let from = self.point(from)?;
                let made = Workspace { name: name.clone(), head: from, base: from };
                refs.workspaces.insert(self.workspaces_ever, made);
                self.commit(Some(self.workspaces_ever), refs)?;
                self.workspaces_ever += 1;
                Ok(())
            }
            Action::Checkpoint { workspace, name } => {
                let snapshot = refs.workspaces.get(workspace).ok_or("no workspace")?.head;
                let made = Checkpoint { workspace: *workspace, name: name.clone(), snapshot };
                refs.checkpoints.insert(self.checkpoints_ever, made);
                self.commit(Some(*workspace), refs)?;
                self.checkpoints_ever += 1;
                Ok(())
            }
            Action::Restore { workspace, to } => {
                let to = self.point(to)?;
                refs.workspaces.get_mut(workspace).ok_or("no workspace")?.head = to;
                self.commit(Some(*workspace), refs)
            }
            Action::DeleteCheckpoint { workspace, name } => {
                let found = find_checkpoint(&refs, *workspace, name).ok_or("no checkpoint")?;
                refs.checkpoints.remove(&found);
                self.commit(Some(*workspace), refs)
            }
            Action::Rename { workspace, name } => {
                refs.workspaces.get_mut(workspace).ok_or("no workspace")?.name.clone_from(name);
                self.commit(Some(*workspace), refs)
            }
            Action::Discard { workspace, keep: true } => {
                let found = refs.workspaces.get_mut(workspace).ok_or("no workspace")?;
                found.head = found.base;
                self.commit(Some(*workspace), refs)
            }
            Action::Delete { workspace: id } | Action::Discard { workspace: id, keep: false } => {
                if !refs.workspaces.contains_key(id) {
                    return Err("no workspace");
                }
                remove_workspace(&mut refs, *id);
                self.commit(Some(*id), refs)
            }
        }
    }

    pub(crate) fn point(&self, point: &Point) -> Result<usize, Refused> {
        let workspace = |id: &usize| self.refs.workspaces.get(id).ok_or("no workspace");
        match point {
            Point::Head => Ok(self.refs.head),
            Point::Workspace(id) => Ok(workspace(id)?.head),
            Point::Base(id) => Ok(workspace(id)?.base),
            Point::Snapshot(number) => Ok(*number),
            Point::Checkpoint { workspace: id, name } => {
                // It is named through its workspace.
                workspace(id)?;
                let found = find_checkpoint(&self.refs, *id, name);
                Ok(self.refs.checkpoints[&found.ok_or("no checkpoint")?].snapshot)
            }
        }
    }

    fn snapshot(&mut self, tree: Tree) -> usize {
        self.snapshots.push(Rc::new(tree));
        self.snapshots.len() - 1
    }

    fn edit(&mut self, workspace: usize, edit: &Edit) -> Result<(), Refused> {
        let stamp = Stamp::Step(self.steps);
        let head = self.refs.workspaces.get(&workspace).ok_or("no workspace")?.head;
        let mut tree = Tree::clone(&self.snapshots[head]);
        match edit {
            Edit::Write { path, bytes, parents } => {
                tree.write(path, *blake3::hash(bytes).as_bytes(), *parents, stamp)?;
            }
            Edit::Mkdir { path, parents } => tree.mkdir(path, *parents, stamp)?,
            Edit::Move { from, to } => tree.rename(from, to, stamp)?,
            Edit::Copy { from, to, recursive } => tree.copy(from, to, *recursive, stamp)?,
            Edit::Remove { paths, recursive } => {
                paths.iter().try_for_each(|path| tree.remove(path, *recursive, stamp))?;
            }
            Edit::Revert { paths, at } => {
                let source = Rc::clone(&self.snapshots[self.point(at)?]);
                paths.iter().try_for_each(|path| tree.revert(path, &source, stamp))?;
            }
        }
        let mut refs = self.refs.clone();
        if tree != *self.snapshots[head] {
            let made = self.snapshot(tree);
            refs.workspaces.entry(workspace).and_modify(|found| found.head = made);
        }
        self.commit(Some(workspace), refs)
    }

    /// Makes these the refs, as an operation where they are others.
    fn commit(&mut self, scope: Option<usize>, refs: Refs) -> Result<(), Refused> {
        if refs == self.refs {
            return Ok(());
        }
        self.record(scope, refs, true)?;
        self.redo.remove(&None);
        self.redo.remove(&scope);
        Ok(())
    }

    fn record(&mut self, scope: Option<usize>, refs: Refs, standing: bool) -> Result<(), Refused> {
        if !names_are_unique(&refs) {
            return Err("the name is taken");
        }
        let orphan = |found: &Checkpoint| !refs.workspaces.contains_key(&found.workspace);
        if refs.checkpoints.values().any(orphan) {
            return Err("a checkpoint would be left without its workspace");
        }
        let before = std::mem::replace(&mut self.refs, refs.clone());
        let since = self.log.len();
        self.log.push(Record { scope, before, after: refs, standing, since });
        Ok(())
    }

    fn undo(&mut self, scope: Scope) -> Result<(), Refused> {
        let of_scope = |record: &Record| match scope {
            Scope::Vault => true,
            Scope::Workspace(id) => record.scope == Some(id),
        };
        let standing = self.log.iter().enumerate();
        let standing = standing.filter(|(_, record)| record.standing && of_scope(record));
        let target = standing.max_by_key(|(_, record)| record.since).map(|(at, _)| at);
        let target = target.ok_or("nothing to undo")?;
        let Record { scope, before, after, .. } = &self.log[target];
        let (scope, refs) = (*scope, self.moved(after, before)?);
        self.record(scope, refs, false)?;
        self.log[target].standing = false;
        self.redo.entry(None).or_default().push(target);
        if scope.is_some() {
            self.redo.entry(scope).or_default().push(target);
        }
        Ok(())
    }

    fn redo(&mut self, scope: Scope) -> Result<(), Refused> {
        let key = match scope {
            Scope::Vault => None,
            Scope::Workspace(id) => Some(id),
        };
        let target = self.redo.get(&key).and_then(|all| all.last()).copied();
        let target = target.ok_or("nothing to redo")?;
        let Record { scope, before, after, .. } = &self.log[target];
        let (scope, refs) = (*scope, self.moved(before, after)?);
        self.record(scope, refs, false)?;
        self.log[target].standing = true;
        self.log[target].since = self.log.len();
        for key in [None, scope] {
            self.redo.entry(key).or_default().retain(|found| *found != target);
        }
        Ok(())
    }

    /// The refs with what differs between two copies moved from one to the other.
    fn moved(&self, from: &Refs, to: &Refs) -> Result<Refs, Refused> {
        let mut refs = self.refs.clone();
        if self.forgets_to_undo {
            return Ok(refs);
        }
        let overtaken = "something came after it";
        if from.head != to.head {
            if refs.head != from.head {
                return Err(overtaken);
            }
            refs.head = to.head;
        }
        move_all(&mut refs.workspaces, &from.workspaces, &to.workspaces).ok_or(overtaken)?;
        move_all(&mut refs.checkpoints, &from.checkpoints, &to.checkpoints).ok_or(overtaken)?;
        Ok(refs)
    }

    fn restore_operation(&mut self, operation: usize, scope: Scope) -> Result<(), Refused> {
        let Record { before, after: then, .. } = self.log[operation].clone();
        let Scope::Workspace(id) = scope else { return self.commit(None, then) };
        if let Some(now) = self.refs.workspaces.get(&id) {
            let moved = |(other, found): (&usize, &Workspace)| {
                *other != id
                    && found.name == now.name
                    && before.workspaces.get(other) != Some(found)
            };
            if then.workspaces.iter().any(moved) {
                return Err("it was in an earlier workspace of that name");
            }
        }
        let mut refs = self.refs.clone();
        remove_workspace(&mut refs, id);
        refs.workspaces.extend(then.workspaces.into_iter().filter(|(found, _)| *found == id));
        let checkpoints = then.checkpoints.into_iter();
        refs.checkpoints.extend(checkpoints.filter(|(_, found)| found.workspace == id));
        self.commit(Some(id), refs)
    }
}

/// Makes what differs between `from` and `to` what it is in `to`, if it is what it is in `from`.
fn move_all<T: Clone + PartialEq>(
    now: &mut BTreeMap<usize, T>,
    from: &BTreeMap<usize, T>,
    to: &BTreeMap<usize, T>,
) -> Option<()> {
    let ids: BTreeSet<usize> = from.keys().chain(to.keys()).copied().collect();
    for id in ids.into_iter().filter(|id| from.get(id) != to.get(id)) {
        if now.get(&id) != from.get(&id) {
            return None;
        }
        match to.get(&id) {
            Some(value) => drop(now.insert(id, value.clone())),
            None => drop(now.remove(&id)),
        }
    }
    Some(())
}

fn remove_workspace(refs: &mut Refs, id: usize) {
    refs.workspaces.remove(&id);
    refs.checkpoints.retain(|_, checkpoint| checkpoint.workspace != id);
}

fn find_checkpoint(refs: &Refs, workspace: usize, name: &str) -> Option<usize> {
    let mut all = refs.checkpoints.iter();
    let found = all.find(|(_, found)| found.workspace == workspace && found.name == name)?;
    Some(*found.0)
}

fn names_are_unique(refs: &Refs) -> bool {
    let mut workspaces: Vec<&str> = refs.workspaces.values().map(|w| w.name.as_str()).collect();
    let mut checkpoints: Vec<(usize, &str)> =
        refs.checkpoints.values().map(|c| (c.workspace, c.name.as_str())).collect();
    let count = (workspaces.len(), checkpoints.len());
    workspaces.sort_unstable();
    workspaces.dedup();
    checkpoints.sort_unstable();
    checkpoints.dedup();
    count == (workspaces.len(), checkpoints.len())
}
