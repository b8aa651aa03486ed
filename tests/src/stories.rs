//! Many random stories, told by all processors until one goes wrong.

use std::fmt::Display;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::rng::{SEED_VARIABLE, seed_from_env_or};
use crate::tier::CASES_VARIABLE;

/// What a test of random stories is called: that of the file, and its own name.
#[derive(Clone, Copy, Debug)]
pub struct Stories {
    /// The test binary.
    pub binary: &'static str,
    /// The test.
    pub name: &'static str,
    /// How many stories to tell.
    pub count: u64,
}

impl Stories {
    /// Tells stories with seeds that follow each other, and gives what all of them found.
    ///
    /// # Panics
    ///
    /// With the first that goes wrong, and how to repeat it.
    pub fn tell<C: Default + Send, F: Display + Send>(
        self,
        tell: impl Fn(u64) -> Result<C, F> + Sync,
        add: impl Fn(&mut C, C) + Sync,
    ) -> C {
        let Self { binary, name, count } = self;
        let first = seed_from_env_or(1);
        let (next, total) = (AtomicU64::new(0), Mutex::new(C::default()));
        let failure = Mutex::new(None);
        let poisoned = "a story that panics ends the test";
        let workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while failure.lock().expect(poisoned).is_none() {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        if number >= count {
                            break;
                        }
                        let seed = first.wrapping_add(number);
                        match tell(seed) {
                            Ok(found) => add(&mut total.lock().expect(poisoned), found),
                            Err(why) => *failure.lock().expect(poisoned) = Some((seed, why)),
                        }
                    }
                });
            }
        });
        if let Some((seed, failure)) = failure.into_inner().expect(poisoned) {
            panic!(
                "{name}: {failure}\nto repeat: {SEED_VARIABLE}={seed} {CASES_VARIABLE}=1 \
                 cargo test --workspace --test {binary} {name}"
            );
        }
        total.into_inner().expect(poisoned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Stories = Stories { binary: "none", name: "none", count: 20 };

    #[test]
    fn every_story_is_told_once() {
        let told = ALL.tell(|seed| Ok::<_, String>(vec![seed]), |all, one| all.extend(one));
        let told: std::collections::BTreeSet<u64> = told.into_iter().collect();
        assert_eq!(told.len(), 20);
    }

    #[test]
    #[should_panic(expected = "went wrong")]
    fn one_that_goes_wrong_ends_it() {
        ALL.tell(
            |seed| if seed.is_multiple_of(7) { Err("went wrong") } else { Ok(()) },
            |(), ()| {},
        );
    }
}
