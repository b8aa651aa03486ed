//! The turns of those who write to a catalog in one process.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Whose turn it is to write, among the threads of one process: in the order in which they ask.
///
/// SQLite alone would let them ask again and again, at longer and longer intervals, and whoever writes much would hardly let the others in.
#[derive(Debug, Default)]
pub(super) struct Turns {
    queue: Mutex<Queue>,
    over: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    /// The number that the next one who asks gets.
    next: u64,
    /// Who asked and is not done; it is the turn of the first.
    asked: VecDeque<u64>,
}

/// The turn of one thread, until dropped.
#[derive(Debug)]
pub(crate) struct Turn<'t> {
    turns: &'t Turns,
}

impl Turns {
    /// Waits for one's turn, up to `patience`, or for as long as it takes without one; nothing where it did not come in time.
    pub(super) fn wait(&self, patience: Option<Duration>) -> Option<Turn<'_>> {
        let mut queue = self.lock();
        let own = queue.next;
        queue.next += 1;
        queue.asked.push_back(own);
        let others_go = |queue: &mut Queue| queue.asked.front() != Some(&own);
        let mut queue = match patience {
            None => self.over.wait_while(queue, others_go).unwrap_or_else(PoisonError::into_inner),
            Some(patience) => {
                let waited = self.over.wait_timeout_while(queue, patience, others_go);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        if others_go(&mut queue) {
            queue.asked.retain(|number| *number != own);
            return None;
        }
        Some(Turn { turns: self })
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing in here panics half way.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many write or wait to.
    #[cfg(test)]
    pub(super) fn asked(&self) -> usize {
        self.lock().asked.len()
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.lock().asked.pop_front();
        self.turns.over.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_the_order_in_which_they_were_asked_for() {
        let (turns, order) = (Turns::default(), Mutex::new(Vec::new()));
        std::thread::scope(|threads| {
            let first = turns.wait(None).unwrap();
            for number in 0..8 {
                let (turns, order) = (&turns, &order);
                threads.spawn(move || {
                    let _turn = turns.wait(None).unwrap();
                    order.lock().unwrap().push(number);
                });
                while turns.asked() < number + 2 {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(order.into_inner().unwrap(), (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn one_who_gives_up_is_in_nobodys_way() {
        let turns = Turns::default();
        let first = turns.wait(Some(Duration::ZERO)).expect("it is free");
        assert!(turns.wait(Some(Duration::from_millis(5))).is_none());
        assert_eq!(turns.asked(), 1);
        drop(first);
        assert!(turns.wait(Some(Duration::ZERO)).is_some());
    }
}
