//! Which task is next.

use std::collections::{HashMap, VecDeque};

use crate::task::{TaskClass, TaskId};

/// After how many times of being passed over a class is served first: ticks, then background.
const PASSES: [u32; 3] = [u32::MAX, 4, 16];

/// Tasks that are ready, by class and sender.
///
/// ```
/// use offshoot_kernel::{ReadyQueue, TaskClass, TaskId};
///
/// let mut queue = ReadyQueue::default();
/// queue.push(TaskId(1), TaskClass::Background, "me");
/// queue.push(TaskId(2), TaskClass::Message, "me");
/// assert_eq!(queue.pop(), Some(TaskId(2)));
/// ```
#[derive(Debug, Default)]
pub struct ReadyQueue {
    classes: [ClassQueue; 3],
    /// How often each class was passed over since it was served.
    passed: [u32; 3],
}

#[derive(Debug, Default)]
struct ClassQueue {
    /// Senders that have tasks, in the order of their turns.
    turns: VecDeque<String>,
    tasks: HashMap<String, VecDeque<TaskId>>,
    len: usize,
}

impl ReadyQueue {
    /// Adds a task behind those of the same class and sender.
    pub fn push(&mut self, id: TaskId, class: TaskClass, sender: &str) {
        self.classes[index(class)].push(id, sender);
    }

    /// Takes the next task.
    pub fn pop(&mut self) -> Option<TaskId> {
        let has = |class: &usize| self.classes[*class].len > 0;
        let starved =
            (1..3).rev().find(|class| has(class) && self.passed[*class] >= PASSES[*class]);
        let first = (0..3).find(|class| has(class));
        let class = starved.or(first)?;
        for other in 0..3 {
            if other == class || self.classes[other].len == 0 {
                self.passed[other] = 0;
            } else {
                self.passed[other] = self.passed[other].saturating_add(1);
            }
        }
        self.classes[class].pop()
    }

    /// How many tasks are ready.
    #[must_use]
    pub fn len(&self) -> usize {
        self.classes.iter().map(|class| class.len).sum()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ClassQueue {
    fn push(&mut self, id: TaskId, sender: &str) {
        self.len += 1;
        if let Some(tasks) = self.tasks.get_mut(sender) {
            tasks.push_back(id);
            return;
        }
        self.turns.push_back(sender.to_owned());
        self.tasks.insert(sender.to_owned(), VecDeque::from([id]));
    }

    fn pop(&mut self) -> Option<TaskId> {
        let sender = self.turns.pop_front()?;
        let tasks = self.tasks.get_mut(&sender)?;
        let id = tasks.pop_front()?;
        self.len -= 1;
        if tasks.is_empty() {
            self.tasks.remove(&sender);
        } else {
            self.turns.push_back(sender);
        }
        Some(id)
    }
}

fn index(class: TaskClass) -> usize {
    match class {
        TaskClass::Message => 0,
        TaskClass::Tick => 1,
        TaskClass::Background => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_class_starves_and_messages_get_most() {
        let mut queue = ReadyQueue::default();
        let mut id = 0;
        let mut classes = HashMap::new();
        let mut push = |queue: &mut ReadyQueue, class| {
            id += 1;
            classes.insert(TaskId(id), class);
            queue.push(TaskId(id), class, "one");
        };
        for _ in 0..500 {
            for class in [TaskClass::Message, TaskClass::Tick, TaskClass::Background] {
                push(&mut queue, class);
            }
        }
        let order: Vec<TaskClass> = (0..420).map(|_| classes[&queue.pop().unwrap()]).collect();
        for window in order.windows(21) {
            let count = |class| window.iter().filter(|other| **other == class).count();
            assert!(count(TaskClass::Message) >= 14, "{window:?}");
            assert!(count(TaskClass::Tick) >= 3, "{window:?}");
            assert!(count(TaskClass::Background) >= 1, "{window:?}");
        }
    }

    #[test]
    fn senders_take_turns() {
        let mut queue = ReadyQueue::default();
        for id in 0..100 {
            queue.push(TaskId(id), TaskClass::Message, "loud");
        }
        queue.push(TaskId(100), TaskClass::Message, "quiet");
        queue.push(TaskId(101), TaskClass::Message, "quiet");
        let first: Vec<u64> = (0..4).map(|_| queue.pop().unwrap().0).collect();
        assert_eq!(first, [0, 100, 1, 101]);
        assert_eq!(queue.len(), 98);
    }
}
