//! The git commit that came with a commit of files: remembered, taken back with it, and brought back.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_store::Id;
use offshoot_tree::{RootId, VaultPath};
use offshoot_vault::{Actor, Operation, Scope, Vault};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::commit::GitCommitted;
use super::due::clear_due;
use super::error::GitResult;
use super::folder::GitFolder;
use super::index::Index;
use super::marks::{Marks, put_entries};
use super::merge::{GitEvent, GitNote, GitReport, InUse};
use super::repository::{State, led_over, resolve};
use crate::error::Result;

/// The kind of the operation that remembers it. It moves no ref of the vault, so undo passes over it.
const KIND: &str = "git commit";
/// The kind of the operation by which the workspace gets it. It is taken back with the commit.
pub(crate) const FOLLOW: &str = "git follow";
/// Operations are looked through in pages of this many.
const PAGE: u32 = 64;

/// The refs that a git commit moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GitMove {
    reference: String,
    /// Where it was; nothing where it was not there.
    from: Option<String>,
    to: String,
    /// The ref with the workspace's own commits that it merged, and that went, and where that was.
    merged: Option<(String, String)>,
    /// The index before, where it is known.
    #[serde(skip)]
    index: Option<Index>,
}

/// A line of a transaction of refs.
type Line = String;

/// Remembers the git commit that was made of what a commit brought into the folder, so that undoing that takes it back too.
pub fn record_git_commit(
    vault: &Vault,
    actor: &Actor,
    commit: &Id,
    workspace: Id,
    made: &GitCommitted,
) -> Result<()> {
    GitMove::of(made).record(vault, actor, commit, workspace)
}

/// The git commit that was made of what a commit brought into the folder, if there is one.
pub(crate) fn git_move_of(vault: &Vault, commit: &Operation) -> Result<Option<GitMove>> {
    let Some(workspace) = commit.workspace else { return Ok(None) };
    let mut before = None;
    loop {
        let page = vault.operations(Scope::Workspace(workspace), before, PAGE)?;
        let Some(last) = page.last() else { return Ok(None) };
        before = Some(last.seq);
        for operation in page.iter().filter(|operation| operation.kind == KIND) {
            let details = vault.operation_details(&operation.id)?;
            let text = |name: &str| details.get(name).and_then(Value::as_str).map(str::to_owned);
            if text("commit").as_deref() != Some(&commit.id.to_string()) {
                continue;
            }
            let (Some(reference), Some(to)) = (text("ref"), text("to")) else { return Ok(None) };
            let (from, merged) = (text("from"), text("merged").zip(text("merged_commit")));
            return Ok(Some(GitMove { reference, from, to, merged, index: None }));
        }
        if last.seq <= commit.seq {
            return Ok(None);
        }
    }
}

/// The repository of the first folder in a state of the main line.
pub(crate) fn repository_at(vault: &Vault, root: &RootId) -> Result<VaultPath> {
    let tree = vault.tree(root)?;
    State { objects: vault.objects()?, tree: &tree }.repository_at(&VaultPath::top())
}

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedOut {
    /// The branch, or `HEAD`.
    pub(crate) reference: String,
    pub(crate) commit: Option<String>,
}

/// What is checked out in the first folder, in a state of the main line.
pub(crate) fn checked_out(vault: &Vault, root: &RootId) -> Result<CheckedOut> {
    let tree = vault.tree(root)?;
    let state = State { objects: vault.objects()?, tree: &tree };
    let refs = state.refs(&state.repository_at(&VaultPath::top())?)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
    let branch = led_over(&refs, b"HEAD").pop();
    let reference = branch.map_or_else(|| "HEAD".to_owned(), |branch| text(&branch));
    Ok(CheckedOut { reference, commit: resolve(&refs, b"HEAD").map(|commit| text(&commit)) })
}

impl CheckedOut {
    /// The move to another commit; nothing where there is none.
    pub(crate) fn moved_to(self, later: Self) -> Option<GitMove> {
        let (reference, from) = (self.reference, self.commit);
        Some(GitMove { reference, from, to: later.commit?, merged: None, index: None })
    }
}

