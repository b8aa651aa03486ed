//! A git commit of exactly what reached the folder, whatever else the person has changed or staged.

mod committed;
mod committed_changes;
mod hooks;
mod join;
mod late;
mod modes;
mod prepared;
mod rehearsal;
mod wanted;

use std::collections::BTreeSet;
use std::path::Path;

use offshoot_tree::VaultPath;
use offshoot_vault::Vault;

use super::error::{GitError, GitResult};
use super::export::{Contents, Stream, mode_of};
use super::identity::Identity;
use super::marks::put_entries;
use super::moved::{move_refs, step, step_through};
use super::own_index::OwnIndex;
use super::trailers::{EXEC, WORKSPACE, with_trailers};
use crate::error::Result;
use committed::commit_note;
pub use committed::{AboutTo, GitCommitted};
pub use committed_changes::{CommittedChanges, GitCommitMessage};
use join::Kept;
use modes::Modes;
pub use prepared::GitCommit;
use rehearsal::Rehearsal;
use wanted::Wanted;

impl GitCommit {
    /// Fails where what reaches the folder is in files that the person changed too: a commit of them would hold more than the workspace's work.
    pub fn check(&self, vault: &Vault, came: &CommittedChanges<'_>) -> Result<()> {
        let wanted = self.wanted(vault, came)?;
        self.check_filters(vault, &wanted)?;
        let paths = |both: &BTreeSet<Vec<u8>>| -> Vec<VaultPath> {
            both.iter().filter_map(|path| self.vault_path(came.at, path)).collect()
        };
        let wanted: BTreeSet<Vec<u8>> = wanted.into_iter().map(|(path, _)| path).collect();
        let (both, overlooked) = (&wanted & &self.dirty, self.overlooked.of(&wanted));
        if !both.is_empty() {
            return Err(GitError::Dirty(paths(&both)).into());
        }
        if overlooked.is_empty() {
            return Ok(());
        }
        let both = wanted.into_iter().filter(|path| overlooked.contains(path)).collect();
        let commands = overlooked.commands(&self.folder);
        Err(GitError::Overlooked { paths: paths(&both), commands }.into())
    }

    /// Fails where a file that is to be stored has a filter that does not run.
    fn check_filters(&self, vault: &Vault, wanted: &[Wanted]) -> Result<()> {
        if self.folder.git.missing_filters()?.is_empty() {
            return Ok(());
        }
        let stored = wanted.iter().filter(|(_, entry)| entry.is_some());
        let paths: Vec<Vec<u8>> = stored.map(|(path, _)| path.clone()).collect();
        let mut contents = Contents::new(vault, &self.folder)?;
        contents.prepare(&paths)?;
        Ok(paths.iter().try_for_each(|path| contents.require_filter(path))?)
    }

    /// Fails where commits that were kept apart before would be merged, and cannot be. Git gets the objects of the merge for that.
    pub fn check_join(&self, vault: &Vault, came: &CommittedChanges<'_>) -> Result<()> {
        match self.tracked_or_not_ignored(self.wanted(vault, came)?)?.is_empty() {
            true => self.joined(vault, came).map(drop),
            false => Ok(()),
        }
    }

    /// The same, and git gets nothing.
    pub fn check_planned_join(&self, vault: &Vault, came: &CommittedChanges<'_>) -> Result<()> {
        // What is kept apart only now is found once the files are home.
        if Kept::find(&self.folder, came.git)?.is_none() {
            return Ok(());
        }
        match self.rehearsed(vault, came)? {
            Some((_kept, commit)) => commit.check_join(vault, came),
            None => Ok(()),
        }
    }

    /// The same commit in a repository that goes with what is given first.
    fn rehearsed(
        &self,
        vault: &Vault,
        came: &CommittedChanges<'_>,
    ) -> Result<Option<(Rehearsal, Self)>> {
        let Some(rehearsal) = Rehearsal::new(&self.folder, vault, came)? else { return Ok(None) };
        let (identity, dirty) = (self.identity.clone(), self.dirty.clone());
        let (folder, overlooked) = (rehearsal.folder.clone(), self.overlooked.clone());
        let commit = Self { folder, identity, dirty, overlooked };
        Ok(Some((rehearsal, commit)))
    }

