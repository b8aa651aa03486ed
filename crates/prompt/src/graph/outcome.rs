//! What an answer says, as a typed value.

use std::fmt;

use serde_json::Value;

/// What a node reads from an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) from: OutcomeSource,
    pub(crate) kind: OutcomeKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutcomeSource {
    Field(String),
    Line(String),
    Answer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutcomeKind {
    Enum(Vec<String>),
    Boolean,
    Integer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutcomeValue {
    /// The node reads nothing.
    None,
    Word(String),
    Boolean(bool),
    Integer(i64),
}

impl fmt::Display for OutcomeValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Word(word) => f.write_str(word),
            Self::Boolean(value) => value.fmt(f),
            Self::Integer(number) => number.fmt(f),
        }
    }
}

impl Outcome {
    /// What it looks for, for people.
    pub(crate) fn expected(&self) -> String {
        let kind = match &self.kind {
            OutcomeKind::Enum(values) => format!("one of {}", values.join(", ")),
            OutcomeKind::Boolean => "true or false".to_owned(),
            OutcomeKind::Integer => "a whole number".to_owned(),
        };
        match &self.from {
            OutcomeSource::Field(name) => format!("field `{name}` with {kind}"),
            OutcomeSource::Line(start) => {
                format!("line that begins with `{start}` and goes on with {kind}")
            }
            OutcomeSource::Answer => format!("text that is {kind}"),
        }
    }

    /// What an answer says.
    pub(crate) fn read(&self, answer: &str) -> Option<OutcomeValue> {
        match &self.from {
            OutcomeSource::Field(path) => {
                let document = object(answer)?;
                let value = path.split('.').try_fold(&document, |value, name| value.get(name))?;
                match value {
                    Value::String(text) => self.value(text),
                    Value::Bool(_) | Value::Number(_) => self.value(&value.to_string()),
                    Value::Null | Value::Array(_) | Value::Object(_) => None,
                }
            }
            OutcomeSource::Line(start) => {
                let last =
                    answer.lines().rev().find_map(|line| line.trim().strip_prefix(start.as_str()));
                self.value(last?)
            }
            OutcomeSource::Answer => self.value(answer),
        }
    }

    fn value(&self, text: &str) -> Option<OutcomeValue> {
        let text = text.trim();
        match &self.kind {
            OutcomeKind::Enum(values) => {
                let is_meant = |value: &&String| value.to_lowercase() == text.to_lowercase();
                values.iter().find(is_meant).map(|value| OutcomeValue::Word(value.clone()))
            }
            OutcomeKind::Boolean => match text.to_lowercase().as_str() {
                "true" => Some(OutcomeValue::Boolean(true)),
                "false" => Some(OutcomeValue::Boolean(false)),
                _ => None,
            },
            OutcomeKind::Integer => text.parse().ok().map(OutcomeValue::Integer),
        }
    }
}

/// The object that an answer is, or that its last fenced block has.
fn object(answer: &str) -> Option<Value> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    if let Some(whole) = parse(answer.trim()) {
        return Some(whole);
    }
    let mut blocks: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in answer.lines() {
        match (line.trim_start().starts_with("```"), is_inside) {
            (true, false) => blocks.push(String::new()),
            (false, true) => {
                if let Some(block) = blocks.last_mut() {
                    block.push_str(line);
                    block.push('\n');
                }
            }
            (true, true) | (false, false) => {}
        }
        is_inside ^= line.trim_start().starts_with("```");
    }
    blocks.iter().rev().find_map(|block| parse(block))
}

/// For which outcomes an edge is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EdgeTest {
    Is(OutcomeValue),
    Between(i64, i64),
    Rest,
}

impl EdgeTest {
    pub(crate) fn fits(&self, value: &OutcomeValue) -> bool {
        match (self, value) {
            (Self::Rest, _) => true,
            (Self::Is(wanted), value) => wanted == value,
            (Self::Between(least, most), OutcomeValue::Integer(number)) => {
                (least..=most).contains(&number)
            }
            (Self::Between(..), _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(from: OutcomeSource, kind: OutcomeKind, answer: &str) -> Option<String> {
        Outcome { from, kind }.read(answer).map(|value| value.to_string())
    }

    #[test]
    fn answers_are_read_by_field_by_line_and_whole() {
        let words = || OutcomeKind::Enum(vec!["Good".to_owned(), "bad".to_owned()]);
        let field = |path: &str| OutcomeSource::Field(path.to_owned());
        let line = || OutcomeSource::Line("VERDICT:".to_owned());
        for (from, kind, answer, expected) in [
            (field("v"), words(), "{\"v\": \"good\"}", Some("Good")),
            (
                field("a.v"),
                words(),
                "Here:\n```json\n{\"a\": {\"v\": \"BAD\"}}\n```\nDone.",
                Some("bad"),
            ),
            (field("v"), words(), "{\"v\": \"other\"}", None),
            (field("v"), words(), "{\"w\": \"good\"}", None),
            (field("v"), words(), "good", None),
            (field("v"), words(), "[1]", None),
            (field("v"), OutcomeKind::Boolean, "{\"v\": true}", Some("true")),
            (field("v"), OutcomeKind::Integer, "{\"v\": -3}", Some("-3")),
            (field("v"), OutcomeKind::Integer, "{\"v\": 1.5}", None),
            (field("v"), OutcomeKind::Integer, "{\"v\": [1]}", None),
            (line(), words(), "VERDICT: bad\nwords\n  VERDICT: good \n", Some("Good")),
            (line(), words(), "verdict: good", None),
            (OutcomeSource::Answer, words(), " bad\n", Some("bad")),
            (OutcomeSource::Answer, words(), "bad, I think", None),
            (OutcomeSource::Answer, OutcomeKind::Boolean, "False", Some("false")),
            (OutcomeSource::Answer, OutcomeKind::Integer, "99999999999999999999", None),
        ] {
            assert_eq!(read(from, kind, answer).as_deref(), expected, "{answer}");
        }
        let blocks = "```\n{\"v\": \"good\"}\n```\n```\n{\"v\": \"bad\"}\n```";
        assert_eq!(
            read(field("v"), words(), blocks).as_deref(),
            Some("bad"),
            "the last one counts"
        );
    }
}
