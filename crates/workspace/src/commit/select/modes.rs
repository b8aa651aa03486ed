//! Modes that give others more rights in the folder than they had.

use offshoot_tree::{Entry, EntryKind};

/// The bits that make a program run as its owner or group, and what is made in a directory belong to its group.
const SET_ID: u16 = 0o6000;
/// What the group and all others may do.
const GROUP: u16 = 0o070;
const OTHERS: u16 = 0o007;
const READ: u16 = 0o044;
const RUN: u16 = 0o011;
const WRITE: u16 = 0o022;
/// The mask of a process that says nothing else.
const USUAL_MASK: u16 = 0o022;

/// The mode that an entry may have in the folder, given what was there and the directory that it is in. What somebody may read they may run
/// as well; nobody else may write what they could not, nor read what was closed to them.
pub(super) fn allowed(
    entry: &Entry,
    before: Option<&Entry>,
    inside: Option<&Entry>,
    mask: u16,
) -> u16 {
    let mode = entry.meta.mode;
    if entry.kind() == EntryKind::Symlink {
        return mode;
    }
    let inside = inside.map_or(0, |directory| directory.meta.mode);
    match before.filter(|before| before.kind() == entry.kind()) {
        Some(before) => {
            let was = before.meta.mode;
            let open = [GROUP, OTHERS].into_iter().filter(|class| was & class & READ != 0);
            let runs = open.fold(0, |bits, class| bits | (class & RUN));
            // Other bytes are another program.
            let had = if same_program(before, entry) { was & SET_ID } else { 0 };
            mode & !(SET_ID | GROUP | OTHERS) | mode & (had | was & (GROUP | OTHERS) | runs)
        }
        None => {
            // What is made in a directory of a group is for that group.
            let shared = if entry.directory().is_some() { inside & SET_ID } else { 0 };
            mode & !(SET_ID & !shared) & !(WRITE & mask & !inside)
        }
    }
}

/// Whether set-id bits stand on what they stood on before.
fn same_program(before: &Entry, entry: &Entry) -> bool {
    entry.directory().is_some() || before.same_content(entry)
}

/// What this process takes from the modes of files that it makes.
pub(super) fn umask() -> u16 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|text| u16::from_str_radix(text.trim(), 8).ok()).unwrap_or(USUAL_MASK)
}

#[cfg(test)]
mod tests {
    use offshoot_tree::{BlobId, Body, ContentId, DirRef, Meta, NodeId};

    use super::*;

    fn entry(mode: u16, body: Body) -> Entry {
        let meta = Meta { mode, ..Meta::default() };
        Entry { name: b"x".to_vec(), meta, group: None, conflict: None, body }
    }

    fn file(mode: u16, content: u8) -> Entry {
        entry(mode, Body::File { size: 1, blob: BlobId([content; 32]) })
    }

    fn directory(mode: u16) -> Entry {
        let (node, content) = (NodeId([1; 32]), ContentId([1; 32]));
        let dir = DirRef { node, content, bytes: 0, entries: 0, conflicts: 0 };
        entry(mode, Body::Directory(dir.into()))
    }

    #[test]
    fn nobody_else_gets_more_rights() {
        for (was, wanted, gets) in [
            (0o644, 0o755, 0o755),
            (0o644, 0o777, 0o755),
            (0o600, 0o777, 0o700),
            (0o600, 0o644, 0o600),
            (0o640, 0o755, 0o750),
            (0o664, 0o664, 0o664),
            (0o755, 0o700, 0o700),
            (0o755, 0o6755, 0o755),
            (0o4755, 0o4711, 0o4711),
        ] {
            let (before, after) = (file(was, 1), file(wanted, 1));
            assert_eq!(allowed(&after, Some(&before), None, 0o022), gets, "{was:o} {wanted:o}");
        }
        assert_eq!(allowed(&file(0o4755, 2), Some(&file(0o4755, 1)), None, 0), 0o755);
        for (was, wanted, gets) in
            [(0o700, 0o777, 0o700), (0o755, 0o3777, 0o1755), (0o2775, 0o2777, 0o2775)]
        {
            let (before, after) = (directory(was), directory(wanted));
            assert_eq!(allowed(&after, Some(&before), None, 0o022), gets, "{was:o} {wanted:o}");
        }
    }

    #[test]
    fn what_is_new_is_as_this_process_would_make_it() {
        assert_eq!(allowed(&file(0o666, 1), None, None, 0o022), 0o644);
        assert_eq!(allowed(&file(0o666, 1), None, None, 0o002), 0o664);
        assert_eq!(allowed(&file(0o600, 1), None, None, 0o022), 0o600);
        assert_eq!(allowed(&directory(0o2777), None, None, 0o022), 0o755);
        // A directory of a group.
        let shared = directory(0o2775);
        assert_eq!(allowed(&file(0o666, 1), None, Some(&shared), 0o022), 0o664);
        assert_eq!(allowed(&directory(0o2775), None, Some(&shared), 0o022), 0o2775);
        assert_eq!(allowed(&file(0o6755, 1), None, Some(&shared), 0o022), 0o755);
    }
}
