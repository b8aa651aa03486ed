//! Whether a commit has another one in its history, as far as the repository's own files tell.

use std::collections::BTreeSet;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use offshoot_vault::VaultPath;

use crate::error::Result;
use crate::git::repository::State;

/// A longer commit is not read.
const LONGEST: usize = 1 << 20;
/// A longer history is not followed to its end.
const MOST: usize = 10_000;

/// Whether `commit` is `wanted` or came from it. Only commits that lie in files of their own are read, as those do that were made since the last
/// `git gc`: where it cannot be told, the answer is no.
pub(super) fn includes(
    state: &State<'_>,
    repository: &VaultPath,
    commit: &[u8],
    wanted: &[u8],
) -> Result<bool> {
    let mut pending = vec![commit.to_vec()];
    let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
    while let Some(id) = pending.pop() {
        if id == wanted {
            return Ok(true);
        }
        if seen.len() >= MOST || !seen.insert(id.clone()) {
            continue;
        }
        pending.extend(parents(state, repository, &id)?);
    }
    Ok(false)
}

/// What a commit came from; nothing where it is not there as a file, or no commit.
fn parents(state: &State<'_>, repository: &VaultPath, id: &[u8]) -> Result<Vec<Vec<u8>>> {
    let is_id = id.len() >= 40 && id.iter().all(u8::is_ascii_hexdigit);
    if !is_id {
        return Ok(Vec::new());
    }
    let path = repository.join(b"objects").join(&id[..2]).join(&id[2..]);
    let Some(packed) = state.file(&path)?.filter(|bytes| bytes.len() <= LONGEST) else {
        return Ok(Vec::new());
    };
    let bytes = decompress_to_vec_zlib_with_limit(&packed, LONGEST).unwrap_or_default();
    Ok(parents_in(&bytes))
}

fn parents_in(object: &[u8]) -> Vec<Vec<u8>> {
    let Some(end) = object.iter().position(|byte| *byte == 0) else { return Vec::new() };
    if !object.starts_with(b"commit ") {
        return Vec::new();
    }
    let lines = object[end + 1..].split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.strip_prefix(b"parent ")).map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_those_of_the_header() {
        let object = b"commit 9\0tree 1\nparent 2\nparent 3\nauthor a\n\nparent 4\n";
        assert_eq!(parents_in(object), [b"2".to_vec(), b"3".to_vec()]);
        assert!(parents_in(b"blob 9\0tree 1\nparent 2\n").is_empty());
        assert!(parents_in(b"").is_empty());
    }
}
