//! Files that git tracks and that no workspace has: `.offshootignore` keeps them out. To git in a workspace they are deleted.

use offshoot_tree::{RootId, VaultPath};
use offshoot_vault::Vault;

use crate::error::Result;
use crate::git::{GitEvent, GitNote, first_index, repository_at};
use crate::ignore_rules::IgnoreRules;

/// What to say where a workspace deleted such files in git: they stay on disk.
pub(super) fn kept_out(
    vault: &Vault,
    (main, merged): (&RootId, &RootId),
    side: &str,
) -> Result<Option<GitNote>> {
    let (Some(before), Some(after)) = (first_index(vault, main)?, first_index(vault, merged)?)
    else {
        return Ok(None);
    };
    let tree = vault.tree(main)?;
    let mut never = IgnoreRules::never(vault.objects()?, &[*main])?;
    let mut found = Vec::new();
    for (key, _) in before.iter().filter(|(key, _)| !after.contains_key(*key)) {
        let Ok(path) = VaultPath::parse(&key.0) else { continue };
        if never.ignores(&path, false)? && tree.get(&path)?.is_none() {
            found.push(path);
        }
    }
    let Some(first) = found.first() else { return Ok(None) };
    Ok(Some(GitNote {
        repository: repository_at(vault, main)?,
        event: GitEvent::KeptOut(found.len() as u64 - 1),
        name: first.to_string(),
        side: side.to_owned(),
        from: None,
        to: None,
        way: None,
        logged: false,
    }))
}
