//! What single directories and files of a set of changes are to git.

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, VaultPath};

use super::by_name::{Planted, planted};
use crate::error::Result;
use crate::git::format::Format;
use crate::git::merge::{is_id, is_unknown};
use crate::git::names::{is_name, within_repository};
use crate::git::repository::{State, is_repository, is_repository_of_all, path_of};

/// A longer file is no ref.
const LONGEST_REF: u64 = 1024;

/// What a directory was before the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Was {
    Nothing,
    Directory,
    Repository,
    /// Nothing, or a repository in another format: it cannot be without what is planted in it.
    Other,
}

/// Whether a directory looks like a repository afterwards, and what it was. One that is called `.git` is known by its name, and counts only
/// where it cannot be without its settings.
pub(super) fn look(path: &VaultPath, [before, after, main]: [State<'_>; 3]) -> Result<Option<Was>> {
    let inside = within_repository(path);
    let was = before.tree.get(path)?;
    if let Some([kind, _]) = inside
        && is_name(kind, "worktrees")
    {
        // One that is new, or gone: what is planted in it would be missing.
        return Ok((was.is_some() != after.tree.get(path)?.is_some()).then_some(Was::Nothing));
    }
    let may_be_one = inside.is_none_or(|inside| inside.is_empty() || is_module_part(inside));
    if !may_be_one {
        return Ok(None);
    }
    if !is_repository(after.tree, path)? {
        // With what another workspace brought meanwhile it may be one.
        let is_one = inside.is_none() && is_repository_of_all(&[after.tree, main.tree], path)?;
        let known = if is_repository(main.tree, path)? { Was::Repository } else { Was::Directory };
        return Ok(is_one.then_some(known));
    }
    let is_named = inside.is_some_and(<[_]>::is_empty);
    let was_one = is_repository(before.tree, path)?;
    let known = if was_one { before.format(path)? } else { Format::default() };
    if (was_one || is_named) && after.format(path)? != known {
        return Ok(Some(Was::Other));
    }
    Ok(match (inside, was) {
        (Some([]), _) => None,
        // Nothing of a new module reaches the folder unless nothing is planted in it.
        (Some(_), was) => was.is_none().then_some(Was::Nothing),
        (None, _) if was_one => Some(Was::Repository),
        (None, Some(entry)) if entry.directory().is_some() => Some(Was::Directory),
        (None, _) => Some(Was::Nothing),
    })
}

/// Whether git would take a file of a repository for a ref that is none: it looks for `NAME` in the repository itself before `refs/heads/NAME`.
pub(super) fn shadows_ref(change: &Change, after: State<'_>) -> Result<bool> {
    let Some(Body::File { size: ..=LONGEST_REF, .. }) = change.after.as_ref().map(|e| &e.body)
    else {
        return Ok(false);
    };
    if within_repository(&change.path).is_none_or(<[_]>::is_empty) {
        return Ok(false);
    }
    let text = after.file(&change.path)?.unwrap_or_default();
    let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    if !is_id(word) && !text.starts_with(b"ref:") {
        return Ok(false);
    }
    // The repository that it belongs to may be that of a submodule.
    let mut above = change.path.parent();
    while let Some(path) = above {
        if is_repository(after.tree, &path)? {
            return Ok(is_unknown(&change.path.names()[path.names().len()..]));
        }
        above = path.parent();
    }
    Ok(false)
}

/// The git directory that gets another place to take objects or all else from. Working trees and modules in it are looked at by themselves.
pub(super) fn leads_elsewhere(change: &Change) -> Option<VaultPath> {
    let (before, after) = (change.before.as_deref(), change.after.as_deref());
    let inside = within_repository(&change.path)?;
    let of_another = |name: &Vec<u8>| is_name(name, "worktrees") || is_name(name, "modules");
    if after.is_none() || inside.first().is_none_or(of_another) {
        return None;
    }
    let end = change.path.names().len() - inside.len();
    let found = planted(&change.path, before, after);
    matches!(found, Some(Planted::Redirect | Planted::Link))
        .then(|| path_of(&change.path.names()[..end]))
}

/// Whether a path below a git directory is, or is in, the repository of a submodule; a working tree has submodules of its own.
pub(super) fn is_module_part(inside: &[Vec<u8>]) -> bool {
    match inside {
        [kind, _, rest @ ..] if is_name(kind, "worktrees") => is_module_part(rest),
        [kind, _, ..] => is_name(kind, "modules"),
        _ => false,
    }
}
