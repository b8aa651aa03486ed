//! The git commit that came with a commit of files: remembered, taken back with it, and brought back.

use std::collections::BTreeMap;

use offshoot_vault::{Actor, Id, Operation, RootId, Scope, Vault, VaultPath};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::apart::{GitEvent, GitNote, GitReport, InUse, hex};
use super::commit::GitCommitted;
use super::due::forget;
use super::error::GitResult;
use super::folder::GitFolder;
use super::index::{self, Index};
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
pub struct GitMove {
    reference: String,
    /// Where it was; nothing where it was not there.
    from: Option<String>,
    to: String,
    /// The ref with the workspace's own commits that it merged, and that went, and where that was.
    merged: Option<(String, String)>,
}

/// A line of a transaction of refs.
type Line = String;

/// Remembers the git commit that was made of what a commit brought home, so that undoing that takes it back too.
pub fn record_git_commit(
    vault: &Vault,
    actor: &Actor,
    commit: &Id,
    workspace: Id,
    made: &GitCommitted,
) -> Result<()> {
    vault.transact(KIND, actor, |tx| {
        tx.scope(workspace);
        let on = made.branch.as_deref().unwrap_or("HEAD");
        let id = made.commit.get(..12).unwrap_or(&made.commit);
        tx.summary(format!("git commit {id} on {on}"));
        tx.detail("commit", commit.to_string());
        tx.detail("ref", made.reference.clone());
        tx.detail("from", made.before.clone());
        tx.detail("to", made.commit.clone());
        tx.detail("merged", made.merged.clone());
        tx.detail("merged_commit", made.merged_commit.clone());
        tx.record_always();
        forget(tx, &workspace)
    })?;
    Ok(())
}

/// The git commit that was made of what a commit brought home, if there is one.
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
            return Ok(Some(GitMove { reference, from, to, merged }));
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

/// The index of the first folder in a state of the main line, where it can be read.
pub(crate) fn index_at(vault: &Vault, root: &RootId) -> Result<Option<Index>> {
    let tree = vault.tree(root)?;
    let state = State { objects: vault.objects()?, tree: &tree };
    let bytes = state.file(&repository_at(vault, root)?.join(b"index"))?;
    Ok(bytes.and_then(|bytes| index::parse(&bytes)))
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
        Some(GitMove { reference, from, to: later.commit?, merged: None })
    }
}

impl GitMove {
    /// Moves the refs forth again that somebody moved back who died before the files went back. Whether there is nothing left to do: the
    /// refs are where they were, or somebody moved them since.
    pub(crate) fn bring_back(&self, folder: &GitFolder, at: &VaultPath) -> GitResult<bool> {
        let now = || folder.commit(&self.reference);
        if now()?.as_ref() == Some(&self.to) {
            // The index goes before the refs.
            let checked_out = folder.checked_out()?.unwrap_or_else(|| "HEAD".to_owned());
            if checked_out == self.reference {
                move_index(folder, self.from.as_deref(), Some(&self.to), None)?;
            }
            return Ok(true);
        }
        self.revert(folder, at, true, None)?;
        Ok(now()? != self.from)
    }

    /// Moves the refs back, or forth again, in one step, with the index where that belongs to them, and tells what became of them. Where
    /// the branch is elsewhere, or git is at work, it stays. `at` is the repository in the vault, and `left` the index that was there before
    /// the move, if it is known: files that were staged before it are staged again when it is taken back.
    pub(crate) fn revert(
        &self,
        folder: &GitFolder,
        at: &VaultPath,
        redo: bool,
        left: Option<&Index>,
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
        if with_index {
            move_index(folder, old, new, left.filter(|_| !redo))?;
        }
        let why = if redo { "offshoot: redo of a commit" } else { "offshoot: undo of a commit" };
        if let Err(error) = move_refs(folder, why, &lines) {
            if with_index {
                move_index(folder, new, old, None)?;
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

/// Gives the files that differ between two commits their other version in the index, or that of another index, unless something else is
/// staged there.
pub(super) fn move_index(
    folder: &GitFolder,
    from: Option<&str>,
    to: Option<&str>,
    wanted: Option<&Index>,
) -> GitResult<()> {
    let git = &folder.git;
    let nothing = match (from, to) {
        (Some(_), Some(_)) => String::new(),
        _ => git.line(&["hash-object", "-t", "tree", "--stdin"])?,
    };
    let (from, to) = (from.unwrap_or(&nothing), to.unwrap_or(&nothing));
    let arguments = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to];
    let listed = git.output(&arguments)?;
    let staged = staged(&git.output(&["ls-files", "--stage", "-z"])?);
    let mut parts = listed.split(|byte| *byte == 0);
    let mut lines = Vec::new();
    while let (Some(modes), Some(path)) = (parts.next(), parts.next()) {
        let words: Vec<&[u8]> = modes.split(|byte| *byte == b' ').collect();
        let [old_mode, mode, old_object, object, ..] = words[..] else { continue };
        let old = (old_mode.strip_prefix(b":").unwrap_or(old_mode), old_object);
        let now = staged.get(path).map(|(mode, object)| (mode.as_slice(), object.as_slice()));
        let was_absent = old.0.iter().all(|byte| *byte == b'0');
        if now == Some(old) || (now.is_none() && was_absent) {
            let mode = if mode.iter().all(|byte| *byte == b'0') { b"0" } else { mode };
            let said = wanted.map(|index| index.get(&(path.to_vec(), 0)));
            let line = match said {
                Some(Some(entry)) if !entry.announced => {
                    let mode = format!("{:o}", entry.mode).into_bytes();
                    [&mode, b" ".as_slice(), &hex(&entry.object), b"\t", path, b"\0"].concat()
                }
                Some(None) => [b"0 ", object, b"\t", path, b"\0"].concat(),
                _ => [mode, b" ", object, b"\t", path, b"\0"].concat(),
            };
            lines.extend(line);
        }
    }
    git.output_of(&["update-index", "-z", "--index-info"], &lines).map(drop)
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
