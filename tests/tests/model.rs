//! Random commands against the real thing and against a model of it: plain maps, and a copy of everything for each
//! operation. After each command both must say the same.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]
#![expect(
    clippy::print_stdout,
    reason = "what was run, and with which seed, is for people to read"
)]

#[path = "model/action.rs"]
mod action;
#[path = "model/binary.rs"]
mod binary;
#[path = "model/case.rs"]
mod case;
#[path = "model/choose.rs"]
mod choose;
#[path = "model/driver.rs"]
mod driver;
#[path = "model/host.rs"]
mod host;
#[path = "model/library.rs"]
mod library;
#[path = "model/state.rs"]
mod state;
#[path = "model/tree.rs"]
mod tree;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use offshoot_tests::rng::{SEED_VARIABLE, seed_from_env_or};
use offshoot_tests::tier::{CASES_VARIABLE, Tier, cases};

use crate::binary::Binary;
use crate::case::{Count, Failure, Fault, Plan, run};
use crate::library::Library;

/// Runs cases, each with a seed of its own that follows from that of the run, and fails with the first that fails.
fn run_all(name: &str, count: u64, case: impl Fn(u64) -> Result<Count, Failure> + Sync) {
    let seed = seed_from_env_or(1);
    println!("{name}: {count} cases from {SEED_VARIABLE}={seed}");
    let (start, next) = (Instant::now(), AtomicU64::new(0));
    let (total, failures) = (Mutex::new(Count::default()), Mutex::new(Vec::new()));
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while failures.lock().unwrap().is_empty() {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= count {
                        break;
                    }
                    let seed = seed.wrapping_add(number);
                    match case(seed) {
                        Ok(count) => {
                            let mut total = total.lock().unwrap();
                            total.commands += count.commands;
                            total.refused += count.refused;
                        }
                        Err(failure) => failures.lock().unwrap().push((seed, failure)),
                    }
                }
            });
        }
    });
    let Count { commands, refused } = total.into_inner().unwrap();
    let time = start.elapsed().as_secs_f32();
    println!("{name}: {commands} commands, {refused} of them refused, in {time:.1} s");
    if let Some((seed, failure)) = failures.into_inner().unwrap().first() {
        panic!(
            "{name}: {failure}\nto repeat: {SEED_VARIABLE}={seed} {CASES_VARIABLE}=1 \
             cargo test -p offshoot-tests --test model {name}"
        );
    }
}

#[test]
fn library_does_what_the_model_does() {
    let steps = Tier::from_env().pick(60, 120);
    run_all("library_does_what_the_model_does", cases(40, 3000), |seed| {
        run(&Plan { seed, steps, dead_scopes: true, fault: Fault::None }, Library::new)
    });
}

#[test]
fn binary_does_what_the_model_does() {
    run_all("binary_does_what_the_model_does", cases(4, 100), |seed| {
        run(&Plan { seed, steps: 40, dead_scopes: false, fault: Fault::None }, Binary::new)
    });
}

/// A witness must be able to say no: with a command left out or a wrong model, every case fails.
#[test]
fn mistakes_are_found() {
    for seed in 0..4 {
        let case = |fault| run(&Plan { seed, steps: 150, dead_scopes: true, fault }, Library::new);
        assert!(case(Fault::None).is_ok(), "seed {seed} fails without a mistake");
        for fault in [Fault::DropCommand, Fault::WrongContent, Fault::WrongName, Fault::NoUndo] {
            assert!(case(fault).is_err(), "{fault:?} went unnoticed with seed {seed}");
        }
    }
}
