//! A file of rules as it is written.

use std::fmt;
use std::ops::Range;

use offshoot_policy::Problem;
use offshoot_vocabulary::Notation;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use toml::Spanned;

/// How long a file of rules may be.
pub const MAX_RULES_FILE: usize = 1024 * 1024;

/// The version of the format that is read here.
const VERSION: i64 = 1;

/// A whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawFile {
    version: Option<Spanned<i64>>,
    #[serde(default)]
    pub(crate) defaults: RawDefaults,
    #[serde(default)]
    pub(crate) escalation: RawTerms,
    #[serde(default, rename = "rule")]
    pub(crate) rules: Vec<Spanned<RawRule>>,
}

/// Decisions by action.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawDefaults {
    pub(crate) use_tool: Option<Spanned<String>>,
    pub(crate) ask_model: Option<Spanned<String>>,
    pub(crate) write_memory: Option<Spanned<String>>,
    pub(crate) send_message: Option<Spanned<String>>,
    pub(crate) run_step: Option<Spanned<String>>,
    pub(crate) spend: Option<Spanned<String>>,
}

/// Terms of escalations.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTerms {
    pub(crate) ask: Option<Spanned<String>>,
    pub(crate) within_s: Option<Spanned<i64>>,
    pub(crate) fallback: Option<Spanned<String>>,
}

/// A rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRule {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) decision: Option<Spanned<String>>,
    pub(crate) reason: Option<String>,
    pub(crate) action: Option<Spanned<OneOrMany>>,
    pub(crate) agent: Option<Spanned<OneOrMany>>,
    pub(crate) intent: Option<Spanned<OneOrMany>>,
    pub(crate) target: Option<Spanned<OneOrMany>>,
    pub(crate) labels: Option<Spanned<OneOrMany>>,
    pub(crate) without_labels: Option<Spanned<OneOrMany>>,
    pub(crate) min_sensitivity: Option<Spanned<String>>,
    pub(crate) max_sensitivity: Option<Spanned<String>>,
    pub(crate) min_cost: Option<Spanned<i64>>,
    pub(crate) max_cost: Option<Spanned<i64>>,
    pub(crate) ask: Option<Spanned<String>>,
    pub(crate) within_s: Option<Spanned<i64>>,
    pub(crate) fallback: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) matches: Vec<Spanned<RawExample>>,
    #[serde(default)]
    pub(crate) not_matches: Vec<Spanned<RawExample>>,
}

/// A request of an example.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawExample {
    pub(crate) action: Option<String>,
    #[serde(default)]
    pub(crate) agent: String,
    #[serde(default)]
    pub(crate) intent: String,
    #[serde(default)]
    pub(crate) target: String,
    pub(crate) sensitivity: Option<String>,
    #[serde(default)]
    pub(crate) labels: Vec<String>,
    pub(crate) cost: Option<toml::Value>,
}

/// One text, or a list of which any will do.
#[derive(Clone)]
pub(crate) struct OneOrMany(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor)
    }
}

struct OneOrManyVisitor;

impl<'de> Visitor<'de> for OneOrManyVisitor {
    type Value = OneOrMany;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of texts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OneOrMany, E> {
        Ok(OneOrMany(vec![text.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OneOrMany, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = list.next_element()? {
            texts.push(text);
        }
        Ok(OneOrMany(texts))
    }
}

/// A text with a name, so that problems can be told with their place.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// Reads the file.
    pub(crate) fn parse(&self) -> Result<RawFile, Problem> {
        if self.text.len() > MAX_RULES_FILE {
            let message =
                format!("the file has {} bytes, and {MAX_RULES_FILE} is the most", self.text.len());
            return Err(self.problem(None, message, Some("divide it into several")));
        }
        let file: RawFile = toml::from_str(self.text).map_err(|error| {
            self.problem(error.span(), Notation::Toml.explain(error.message()), None)
        })?;
        let hint = Some("begin the file with `version = 1`");
        match &file.version {
            None => Err(self.problem(Some(0..0), "missing field `version`", hint)),
            Some(version) if *version.get_ref() != VERSION => {
                let message = format!("version {} is not known", version.get_ref());
                Err(self.problem(Some(version.span()), message, hint))
            }
            Some(_) => Ok(file),
        }
    }

    /// Something that is wrong at a place.
    pub(crate) fn problem(
        &self,
        span: Option<Range<usize>>,
        message: impl Into<String>,
        hint: Option<&str>,
    ) -> Problem {
        Problem {
            file: self.name.to_owned(),
            place: span.map(|span| self.place(span.start)),
            message: message.into(),
            hint: hint.map(str::to_owned),
        }
    }

    /// Line and column of a byte, from 1.
    fn place(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        (line, column)
    }
}
