//! Nodes come back as they were, and nothing else is taken for one.

use std::collections::HashMap;

use offshoot_host::Mtime;
use offshoot_tests::rng::{Rng, seed_from_env_or};

use super::*;
use crate::entry::Meta;
use crate::entry::conflict_kind::ConflictKind;
use crate::entry::record::{ConflictRecord, RecordedSide, Version};
use crate::hash::BlobId;
use crate::node::raw::RawNode;
use crate::path::VaultPath;

fn file(name: &[u8], text: &str) -> Entry {
    let meta = Meta {
        mode: 0o644,
        uid: 1000,
        gid: 70_000,
        mtime: Mtime { seconds: -5, nanoseconds: 999_999_999 },
        xattrs: vec![(b"user.a".to_vec(), vec![0, 255])],
    };
    let body = Body::File { size: text.len() as u64, blob: BlobId::of(text.as_bytes()) };
    Entry { name: name.to_vec(), meta, group: Some(7), body, conflict: None }
}

/// A file that somebody has to decide about.
fn conflicted(name: &[u8], text: &str) -> Entry {
    let at = |text: &str, entry: Entry| {
        let path = VaultPath::parse(text.as_bytes()).unwrap();
        let name = path.name().unwrap_or_default().to_vec();
        Version { path, entry: Entry { name, ..entry } }
    };
    let side =
        |label: &str, version: Option<Version>| RecordedSide { label: label.to_owned(), version };
    let (dir, _) = build_all(&[file(b"inside", "x")]);
    let dir = Body::Directory(DirRef { conflicts: 3, ..dir }.into());
    let record = ConflictRecord {
        kinds: vec![ConflictKind::Content, ConflictKind::Mode],
        marker_lengths: vec![7, 12],
        base: Some(at("a/b", file(b"", "base"))),
        sides: vec![
            side("ours", Some(at("/", Entry { body: dir, group: None, ..file(b"", "") }))),
            side("theirs \u{fc}", None),
            side("", Some(at("c", Entry { body: Body::Fifo, ..file(b"", "") }))),
        ],
        beside: vec![VaultPath::parse(b"a").unwrap(), VaultPath::parse(b"a/c~x").unwrap()],
    };
    Entry { conflict: Some(Box::new(record)), ..file(name, text) }
}

#[test]
fn an_entry_is_found_without_those_around_it() {
    let mut entries = files(100);
    entries[50] = conflicted(&entries[50].name.clone(), "x");
    for entries in [files(100), entries, Vec::new()] {
        let (dir, nodes) = build_all(&entries);
        let leaf = &nodes[&dir.node];
        for entry in &entries {
            let found = RawNode::find(leaf, &entry.name).unwrap().expect("it is there");
            assert_eq!(found.decode().as_ref(), Ok(entry));
        }
        for missing in [&b"!"[..], b"00000003x", b"zzz"] {
            assert!(RawNode::find(leaf, missing).unwrap().is_none());
        }
    }
}

#[test]
fn conflicts_come_back_and_are_counted() {
    let mut entries = files(20_000);
    let plain = build_all(&entries).0;
    assert_eq!(plain.conflicts, 0);
    for at in [3, 9_000, 9_001] {
        entries[at] = conflicted(format!("{at:08}").as_bytes(), "x");
    }
    let (dir, nodes) = build_all(&entries);
    assert_eq!(flatten(&dir.node, &nodes), entries);
    assert_eq!((dir.conflicts, dir.bytes, dir.entries), (3, plain.bytes, plain.entries));
    assert_ne!(dir.content, plain.content, "an open conflict is part of the content");
    let above = Entry { body: Body::Directory(dir.into()), group: None, ..file(b"dir", "") };
    let (above, nodes) = build_all(&[conflicted(b"a", ""), above]);
    assert_eq!((above.conflicts, flatten(&above.node, &nodes)[1].conflicts()), (4, 3));
    let top =
        Entry { body: Body::Directory(above.into()), name: Vec::new(), ..conflicted(b"", "") };
    assert_eq!(decode_root(&encode_root(&top).1).unwrap(), top);
    assert_eq!(top.conflicts(), 5);
}

