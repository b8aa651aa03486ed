//! What is called read-only changes nothing: such commands run for real, among files whose names are traps.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier::{Tier, cases};

use crate::generate::Source;
use crate::laboratory::{Laboratory, Seen};

/// The shells that may be `/bin/sh`.
const SHELLS: [&str; 2] = ["/bin/sh", "bash"];

/// Where the shell found no program to run.
const NOT_FOUND: [Option<i32>; 2] = [Some(126), Some(127)];

/// Ever so many attempts for each command that is called read-only.
const PATIENCE: u64 = 1000;

#[derive(Default)]
struct Outcome {
    run: usize,
    found: usize,
    succeeded: usize,
    liars: Vec<String>,
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.run += other.run;
        self.found += other.found;
        self.succeeded += other.succeeded;
        self.liars.extend(other.liars);
    }

    fn count(&mut self, shell: &str, text: &str, seen: &Seen) {
        self.run += 1;
        self.found += usize::from(!NOT_FOUND.contains(&seen.code));
        self.succeeded += usize::from(seen.code == Some(0));
        if !seen.changes.is_empty() {
            self.liars.push(format!("{shell}: {text}\n{}", seen.changes));
        }
    }
}

/// Texts that are called read-only: some or all of the corpus, and others up to `wanted`.
fn texts(laboratory: &Laboratory, rng: &mut Rng, wanted: usize) -> Vec<String> {
    let source = Source::new();
    let is_read_only = |text: &String| laboratory.judge(text).is_read_only();
    let mut corpus: Vec<String> =
        source.texts.iter().filter(|text| is_read_only(text)).cloned().collect();
    rng.shuffle(&mut corpus);
    corpus.truncate(Tier::from_env().pick(wanted / 3, wanted));
    let mut chosen: BTreeSet<String> = corpus.iter().cloned().collect();
    for _ in 0..wanted as u64 * PATIENCE {
        if chosen.len() >= wanted {
            break;
        }
        let text = source.command(rng);
        if is_read_only(&text) {
            chosen.insert(text);
        }
    }
    let mut chosen: Vec<String> = chosen.into_iter().collect();
    rng.shuffle(&mut chosen);
    chosen
}

/// Takes texts until there are none; every one is run in a workspace that nothing has changed.
fn work(laboratory: &Laboratory, name: &str, texts: &[String], next: &AtomicUsize) -> Outcome {
    let mut outcome = Outcome::default();
    let mut spoilt = 0;
    let mut workspace = format!("{name}-{spoilt}");
    laboratory.fork(&workspace);
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(text) = texts.get(index) else { break };
        let shell = SHELLS[index % SHELLS.len()];
        let seen = laboratory.run(&workspace, shell, text);
        outcome.count(shell, text, &seen);
        if !seen.changes.is_empty() {
            spoilt += 1;
            workspace = format!("{name}-{spoilt}");
            laboratory.fork(&workspace);
        }
    }
    let differences = laboratory.differences(&workspace);
    if !differences.is_empty() {
        outcome.liars.push(format!("something that no envelope told of: {differences:?}"));
    }
    outcome
}

#[test]
fn what_is_called_read_only_changes_nothing() {
    let Some(laboratory) = Laboratory::new() else { return };
    let seed = seed_from_env_or(0x0ff5_4007);
    let wanted = cases(100, 3500) as usize;
    let texts = texts(&laboratory, &mut Rng::new(seed), wanted);
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from).min(4);
    let outcome = thread::scope(|scope| {
        let start = |number| {
            let (laboratory, texts, next) = (&laboratory, &texts, &next);
            scope.spawn(move || work(laboratory, &format!("w{number}"), texts, next))
        };
        let running: Vec<_> = (0..workers).map(start).collect();
        let mut all = Outcome::default();
        running.into_iter().for_each(|worker| all.add(worker.join().unwrap()));
        all
    });
    let Outcome { run, found, succeeded, liars } = outcome;
    println!(
        "seed {seed:#x}: {run} commands run, {found} with programs that are here, {succeeded} succeeded"
    );
    assert!(liars.is_empty(), "{} changed something:\n{}", liars.len(), liars.join("\n"));
    assert_eq!(run, wanted);
    assert!(found * 10 >= run * 8 && succeeded * 10 >= run * 3, "too few of them did anything");
}

/// The witness would see nothing in anything if it did not see these.
#[test]
fn every_change_is_seen() {
    let Some(laboratory) = Laboratory::new() else { return };
    for (number, text) in [
        "touch new.txt",
        "echo x >> a.txt",
        "touch -d yesterday a.txt",
        "chmod 600 a.txt",
        "rm a.txt",
        "mkdir folder",
        "git status > /dev/null; touch .git/index",
        "sort *.txt",
        "sed -n 1p *.txt",
        "find * -name x",
        "./ls",
        "PATH=. ls",
        "ls | xargs -I{} sh -c 'wc -l {}'",
        "touch /tmp/new",
        "touch /dev/shm/new",
        "touch ~/new",
        "(sleep 1; touch late.txt) &",
    ]
    .into_iter()
    .enumerate()
    {
        for (turn, shell) in SHELLS.into_iter().enumerate() {
            let workspace = format!("w{number}-{turn}");
            laboratory.fork(&workspace);
            assert!(!laboratory.judge(text).is_read_only(), "{text}");
            let seen = laboratory.run(&workspace, shell, text);
            assert!(!seen.changes.is_empty(), "{shell}: {text}: {seen:?}");
        }
    }
    laboratory.fork("still");
    let seen = laboratory.run("still", "/bin/sh", "ls | head -3");
    assert_eq!((seen.code, seen.changes.as_str()), (Some(0), ""));
}
