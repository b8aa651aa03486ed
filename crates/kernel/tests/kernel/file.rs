//! The journal in a directory: cut at every byte, and with every byte changed.

use std::fs;
use std::path::Path;

use offshoot_kernel::{FileJournal, JournalContents, JournalError, KernelJournal};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn batch(number: u64) -> Vec<Vec<u8>> {
    let text = |index: u64| format!("record {}", number * 10 + index).into_bytes();
    (0..number).map(text).collect()
}

/// Batches of 1, 2, 3 and 4 records, of which the first two may be in a snapshot.
fn write(directory: &Path, snapshot: bool) -> Vec<JournalContents> {
    runtime().block_on(async {
        let journal = FileJournal::open(directory).unwrap();
        let mut states = Vec::new();
        let mut next = 1;
        for number in 1..=4 {
            if number == 3 && snapshot {
                journal.compact(next - 1, b"snapshot".to_vec()).await.unwrap();
                states.clear();
            }
            states.push(journal.read().await.unwrap());
            journal.append(next, batch(number)).await.unwrap();
            next += number;
        }
        states.push(journal.read().await.unwrap());
        states
    })
}

fn open(directory: &Path) -> Result<JournalContents, JournalError> {
    let journal = FileJournal::open(directory)?;
    runtime().block_on(journal.read())
}

#[test]
fn a_file_that_is_cut_anywhere_has_whole_batches() {
    for snapshot in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let states = write(directory.path(), snapshot);
        let whole = fs::read(&path).unwrap();
        let mut found = Vec::new();
        for length in 0..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let contents = open(directory.path()).unwrap();
            let known = states.contains(&contents) || contents == JournalContents::default();
            assert!(known, "cut at {length}: {contents:?}");
            // A torn end is gone, so that the next append is behind whole frames.
            if length % 31 == 0 {
                let journal = FileJournal::open(directory.path()).unwrap();
                let next = contents.next();
                runtime().block_on(journal.append(next, vec![b"more".to_vec()])).unwrap();
                drop(journal);
                let more = open(directory.path()).unwrap();
                assert_eq!(more.records.len(), contents.records.len() + 1, "cut at {length}");
            }
            if found.last() != Some(&contents) {
                found.push(contents);
            }
        }
        assert_eq!(found.last(), states.last());
        assert!(found.len() >= states.len());
    }
}

#[test]
fn a_byte_that_changed_is_found_wherever_it_is() {
    for snapshot in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        write(directory.path(), snapshot);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            for change in [0x01, 0xff] {
                let mut changed = whole.clone();
                changed[at] ^= change;
                fs::write(&path, &changed).unwrap();
                let opened = open(directory.path());
                let refused = matches!(
                    opened,
                    Err(JournalError::Damaged { .. } | JournalError::Version { .. })
                );
                assert!(refused, "byte {at} ^ {change}: {opened:?}");
                assert_eq!(fs::read(&path).unwrap(), changed, "nothing is cut off");
            }
        }
    }
}

#[test]
fn an_end_of_zeros_is_torn() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let states = write(directory.path(), false);
    let whole = fs::read(&path).unwrap();
    let mut zeros = whole.clone();
    zeros.extend([0; 5_000]);
    fs::write(&path, &zeros).unwrap();
    assert_eq!(open(directory.path()).as_ref(), Ok(states.last().unwrap()));
    // A frame over several sectors, of which the later ones were not written.
    let journal = FileJournal::open(directory.path()).unwrap();
    runtime().block_on(journal.append(11, vec![vec![b'x'; 4_000]])).unwrap();
    drop(journal);
    let mut torn = fs::read(&path).unwrap();
    let end = torn.len();
    torn[1_024..end].fill(0);
    fs::write(&path, &torn).unwrap();
    assert_eq!(open(directory.path()).as_ref(), Ok(states.last().unwrap()));
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn one_process_at_a_time_has_it_open() {
    let directory = tempfile::tempdir().unwrap();
    let journal = FileJournal::open(directory.path()).unwrap();
    let second = FileJournal::open(directory.path());
    assert!(matches!(second, Err(JournalError::Locked { .. })));
    let given = runtime().block_on(journal.append(2, vec![b"x".to_vec()]));
    assert_eq!(given, Err(JournalError::Moved { given: 2, next: 1 }));
    drop(journal);
    assert!(FileJournal::open(directory.path()).is_ok());
}

#[test]
fn a_compaction_that_was_not_finished_is_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let states = write(directory.path(), true);
    for rest in [&b""[..], b"OFFKERN", b"nonsense of a compaction"] {
        fs::write(directory.path().join("journal.tmp"), rest).unwrap();
        assert_eq!(open(directory.path()).as_ref(), Ok(states.last().unwrap()));
        assert!(!directory.path().join("journal.tmp").exists());
    }
    let journal = FileJournal::open(directory.path()).unwrap();
    let last = states.last().unwrap().next() - 1;
    runtime().block_on(async {
        assert!(journal.compact(last + 1, Vec::new()).await.is_err(), "there are not so many");
        journal.compact(last - 1, b"newer".to_vec()).await.unwrap();
        assert!(journal.compact(1, b"older".to_vec()).await.is_err());
        let contents = journal.read().await.unwrap();
        assert_eq!(contents.snapshot, Some((last - 1, b"newer".to_vec())));
        assert_eq!(contents.records.len(), 1);
    });
    drop(journal);
    assert_eq!(open(directory.path()).unwrap().records.len(), 1);
}

#[test]
fn memory_and_file_say_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let file = FileJournal::open(directory.path()).unwrap();
    let memory = offshoot_kernel::MemoryJournal::default();
    let mut rng = fastrand::Rng::with_seed(5);
    let runtime = runtime();
    for _ in 0..200 {
        let next = runtime.block_on(memory.read()).unwrap().next();
        let number = next + u64::from(rng.u32(0..8) == 0);
        if rng.u32(0..10) == 0 {
            let last = rng.u64(0..=next);
            let one = runtime.block_on(memory.compact(last, b"s".to_vec()));
            assert_eq!(one, runtime.block_on(file.compact(last, b"s".to_vec())));
        } else {
            let records = batch(rng.u64(0..4));
            let one = runtime.block_on(memory.append(number, records.clone()));
            assert_eq!(one, runtime.block_on(file.append(number, records)));
        }
        assert_eq!(runtime.block_on(memory.read()), runtime.block_on(file.read()));
    }
}
