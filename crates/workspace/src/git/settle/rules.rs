//! What the files of a repository are to a merge.

use offshoot_vault::VaultPath;

use crate::git::names::{is_name, within_repository};

/// How a file of a repository is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Content that git stores by its hash: it is added, and nothing is replaced.
    Objects,
    /// Notes that git makes again: the folder's stay.
    Volatile,
    /// Where branches are, and what is under way: both changing them needs somebody to decide.
    Refs,
}

/// Files that git makes again, or that only log what happened.
const VOLATILE: &[&str] = &[
    "index",
    "logs",
    "COMMIT_EDITMSG",
    "MERGE_MSG",
    "MERGE_RR",
    "SQUASH_MSG",
    "TAG_EDITMSG",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "AUTO_MERGE",
    "gc.log",
    "gc.pid",
    "rr-cache",
    "description",
    "fsmonitor--daemon",
    "fsmonitor--daemon.ipc",
];

/// Where branches are, and what is under way.
const REFS: &[&str] = &[
    "HEAD",
    "refs",
    "packed-refs",
    "reftable",
    "shallow",
    "MERGE_HEAD",
    "MERGE_MODE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_LOG",
    "BISECT_START",
    "BISECT_TERMS",
];

/// How a path is merged; nothing where it is in no repository, or merged like any other file.
pub(super) fn rule(path: &VaultPath) -> Option<Rule> {
    let inside = within_repository(path)?;
    let own = own_part(inside);
    let (first, rest) = own.split_first()?;
    let is_one_of = |names: &[&str]| names.iter().any(|name| is_name(first, name));
    let is_info_refs =
        is_name(first, "info") && rest.first().is_some_and(|name| is_name(name, "refs"));
    match () {
        () if is_name(first, "objects") => Some(Rule::Objects),
        () if is_one_of(REFS) => Some(Rule::Refs),
        () if is_one_of(VOLATILE) || is_info_refs || first.ends_with(b".lock") => {
            Some(Rule::Volatile)
        }
        () => None,
    }
}

/// The part of a path inside the innermost repository: of a working tree, or of a module, whose name may have slashes.
fn own_part(inside: &[Vec<u8>]) -> &[Vec<u8>] {
    match inside {
        [kind, _, rest @ ..] if is_name(kind, "worktrees") => own_part(rest),
        [kind, rest @ ..] if is_name(kind, "modules") => {
            let known = |name: &[u8]| {
                let mut names = VOLATILE.iter().chain(REFS).chain(&["objects", "info"]);
                names.any(|wanted| is_name(name, wanted))
            };
            match rest.iter().position(|name| is_name(name, "modules")) {
                Some(at) if at > 0 => own_part(&rest[at..]),
                _ => {
                    let start = rest.iter().skip(1).position(|name| known(name));
                    start.map_or(&[][..], |at| &rest[at + 1..])
                }
            }
        }
        _ => inside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_repositories_have_their_rules() {
        for (path, expected) in [
            ("/.git/objects/ab/cd", Some(Rule::Objects)),
            ("/.git/modules/lib/objects/pack/p.idx", Some(Rule::Objects)),
            ("/.git/modules/a/b/lib/refs/heads/main", Some(Rule::Refs)),
            ("/.git/modules/lib/modules/in/logs/HEAD", Some(Rule::Volatile)),
            ("/.git/worktrees/side/index", Some(Rule::Volatile)),
            ("/.git/worktrees/side/HEAD", Some(Rule::Refs)),
            ("/.git/worktrees/side/modules/lib/objects/ab/cd", Some(Rule::Objects)),
            ("/.offshoot/bound/side.git/worktrees/side/HEAD", Some(Rule::Refs)),
            ("/.offshoot/bound/side.git/objects/ab/cd", Some(Rule::Objects)),
            ("/.offshoot/bound/side/objects/ab/cd", None),
            ("/.git/index", Some(Rule::Volatile)),
            ("/.git/logs/HEAD", Some(Rule::Volatile)),
            ("/.git/logs/refs/heads/main", Some(Rule::Volatile)),
            ("/.git/HEAD", Some(Rule::Refs)),
            ("/.git/refs/heads/index", Some(Rule::Refs)),
            ("/.git/packed-refs", Some(Rule::Refs)),
            ("/.git/config", None),
            ("/.git/info/exclude", None),
            ("/.git", None),
            ("/HEAD", None),
            ("/x/.git/HEAD", Some(Rule::Refs)),
        ] {
            assert_eq!(rule(&VaultPath::parse(path.as_bytes()).unwrap()), expected, "{path}");
        }
    }
}
