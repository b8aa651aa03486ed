//! Names that git gives a meaning to, in whatever way a file system may spell them.

use offshoot_tree::VaultPath;
use offshoot_vault::bound_path;

use crate::folded_name::folded;

/// How the names of further folders end that are git directories.
pub(crate) const GIT_SUFFIX: &str = ".git";

/// Whether a file system may take this name for `.git`: in another case, with characters that some ignore, or in the short
/// form of others.
pub(crate) fn is_git_directory_name(name: &[u8]) -> bool {
    // Most names are told by their first byte: what may stand before the name is not ASCII.
    if name.first().is_some_and(|byte| byte.is_ascii() && !b".gG".contains(byte)) {
        return false;
    }
    [&b".git"[..], b"git~1"].contains(&folded(name).as_slice())
}

/// Whether a file system may take a name for this one.
pub(crate) fn is_name(name: &[u8], wanted: &str) -> bool {
    folded(name).eq_ignore_ascii_case(wanted.as_bytes())
}

/// How many names of a path lead to its innermost git directory: one that is called `.git`, or a further folder of the vault whose name
/// ends so (`/.offshoot/bound/NAME.git`).
fn end_of_git_directory(names: &[Vec<u8>]) -> Option<usize> {
    if let Some(at) = names.iter().rposition(|name| is_git_directory_name(name)) {
        return Some(at + 1);
    }
    let place = bound_path();
    let at = place.names().len();
    let folder = names.get(at).filter(|_| names.starts_with(place.names()))?;
    is_git_folder_name(folder).then_some(at + 1)
}

/// Whether a further folder of a vault is a git directory, as far as its name tells.
pub(crate) fn is_git_folder_name(name: &[u8]) -> bool {
    let start = name.len().saturating_sub(GIT_SUFFIX.len());
    start > 0 && is_name(&name[start..], GIT_SUFFIX)
}

/// The names below the innermost git directory on the way, if there is one; none for the directory itself.
pub(crate) fn within_repository(path: &VaultPath) -> Option<&[Vec<u8>]> {
    end_of_git_directory(path.names()).map(|end| &path.names()[end..])
}

/// Whether a path is that of a git directory.
pub(crate) fn is_git_directory(path: &VaultPath) -> bool {
    within_repository(path).is_some_and(<[_]>::is_empty)
}

/// The outermost git directory that a path is, or is in.
pub(crate) fn git_directory(path: &VaultPath) -> Option<VaultPath> {
    within_repository(path)?;
    let mut prefix = VaultPath::top();
    for name in path.names() {
        prefix = prefix.join(name);
        if within_repository(&prefix).is_some_and(<[Vec<u8>]>::is_empty) {
            return Some(prefix);
        }
    }
    None
}

/// The directory that git keeps for a further working tree, of which a path is a part: `.git/worktrees/NAME`.
pub(crate) fn worktree_of(path: &VaultPath) -> Option<VaultPath> {
    let repository = git_directory(path)?;
    match &path.names()[repository.names().len()..] {
        [kind, name, ..] if is_name(kind, "worktrees") => Some(repository.join(kind).join(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_name_is_known() {
        for same in [
            ".git",
            ".GIT",
            ".Git",
            "git~1",
            "GIT~1",
            ".g\u{200c}it",
            ".git ",
            ".git.",
            ".git::$INDEX_ALLOCATION",
            ".git . :x",
        ] {
            assert!(is_git_directory_name(same.as_bytes()), "{same:?}");
        }
        for other in [".gitignore", "git", "a.git", ".gi", ".git~1x", "x.git"] {
            assert!(!is_git_directory_name(other.as_bytes()), "{other:?}");
        }
        assert!(!is_git_directory_name(b".git\xff"));
        for same in ["hooks", "Hooks", "hook\u{17f}", "hoo\u{212a}s", "hooks.", "hooks::$DATA"] {
            assert!(is_name(same.as_bytes(), "hooks"), "{same:?}");
        }
    }

    #[test]
    fn the_innermost_repository_counts() {
        let path = |text: &str| VaultPath::parse(text.as_bytes()).unwrap();
        assert_eq!(within_repository(&path("/a/b")), None);
        assert_eq!(within_repository(&path("/.git")), Some(&[][..]));
        let nested = path("/.git/x/.git/config");
        assert_eq!(within_repository(&nested), Some(&[b"config".to_vec()][..]));
        assert_eq!(git_directory(&nested), Some(path("/.git")));
        assert_eq!(git_directory(&path("/a/.git/HEAD")), Some(path("/a/.git")));
        assert_eq!(git_directory(&path("/a/b")), None);
    }

    #[test]
    fn further_folders_are_git_directories_by_their_names() {
        let path = |text: &str| VaultPath::parse(text.as_bytes()).unwrap();
        let inside = path("/.offshoot/bound/side.git/hooks/x");
        assert_eq!(within_repository(&inside).map(<[_]>::len), Some(2));
        assert_eq!(git_directory(&inside), Some(path("/.offshoot/bound/side.git")));
        let nested = path("/.offshoot/bound/side.git/x/.git/config");
        assert_eq!(within_repository(&nested), Some(&[b"config".to_vec()][..]));
        for other in
            ["/.offshoot/bound/side/x", "/.offshoot/bound", "/bound/side.git/x", "/a.git/x"]
        {
            assert_eq!(within_repository(&path(other)), None, "{other}");
        }
    }
}
