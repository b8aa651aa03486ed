//! Branches that a merge or a pull kept apart, and that nobody merged since: they are told of again.

use offshoot_tree::{RootId, Tree, VaultPath};
use offshoot_vault::Vault;

use super::ancestry::{Ancestry, ancestry, are_unrelated};
use super::report::{GitEvent, GitNote, GitReport, NextStep};
use super::store::Store;
use crate::error::Result;
use crate::git::repository::{Refs, State, resolve};
use crate::side_label::{FOLDER_LABEL, HEAD_LABEL};

/// Where branches of other sides are kept.
const KEPT: &[u8] = b"refs/heads/offshoot/";

/// Branches of other sides that a state has and another does not, beside the branch that is checked out in the first folder's repository,
/// which lacks their commits. What to do about them is done there: in the workspace, if one is named.
pub fn kept_apart(
    vault: &Vault,
    root: &RootId,
    known: &RootId,
    workspace: Option<&str>,
) -> Result<GitReport> {
    let objects = vault.objects()?;
    let trees = [Tree::open(objects, root)?, Tree::open(objects, known)?];
    let [state, known] = trees.each_ref().map(|tree| State { objects, tree });
    let repository = state.repository_at(&VaultPath::top())?;
    let mut report = GitReport::default();
    if !has_others(state, known, &repository)? {
        return Ok(report);
    }
    let (refs, others) = (state.refs(&repository)?, known.refs(&repository)?);
    let (Some(branch), Some(here)) = (checked_out(&refs), resolve(&refs, b"HEAD")) else {
        return Ok(report);
    };
    let is_merging = state.tree.get(&repository.join(b"MERGE_HEAD"))?.is_some();
    let store = Store::new(state, &repository);
    let below = refs.range(KEPT.to_vec()..).take_while(|(name, _)| name.starts_with(KEPT));
    for (kept, tip) in below.filter(|(name, tip)| others.get(*name) != Some(*tip)) {
        let Some(side) = side_of(kept, branch) else { continue };
        if ancestry(&store, &here, tip)? != Ancestry::No {
            continue;
        }
        let mut way = NextStep::record(&text(kept));
        if are_unrelated((&store, &here), (&store, tip))? {
            way = way.unrelated();
        }
        report.notes.push(GitNote {
            repository: repository.clone(),
            event: GitEvent::KeptApart(text(kept)),
            name: text(branch),
            side,
            from: Some(text(&here)),
            to: Some(text(tip)),
            way: Some(if is_merging { way.after_progress() } else { way }),
            logged: false,
        });
    }
    if !state.tree.conflicts(&VaultPath::top())?.is_empty() {
        report = report.with_open_conflicts();
    }
    Ok(match workspace {
        Some(workspace) => report.inside(workspace),
        None => report,
    })
}

/// Whether a repository may have refs of other sides that it has not in another state. Most have not, and their refs need not be read.
fn has_others(state: State<'_>, known: State<'_>, repository: &VaultPath) -> Result<bool> {
    let kept = [&b"refs"[..], b"heads", b"offshoot"];
    let kept = kept.iter().fold(repository.clone(), |at, name| at.join(name));
    for path in [kept, repository.join(b"packed-refs")] {
        let here = state.tree.get(&path)?;
        if here.is_some() && here != known.tree.get(&path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The branch that is checked out.
fn checked_out(refs: &Refs) -> Option<&[u8]> {
    let branch = refs.get(b"HEAD".as_slice())?.strip_prefix(b"ref:")?.trim_ascii();
    branch.starts_with(b"refs/heads/").then_some(branch)
}

/// The side that a branch was kept of, if it is one of that name; a number may follow.
fn side_of(kept: &[u8], branch: &[u8]) -> Option<String> {
    let rest = kept.strip_prefix(KEPT)?;
    let slash = rest.iter().position(|byte| *byte == b'/')?;
    let (side, name) = (&rest[..slash], &rest[slash + 1..]);
    let number = name.strip_prefix(branch.strip_prefix(b"refs/heads/")?)?;
    let is_number = match number {
        [] => true,
        [b'-', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let side = text(side);
    let side = if side == FOLDER_LABEL { HEAD_LABEL.to_owned() } else { side };
    is_number.then_some(side)
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_found_in_the_names_of_what_was_kept() {
        let side = |kept: &str| {
            side_of(format!("refs/heads/offshoot/{kept}").as_bytes(), b"refs/heads/a/main")
        };
        assert_eq!(side("two/a/main").as_deref(), Some("two"));
        assert_eq!(side("two/a/main-2").as_deref(), Some("two"));
        assert_eq!(side("folder/a/main").as_deref(), Some(HEAD_LABEL));
        for other in ["two/a/mainline", "two/a/main-", "two/a/main-x", "two/main", "two"] {
            assert_eq!(side(other), None, "{other}");
        }
    }
}
