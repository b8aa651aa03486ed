//! Refs that git would find in place of others which people know by the same names.

use crate::git::repository::Refs;

/// Where git looks for a name, in this order: what stands before it, and behind.
const PLACES: [[&[u8]; 2]; 6] = [
    [b"", b""],
    [b"refs/", b""],
    [b"refs/tags/", b""],
    [b"refs/heads/", b""],
    [b"refs/remotes/", b""],
    [b"refs/remotes/", b"/HEAD"],
];

/// What git keeps beside `refs` for itself, as far as the ends of the names do not tell.
const ROOTS: [&[u8]; 7] = [
    b"@",
    b"HEAD",
    b"AUTO_MERGE",
    b"BISECT_EXPECTED_REV",
    b"MERGE_AUTOSTASH",
    b"NOTES_MERGE_PARTIAL",
    b"NOTES_MERGE_REF",
];

/// Whether a ref has a name that git has another use for, or is found before one of these by some name.
pub(super) fn shadows(name: &[u8], known: [&Refs; 2]) -> bool {
    (1..PLACES.len()).any(|at| {
        let [before, behind] = PLACES[at];
        let short = name.strip_prefix(before).and_then(|name| name.strip_suffix(behind));
        let Some(short) = short else { return false };
        let mut later =
            PLACES[at + 1..].iter().map(|[before, behind]| [before, short, behind].concat());
        is_root(short) || later.any(|other| known.iter().any(|refs| refs.contains_key(&other)))
    })
}

fn is_root(name: &[u8]) -> bool {
    let is_upper = name.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    ROOTS.contains(&name) || is_upper && name.ends_with(b"_HEAD")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ref_shadows_what_git_would_look_for_later() {
        let refs = |names: &[&str]| -> Refs {
            names.iter().map(|name| (name.as_bytes().to_vec(), b"1".to_vec())).collect()
        };
        let folder = refs(&[
            "HEAD",
            "refs/heads/main",
            "refs/tags/v1",
            "refs/remotes/origin/HEAD",
            "refs/remotes/origin/main",
        ]);
        let new = refs(&["refs/heads/new"]);
        for (name, expected) in [
            ("refs/origin/main", true),
            ("refs/main", true),
            ("refs/tags/origin/main", true),
            ("refs/heads/origin/main", true),
            ("refs/heads/origin", true),
            ("refs/tags/main", true),
            ("refs/tags/new", true),
            ("refs/tags/HEAD", true),
            ("refs/heads/HEAD", true),
            ("refs/HEAD", true),
            ("refs/heads/FETCH_HEAD", true),
            ("refs/tags/AUTO_MERGE", true),
            ("refs/heads/@", true),
            ("refs/heads/new", false),
            ("refs/heads/v1", false),
            ("refs/heads/WIP", false),
            ("refs/heads/HEAD/x", false),
            ("refs/tags/v2", false),
            ("refs/stash", false),
            ("refs/notes/commits", false),
            ("refs/remotes/origin/other", false),
        ] {
            assert_eq!(shadows(name.as_bytes(), [&folder, &new]), expected, "{name}");
        }
    }
}
