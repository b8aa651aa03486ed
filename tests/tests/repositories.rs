//! Repositories that several people work in at once: a person in the folder, agents in workspaces, all with the real git, and the product
//! between them. No commit that anybody made gets out of reach, and every repository stays whole.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "repositories/broken.rs"]
mod broken;
#[path = "repositories/killed.rs"]
mod killed;
#[path = "repositories/moves.rs"]
mod moves;
#[path = "repositories/others.rs"]
mod others;
#[path = "repositories/parts.rs"]
mod parts;
#[path = "repositories/seen.rs"]
mod seen;
#[path = "repositories/story.rs"]
mod story;
#[path = "repositories/world.rs"]
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use offshoot_needs::needs;
use offshoot_tests::rng::{SEED_VARIABLE, seed_from_env_or};
use offshoot_tests::tier::{CASES_VARIABLE, Tier, cases};

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_commit_gets_out_of_reach() {
    const NAME: &str = "no_commit_gets_out_of_reach";
    let (seed, count) = (seed_from_env_or(1), cases(4, 3000));
    let steps = Tier::from_env().pick(24, 40);
    println!("{NAME}: {count} stories from {SEED_VARIABLE}={seed}");
    let (next, failure) = (AtomicU64::new(0), Mutex::new(None));
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
                    if let Err(why) = story::tell(seed, steps) {
                        *failure.lock().unwrap() = Some((seed, why));
                    }
                }
            });
        }
    });
    if let Some((seed, failure)) = failure.into_inner().unwrap() {
        panic!(
            "{NAME}: {failure}\nto repeat: {SEED_VARIABLE}={seed} {CASES_VARIABLE}=1 \
             cargo test -p offshoot-tests --test repositories {NAME}"
        );
    }
}

/// A witness must be able to say no.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_commit_that_is_lost_is_noticed() {
    let found = (0..3).any(|seed| story::tell_with_a_loss(seed).is_err());
    assert!(found, "a commit that was lost went unnoticed");
}
