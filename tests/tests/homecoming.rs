//! A person and two agents change files at random and bring their work together by `commit`, `pull` and `undo`. A model that
//! knows who wrote which line says what must come of it: nobody's line is lost, conflicts are where changes overlap or touch and
//! nowhere else, the folder is what the vault says, and what is taken back is as it was.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too, and prints the seed to repeat it with"
)]

#[path = "homecoming/case.rs"]
mod case;
#[path = "homecoming/edit.rs"]
mod edit;
#[path = "homecoming/history.rs"]
mod history;
#[path = "homecoming/merge.rs"]
mod merge;
#[path = "homecoming/tree.rs"]
mod tree;
#[path = "homecoming/world.rs"]
mod world;

use std::fmt::Debug;

use offshoot_tests::stories::Stories;
use offshoot_tests::tier::{Tier, cases};

use crate::case::{Count, Failure, Fault, Plan, run};

#[test]
fn work_comes_home_and_nothing_is_lost() {
    let rounds = Tier::from_env().pick(6, 10);
    let tell = |seed| run(Plan { seed, rounds, fault: Fault::None });
    many("work_comes_home_and_nothing_is_lost", cases(24, 3000), tell, add);
}

/// Whatever happened before, every command says what a commit does, and what was undone stays undone.
#[test]
fn what_is_said_is_what_is_done() {
    let steps = Tier::from_env().pick(14, 30);
    let tell = |seed| history::run(history::Plan { seed, steps, fault: history::Fault::None });
    let add = |total: &mut history::Count, found: history::Count| {
        total.commits += found.commits;
        total.conflicts += found.conflicts;
        total.undone += found.undone;
        total.redone += found.redone;
        total.forks += found.forks;
        total.merges += found.merges;
    };
    many("what_is_said_is_what_is_done", cases(12, 3000), tell, add);
}

/// Tells many stories, all different, and fails with the first that goes wrong.
fn many<C: Default + Debug + Send>(
    name: &'static str,
    count: u64,
    tell: impl Fn(u64) -> Result<C, Failure> + Sync,
    add: impl Fn(&mut C, C) + Sync,
) {
    let total = Stories { binary: "homecoming", name, count }.tell(tell, add);
    println!("{name}: {count} cases, {total:?}");
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
    let told =
        |fault| (0..6).any(|seed| history::run(history::Plan { seed, steps: 14, fault }).is_err());
    assert!(told(history::Fault::NobodyOwns), "what came back from head went unnoticed");
    assert!(told(history::Fault::Unlisted), "a path that status lacks went unnoticed");
}