/// Any record comes back as it was, in one encoding.
#[test]
fn random_conflicts_come_back() {
    let seed = seed_from_env_or(29);
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    for _ in 0..500 {
        let entries: Vec<Entry> = (0..rng.below(5)).map(|at| random_entry(&mut rng, at)).collect();
        let (dir, nodes) = build_all(&entries);
        assert_eq!(flatten(&dir.node, &nodes), entries);
        let open = entries.iter().filter(|entry| entry.conflict.is_some()).count();
        assert_eq!(dir.conflicts, open as u64);
        let version = nodes[&dir.node][3];
        assert_eq!(version, if open == 0 { 1 } else { 2 }, "who has none keeps its id");
    }
}

fn random_entry(rng: &mut Rng, at: u64) -> Entry {
    let entry = file(format!("{at}").as_bytes(), &"x".repeat(rng.below(9) as usize));
    if rng.below(2) == 0 {
        return entry;
    }
    let version = |rng: &mut Rng| {
        let path = VaultPath::parse(&[b'p', b'/', b'a' + rng.below(26) as u8]).unwrap();
        let name = path.name().unwrap().to_vec();
        let body = match rng.below(3) {
            0 => Body::Symlink { target: b"t".repeat(rng.below(4) as usize) },
            1 => Body::Fifo,
            _ => entry.body.clone(),
        };
        let entry = Entry { name, body, ..entry.clone() };
        (rng.below(3) > 0).then_some(Version { path, entry })
    };
    let kinds: Vec<ConflictKind> =
        ConflictKind::ALL.into_iter().filter(|_| rng.below(3) == 0).collect();
    let mut sorted: Vec<usize> = (0..rng.below(3)).map(|n| 7 + n as usize * 3).collect();
    sorted.dedup();
    let record = ConflictRecord {
        kinds: if kinds.is_empty() { vec![ConflictKind::Xattr] } else { kinds },
        marker_lengths: sorted,
        base: version(rng),
        sides: (0..rng.below(4))
            .map(|n| RecordedSide { label: "s".repeat(n as usize), version: version(rng) })
            .collect(),
        beside: Vec::new(),
    };
    Entry { conflict: Some(Box::new(record)), ..entry }
}

fn files(count: u32) -> Vec<Entry> {
    (0..count).map(|i| file(format!("{i:08}").as_bytes(), "x")).collect()
}

fn build_all(entries: &[Entry]) -> (DirRef, HashMap<NodeId, Vec<u8>>) {
    let mut nodes = HashMap::new();
    let dir = build(entries, &mut |(id, bytes)| drop(nodes.insert(id, bytes)));
    (dir, nodes)
}

fn flatten(node: &NodeId, nodes: &HashMap<NodeId, Vec<u8>>) -> Vec<Entry> {
    match decode(&nodes[node]).unwrap() {
        Node::Leaf(entries) => entries,
        Node::Index(children) => {
            children.iter().flat_map(|child| flatten(&child.dir.node, nodes)).collect()
        }
    }
}

#[test]
fn directories_of_any_size_come_back() {
    for count in [0, 1, 256, 257, 5_000, 60_000] {
        let entries = files(count);
        let (dir, nodes) = build_all(&entries);
        assert_eq!(flatten(&dir.node, &nodes), entries);
        assert_eq!((dir.bytes, dir.entries), (u64::from(count), u64::from(count)));
    }
}

#[test]
fn one_change_in_a_large_directory_makes_few_new_nodes() {
    let mut entries = files(20_000);
    let (before, old) = build_all(&entries);
    entries[9_000] = file(b"00009000", "changed");
    let (after, new) = build_all(&entries);
    assert_ne!(before.content, after.content);
    assert_eq!(new.keys().filter(|id| !old.contains_key(id)).count(), 2);
}

