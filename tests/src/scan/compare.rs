//! The differences of two scans, in words.

use std::collections::BTreeSet;

use super::{Kind, Node, Scan};

/// What [`compare`] looks at. The default is everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompareOptions {
    /// Owners and groups.
    pub owners: bool,
    /// Modification times of everything but directories.
    pub mtimes: bool,
    /// Modification times of directories.
    pub directory_mtimes: bool,
    /// The twelve permission bits.
    pub modes: bool,
    /// Extended attributes.
    pub xattrs: bool,
    /// Which names share an inode.
    pub hard_links: bool,
    /// The metadata of the top directory itself.
    pub top: bool,
    /// Sockets and devices, which the product reports but does not keep.
    pub special: bool,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            owners: true,
            mtimes: true,
            directory_mtimes: true,
            modes: true,
            xattrs: true,
            hard_links: true,
            top: true,
            special: true,
        }
    }
}

impl CompareOptions {
    /// Names, kinds, bytes and targets only.
    pub fn content() -> Self {
        Self {
            owners: false,
            mtimes: false,
            directory_mtimes: false,
            modes: false,
            xattrs: false,
            hard_links: false,
            top: false,
            special: false,
        }
    }

    fn covers(&self, path: &[u8], node: &Node) -> bool {
        let special = matches!(node.kind, Kind::Socket | Kind::CharacterDevice | Kind::BlockDevice);
        (self.top || !path.is_empty()) && (self.special || !special)
    }
}

/// The differences between `a` and `b`, one a line, in the order of the paths; empty if there are
/// none. Allocated blocks are never compared.
pub fn compare(a: &Scan, b: &Scan, options: &CompareOptions) -> Vec<String> {
    let paths: BTreeSet<&Vec<u8>> = a.0.keys().chain(b.0.keys()).collect();
    let mut differences = Vec::new();
    for path in paths {
        let left = a.0.get(path).filter(|node| options.covers(path, node));
        let right = b.0.get(path).filter(|node| options.covers(path, node));
        let found = match (left, right) {
            (Some(left), Some(right)) => compare_nodes(left, right, options),
            (Some(node), None) => vec![format!("only in the first ({:?})", node.kind)],
            (None, Some(node)) => vec![format!("only in the second ({:?})", node.kind)],
            (None, None) => Vec::new(),
        };
        differences.extend(found.into_iter().map(|what| format!("{}: {what}", printable(path))));
    }
    differences
}

/// A path as one line of printable ASCII; the empty path is the top.
pub fn printable(path: &[u8]) -> String {
    if path.is_empty() { "(top)".to_owned() } else { path.escape_ascii().to_string() }
}

/// The name of a field, whether it differs, and how it is shown.
type Field = (&'static str, bool, fn(&Node) -> String);

fn compare_nodes(a: &Node, b: &Node, options: &CompareOptions) -> Vec<String> {
    let times = if a.kind == Kind::Directory { options.directory_mtimes } else { options.mtimes };
    let fields: [Field; 10] = [
        ("kind", a.kind != b.kind, |node| format!("{:?}", node.kind)),
        ("size", a.size != b.size, |node| node.size.to_string()),
        ("hash", a.hash != b.hash, |node| node.hash.map_or("none".to_owned(), hex)),
        ("error", a.error != b.error, |node| format!("{:?}", node.error)),
        ("target", a.target != b.target, |node| printable(node.target.as_deref().unwrap_or(b""))),
        ("mode", options.modes && a.mode != b.mode, |node| format!("{:04o}", node.mode)),
        ("owner", options.owners && (a.uid, a.gid) != (b.uid, b.gid), |node| {
            format!("{}:{}", node.uid, node.gid)
        }),
        ("mtime", times && a.mtime != b.mtime, |node| {
            format!("{}s+{}ns", node.mtime.0, node.mtime.1)
        }),
        ("xattrs", options.xattrs && a.xattrs != b.xattrs, xattrs),
        ("links", options.hard_links && a.links != b.links, links),
    ];
    let differing = fields.into_iter().filter(|(_, differs, _)| *differs);
    differing.map(|(name, _, show)| format!("{name} {} != {}", show(a), show(b))).collect()
}

fn hex(hash: [u8; 32]) -> String {
    blake3::Hash::from_bytes(hash).to_hex().to_string()
}

fn xattrs(node: &Node) -> String {
    let show = |(name, value): (&Vec<u8>, &Vec<u8>)| {
        format!("{}={}", name.escape_ascii(), value.escape_ascii())
    };
    format!("[{}]", node.xattrs.iter().map(show).collect::<Vec<_>>().join(", "))
}

fn links(node: &Node) -> String {
    format!("[{}]", node.links.iter().map(|path| printable(path)).collect::<Vec<_>>().join(", "))
}
