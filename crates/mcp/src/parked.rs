//! What waits for the answer of a person, between two calls.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use offshoot_engine::id::Id;

use crate::shared::locked;

/// So long a person has time to answer a question in the client.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// What somebody waits for, and since when.
type Waiting = (Instant, Box<dyn Any + Send>);

/// What waits, by the word that names it.
#[derive(Debug)]
pub(crate) struct Parked {
    patience: Duration,
    all: Mutex<BTreeMap<String, Waiting>>,
}

impl Parked {
    /// For so long.
    pub(crate) fn new(patience: Duration) -> Self {
        Self { patience, all: Mutex::default() }
    }

    /// Keeps something, and gives the word that names it.
    pub(crate) fn park(&self, waiting: impl Any + Send) -> String {
        let word = format!("{}{}", Id::random(), Id::random());
        let mut all = locked(&self.all);
        all.retain(|_, (since, _)| since.elapsed() < self.patience);
        all.insert(word.clone(), (Instant::now(), Box::new(waiting)));
        word
    }

    /// What waits under a word. It is good for one answer, in time.
    pub(crate) fn unpark<T: Any>(&self, word: &str) -> Option<T> {
        let (since, waiting) = locked(&self.all).remove(word)?;
        let waiting = waiting.downcast().ok().filter(|_| since.elapsed() < self.patience);
        waiting.map(|waiting| *waiting)
    }

    /// Lets go of everything.
    pub(crate) fn clear(&self) {
        drop(std::mem::take(&mut *locked(&self.all)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_good_for_one_answer() {
        let parked = Parked::new(PATIENCE);
        let word = parked.park(7_u8);
        assert_eq!(parked.unpark::<u8>("another"), None);
        assert_eq!(parked.unpark(&word), Some(7_u8));
        assert_eq!(parked.unpark::<u8>(&word), None);
    }

    #[test]
    fn nobody_waits_for_ever() {
        let parked = Parked::new(Duration::from_millis(20));
        let (first, second) = (parked.park(1_u8), parked.park(2_u8));
        std::thread::sleep(Duration::from_millis(40));
        assert_eq!(parked.unpark::<u8>(&first), None, "too late");
        parked.park(3_u8);
        assert!(!locked(&parked.all).contains_key(&second), "it goes with the next");
    }
}
