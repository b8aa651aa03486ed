//! A changed directory is the same as one that is made of all its entries.

use std::path::PathBuf;

use offshoot_store::MemoryBackend;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier::cases;

use super::*;
use crate::entry::{Body, Meta};
use crate::hash::BlobId;
use crate::objects::{Batch, Objects};

type Entries = BTreeMap<Vec<u8>, Entry>;

fn entry(name: &str, rng: &mut Rng) -> Entry {
    let body = match rng.below(12) {
        0 => Body::Symlink { target: rng.bytes(5) },
        1 => Body::Fifo,
        _ => Body::File { size: rng.below(1 << 20), blob: BlobId::of(&rng.bytes(8)) },
    };
    let xattrs = if rng.one_in(9) { vec![(b"user.a".to_vec(), rng.bytes(3))] } else { Vec::new() };
    let mode = if rng.one_in(3) { 0o755 } else { 0o644 };
    let group = rng.one_in(9).then(|| rng.next_u64());
    let meta = Meta { mode, xattrs, ..Meta::default() };
    Entry { name: name.as_bytes().to_vec(), group, ..Entry::new(meta, body) }
}

fn name(rng: &mut Rng) -> String {
    format!("file-{:04}", rng.below(4_000))
}

fn whole(entries: &Entries, batch: &mut Batch) -> DirRef {
    batch.directory(&entries.values().cloned().collect::<Vec<_>>())
}

/// Changes a directory at random, small or large, so that it grows and shrinks across the border of one node.
#[test]
fn any_change_gives_what_building_it_gives() {
    let mut rng = Rng::new(seed_from_env_or(1));
    for _ in 0..cases(60, 2_000) {
        let objects = Objects::new(Box::new(MemoryBackend::default()), PathBuf::from("layers"));
        let size = *rng.pick(&[0, 3, 250, 257, 300, 1_500]).unwrap();
        let mut entries = Entries::new();
        while entries.len() < size {
            let new = entry(&name(&mut rng), &mut rng);
            entries.insert(new.name.clone(), new);
        }
        let mut batch = Batch::default();
        let dir = whole(&entries, &mut batch);
        objects.store(&batch).unwrap();
        let mut changes = Changes::new();
        let many = if rng.one_in(4) { size as u64 + 300 } else { 4 };
        let known: Vec<Vec<u8>> = entries.keys().cloned().collect();
        for _ in 0..=rng.below(many) {
            let at = match rng.pick(&known).cloned() {
                Some(name) if !rng.one_in(3) => String::from_utf8(name).unwrap(),
                _ => name(&mut rng),
            };
            let new = (!rng.one_in(2)).then(|| entry(&at, &mut rng));
            match &new {
                Some(new) => drop(entries.insert(at.clone().into_bytes(), new.clone())),
                None => drop(entries.remove(at.as_bytes())),
            }
            changes.insert(at.into_bytes(), new);
        }
        let mut made = Batch::default();
        let nodes = Nodes::keeping(&objects);
        let edited = made.edited_directory(&nodes, Some(&dir), &changes).unwrap();
        assert_eq!(edited, whole(&entries, &mut Batch::default()));
        objects.store(&made).unwrap();
        assert_eq!(objects.entries(&edited).unwrap(), entries.into_values().collect::<Vec<_>>());
    }
}

/// One of many entries: its leaf and the index are written, and nothing else.
#[test]
fn a_change_in_a_large_directory_is_small() {
    let mut rng = Rng::new(1);
    let objects = Objects::new(Box::new(MemoryBackend::default()), PathBuf::from("layers"));
    let names = (0..20_000).map(|number| format!("file-{number:05}"));
    let mut entries: Entries =
        names.map(|name| (name.clone().into_bytes(), entry(&name, &mut rng))).collect();
    let mut batch = Batch::default();
    let dir = whole(&entries, &mut batch);
    objects.store(&batch).unwrap();
    let changed = entry("file-12345", &mut rng);
    let changes = Changes::from([(changed.name.clone(), Some(changed.clone()))]);
    let mut made = Vec::new();
    let edited = edit(&Nodes::of(&objects), Some(&dir), &changes, &mut |node| made.push(node));
    entries.insert(changed.name.clone(), changed);
    assert_eq!(edited.unwrap(), whole(&entries, &mut Batch::default()));
    assert_eq!(made.len(), 2, "a leaf and an index");
}
