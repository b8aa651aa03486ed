//! Calls that are made again and again with the same result.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::call::{CallEffect, CallReport};
use offshoot_provider::CallBlock;
use serde_json::Value;

/// What was called since something new was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Repeats {
    /// How many times each call had each result.
    counts: BTreeMap<u64, u32>,
    /// Calls that were made, whatever their result.
    made: BTreeSet<u64>,
    /// What the calls of this answer came to: the model cannot know before it answers again.
    in_answer: BTreeSet<u64>,
    /// The tool and the count of the call that was made most often.
    worst: Option<(String, u32)>,
}

impl Repeats {
    /// The model answered again.
    pub(crate) fn begin_answer(&mut self) {
        self.in_answer.clear();
    }

    /// Counts a call, once in an answer.
    pub(crate) fn add(&mut self, call: &CallBlock, effect: CallEffect, report: &CallReport) {
        let arguments = canonical(&call.arguments);
        let made = digest(&(&call.name, &arguments));
        let is_new = self.made.insert(made);
        // Something was written that was not before: what is read now may be different.
        if is_new && effect == CallEffect::Writes && !report.failed {
            self.counts.clear();
            self.in_answer.clear();
            self.worst = None;
        }
        let came_to = digest(&(made, report.to_text(), report.failed));
        if !self.in_answer.insert(came_to) {
            return;
        }
        let count = self.counts.entry(came_to).or_default();
        *count += 1;
        if self.worst.as_ref().is_none_or(|(_, worst)| *count > *worst) {
            self.worst = Some((call.name.clone(), *count));
        }
    }

    /// The tool and the count of the call that was made most often.
    pub(crate) fn worst(&self) -> Option<(&str, u32)> {
        self.worst.as_ref().map(|(tool, count)| (tool.as_str(), *count))
    }
}

/// Arguments without differences in spaces and in the order of fields.
fn canonical(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(value) => sorted(&value).to_string(),
        Err(_) => arguments.trim().to_owned(),
    }
}

/// The same with the fields of all objects in order, whatever order `serde_json` keeps them in.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let fields: BTreeMap<&String, Value> =
                object.iter().map(|(name, value)| (name, sorted(value))).collect();
            fields.into_iter().map(|(name, value)| (name.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> CallBlock {
        CallBlock { id: String::new(), name: name.to_owned(), arguments: arguments.to_owned() }
    }

    #[test]
    fn the_same_counts_in_any_order_and_a_new_write_starts_anew() {
        let mut repeats = Repeats::default();
        let ok = CallReport::text("same");
        let add = |repeats: &mut Repeats, call: &CallBlock, effect, report: &CallReport| {
            repeats.begin_answer();
            repeats.add(call, effect, report);
        };
        add(&mut repeats, &call("read", r#"{"a":1,"b":2}"#), CallEffect::Reads, &ok);
        add(&mut repeats, &call("list", "{}"), CallEffect::Reads, &ok);
        add(&mut repeats, &call("read", r#"{ "b": 2, "a": 1 }"#), CallEffect::Reads, &ok);
        assert_eq!(repeats.worst(), Some(("read", 2)));
        add(
            &mut repeats,
            &call("read", r#"{"a":1,"b":2}"#),
            CallEffect::Reads,
            &CallReport::text("x"),
        );
        assert_eq!(repeats.worst(), Some(("read", 2)), "another result");
        add(&mut repeats, &call("write", "{}"), CallEffect::Writes, &ok);
        assert_eq!(repeats.worst(), Some(("write", 1)));
        add(&mut repeats, &call("write", "{}"), CallEffect::Writes, &ok);
        assert_eq!(repeats.worst(), Some(("write", 2)), "the same write is nothing new");
        add(
            &mut repeats,
            &call("write", "{\"a\":1}"),
            CallEffect::Writes,
            &CallReport::failure("no"),
        );
        assert_eq!(repeats.worst(), Some(("write", 2)), "a failed write changes nothing");
    }
    #[test]
    fn an_answer_repeats_itself_once() {
        let mut repeats = Repeats::default();
        let (read, ok) = (call("read", "{}"), CallReport::text("same"));
        for answers in 1..3 {
            repeats.begin_answer();
            for _ in 0..64 {
                repeats.add(&read, CallEffect::Reads, &ok);
            }
            assert_eq!(repeats.worst(), Some(("read", answers)));
        }
    }
}
