//! A file of rules as it is written.

use std::fmt;
use std::ops::Range;

use offshoot_vocabulary::Notation;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use toml::Spanned;

use crate::error::Problem;

/// The version of the format that is read here.
pub(crate) const VERSION: i64 = 1;

/// A whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawFile {
    version: Option<Spanned<i64>>,
    #[serde(default)]
    pub(crate) defaults: RawDefaults,
    #[serde(default, rename = "rule")]
    pub(crate) rules: Vec<Spanned<RawRule>>,
}

/// Decisions by category.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawDefaults {
    pub(crate) read_only: Option<Spanned<String>>,
    pub(crate) interactive: Option<Spanned<String>>,
    pub(crate) mutating: Option<Spanned<String>>,
    pub(crate) networked: Option<Spanned<String>>,
    pub(crate) destructive: Option<Spanned<String>>,
    pub(crate) host_escape_risk: Option<Spanned<String>>,
}

/// A rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRule {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) decision: Option<Spanned<String>>,
    pub(crate) reason: Option<String>,
    pub(crate) prefix: Option<Spanned<Vec<OneOrMany>>>,
    pub(crate) exact: Option<Spanned<bool>>,
    pub(crate) glob: Option<Spanned<OneOrMany>>,
    pub(crate) path: Option<Spanned<OneOrMany>>,
    pub(crate) access: Option<Spanned<String>>,
    pub(crate) category: Option<Spanned<OneOrMany>>,
    pub(crate) network: Option<Spanned<String>>,
    pub(crate) unconfined: Option<bool>,
    pub(crate) cwd: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) matches: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) not_matches: Vec<Spanned<String>>,
}

/// One text, or a list of which any will do.
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
pub(crate) struct Source<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// Reads the file.
    pub(crate) fn parse(&self) -> Result<RawFile, Problem> {
        let file: RawFile = toml::from_str(self.text).map_err(|error| {
            self.problem(error.span(), Notation::Toml.explain(error.message()), None)
        })?;
        let Some(version) = &file.version else {
            return Err(self.missing(0..0, "version", "begin the file with `version = 1`"));
        };
        if *version.get_ref() == VERSION {
            return Ok(file);
        }
        let message = format!("version {} is not known", version.get_ref());
        Err(self.problem(Some(version.span()), message, Some("write `version = 1`".into())))
    }

    /// A field is missing.
    pub(crate) fn missing(&self, span: Range<usize>, field: &str, hint: &str) -> Problem {
        self.problem(Some(span), format!("missing field `{field}`"), Some(hint.to_owned()))
    }

    /// Something that is wrong at a place.
    pub(crate) fn problem(
        &self,
        span: Option<Range<usize>>,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Problem {
        Problem {
            file: self.name.to_owned(),
            place: span.map(|span| self.place(span.start)),
            message: message.into(),
            hint,
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
