//! What each path of a git directory is.

use offshoot_tree::VaultPath;

use crate::git::names::within_repository;
use crate::git::repository::path_of;

/// The part of a repository that a path belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Content that is named by its hash: it is only ever added.
    Object,
    /// Tables of objects that git makes anew. Each names others, so those of two sides do not go together: it never travels.
    Cache,
    /// Other places of objects: lines are only ever added.
    Alternates,
    /// Refs, packed or not.
    Ref,
    /// What refs were.
    Log,
    /// HEAD, the index and the shape of the working tree.
    Checkout,
    /// Something that waits to be finished, such as a merge.
    Progress,
    /// Commits whose parents are left out.
    Shallow,
    /// Refs in the reftable format.
    Reftable,
    /// The checkout of a further working tree.
    Worktree,
    /// The repository of a submodule.
    Module,
    /// Locks and what running programs use: it never travels.
    Passing,
    /// A file that is taken whole or not at all.
    Plain,
}

/// What git leaves while something waits to be finished.
pub(super) const IN_PROGRESS: [&[u8]; 8] = [
    b"MERGE_HEAD",
    b"CHERRY_PICK_HEAD",
    b"REVERT_HEAD",
    b"rebase-merge",
    b"rebase-apply",
    b"sequencer",
    b"BISECT_LOG",
    b"BISECT_START",
];
/// What belongs to it, and says nothing by itself.
const ABOUT_PROGRESS: [&[u8]; 6] =
    [b"MERGE_MODE", b"MERGE_MSG", b"MERGE_RR", b"MERGE_AUTOSTASH", b"AUTO_MERGE", b"REBASE_HEAD"];
const PASSING: [&[u8]; 3] = [b"gc.pid", b"fsmonitor--daemon", b"fsmonitor--daemon.ipc"];

/// Which objects go together, where they are by their places, and when they were last used.
const BESIDE_PACKS: [&[u8]; 3] = [b".bitmap", b".rev", b".mtimes"];

/// What a path below a repository is.
pub(super) fn role(inside: &[Vec<u8>]) -> Role {
    let Some((first, rest)) = inside.split_first() else { return Role::Plain };
    let names: Vec<&[u8]> = rest.iter().map(Vec::as_slice).collect();
    let last = inside.last().map(Vec::as_slice).unwrap_or_default();
    if last.ends_with(b".lock") || PASSING.contains(&first.as_slice()) {
        return Role::Passing;
    }
    match first.as_slice() {
        b"objects" => object(&names),
        b"lfs" => match names.first() {
            Some(&b"objects") => Role::Object,
            Some(&(b"tmp" | b"incomplete")) => Role::Passing,
            _ => Role::Plain,
        },
        b"refs" if matches!(names.first(), Some(&(b"bisect" | b"rewritten"))) => Role::Progress,
        b"refs" | b"packed-refs" => Role::Ref,
        b"logs" => Role::Log,
        b"HEAD" | b"index" => Role::Checkout,
        b"info" if names == [b"sparse-checkout".as_slice()] => Role::Checkout,
        // Written with packs, for who fetches by plain files.
        b"info" if names == [b"refs".as_slice()] => Role::Cache,
        b"shallow" => Role::Shallow,
        b"reftable" => Role::Reftable,
        b"worktrees" => Role::Worktree,
        b"modules" => Role::Module,
        name if name.starts_with(b"sharedindex.") => Role::Checkout,
        name if name.starts_with(b"offshoot-index-") => Role::Passing,
        name if name.starts_with(b"reftable~") => Role::Passing,
        name if name.starts_with(b"BISECT_")
            || IN_PROGRESS.contains(&name)
            || ABOUT_PROGRESS.contains(&name) =>
        {
            Role::Progress
        }
        _ => Role::Plain,
    }
}

/// Whether a path below a repository is, or is in, a table that git makes anew.
pub(in crate::git) fn is_cache(inside: &[Vec<u8>]) -> bool {
    role(inside) == Role::Cache
}

/// Whether git itself keeps no commit in such a file of a repository.
pub(crate) fn is_unknown(inside: &[Vec<u8>]) -> bool {
    const KNOWN: [&[u8]; 5] =
        [b"ORIG_HEAD", b"FETCH_HEAD", b"COMMIT_EDITMSG", b"TAG_EDITMSG", b"SQUASH_MSG"];
    let is_known = matches!(inside, [name] if KNOWN.contains(&name.as_slice()));
    role(inside) == Role::Plain && !is_known
}

