//! Which points to break, and doing it several at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use offshoot_tests::rng::{Rng, SEED_VARIABLE, seed_from_env_or};
use offshoot_tests::tier::{Tier, cases};

/// Some points of each operation in the quick tier, all of them in the long one.
const SAMPLE: u64 = 25;

/// The seed of this run, the same each time unless another is asked for.
pub(crate) fn seed() -> u64 {
    seed_from_env_or(1)
}

/// The points from 1 to `last` that this run breaks, in order.
pub(crate) fn points(last: u64, salt: u64) -> Vec<u64> {
    let mut all: Vec<u64> = (1..=last).collect();
    let wanted = cases(SAMPLE, u64::MAX);
    if wanted < last {
        Rng::new(seed() ^ salt.rotate_left(32)).shuffle(&mut all);
        all.truncate(usize::try_from(wanted).unwrap());
        all.sort_unstable();
    }
    all
}

/// Runs every case and fails with all that went wrong.
pub(crate) fn run_all<T: Sync>(
    what: &str,
    all: &[T],
    work: impl Fn(&T) -> Result<(), String> + Sync,
) {
    let start = Instant::now();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = all.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if let Err(failure) = work(case) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let tier = Tier::from_env().pick("quick", "long");
    let (seed, time) = (seed(), start.elapsed().as_secs_f32());
    println!("{what}: {} cases in {time:.1} s, {tier} tier, {SEED_VARIABLE}={seed}", all.len());
    assert!(
        failures.is_empty(),
        "{what}: {} of {} failed; to repeat: {SEED_VARIABLE}={seed} OFFSHOOT_TEST_TIER={tier} \
         cargo test -p offshoot-tests --test crash {what}\n\n{}",
        failures.len(),
        all.len(),
        failures.iter().take(10).cloned().collect::<Vec<_>>().join("\n\n")
    );
}
