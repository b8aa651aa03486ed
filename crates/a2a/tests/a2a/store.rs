//! The stores against one another, cut at every byte, damaged, killed, and written anew.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use offshoot_a2a::{
    A2aArtifact, A2aFileOptions, A2aFileTasks, A2aMemoryTasks, A2aMessage, A2aPart, A2aState,
    A2aStoreError, A2aTaskChange, A2aTaskLimits, A2aTaskQuery, A2aTaskRecord, A2aTaskStep,
    A2aTaskStore,
};

use crate::bench::DEADLINE;
use crate::hostile::Dice;
use crate::machine::{begin, step};

/// Opens a store. While another test starts a process, that has the lock as well for a moment.
fn opened(directory: &Path, options: &A2aFileOptions) -> Result<A2aFileTasks, A2aStoreError> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        match A2aFileTasks::open(directory, options.clone()) {
            Err(A2aStoreError::InUse { .. }) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            other => return other,
        }
    }
}

fn quick() -> A2aFileOptions {
    A2aFileOptions { sync: false, ..A2aFileOptions::default() }
}

type Records = BTreeMap<String, A2aTaskRecord>;

/// All tasks of a store.
fn all(store: &dyn A2aTaskStore) -> Records {
    let query = A2aTaskQuery { owner: "tester".to_owned(), most: 1000, ..Default::default() };
    let slice = store.list(&query).unwrap();
    assert_eq!(slice.total, slice.tasks.len());
    let record = |id: String| (id.clone(), store.get(&id).unwrap().unwrap());
    slice.tasks.into_iter().map(|task| record(task.id)).collect()
}

/// Makes something happen to both stores, which have to agree.
fn both(one: &dyn A2aTaskStore, other: &dyn A2aTaskStore, dice: &mut Dice, at: i64) {
    let id = format!("task {}", dice.below(6));
    if dice.below(8) == 0 && one.get(&id).unwrap().is_none() {
        let record = begin(dice, &id);
        let results = (one.create(record.clone()), other.create(record));
        assert_eq!(results.0.is_ok(), results.1.is_ok());
        return;
    }
    let change = A2aTaskChange { at, what: step(dice) };
    let (first, second) = (one.change(&id, change.clone()), other.change(&id, change));
    match (first, second) {
        (Ok(first), Ok(second)) => {
            assert_eq!(first.event, second.event);
            assert_eq!((first.state, first.pushes), (second.state, second.pushes));
        }
        (Err(first), Err(second)) => assert_eq!(first.to_string(), second.to_string()),
        (first, second) => panic!("{first:?} {second:?}"),
    }
}

#[test]
fn both_stores_keep_the_same() {
    for seed in 0..5 {
        println!("seed {seed}");
        let mut dice = Dice::new(seed);
        let limits = A2aTaskLimits { tasks: 4, history: 5, ..A2aTaskLimits::default() };
        let directory = tempfile::tempdir().unwrap();
        // So little slack that it is written anew again and again.
        let options = A2aFileOptions { limits: limits.clone(), sync: false, slack: 2_000 };
        let memory = A2aMemoryTasks::new(limits);
        let mut file = opened(directory.path(), &options).unwrap();
        for round in 0..300 {
            both(&memory, &file, &mut dice, 10 + round);
            if round % 50 == 0 {
                drop(file);
                file = opened(directory.path(), &options).unwrap();
            }
            assert_eq!(all(&memory), all(&file));
            assert_eq!(memory.unfinished().unwrap(), file.unfinished().unwrap());
        }
    }
}

#[test]
fn a_log_that_was_cut_has_what_was_written_before() {
    let directory = tempfile::tempdir().unwrap();
    let mut states: Vec<(u64, Records)> = Vec::new();
    let path = directory.path().join("tasks.log");
    let mut dice = Dice::new(7);
    let store = opened(directory.path(), &quick()).unwrap();
    let memory = A2aMemoryTasks::default();
    let mut round = 0;
    loop {
        states.push((std::fs::metadata(&path).unwrap().len(), all(&store)));
        if states.last().unwrap().0 > 1_800 {
            break;
        }
        round += 1;
        both(&memory, &store, &mut dice, 10 + round);
    }
    drop(store);
    let log = std::fs::read(&path).unwrap();
    let cut_at = tempfile::tempdir().unwrap();
    let cut_log = cut_at.path().join("tasks.log");
    for cut in 0..=log.len() {
        std::fs::write(&cut_log, &log[..cut]).unwrap();
        let store = opened(cut_at.path(), &quick()).unwrap();
        let whole = states.iter().rev().find(|(end, _)| *end <= cut as u64);
        assert_eq!(all(&store), whole.map(|(_, all)| all.clone()).unwrap_or_default(), "{cut}");
        // What was torn is gone, and what comes next is kept.
        if cut % 97 == 0 {
            let record = begin(&mut dice, "after the cut");
            store.create(record.clone()).unwrap();
            drop(store);
            let store = opened(cut_at.path(), &quick()).unwrap();
            assert_eq!(store.get("after the cut").unwrap(), Some(record));
        }
    }
}

