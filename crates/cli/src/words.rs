//! The words of the vocabulary as values of options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use offshoot_protocol::Word;

/// Takes one of the words of a set; help lists them with what they mean.
pub(crate) fn words<W: Word + Send + Sync>() -> impl TypedValueParser<Value = W> {
    words_of(W::ALL)
}

/// The same with some of the words.
pub(crate) fn words_of<W: Word + Send + Sync>(words: &[W]) -> impl TypedValueParser<Value = W> {
    parser(words, |word| PossibleValue::new(word.as_str()).help(word.meaning()))
}

/// The same where the names say all.
pub(crate) fn names_of<W: Word + Send + Sync>(words: &[W]) -> impl TypedValueParser<Value = W> {
    parser(words, |word| PossibleValue::new(word.as_str()))
}

fn parser<W: Word + Send + Sync>(
    words: &[W],
    value: impl Fn(W) -> PossibleValue,
) -> impl TypedValueParser<Value = W> {
    PossibleValuesParser::new(words.iter().map(|word| value(*word))).try_map(|text| text.parse())
}