impl GitMove {
    /// What a commit does.
    pub(super) fn of(made: &GitCommitted) -> Self {
        Self {
            reference: made.reference.clone(),
            from: made.before.clone(),
            to: made.commit.clone(),
            merged: made.merged.clone().zip(made.merged_commit.clone()),
            index: None,
        }
    }

    /// Whether the ref is where it was to be moved.
    pub(super) fn is_done(&self, folder: &GitFolder) -> GitResult<bool> {
        Ok(folder.commit(&self.reference)?.as_ref() == Some(&self.to))
    }

    /// Remembers it, as that of a commit of files.
    pub(super) fn record(
        &self,
        vault: &Vault,
        actor: &Actor,
        commit: &Id,
        workspace: Id,
    ) -> Result<()> {
        vault.transact(KIND, actor, |tx| {
            tx.scope(workspace);
            let on = self.reference.strip_prefix("refs/heads/").unwrap_or("HEAD");
            let id = self.to.get(..12).unwrap_or(&self.to);
            tx.summary(format!("git commit {id} on {on}"));
            let (merged, tip) = self.merged.clone().unzip();
            tx.detail("commit", commit.to_string());
            tx.detail("ref", self.reference.clone());
            tx.detail("from", self.from.clone());
            tx.detail("to", self.to.clone());
            tx.detail("merged", merged);
            tx.detail("merged_commit", tip);
            tx.record_always();
            clear_due(tx, &workspace)
        })?;
        Ok(())
    }

    /// The same, with the index before.
    pub(crate) fn with_index(self, index: Option<Index>) -> Self {
        Self { index, ..self }
    }

    /// Moves the refs forth again that somebody moved back who died before the files went back. Whether there is nothing left to do: the
    /// refs are where they were, or somebody moved them since.
    pub(crate) fn bring_back(&self, folder: &GitFolder, at: &VaultPath) -> GitResult<bool> {
        let now = || folder.commit(&self.reference);
        if now()?.as_ref() == Some(&self.to) {
            // The index goes before the refs.
            let checked_out = folder.checked_out()?.unwrap_or_else(|| "HEAD".to_owned());
            if checked_out == self.reference {
                let side = |commit| Side { commit, index: None };
                move_index(folder, side(self.from.as_deref()), side(Some(&self.to)))?;
            }
            return Ok(true);
        }
        self.revert(folder, at, true)?;
        Ok(now()? != self.from)
    }

