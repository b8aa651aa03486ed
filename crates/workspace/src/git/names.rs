//! Names that git gives a meaning to, in whatever way a file system may spell them.

use offshoot_vault::VaultPath;

/// Whether a file system may take this name for `.git`: in another case, with characters that some ignore, or in the short
/// form of others.
pub(crate) fn is_git_directory_name(name: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(name) else { return false };
    let plain: String = text.chars().filter(|c| !is_ignorable(*c)).collect();
    let plain = plain.trim_end_matches([' ', '.']);
    plain.eq_ignore_ascii_case(".git") || plain.eq_ignore_ascii_case("git~1")
}

/// Characters that file systems which fold cases leave out when they compare names.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a name is this one, in any case.
pub(crate) fn is_name(name: &[u8], wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted.as_bytes())
}

/// The names below the last `.git` on the way, if there is one; none for the `.git` itself.
pub(crate) fn within_repository(path: &VaultPath) -> Option<&[Vec<u8>]> {
    let names = path.names();
    let at = names.iter().rposition(|name| is_git_directory_name(name))?;
    Some(&names[at + 1..])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_name_is_known() {
        for same in [".git", ".GIT", ".Git", "git~1", "GIT~1", ".g\u{200c}it", ".git ", ".git."] {
            assert!(is_git_directory_name(same.as_bytes()), "{same:?}");
        }
        for other in [".gitignore", "git", "a.git", ".gi", ".git~1x", "x.git"] {
            assert!(!is_git_directory_name(other.as_bytes()), "{other:?}");
        }
        assert!(!is_git_directory_name(b".git\xff"));
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
}