    /// What a commit of what reaches the folder would be: it is made, and forgotten. The id of a new one is not what the real one's will be. Nothing
    /// where git has it already, or can see nothing of it.
    pub fn plan(
        &self,
        vault: &Vault,
        came: &CommittedChanges<'_>,
        words: &GitCommitMessage<'_>,
    ) -> Result<Option<GitCommitted>> {
        let Some((_rehearsal, commit)) = self.rehearsed(vault, came)? else {
            return self.plan_files(vault, came);
        };
        let made = commit.commit(vault, came, words, &|_| Ok(()))?;
        let Some(made) = made else { return Ok(None) };
        let hooks = if made.is_new { hooks::hooks(&self.folder)? } else { Vec::new() };
        Ok(Some(GitCommitted { hooks, ..made }))
    }

    /// The same where nothing but the commit comes into the repository.
    fn plan_files(
        &self,
        vault: &Vault,
        came: &CommittedChanges<'_>,
    ) -> Result<Option<GitCommitted>> {
        let wanted = self.tracked_or_not_ignored(self.wanted(vault, came)?)?;
        if wanted.is_empty() {
            return Ok(None);
        }
        let reference = self.folder.checked_out()?.unwrap_or_else(|| "HEAD".to_owned());
        Ok(Some(GitCommitted {
            commit: String::new(),
            branch: branch_of(&reference),
            reference,
            before: self.folder.commit("HEAD")?,
            files: wanted.len() as u64,
            merged: None,
            merged_commit: None,
            merged_stays: false,
            is_new: true,
            hooks: hooks::hooks(&self.folder)?,
            unsigned: hooks::would_sign(&self.folder)?,
        }))
    }

    /// Commits what reached the folder. Nothing where git has it already, or can see nothing of it.
    pub fn commit(
        &self,
        vault: &Vault,
        came: &CommittedChanges<'_>,
        words: &GitCommitMessage<'_>,
        about_to: AboutTo<'_>,
    ) -> Result<Option<GitCommitted>> {
        self.check(vault, came)?;
        self.make(vault, came, words, about_to)
    }

    fn make(
        &self,
        vault: &Vault,
        came: &CommittedChanges<'_>,
        words: &GitCommitMessage<'_>,
        about_to: AboutTo<'_>,
    ) -> Result<Option<GitCommitted>> {
        self.folder.check_at_rest()?;
        let wanted = self.tracked_or_not_ignored(self.wanted(vault, came)?)?;
        if wanted.is_empty() {
            return self.join(vault, came, words, about_to);
        }
        let lines = self.index_lines(vault, &wanted)?;
        let parent = self.folder.commit("HEAD")?;
        let Some(tree) = self.new_tree(parent.as_deref(), &lines)? else {
            return self.join(vault, came, words, about_to);
        };
        let message = self.message(words);
        let merged = self.merged(vault, came, parent.as_deref(), &tree, &wanted)?;
        let tip = merged.as_ref().map(|kept| kept.tip.as_str());
        let parents: Vec<&str> = parent.as_deref().into_iter().chain(tip).collect();
        let reference = self.folder.checked_out()?.unwrap_or_else(|| "HEAD".to_owned());
        let files = match &parent {
            Some(parent) => join::changes(&self.folder, parent, &tree)?.len(),
            None => wanted.len(),
        };
        let hooks = hooks::hooks(&self.folder)?;
        let commit = self.write_commit(&tree, &parents, &message)?;
        // The index first: should the rest fail, the changes are staged and nothing looks as if it were taken back.
        put_entries(&self.folder.git, &lines)?;
        let note = commit_note(parent.as_deref(), &message);
        let made = GitCommitted {
            commit,
            branch: branch_of(&reference),
            reference,
            before: parent,
            files: files as u64,
            merged_commit: merged.as_ref().map(|kept| kept.tip.clone()),
            merged_stays: merged.as_ref().is_some_and(|kept| kept.in_use),
            merged: merged.as_ref().map(|kept| kept.reference.clone()),
            is_new: true,
            hooks,
            unsigned: hooks::would_sign(&self.folder)?,
        };
        about_to(&made)?;
        self.move_head(&made.commit, made.before.as_deref(), merged.as_ref(), &note)?;
        Ok(Some(made))
    }

    /// The workspace's own commits, if the new one has everything that they changed.
    fn merged(
        &self,
        vault: &Vault,
        came: &CommittedChanges<'_>,
        parent: Option<&str>,
        tree: &str,
        wanted: &[Wanted],
    ) -> Result<Option<Kept>> {
        let kept = Kept::find(&self.folder, came.git)?;
        let (Some(kept), Some(parent)) = (kept, parent) else { return Ok(None) };
        let paths: BTreeSet<&[u8]> = wanted.iter().map(|(path, _)| path.as_slice()).collect();
        let is_within = match kept.not_within(&self.folder, parent, tree, &paths)? {
            Some(left) => left.is_empty() || self.is_decided(vault, came, tree, &paths, &left)?,
            None => false,
        };
        Ok(is_within.then_some(kept))
    }

