//! What is called read-only changes nothing: such commands run for real, among files whose names are traps.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use offshoot_needs::needs;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier::{Tier, cases};

use crate::generate::Source;
use crate::laboratory::{Laboratory, Seen, traps};

/// The shells that may be `/bin/sh`.
const SHELLS: [&str; 2] = ["/bin/sh", "bash"];

/// Where the shell found no program to run.
const NOT_FOUND: [Option<i32>; 2] = [Some(126), Some(127)];

/// Ever so many attempts for each command that is called read-only.
const PATIENCE: u64 = 1000;

/// Commands that change something, and the folders in which they do.
const CHANGES: &[(&str, &str)] = &[
    ("", "touch new.txt"),
    ("", "echo x >> a.txt"),
    ("", "touch -d yesterday a.txt"),
    ("", "chmod 600 a.txt"),
    ("", "rm a.txt"),
    ("", "mkdir folder"),
    ("", "touch .git/index"),
    ("", "./ls"),
    ("", "PATH=. ls"),
    ("", "ls | xargs -I{} sh -c 'wc -l {}'"),
    ("", "(sleep 1; touch late.txt) &"),
    ("traps/0", "sort *"),
    ("traps/1", "sort *.txt"),
    ("traps/2", "sed -n 1p *"),
    ("traps/3", "sed -n 1p *.txt"),
    ("traps/9", "for f in *.txt; do git diff \"$f\"; done"),
    ("", "touch /tmp/new"),
    ("", "touch /dev/shm/new"),
    ("", "touch ~/new"),
];

#[derive(Default)]
struct Outcome {
    run: usize,
    found: usize,
    succeeded: usize,
    liars: Vec<String>,
    traces: Vec<String>,
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.run += other.run;
        self.found += other.found;
        self.succeeded += other.succeeded;
        self.liars.extend(other.liars);
        self.traces.extend(other.traces);
    }

    fn count(&mut self, what: &str, seen: &Seen) {
        self.run += 1;
        self.found += usize::from(!NOT_FOUND.contains(&seen.code));
        self.succeeded += usize::from(seen.code == Some(0));
        if !seen.changes.is_empty() {
            self.liars.push(format!("{what}\n{}", seen.changes));
        }
        if !seen.traces.is_empty() {
            self.traces.push(what.to_owned());
        }
    }
}

/// Texts that are called read-only: some or all of the corpus, and others up to `wanted`.
fn texts(laboratory: &Laboratory, rng: &mut Rng, wanted: usize) -> Vec<String> {
    let source = Source::new();
    let is_read_only = |text: &String| laboratory.judge("", text).is_read_only();
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
    let folders: Vec<String> = traps().flat_map(|trap| [String::new(), trap]).collect();
    let mut spoilt = 0;
    let mut workspace = format!("{name}-{spoilt}");
    laboratory.fork(&workspace);
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(text) = texts.get(index) else { break };
        let shell = SHELLS[index % SHELLS.len()];
        // What is read-only here may not be so in a folder that is deeper: `../..` leads elsewhere.
        let folder = folders[index / 2 % folders.len()].as_str();
        let folder = if laboratory.judge(folder, text).is_read_only() { folder } else { "" };
        let seen = laboratory.run(&workspace, folder, shell, text);
        outcome.count(&format!("{folder} {shell}: {text}"), &seen);
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

#[needs(Overlay, UserNamespace, "bash", "git")]
#[test]
fn what_is_called_read_only_changes_nothing() {
    let laboratory = Laboratory::new();
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
    let Outcome { run, found, succeeded, liars, traces } = outcome;
    println!(
        "seed {seed:#x}: {run} commands run, {found} with programs that are here, {succeeded} succeeded"
    );
    println!("{} left traces in places of which nothing stays: {traces:#?}", traces.len());
    assert!(liars.is_empty(), "{} changed something:\n{}", liars.len(), liars.join("\n"));
    assert_eq!(run, wanted);
    assert!(traces.len() * 20 <= run, "more than caches and the like");
    assert!(found * 10 >= run * 8 && succeeded * 10 >= run * 3, "too few of them did anything");
}

/// The witness would see nothing in anything if it did not see these.
#[needs(Overlay, UserNamespace, "bash", "git")]
#[test]
fn every_change_is_seen() {
    let laboratory = Laboratory::new();
    for (number, (folder, text)) in CHANGES.iter().enumerate() {
        for (turn, shell) in SHELLS.into_iter().enumerate() {
            let workspace = format!("w{number}-{turn}");
            laboratory.fork(&workspace);
            assert!(!laboratory.judge(folder, text).is_read_only(), "{text}");
            let Seen { changes, traces, .. } = laboratory.run(&workspace, folder, shell, text);
            let outside = text.contains("/new");
            assert!(outside || !changes.is_empty(), "{shell}: {text}");
            assert_eq!(outside, !traces.is_empty(), "{shell}: {text}: {traces}");
        }
    }
    laboratory.fork("still");
    let seen = laboratory.run("still", "", "/bin/sh", "ls | head -3");
    assert_eq!((seen.code, seen.changes + &seen.traces), (Some(0), String::new()));
}
