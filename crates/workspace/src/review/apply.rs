//! Carrying decisions out.

use std::path::Path;

use offshoot_host::Mtime;
use offshoot_tree::{Body, Entry, Meta, RootId, Tree, TreeEditor, VaultPath};
use offshoot_vault::{Actor, NewContent, Vault, WorkspaceRecord};

use super::repository::{Dropped, dropped};
use super::{Mixed, PieceOutcome, ReviewItem, Tally, Wanted};
use crate::edit::{EditKind, Edited, edit};
use crate::error::{Result, ServiceError};
use crate::git::git_directory;

/// What is to be done with one path; contents are stored already.
struct Step<'i> {
    item: &'i ReviewItem,
    outcome: PieceOutcome,
    content: Option<NewContent>,
}

pub(super) fn apply(
    vault: &Vault,
    actor: &Actor,
    workspace: &WorkspaceRecord,
    base: &RootId,
    (items, tally): (&[ReviewItem], &Tally),
) -> Result<Edited> {
    let _held = vault.hold()?;
    let base = vault.tree(base)?;
    let listed = vault.tree(&vault.snapshot(&workspace.state.head)?.root)?;
    let repositories = dropped(items);
    let mut steps = Vec::new();
    for item in items {
        let outcome = item.outcome(Wanted::NotDropped);
        let content = match &outcome {
            PieceOutcome::After => continue,
            PieceOutcome::Mixed(Mixed { content: Some(bytes), .. }) => {
                Some(vault.add_content(&mut bytes.as_slice(), Path::new("the edited text"))?)
            }
            _ => None,
        };
        let from = item.change.moved.as_ref().map_or(&item.change.path, |(from, _)| from);
        let dropped = |path| git_directory(path).is_some_and(|at| repositories.contains(&at));
        if dropped(&item.change.path) && dropped(from) {
            continue;
        }
        steps.push(Step { item, outcome, content });
    }
    // Of a directory that stays only the mode is decided about. It is put back whole, so before anything in it is touched.
    steps.sort_by_key(|step| !step.is_directory_mode());
    let summary = summary(tally);
    let words = EditKind { kind: "review", reason: "review", summary: &summary, stamps: true };
    let change = |editor: &mut TreeEditor<'_>| {
        let mut back = Vec::new();
        for at in &repositories {
            // It goes back as a whole, so nothing in it may be newer than what was listed.
            if editor.get(at)? != listed.get(at)? {
                return Err(ServiceError::Outdated(at.to_string()));
            }
            back.push(Dropped::of(editor, &base, at)?);
        }
        steps.iter().try_for_each(|step| step.take(editor, &base))?;
        back.into_iter().try_for_each(|repository| repository.put_back(editor, &base))
    };
    edit((vault, None), actor, workspace, words, change, |_| Ok(()))
}

fn summary(tally: &Tally) -> String {
    let counted = [(tally.dropped, "dropped"), (tally.edited, "edited")].into_iter();
    let counted = counted.filter(|(count, _)| *count > 0);
    let words: Vec<String> = counted.map(|(count, word)| format!("{count} {word}")).collect();
    format!("review: {}", words.join(", "))
}

impl Step<'_> {
    fn take(&self, editor: &mut TreeEditor<'_>, base: &Tree<'_>) -> Result<()> {
        let (change, path) = (&self.item.change, self.item.workspace_path());
        let found = editor.get(path)?;
        if let (true, Some(before), Some(mut found)) =
            (self.is_directory_mode(), &change.before, found.clone())
        {
            found.meta.mode = before.meta.mode;
            return Ok(editor.put(path, found)?);
        }
        if found.as_ref() != change.after.as_deref() {
            return Err(ServiceError::Outdated(path.to_string()));
        }
        let old_path = change.moved.as_ref().map_or(path, |(from, _)| from);
        match &self.outcome {
            PieceOutcome::After => Ok(()),
            PieceOutcome::Before => match &change.before {
                Some(before) => self.replace(editor, base, old_path, Entry::clone(before)),
                None => take_away(editor, base, path),
            },
            PieceOutcome::Mixed(mixed) => {
                let Some(after) = &change.after else { return Ok(()) };
                let path = if mixed.moved { path } else { old_path };
                let entry = self.mixed_entry(mixed, after, path == old_path);
                self.replace(editor, base, path, entry)
            }
        }
    }

    fn is_directory_mode(&self) -> bool {
        let is_directory =
            |entry: Option<&Entry>| entry.is_some_and(|entry| entry.directory().is_some());
        let change = &self.item.change;
        is_directory(change.before.as_deref()) && is_directory(change.after.as_deref())
    }

    /// Puts an entry at a path, and takes away what is at the new path where that is another one.
    fn replace(
        &self,
        editor: &mut TreeEditor<'_>,
        base: &Tree<'_>,
        path: &VaultPath,
        entry: Entry,
    ) -> Result<()> {
        let now = self.item.workspace_path();
        if path != now {
            // A file may have moved away and something else have come to its place.
            if editor.get(path)?.is_some() {
                return Err(ServiceError::Occupied(path.to_string()));
            }
            take_away(editor, base, now)?;
        }
        make_parents(editor, base, path)?;
        Ok(editor.put(path, entry)?)
    }

    fn mixed_entry(&self, mixed: &Mixed, after: &Entry, at_old_path: bool) -> Entry {
        let mut entry = after.clone();
        if let Some(content) = &self.content {
            entry.body = Body::File { size: content.size, blob: content.blob };
            entry.meta.mtime = Mtime::now();
            entry.group = None;
        }
        let Some(before) = &self.item.change.before else { return entry };
        if !mixed.mode {
            entry.meta.mode = before.meta.mode;
        }
        // What is back to what it was is no change of times either.
        let same = entry.meta.mode == before.meta.mode && entry.same_content(before);
        if same && at_old_path { Entry::clone(before) } else { entry }
    }
}

/// Removes something, and the directories above that came with it and have nothing in them any more.
pub(super) fn take_away(
    editor: &mut TreeEditor<'_>,
    base: &Tree<'_>,
    path: &VaultPath,
) -> Result<()> {
    editor.remove(path)?;
    let mut above = path.parent();
    while let Some(directory) = above.filter(|directory| !directory.is_top()) {
        let came = base.get(&directory)?.is_none_or(|entry| entry.directory().is_none());
        if !came || !editor.is_empty(&directory)? {
            break;
        }
        editor.remove(&directory)?;
        above = directory.parent();
    }
    Ok(())
}

/// Makes the directories above a path as they were before.
pub(super) fn make_parents(
    editor: &mut TreeEditor<'_>,
    base: &Tree<'_>,
    path: &VaultPath,
) -> Result<()> {
    let names = path.names();
    let mut directory = VaultPath::top();
    for name in &names[..names.len().saturating_sub(1)] {
        directory = directory.join(name);
        if editor.get(&directory)?.is_none() {
            let meta = base.get(&directory)?.map_or_else(|| Meta::of_new(0o755), |e| e.meta);
            let made = editor.empty_directory(meta)?;
            editor.put(&directory, made)?;
        }
    }
    Ok(())
}