    /// What to put into an index, in the words of `update-index --index-info`.
    fn index_lines(&self, vault: &Vault, wanted: &[Wanted]) -> Result<Vec<u8>> {
        let mut contents = Contents::new(vault, &self.folder)?;
        let paths: Vec<Vec<u8>> = wanted.iter().map(|(path, _)| path.clone()).collect();
        contents.prepare(&paths)?;
        let mut stream = Stream::start(&self.folder)?;
        let mut lines = Vec::new();
        let nothing = self.folder.no_object()?;
        let modes = Modes::of(&self.folder)?;
        for (path, entry) in wanted {
            let stored = entry.as_ref().and_then(|entry| Some((mode_of(entry)?, entry)));
            let (mode, object) = match stored {
                Some((mode, entry)) => match contents.store(&mut stream, path, entry) {
                    Ok(object) => (modes.of_file(path, mode), object),
                    Err(error) => return Err(stream.abandon(error)),
                },
                None => (0, nothing.clone()),
            };
            lines.extend_from_slice(format!("{mode:o} {object}\t").as_bytes());
            lines.extend_from_slice(path);
            lines.push(0);
        }
        stream.finish()?;
        Ok(lines)
    }

    /// The tree of the parent with what reached the folder, made in an index of its own; nothing where it is the parent's.
    fn new_tree(&self, parent: Option<&str>, lines: &[u8]) -> GitResult<Option<String>> {
        let index = OwnIndex::new(&self.folder)?;
        let git = index.git(&self.folder);
        match parent {
            Some(parent) => git.output(&["read-tree", parent])?,
            None => git.output(&["read-tree", "--empty"])?,
        };
        git.output_of(&["update-index", "-z", "--index-info"], lines)?;
        let tree = git.line(&["write-tree"])?;
        let before = match parent {
            Some(parent) => git.line(&["rev-parse", "--verify", &format!("{parent}^{{tree}}")])?,
            None => String::new(),
        };
        Ok((tree != before).then_some(tree))
    }

    fn write_commit(&self, tree: &str, parents: &[&str], message: &str) -> GitResult<String> {
        let Identity { author, committer } = &self.identity;
        let variables = [
            ("GIT_AUTHOR_NAME", author.name.clone()),
            ("GIT_AUTHOR_EMAIL", author.mail.clone()),
            ("GIT_COMMITTER_NAME", committer.name.clone()),
            ("GIT_COMMITTER_EMAIL", committer.mail.clone()),
        ];
        let mut arguments = vec!["commit-tree", "-F", "-"];
        arguments.extend(parents.iter().flat_map(|parent| ["-p", parent]));
        arguments.push(tree);
        let answer = self.folder.git.output_with(&arguments, &variables, message.as_bytes())?;
        Ok(String::from_utf8_lossy(&answer).trim().to_owned())
    }

    /// Moves HEAD, and takes the ref away whose commits it has then, unless a checkout uses that: both or nothing.
    fn move_head(
        &self,
        to: &str,
        from: Option<&str>,
        merged: Option<&Kept>,
        note: &str,
    ) -> GitResult<()> {
        let merged = merged.filter(|kept| !kept.in_use);
        let merged = merged.map(|kept| step(&kept.reference, Some(&kept.tip), None));
        let lines: Vec<String> =
            [step_through("HEAD", from, Some(to))].into_iter().chain(merged).collect();
        move_refs(&self.folder, note, &lines)?;
        // Only so that the next status is quick; it says of itself what it could not do.
        drop(self.folder.git.try_output(&["update-index", "-q", "--refresh"], &[]));
        Ok(())
    }

    fn message(&self, words: &GitCommitMessage<'_>) -> String {
        let execs = words.execs.iter().map(|exec| (EXEC, exec.to_string()));
        let trailers: Vec<_> = execs.chain([(WORKSPACE, words.workspace.to_owned())]).collect();
        with_trailers(words.message, &trailers)
    }

    fn vault_path(&self, at: &VaultPath, path: &[u8]) -> Option<VaultPath> {
        let below = VaultPath::parse(self.folder.in_folder(path)?).ok()?;
        Some(at.concat(&below))
    }
}

fn branch_of(reference: &str) -> Option<String> {
    reference.strip_prefix("refs/heads/").map(str::to_owned)
}

/// Fails where a git is at work in the repository of a folder. Git itself is not asked.
pub fn check_folder(folder: &Path) -> GitResult<()> {
    match super::folder::repository_dir(folder) {
        Some(repository) => super::folder::check_unlocked(&repository),
        None => Ok(()),
    }
}
