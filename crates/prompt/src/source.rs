//! Files that are given as texts.

use std::ops::Range;

use crate::error::PromptProblem;

/// The text of a file and what to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSource {
    /// What to call it. Templates name texts by it.
    pub name: String,
    /// What is in it. Names that end with `.toml` are files of templates, all others are texts.
    pub text: String,
}

impl PromptSource {
    /// A file.
    pub fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned() }
    }

    /// Something that is wrong at a place.
    pub(crate) fn problem(
        &self,
        span: Option<Range<usize>>,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> PromptProblem {
        PromptProblem {
            file: self.name.clone(),
            place: span.map(|span| place(&self.text, span.start)),
            message: message.into(),
            hint,
        }
    }
}

/// Line and column of a byte, from 1.
pub(crate) fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (line, column)
}

/// The name that may be meant.
pub(crate) fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |known: &str| strsim::osa_distance(name, known);
    let nearest = known.into_iter().min_by_key(|known| (distance(known), known.len(), *known))?;
    let letters = name.chars().count().max(nearest.chars().count());
    (distance(nearest) <= (letters / 3).max(1)).then_some(nearest)
}

/// A hint at the name that may be meant.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    meant(name, known).map(|meant| format!("did you mean `{meant}`?"))
}