/// Whether a path is, or holds, what a repository stores by its hash: nobody takes such away again.
pub(crate) fn is_object(path: &VaultPath) -> bool {
    object_holder(path).is_some()
}

/// The repository that such a path belongs to.
pub(crate) fn object_holder(path: &VaultPath) -> Option<VaultPath> {
    let inside = within_repository(path)?;
    let above = path.names().len() - inside.len();
    let mut starts = inside.iter().enumerate().filter(|(at, name)| {
        let in_module = *at >= 2 && inside[0] == b"modules";
        (*at == 0 || in_module) && matches!(name.as_slice(), b"objects" | b"lfs")
    });
    let (at, _) = starts.find(|(at, _)| role(&inside[*at..]) == Role::Object)?;
    Some(path_of(&path.names()[..above + at]))
}

fn object(names: &[&[u8]]) -> Role {
    let last = names.last().copied().unwrap_or_default();
    match names {
        [b"info", b"alternates" | b"http-alternates"] => Role::Alternates,
        // Commit graphs, and lists of packs.
        [b"info", ..] => Role::Cache,
        [b"pack", name, ..] if name.starts_with(b"multi-pack-index") => Role::Cache,
        // What a pack has beside its index.
        [b"pack", name] if BESIDE_PACKS.iter().any(|end| name.ends_with(end)) => Role::Cache,
        [first, ..] if first.starts_with(b"incoming-") => Role::Passing,
        _ if last.starts_with(b"tmp_") => Role::Passing,
        _ => Role::Object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_known_in_modules_too() {
        for (path, expected) in [
            ("/.git/objects", true),
            ("/.git/objects/ab/cd", true),
            ("/.git/modules/a/b/objects/ab/cd", true),
            ("/x/.git/lfs/objects/ab", true),
            ("/.git/objects/info/alternates", false),
            ("/.git/refs/heads/objects", false),
            ("/objects/ab", false),
        ] {
            assert_eq!(is_object(&VaultPath::parse(path.as_bytes()).unwrap()), expected, "{path}");
        }
    }

    #[test]
    fn every_part_has_its_role() {
        for (path, expected) in [
            ("objects/ab/cd", Role::Object),
            ("objects/pack/pack-1.idx", Role::Object),
            ("objects/pack/multi-pack-index", Role::Cache),
            ("objects/pack/pack-1.rev", Role::Cache),
            ("objects/pack/pack-1.keep", Role::Object),
            ("objects/pack/multi-pack-index.d/multi-pack-index-chain", Role::Cache),
            ("objects/info/commit-graph", Role::Cache),
            ("objects/info/commit-graphs/commit-graph-chain", Role::Cache),
            ("objects/info/alternates", Role::Alternates),
            ("objects/ab/tmp_obj_x", Role::Passing),
            ("lfs/objects/ab/cd/abcd", Role::Object),
            ("refs/heads/main", Role::Ref),
            ("refs/heads/main.lock", Role::Passing),
            ("refs/bisect/bad", Role::Progress),
            ("packed-refs", Role::Ref),
            ("logs/refs/heads/main", Role::Log),
            ("HEAD", Role::Checkout),
            ("index", Role::Checkout),
            ("sharedindex.1234", Role::Checkout),
            ("info/sparse-checkout", Role::Checkout),
            ("info/exclude", Role::Plain),
            ("info/refs", Role::Cache),
            ("MERGE_HEAD", Role::Progress),
            ("BISECT_TERMS", Role::Progress),
            ("rebase-merge/done", Role::Progress),
            ("ORIG_HEAD", Role::Plain),
            ("config", Role::Plain),
            ("shallow", Role::Shallow),
            ("reftable/tables.list", Role::Reftable),
            ("worktrees/side/HEAD", Role::Worktree),
            ("modules/lib/HEAD", Role::Module),
        ] {
            let names: Vec<Vec<u8>> =
                path.split('/').map(|name| name.as_bytes().to_vec()).collect();
            assert_eq!(role(&names), expected, "{path}");
        }
    }
}
