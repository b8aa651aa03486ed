//! Why a ref, or what is checked out, cannot be brought to another repository.

use super::both::{Both, short};
use super::store::is_id;
use crate::error::Result;
use crate::git::repository::resolve;

/// Why a ref of the other side cannot be brought; nothing where it can.
pub(super) fn flaw(both: &Both<'_>, name: &[u8], value: &[u8]) -> Result<Option<String>> {
    if !is_ref_name(name) {
        return Ok(Some("its name is not valid".to_owned()));
    }
    let Some(next) = value.strip_prefix(b"ref:").map(<[u8]>::trim_ascii) else {
        return id_flaw(both, value);
    };
    if !next.starts_with(b"refs/") {
        return Ok(Some("it is damaged".to_owned()));
    }
    let is_head = name == b"HEAD";
    match resolve(&both.refs_there, next) {
        // What a branch is that is checked out is decided with it.
        Some(_) if is_head => Ok(None),
        Some(value) => id_flaw(both, &value),
        // No commit was made yet.
        None if is_head && !both.refs_there.contains_key(next) => Ok(None),
        None => Ok(Some("it leads nowhere".to_owned())),
    }
}

fn id_flaw(both: &Both<'_>, value: &[u8]) -> Result<Option<String>> {
    if !is_id(value) {
        return Ok(Some("it is damaged".to_owned()));
    }
    Ok(both.missing(value)?.map(|id| format!("object {} is missing", short(&id))))
}

/// Whether git takes a name for one of a ref.
fn is_ref_name(name: &[u8]) -> bool {
    let parts: Vec<&[u8]> = name.split(|byte| *byte == b'/').collect();
    let part = |part: &&[u8]| {
        !part.is_empty()
            && !part.starts_with(b".")
            && !part.ends_with(b".lock")
            && !part.ends_with(b".")
    };
    let has = |text: &[u8]| name.windows(text.len()).any(|window| window == text);
    let is_bad = |byte: &u8| *byte < b' ' || *byte == 0x7f || b" ~^:?*[\\".contains(byte);
    // No git makes such a branch, since every command would take it for something else.
    let branch = name.strip_prefix(b"refs/heads/");
    let is_hidden = branch.is_some_and(|branch| branch == b"HEAD" || branch.starts_with(b"-"));
    let is_well_made = !has(b"..") && !has(b"@{") && !name.iter().any(is_bad);
    parts.iter().all(part) && is_well_made && !is_hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_git_takes() {
        for good in
            ["refs/heads/a", "refs/heads/a-b/c.d", "HEAD", "refs/stash", "refs/heads/\u{e4}"]
        {
            assert!(is_ref_name(good.as_bytes()), "{good}");
        }
        for bad in [
            "refs/heads/HEAD",
            "refs/heads/-a",
            "refs/heads/a.lock",
            "refs//a",
            "refs/.a",
            "refs/a..b",
            "refs/a b",
            "refs/a@{1}",
            "refs/a.",
        ] {
            assert!(!is_ref_name(bad.as_bytes()), "{bad}");
        }
    }
}