#[test]
fn damage_is_told_and_never_taken_for_an_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tasks.log");
    let mut dice = Dice::new(8);
    let store = opened(directory.path(), &quick()).unwrap();
    for id in ["a", "b", "c"] {
        store.create(begin(&mut dice, id)).unwrap();
    }
    let whole = all(&store);
    drop(store);
    let log = std::fs::read(&path).unwrap();
    for at in 0..log.len() {
        let mut damaged = log.clone();
        damaged[at] ^= 1 << dice.below(8);
        std::fs::write(&path, &damaged).unwrap();
        match opened(directory.path(), &quick()) {
            Err(A2aStoreError::Damaged { offset, .. }) => assert!(offset <= at as u64),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("byte {at} was not missed"),
        }
        assert_eq!(std::fs::read(&path).unwrap(), damaged);
    }
    std::fs::write(&path, &log).unwrap();
    assert_eq!(all(&opened(directory.path(), &quick()).unwrap()), whole);
    std::fs::write(&path, "a file of somebody else, which is long enough").unwrap();
    assert!(opened(directory.path(), &quick()).is_err());
}

#[test]
fn nobody_else_reads_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let below = directory.path().join("new/deeper");
    let store = A2aFileTasks::open(&below, quick()).unwrap();
    let mode = std::fs::metadata(below.join("tasks.log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(store);
}

#[test]
fn the_log_is_written_anew() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tasks.log");
    let options = A2aFileOptions { slack: 20_000, ..quick() };
    let store = opened(directory.path(), &options).unwrap();
    let mut dice = Dice::new(9);
    store.create(begin(&mut dice, "a")).unwrap();
    let mut longest = 0;
    for round in 0..500 {
        let parts = vec![A2aPart::text("x".repeat(500))];
        let artifact = A2aArtifact::new("same", parts);
        let what = A2aTaskStep::Artifact { artifact, append: false, last: false };
        store.change("a", A2aTaskChange { at: round, what }).unwrap();
        longest = longest.max(std::fs::metadata(&path).unwrap().len());
    }
    assert!(longest < 30_000, "{longest}");
    let kept = all(&store);
    drop(store);
    assert_eq!(all(&opened(directory.path(), &options).unwrap()), kept);
    assert!(!directory.path().join("tasks.new").exists());
}

const CHILD: &str = "OFFSHOOT_A2A_TEST_STORE";

/// Not a test of its own: the process that is killed by the next one.
#[test]
fn a_child_writes() {
    let Some(directory) = std::env::var_os(CHILD) else { return };
    let store = A2aFileTasks::open(Path::new(&directory), A2aFileOptions::default()).unwrap();
    for number in 0.. {
        let message = A2aMessage::user(vec![A2aPart::text("x".repeat(number % 300))]);
        let id = format!("t{number}");
        store.create(A2aTaskRecord::begin("tester", &id, "c", message, 1)).unwrap();
        let what = A2aTaskStep::Status { state: A2aState::Completed, message: None };
        store.change(&id, A2aTaskChange { at: 2, what }).unwrap();
        println!("kept {number}");
    }
}

#[test]
fn what_was_kept_survives_a_kill() {
    for (round, lines) in [1_u32, 7, 40].into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::a_child_writes", "--nocapture"])
            .env(CHILD, directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = 0;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            told += u32::from(line.contains("kept "));
            if told == lines {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(told, lines, "round {round}");
        let store = opened(directory.path(), &quick()).unwrap();
        for number in 0..told {
            let record = store.get(&format!("t{number}")).unwrap().unwrap();
            assert_eq!(record.state(), A2aState::Completed);
        }
    }
}
