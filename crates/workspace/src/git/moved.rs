//! The git commit that came with a commit of files: remembered, taken back with it, and brought back.

use std::collections::BTreeMap;

use offshoot_vault::{Actor, Id, Operation, Scope, Vault, VaultPath};
use serde_json::Value;

use super::apart::{GitEvent, GitNote, GitReport};
use super::commit::GitCommitted;
use super::error::GitResult;
use super::folder::GitFolder;
use super::repository::{State, common};
use crate::error::Result;

/// The kind of the operation that remembers it. It moves no ref of the vault, so undo passes over it.
const KIND: &str = "git commit";
/// The kind of the operation by which the workspace gets it. It is taken back with the commit.
pub(crate) const FOLLOW: &str = "git follow";
/// Operations are looked through in pages of this many.
const PAGE: u32 = 64;

/// A ref that a git commit moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitMove {
    /// The repository's directory in the vault.
    repository: VaultPath,
    reference: String,
    /// Where it was; nothing where it was not there.
    from: Option<String>,
    to: String,
    /// The ref with the workspace's own commits that it merged, and that went.
    merged: Option<String>,
}

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
        tx.record_always();
        Ok(())
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
            let (from, merged) = (text("from"), text("merged"));
            let repository = first_repository(vault)?;
            return Ok(Some(GitMove { repository, reference, from, to, merged }));
        }
        if last.seq <= commit.seq {
            return Ok(None);
        }
    }
}

/// Where the refs of the first folder's repository are.
fn first_repository(vault: &Vault) -> Result<VaultPath> {
    let tree = vault.tree(&vault.head()?.root)?;
    let state = State { objects: vault.objects()?, tree: &tree };
    Ok(common(&state.repository_at(&VaultPath::top())?))
}

impl GitMove {
    /// Moves the ref back, or forth again, with the index where that belongs to it, and tells what became of it. Where the ref is elsewhere,
    /// or git cannot do it, everything stays.
    pub(crate) fn revert(
        &self,
        folder: &GitFolder,
        redo: bool,
        report: &mut GitReport,
    ) -> GitResult<()> {
        let Some(note) = self.move_ref(folder, redo)? else { return Ok(()) };
        let is_back = redo && note.event == GitEvent::Moved;
        report.follow(note);
        match &self.merged {
            Some(merged) if is_back => self.remove_merged(folder, merged, report),
            _ => Ok(()),
        }
    }

    /// Takes the ref away that the files of the commit brought again: the branch has its commits.
    fn remove_merged(
        &self,
        folder: &GitFolder,
        merged: &str,
        report: &mut GitReport,
    ) -> GitResult<()> {
        let Some(tip) = folder.commit(merged)? else { return Ok(()) };
        let arguments = ["merge-base", "--is-ancestor", &tip, &self.to];
        if folder.git.try_output(&arguments, &[])?.status.success() {
            folder.git.output(&["update-ref", "-d", merged, &tip])?;
            report.notes.retain(|note| note.name != merged);
        }
        Ok(())
    }

    /// What became of the ref; nothing where it is there already.
    fn move_ref(&self, folder: &GitFolder, redo: bool) -> GitResult<Option<GitNote>> {
        let there = Some(self.to.clone());
        let (from, to) = match redo {
            true => (self.from.clone(), there),
            false => (there, self.from.clone()),
        };
        let now = folder.commit(&self.reference)?;
        let note = |event, from: Option<String>, to| GitNote {
            repository: self.repository.clone(),
            event,
            name: self.reference.clone(),
            side: "commit".to_owned(),
            from,
            to,
            way: None,
        };
        let is_free = folder.check_at_rest().is_ok() && folder.check_unlocked().is_ok();
        let exists = match &to {
            Some(to) => folder.commit(to)?.is_some(),
            None => true,
        };
        if now != from || !is_free || !exists {
            return Ok((now != to).then(|| note(GitEvent::Stayed, now, to)));
        }
        let checked_out = folder.checked_out()?.unwrap_or_else(|| "HEAD".to_owned());
        if checked_out == self.reference {
            move_index(folder, from.as_deref(), to.as_deref())?;
        }
        let why = if redo { "offshoot: redo of a commit" } else { "offshoot: undo of a commit" };
        let old = from.as_deref().unwrap_or("");
        match &to {
            Some(to) => folder.git.output(&["update-ref", "-m", why, &self.reference, to, old])?,
            None => folder.git.output(&["update-ref", "-m", why, "-d", &self.reference, old])?,
        };
        // Only so that the next status is quick; it says of itself what it could not do.
        drop(folder.git.try_output(&["update-index", "-q", "--refresh"], &[]));
        Ok(Some(note(GitEvent::Moved, from, to)))
    }
}

/// Gives the files that differ between two commits their other version in the index, unless something else is staged there.
pub(super) fn move_index(
    folder: &GitFolder,
    from: Option<&str>,
    to: Option<&str>,
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
            lines.extend([mode, b" ", object, b"\t", path, b"\0"].concat());
        }
    }
    git.output_of(&["update-index", "-z", "--index-info"], &lines).map(drop)
}

/// The files of an index, by path, with mode and object.
fn staged(listed: &[u8]) -> BTreeMap<Vec<u8>, (Vec<u8>, Vec<u8>)> {
    let lines = listed.split(|byte| *byte == 0);
    let parsed = lines.filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let mut words = line[..tab].split(|byte| *byte == b' ');
        let (mode, object) = (words.next()?.to_vec(), words.next()?.to_vec());
        Some((line[tab + 1..].to_vec(), (mode, object)))
    });
    parsed.collect()
}