#[test]
fn metadata_changes_the_full_hash_only() {
    let before = build_all(&[file(b"a", "x")]).0;
    let mut entry = file(b"a", "x");
    entry.meta.mtime.nanoseconds = 1;
    entry.meta.mode = 0o600;
    entry.group = None;
    let after = build_all(&[entry.clone()]).0;
    assert_ne!(before.node, after.node);
    assert_eq!(before.content, after.content);
    entry.meta.mode = 0o700;
    assert_ne!(build_all(&[entry]).0.content, after.content);
}

#[test]
fn damaged_nodes_are_refused_not_guessed() {
    let (dir, nodes) = build_all(&[file(b"a", "x"), file(b"b", "y")]);
    let good = &nodes[&dir.node];
    for cut in 0..good.len() {
        assert!(decode(&good[..cut]).is_err(), "cut at {cut}");
    }
    let mut longer = good.clone();
    longer.push(0);
    assert!(decode(&longer).is_err());
    let (reversed, nodes) = build_all(&[file(b"b", "y"), file(b"a", "x")]);
    assert!(decode(&nodes[&reversed.node]).is_err());
    for name in [&b""[..], b".", b"..", b"a/b", b"a\0b", &[b'x'; 256]] {
        let (bad, nodes) = build_all(&[file(name, "x")]);
        assert!(decode(&nodes[&bad.node]).is_err(), "{name:?}");
    }
}

#[test]
fn roots_keep_the_top_directorys_own_metadata() {
    let body = Body::Directory(build_all(&[]).0.into());
    let top = Entry { name: Vec::new(), body, ..file(b"", "") };
    let (id, bytes) = encode_root(&top);
    assert_eq!(RootId::of(&bytes), id);
    assert_eq!(decode_root(&bytes).unwrap(), top);
    assert!(decode_root(&encode_root(&file(b"x", "")).1).is_err());
}

/// Whatever bytes a disk gives, decoding ends with a node or an error, and a node encodes to the very same bytes.
#[test]
fn random_damage_never_panics_and_never_makes_a_second_spelling() {
    let seed = seed_from_env_or(17);
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let (_, mut nodes) = build_all(&files(400));
    nodes.extend(build_all(&[conflicted(b"a", "x"), conflicted(b"b", ""), file(b"c", "x")]).1);
    let top =
        Entry { name: Vec::new(), body: Body::Directory(build_all(&[]).0.into()), ..file(b"", "") };
    let mut good: Vec<Vec<u8>> = nodes.into_values().collect();
    good.push(encode_root(&top).1);
    let open = Entry { conflict: conflicted(b"", "").conflict, ..top };
    good.push(encode_root(&open).1);
    good.sort_unstable();
    for _ in 0..4_000 {
        let mut bytes = rng.pick(&good).unwrap().clone();
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(4) {
                0 => bytes[at] ^= 1 << rng.below(8),
                1 => bytes[at] = rng.next_u64() as u8,
                2 => bytes.insert(at, rng.next_u64() as u8),
                _ => drop(bytes.remove(at)),
            }
        }
        if let Ok(top) = decode_root(&bytes) {
            assert_eq!(encode_root(&top).1, bytes);
        }
        if let Ok(Node::Leaf(entries)) = decode(&bytes) {
            let mut out = Vec::new();
            let items: Vec<Item<'_>> = entries.iter().map(Item::New).collect();
            leaf(&items, &mut |(_, encoded)| out = encoded);
            assert_eq!(out, bytes);
            let Ok(RawNode::Leaf(raw)) = RawNode::of(&bytes) else { panic!("a leaf is one") };
            let decoded: Vec<Entry> = raw.iter().map(|entry| entry.decode().unwrap()).collect();
            assert_eq!(decoded, entries);
            let items: Vec<Item<'_>> = raw.into_iter().map(Item::Old).collect();
            leaf(&items, &mut |(_, encoded)| out = encoded);
            assert_eq!(out, bytes);
        }
    }
    for length in 0..300 {
        let bytes = rng.bytes(length);
        assert!(decode(&bytes).is_err() && decode_root(&bytes).is_err());
    }
}
