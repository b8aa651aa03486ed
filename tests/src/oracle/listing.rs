//! A scan as text and back, so that what is seen inside can be compared outside.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::step::{escape, unescape};
use crate::scan::{Kind, Node, Scan};

const KINDS: [(Kind, &str); 8] = [
    (Kind::File, "file"),
    (Kind::Directory, "directory"),
    (Kind::Symlink, "symlink"),
    (Kind::Fifo, "fifo"),
    (Kind::Socket, "socket"),
    (Kind::CharacterDevice, "character-device"),
    (Kind::BlockDevice, "block-device"),
    (Kind::Unknown, "unknown"),
];

/// The scan, a line for each path.
pub fn to_text(scan: &Scan) -> String {
    let mut text = String::new();
    for (path, node) in &scan.0 {
        let kind = KINDS.iter().find(|(kind, _)| *kind == node.kind).map_or("unknown", |(_, w)| w);
        let hash = node.hash.map(|hash| blake3::Hash::from_bytes(hash).to_hex().to_string());
        let optional = |bytes: Option<&[u8]>| {
            bytes.map_or("-".to_owned(), |bytes| format!("+{}", escape(bytes)))
        };
        let pairs = node.xattrs.iter().flat_map(|(name, value)| [escape(name), escape(value)]);
        let links = node.links.iter().map(|path| escape(path));
        let lists = [pairs.collect::<Vec<_>>().join(" "), links.collect::<Vec<_>>().join(" ")];
        writeln!(
            text,
            "{}\t{kind}\t{:o}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            escape(path),
            node.mode,
            node.uid,
            node.gid,
            node.size,
            node.mtime.0,
            node.mtime.1,
            optional(hash.as_ref().map(|hash| hash.as_bytes())),
            optional(node.target.as_deref()),
            optional(node.error.as_ref().map(|error| error.as_bytes())),
            lists[0],
            lists[1],
        )
        .expect("text can be added to text");
    }
    text
}

/// The scan of a text; nothing if it is none.
pub fn parse(text: &str) -> Option<Scan> {
    text.lines().map(line).collect::<Option<BTreeMap<_, _>>>().map(Scan)
}

fn line(line: &str) -> Option<(Vec<u8>, Node)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [
        path,
        kind,
        mode,
        uid,
        gid,
        size,
        seconds,
        nanoseconds,
        hash,
        target,
        error,
        xattrs,
        links,
    ] = fields.as_slice()
    else {
        return None;
    };
    let words = |text: &str| {
        text.split(' ').filter(|word| !word.is_empty()).map(unescape).collect::<Option<Vec<_>>>()
    };
    let optional = |text: &str| match text.strip_prefix('+') {
        Some(text) => unescape(text).map(Some),
        None => Some(None),
    };
    let hash = match optional(hash)? {
        Some(hex) => Some(*blake3::Hash::from_hex(hex).ok()?.as_bytes()),
        None => None,
    };
    let node = Node {
        kind: KINDS.iter().find(|(_, word)| word == kind)?.0,
        mode: u32::from_str_radix(mode, 8).ok()?,
        uid: uid.parse().ok()?,
        gid: gid.parse().ok()?,
        size: size.parse().ok()?,
        mtime: (seconds.parse().ok()?, nanoseconds.parse().ok()?),
        hash,
        target: optional(target)?,
        xattrs: words(xattrs)?
            .chunks(2)
            .map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone())))
            .collect::<Option<_>>()?,
        links: words(links)?,
        blocks: 0,
        error: optional(error)?.map(|error| String::from_utf8_lossy(&error).into_owned()),
    };
    Some((unescape(path)?, node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::tree::{Plan, PlanOptions};
    use crate::rng::Rng;
    use crate::scan::{CompareOptions, compare, scan};

    #[test]
    fn a_scan_comes_back() {
        for seed in 0..20 {
            let dir = tempfile::tempdir().unwrap();
            let plan = Plan::new(&mut Rng::new(seed), PlanOptions::default());
            let own = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
            plan.build(dir.path(), own.0, own.1).unwrap();
            let before = scan(dir.path()).unwrap();
            let after = parse(&to_text(&before)).unwrap();
            assert_eq!(compare(&before, &after, &CompareOptions::default()), Vec::<String>::new());
            crate::awkward::clear(dir.path()).unwrap();
        }
        assert!(parse("no listing").is_none());
    }
}
