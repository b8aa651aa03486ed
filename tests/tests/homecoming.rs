//! A person and two agents change files at random and bring their work together by `commit`, `pull` and `undo`. A model that
//! knows who wrote which line says what must come of it: nobody's line is lost, conflicts are where changes overlap or touch and
//! nowhere else, the folder is what the vault says, and what is taken back is as it was.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "homecoming/case.rs"]
mod case;
#[path = "homecoming/edit.rs"]
mod edit;
#[path = "homecoming/merge.rs"]
mod merge;
#[path = "homecoming/tree.rs"]
mod tree;
#[path = "homecoming/world.rs"]
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use offshoot_tests::rng::{SEED_VARIABLE, seed_from_env_or};
use offshoot_tests::tier::{CASES_VARIABLE, Tier, cases};

use crate::case::{Count, Fault, Plan, run};

#[test]
fn work_comes_home_and_nothing_is_lost() {
    const NAME: &str = "work_comes_home_and_nothing_is_lost";
    let (seed, count) = (seed_from_env_or(1), cases(24, 3000));
    let rounds = Tier::from_env().pick(6, 10);
    println!("{NAME}: {count} cases from {SEED_VARIABLE}={seed}");
    let (next, total) = (AtomicU64::new(0), Mutex::new(Count::default()));
    let failure = Mutex::new(None);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while failure.lock().unwrap().is_none() {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= count {
                        break;
                    }
                    let seed = seed.wrapping_add(number);
                    match run(Plan { seed, rounds, fault: Fault::None }) {
                        Ok(found) => add(&mut total.lock().unwrap(), found),
                        Err(why) => *failure.lock().unwrap() = Some((seed, why)),
                    }
                }
            });
        }
    });
    println!("{NAME}: {:?}", total.into_inner().unwrap());
    if let Some((seed, failure)) = failure.into_inner().unwrap() {
        panic!(
            "{NAME}: {failure}\nto repeat: {SEED_VARIABLE}={seed} {CASES_VARIABLE}=1 \
             cargo test -p offshoot-tests --test homecoming {NAME}"
        );
    }
}

fn add(total: &mut Count, found: Count) {
    total.edits += found.edits;
    total.commits += found.commits;
    total.conflicts += found.conflicts;
    total.undone += found.undone;
}

/// A witness must be able to say no.
#[test]
fn mistakes_are_found() {
    let found = |fault| (0..6).any(|seed| run(Plan { seed, rounds: 6, fault }).is_err());
    assert!(found(Fault::LostLine), "a line that was lost went unnoticed");
    assert!(found(Fault::NoTouching), "a conflict that the model lacks went unnoticed");
}
