//! Extended attributes that overlay file systems obey where a folder is a layer of one: whiteouts, redirects and the like.

use offshoot_host::Xattr;
use offshoot_tree::{Entry, Meta};

/// What the names of such attributes start with, for the kernel's overlayfs and for fuse-overlayfs.
const OBEYED: [&[u8]; 2] = [b"user.overlay.", b"user.fuseoverlayfs."];

/// What an entry may have in the folder, if that is not what it has: the folder keeps its own attributes of this kind, and gets no new ones.
pub(super) fn allowed(entry: &Entry, before: Option<&Entry>) -> Option<Meta> {
    let own = before.into_iter().flat_map(|before| &before.meta.xattrs).filter(is_obeyed);
    let others = entry.meta.xattrs.iter().filter(|xattr| !is_obeyed(xattr));
    let mut xattrs: Vec<Xattr> = own.chain(others).cloned().collect();
    xattrs.sort_unstable();
    (xattrs != entry.meta.xattrs).then(|| Meta { xattrs, ..entry.meta.clone() })
}

fn is_obeyed((name, _): &&Xattr) -> bool {
    OBEYED.iter().any(|start| name.starts_with(start))
}
