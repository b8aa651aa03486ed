//! The outbox in a file, beside one in memory, cut off anywhere.

use std::fs;
use std::path::Path;

use fastrand::Rng;
use offshoot_governance::{
    FileOutbox, GovernanceOutbox, MemoryOutbox, OUTBOX_BYTES, OutboxEntry, OutboxError,
};

use crate::support::event;

fn open(path: &Path) -> FileOutbox {
    FileOutbox::open(path, OUTBOX_BYTES).unwrap()
}

fn entries(outbox: &dyn GovernanceOutbox) -> Vec<OutboxEntry> {
    let mut entries = Vec::new();
    let mut after = 0;
    while let Some(entry) = outbox.next_after(after).unwrap() {
        after = entry.number;
        entries.push(entry);
    }
    assert_eq!(entries.len(), outbox.len());
    entries
}

#[test]
fn both_outboxes_do_the_same() {
    let seed = fastrand::u64(..);
    let mut rng = Rng::with_seed(seed);
    let event = event(1, false);
    for _ in 0..5 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("outbox");
        let (mut file, memory) = (open(&path), MemoryOutbox::default());
        for _ in 0..60 {
            match rng.u8(..10) {
                0..5 => {
                    let mut event = event.clone();
                    event.reason = "r".repeat(rng.usize(..20_000));
                    assert_eq!(file.append(&event), memory.append(&event), "seed {seed}");
                }
                5..9 => {
                    let number = rng.u64(..30);
                    file.acknowledge(number).unwrap();
                    memory.acknowledge(number).unwrap();
                }
                _ => {
                    drop(file);
                    file = open(&path);
                }
            }
            assert_eq!(entries(&file), entries(&memory), "seed {seed}");
        }
    }
}

/// Cut off at any byte, the file has everything whose line is whole.
#[test]
fn a_crash_cuts_the_end_off_and_nothing_more() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("outbox");
    let outbox = open(&path);
    let mut ends = vec![fs::metadata(&path).unwrap().len()];
    for number in 0..3 {
        outbox.append(&event(number, false)).unwrap();
        ends.push(fs::metadata(&path).unwrap().len());
    }
    drop(outbox);
    let bytes = fs::read(&path).unwrap();
    for length in 0..=bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        let whole = ends.iter().filter(|end| **end <= length as u64).count().saturating_sub(1);
        let outbox = open(&path);
        assert_eq!(outbox.len(), whole, "{length}");
        // Each append waits for the disk.
        if length % 37 != 0 && !ends.contains(&(length as u64)) {
            continue;
        }
        // It goes on behind the last whole line, with the next number.
        let number = outbox.append(&event(9, false)).unwrap();
        assert_eq!(number, whole as u64 + 1);
        drop(outbox);
        assert_eq!(open(&path).len(), whole + 1, "{length}");
    }
    // Blocks that were never written are zeros.
    fs::write(&path, [&bytes[..], &[0; 512]].concat()).unwrap();
    assert_eq!(open(&path).len(), 3);
}

#[test]
fn every_byte_counts() {
    let seed = fastrand::u64(..);
    let mut rng = Rng::with_seed(seed);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("outbox");
    let outbox = open(&path);
    for number in 0..2 {
        outbox.append(&event(number, false)).unwrap();
    }
    drop(outbox);
    let bytes = fs::read(&path).unwrap();
    // Without its very end, the last line looks as if a crash had cut it off.
    for at in 0..bytes.len() - 1 {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << rng.u8(..8);
        fs::write(&path, &changed).unwrap();
        let opened = FileOutbox::open(&path, OUTBOX_BYTES);
        assert!(matches!(opened, Err(OutboxError::Damaged { .. })), "seed {seed}: {at} {opened:?}");
        assert_eq!(fs::read(&path).unwrap(), changed, "it was written to");
    }
}

#[test]
fn a_file_that_is_no_outbox_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    for text in ["notes\n", "x", "0123456789abcdef {}\n"] {
        fs::write(&path, text).unwrap();
        let opened = FileOutbox::open(&path, OUTBOX_BYTES);
        assert!(matches!(opened, Err(OutboxError::Damaged { line: 1, .. })), "{opened:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn what_is_of_no_use_goes_and_numbers_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("outbox");
    let outbox = open(&path);
    let kept = outbox.append(&event(0, false)).unwrap();
    let mut longest = 0;
    for _ in 0..400 {
        let number = outbox.append(&event(1, false)).unwrap();
        outbox.acknowledge(number).unwrap();
        longest = longest.max(fs::metadata(&path).unwrap().len());
    }
    assert!(longest < 128 * 1024, "{longest}");
    let next = outbox.append(&event(2, false)).unwrap();
    assert_eq!((kept, next), (1, 402));
    drop(outbox);
    let outbox = open(&path);
    let numbers: Vec<u64> = entries(&outbox).iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, [1, 402]);
    assert_eq!(outbox.append(&event(3, false)).unwrap(), 403);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "something was left behind");
}

#[test]
fn the_file_is_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("outbox");
    let outbox = FileOutbox::open(&path, 2_000).unwrap();
    let mut full = 0;
    for number in 0..10 {
        match outbox.append(&event(number, false)) {
            Ok(_) => assert_eq!(full, 0),
            Err(OutboxError::Full { most: 2_000, .. }) => full += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(full > 0 && fs::metadata(&path).unwrap().len() <= 2_000);
    // When something arrived there is room again.
    outbox.acknowledge(1).unwrap();
    outbox.append(&event(9, false)).unwrap();
    assert!(fs::metadata(&path).unwrap().len() <= 2_000);
}

#[test]
fn two_writers_are_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("outbox");
    let (one, other) = (open(&path), open(&path));
    one.append(&event(0, false)).unwrap();
    assert!(matches!(other.append(&event(1, false)), Err(OutboxError::Moved { .. })));
    assert_eq!(open(&path).len(), 1);
}

#[test]
fn an_outbox_that_cannot_be_opened_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let opened = FileOutbox::open(directory.path(), OUTBOX_BYTES);
    assert!(matches!(opened, Err(OutboxError::Storage(_))));
}
