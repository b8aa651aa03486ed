//! A file of templates as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::error::PromptProblem;
use crate::source::PromptSource;
use crate::template::variable::RawVariable;

/// How long a file may be.
pub(crate) const LONGEST_FILE: usize = 1024 * 1024;

/// The version of the format that is read here.
const VERSION: i64 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawFile {
    version: Option<Spanned<i64>>,
    #[serde(default, rename = "template")]
    pub(crate) templates: Vec<Spanned<RawTemplate>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTemplate {
    pub(crate) name: Spanned<String>,
    pub(crate) version: Spanned<i64>,
    pub(crate) layer: Spanned<String>,
    #[serde(default)]
    pub(crate) for_tasks: Vec<String>,
    #[serde(default)]
    pub(crate) not_for_tasks: Vec<String>,
    #[serde(default)]
    pub(crate) order: i64,
    pub(crate) text: Option<Spanned<String>>,
    pub(crate) text_file: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) variables: BTreeMap<String, Spanned<RawVariable>>,
    pub(crate) priority: Option<u8>,
    pub(crate) min_tokens: Option<usize>,
    pub(crate) max_tokens: Option<Spanned<usize>>,
    pub(crate) trim: Option<Spanned<String>>,
    pub(crate) required: Option<bool>,
}

/// Reads a file.
pub(crate) fn read(source: &PromptSource) -> Result<RawFile, PromptProblem> {
    check_length(source)?;
    let file: RawFile = toml::from_str(&source.text)
        .map_err(|error| source.problem(error.span(), error.message(), None))?;
    check_version(source, file.version.as_ref())?;
    Ok(file)
}

/// Refuses what is too long.
pub(crate) fn check_length(source: &PromptSource) -> Result<(), PromptProblem> {
    let length = source.text.len();
    if length <= LONGEST_FILE {
        return Ok(());
    }
    let message = format!("the file has {length} bytes, and {LONGEST_FILE} is the most");
    Err(source.problem(None, message, Some("divide it into several".to_owned())))
}

/// Refuses another version of the format.
pub(crate) fn check_version(
    source: &PromptSource,
    version: Option<&Spanned<i64>>,
) -> Result<(), PromptProblem> {
    let hint = Some("begin the file with `version = 1`".to_owned());
    match version {
        None => Err(source.problem(Some(0..0), "missing field `version`", hint)),
        Some(version) if *version.get_ref() != VERSION => {
            let message = format!("version {} is not known", version.get_ref());
            Err(source.problem(Some(version.span()), message, hint))
        }
        Some(_) => Ok(()),
    }
}
