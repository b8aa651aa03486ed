//! Keys of messages that were accepted, so that a second one is known.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::task::{TaskId, TaskOutcome};

/// Keys by sender. Those of closed tasks are forgotten after a while.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeenKeys {
    keys: BTreeMap<String, BTreeMap<String, SeenKey>>,
    /// Those of closed tasks, in the order in which they closed.
    closed: VecDeque<ClosedKey>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeenKey {
    pub(crate) id: TaskId,
    pub(crate) outcome: Option<TaskOutcome>,
    closed_ms: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ClosedKey {
    at: u64,
    sender: String,
    key: String,
}

impl SeenKeys {
    pub(crate) fn get(&self, sender: &str, key: &str) -> Option<&SeenKey> {
        self.keys.get(sender)?.get(key)
    }

    /// A task with this key is open from now on.
    pub(crate) fn open(&mut self, sender: &str, key: &str, id: TaskId) {
        let seen = SeenKey { id, outcome: None, closed_ms: None };
        self.keys.entry(sender.to_owned()).or_default().insert(key.to_owned(), seen);
    }

    /// The task with this key is closed.
    pub(crate) fn close(&mut self, sender: &str, key: &str, outcome: TaskOutcome, at: u64) {
        let seen = self.keys.get_mut(sender).and_then(|keys| keys.get_mut(key));
        let Some(seen) = seen else { return };
        seen.outcome = Some(outcome);
        seen.closed_ms = Some(at);
        self.closed.push_back(ClosedKey { at, sender: sender.to_owned(), key: key.to_owned() });
    }

    /// Forgets what closed before a time, and the oldest beyond a number.
    pub(crate) fn forget(&mut self, before: u64, most: usize) {
        while let Some(first) = self.closed.front() {
            if first.at >= before && self.closed.len() <= most {
                break;
            }
            let Some(ClosedKey { at, sender, key }) = self.closed.pop_front() else { break };
            let Some(keys) = self.keys.get_mut(&sender) else { continue };
            // A dead letter that was sent again is open, or closed once more later.
            if keys.get(&key).is_some_and(|seen| seen.closed_ms == Some(at)) {
                keys.remove(&key);
            }
            if keys.is_empty() {
                self.keys.remove(&sender);
            }
        }
    }
}