    /// Moves the refs back, or forth again, in one step, with the index where that belongs to them, and tells what became of them. Where
    /// the branch is elsewhere, or git is at work, it stays. `at` is the repository in the vault.
    pub(crate) fn revert(
        &self,
        folder: &GitFolder,
        at: &VaultPath,
        redo: bool,
    ) -> GitResult<GitReport> {
        let there = Some(self.to.clone());
        let (from, to) = match redo {
            true => (self.from.clone(), there),
            false => (there, self.from.clone()),
        };
        let now = folder.commit(&self.reference)?;
        let mut notes = Vec::new();
        let mut note = |event, name: &str, from: Option<&str>, to: Option<&str>| {
            notes.push(GitNote {
                repository: at.clone(),
                event,
                name: name.to_owned(),
                side: "commit".to_owned(),
                from: from.map(str::to_owned),
                to: to.map(str::to_owned),
                way: None,
                logged: false,
            });
        };
        let is_free = folder.check_at_rest().is_ok() && folder.check_unlocked().is_ok();
        let exists = match &to {
            Some(to) => folder.commit(to)?.is_some(),
            None => true,
        };
        // One that stands for another by now, as a HEAD that was detached and names a branch, has become something else.
        let is_itself = folder.stands_for(&self.reference)?.is_none();
        let is_as_left = now == from && is_itself && is_free && exists;
        let in_use = |name: &str| -> GitResult<Option<InUse>> {
            Ok(folder.other_users(name)?.first().map(|user| user.why))
        };
        let user = if is_as_left { in_use(&self.reference)? } else { None };
        let moves = is_as_left && user.is_none();
        let mut lines: Vec<Line> = Vec::new();
        let (old, new) = (from.as_deref(), to.as_deref());
        if moves {
            lines.push(step(&self.reference, old, new));
            note(GitEvent::Moved, &self.reference, old, new);
        } else if now != to {
            let event = user.map_or(GitEvent::Stayed, GitEvent::StayedInUse);
            note(event, &self.reference, now.as_deref(), new);
        }
        // What the branch is afterwards.
        let branch = if moves { new } else { now.as_deref() };
        if let Some((name, tip)) = &self.merged {
            let here = folder.commit(name)?;
            let is_merged = |commit: &str| has(folder, branch, commit);
            match (redo, here.as_deref()) {
                (true, Some(here)) if is_free && is_merged(here)? => match in_use(name)? {
                    Some(why) => note(GitEvent::StayedInUse(why), name, Some(here), None),
                    None => {
                        lines.push(step(name, Some(here), None));
                        note(GitEvent::Deleted, name, Some(here), None);
                    }
                },
                (false, None)
                    if is_free
                        && !is_merged(tip)?
                        && in_use(name)?.is_none()
                        && has_room(folder, name, tip)? =>
                {
                    lines.push(step(name, None, Some(tip)));
                    note(GitEvent::Moved, name, None, Some(tip));
                }
                // Somebody has made another one: at least it is told where this was.
                (false, here) if here != Some(tip) && !is_merged(tip)? => {
                    note(GitEvent::Stayed, name, here, Some(tip));
                }
                _ => {}
            }
        }
        if lines.is_empty() {
            return Ok(GitReport { notes });
        }
        let checked_out = folder.checked_out()?.unwrap_or_else(|| "HEAD".to_owned());
        let with_index = moves && checked_out == self.reference;
        let index = self.index.as_ref();
        let [index_old, index_new] = if redo { [index, None] } else { [None, index] };
        let sides =
            [Side { commit: old, index: index_old }, Side { commit: new, index: index_new }];
        if with_index {
            move_index(folder, sides[0], sides[1])?;
        }
        let why = if redo { "offshoot: redo of a commit" } else { "offshoot: undo of a commit" };
        if let Err(error) = move_refs(folder, why, &lines) {
            if with_index {
                move_index(folder, sides[1], sides[0])?;
            }
            return Err(error);
        }
        // Only so that the next status is quick; it says of itself what it could not do.
        drop(folder.git.try_output(&["update-index", "-q", "--refresh"], &[]));
        Ok(GitReport { notes })
    }
}

/// Moves a ref that is at `from` to `to`: nothing where it is not there. Another one that it may stand for by now stays.
pub(super) fn step(reference: &str, from: Option<&str>, to: Option<&str>) -> Line {
    format!("option no-deref\n{}", step_through(reference, from, to))
}

/// The same for the ref that this one stands for, if it does, as HEAD stands for a branch.
pub(super) fn step_through(reference: &str, from: Option<&str>, to: Option<&str>) -> Line {
    match (from, to) {
        (Some(from), Some(to)) => format!("update {reference} {to} {from}\n"),
        (None, Some(to)) => format!("create {reference} {to}\n"),
        (Some(from), None) => format!("delete {reference} {from}\n"),
        (None, None) => String::new(),
    }
}

/// Moves refs: all of them, or none.
pub(super) fn move_refs(folder: &GitFolder, why: &str, lines: &[Line]) -> GitResult<()> {
    let arguments = ["update-ref", "-m", why, "--stdin"];
    folder.git.output_of(&arguments, lines.concat().as_bytes()).map(drop)
}

