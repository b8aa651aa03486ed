//! Which part of which repository a path is, as far as it may lead to commits.

use offshoot_tree::VaultPath;
use offshoot_tree::diff::Change;

use super::held_refs::STASH;
use crate::error::Result;
use crate::git::names::{is_name, within_repository};
use crate::git::repository::{State, is_repository, path_of};

/// A part of a repository that leads to commits, or to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A ref with a file of its own; the log of the stash counts as the stash.
    Ref(Vec<u8>),
    /// The list of packed refs.
    List,
    Log,
    Head,
    Index,
    /// A file that names commits, such as `ORIG_HEAD`.
    Pointer,
}

/// What a changed file is; nothing for all others, and for directories.
pub(super) fn part_of(
    change: &Change,
    states: [State<'_>; 2],
) -> Result<Option<(VaultPath, Part)>> {
    let sides = [&change.before, &change.after];
    if sides.into_iter().flatten().all(|entry| entry.directory().is_some()) {
        return Ok(None);
    }
    let names = change.path.names();
    if let Some(inside) = within_repository(&change.path) {
        return in_git_directory(names, names.len() - inside.len(), states);
    }
    // Any other file can have such a name.
    let [after, _] = states;
    for at in (0..names.len()).rev() {
        let part = part(&names[at..]).filter(|part| !matches!(part, Part::Head | Part::Index));
        let Some(part) = part else { continue };
        let repository = path_of(&names[..at]);
        if is_repository(after.tree, &repository)? {
            return Ok(Some((repository, part)));
        }
    }
    Ok(None)
}

/// The same below a git directory, which has those of submodules and of further working trees in it.
fn in_git_directory(
    names: &[Vec<u8>],
    mut start: usize,
    states: [State<'_>; 2],
) -> Result<Option<(VaultPath, Part)>> {
    loop {
        match &names[start..] {
            [kind, _, _, ..] if is_name(kind, "worktrees") => start += 2,
            [kind, _, _, ..] if is_name(kind, "modules") => {
                // Most of what is in there leads nowhere. The name of a module may have slashes.
                let may_be_one = |at: &usize| part(&names[*at..]).is_some();
                let inner = |at: &usize| matches!(&names[*at..], [kind, ..] if is_name(kind, "modules") || is_name(kind, "worktrees"));
                let mut found = None;
                for end in (start + 2..names.len()).filter(|end| may_be_one(end) || inner(end)) {
                    let path = path_of(&names[..end]);
                    if is_repository(states[0].tree, &path)?
                        || is_repository(states[1].tree, &path)?
                    {
                        found = Some(end);
                        break;
                    }
                }
                let Some(end) = found else { return Ok(None) };
                start = end;
            }
            rest => return Ok(part(rest).map(|part| (path_of(&names[..start]), part))),
        }
    }
}

fn part(inside: &[Vec<u8>]) -> Option<Part> {
    let is_pointer = |name: &[u8]| name.iter().all(|c| c.is_ascii_uppercase() || *c == b'_');
    match inside {
        [refs, _, ..] if refs == b"refs" => Some(Part::Ref(inside.join(&b'/'))),
        [name] if name == b"packed-refs" => Some(Part::List),
        [logs, rest @ ..] if logs == b"logs" && !rest.is_empty() => {
            let is_stash = rest.join(&b'/') == STASH;
            Some(if is_stash { Part::Ref(STASH.to_vec()) } else { Part::Log })
        }
        [name] if name == b"HEAD" => Some(Part::Head),
        [name] if name == b"index" || name.starts_with(b"sharedindex.") => Some(Part::Index),
        [name] if is_pointer(name) => Some(Part::Pointer),
        _ => None,
    }
}