/// Whether a ref could be made: its commit is there, and no other ref is in its way.
fn has_room(folder: &GitFolder, name: &str, tip: &str) -> GitResult<bool> {
    let lines = ["start\n".to_owned(), step(name, None, Some(tip)), "prepare\nabort\n".to_owned()];
    let arguments = ["update-ref", "--stdin"];
    Ok(folder.git.try_output(&arguments, lines.concat().as_bytes())?.status.success())
}

/// Whether a branch, where there is one, has a commit.
fn has(folder: &GitFolder, branch: Option<&str>, commit: &str) -> GitResult<bool> {
    let Some(branch) = branch else { return Ok(false) };
    let arguments = ["merge-base", "--is-ancestor", commit, branch];
    Ok(folder.git.try_output(&arguments, &[])?.status.success())
}

/// A commit that is checked out, and the index that belongs to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    /// Nothing before the first one.
    pub(super) commit: Option<&'a str>,
    /// Nothing where it is what the commit has.
    pub(super) index: Option<&'a Index>,
}

/// Gives the files that differ between two commits their other version in the index, unless something else is staged there.
pub(super) fn move_index(folder: &GitFolder, from: Side<'_>, to: Side<'_>) -> GitResult<()> {
    let git = &folder.git;
    let nothing = match (from.commit, to.commit) {
        (Some(_), Some(_)) => String::new(),
        _ => git.line(&["hash-object", "-t", "tree", "--stdin"])?,
    };
    let commits = [from.commit.unwrap_or(&nothing), to.commit.unwrap_or(&nothing)];
    let arguments = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"];
    let listed = git.output(&[&arguments[..], &commits].concat())?;
    let staged = staged(&git.output(&["ls-files", "--stage", "-z"])?);
    let mut parts = listed.split(|byte| *byte == 0);
    let (mut lines, mut moved) = (Vec::new(), BTreeSet::new());
    while let (Some(modes), Some(path)) = (parts.next(), parts.next()) {
        let words: Vec<&[u8]> = modes.split(|byte| *byte == b' ').collect();
        let [old_mode, mode, old_object, object, ..] = words[..] else { continue };
        let committed = |mode: &[u8], object: &[u8]| {
            let mode = mode.strip_prefix(b":").unwrap_or(mode);
            let is_there = mode.iter().any(|byte| *byte != b'0');
            is_there.then(|| (mode.to_vec(), object.to_vec()))
        };
        let now = staged.get(path).cloned();
        let in_index = |side: Side<'_>| side.index.map(|index| version(index, path));
        if now != committed(old_mode, old_object) && in_index(from) != Some(now) {
            continue;
        }
        // What is only announced is put back as a mark.
        let is_announced =
            |index: &Index| index.get(&(path.to_vec(), 0)).is_some_and(|entry| entry.announced);
        let new = in_index(to).unwrap_or_else(|| committed(mode, object));
        let new = new.filter(|_| !to.index.is_some_and(is_announced));
        let (mode, object) = new.unwrap_or_else(|| (b"0".to_vec(), object.to_vec()));
        lines.extend([&mode[..], b" ", &object, b"\t", path, b"\0"].concat());
        moved.insert(path.to_vec());
    }
    put_entries(git, &lines)?;
    to.index.map_or(Ok(()), |index| Marks::in_index(index).of(&moved).put_back(git))
}

/// What an index has of a file, as git prints it.
fn version(index: &Index, path: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let entry = index.get(&(path.to_vec(), 0))?;
    let object: String = entry.object.iter().map(|byte| format!("{byte:02x}")).collect();
    Some((format!("{:o}", entry.mode).into_bytes(), object.into_bytes()))
}

/// The files of an index, by path, with mode and object.
pub(super) fn staged(listed: &[u8]) -> BTreeMap<Vec<u8>, (Vec<u8>, Vec<u8>)> {
    let lines = listed.split(|byte| *byte == 0);
    let parsed = lines.filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let mut words = line[..tab].split(|byte| *byte == b' ');
        let (mode, object) = (words.next()?.to_vec(), words.next()?.to_vec());
        Some((line[tab + 1..].to_vec(), (mode, object)))
    });
    parsed.collect()
}
