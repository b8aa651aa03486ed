//! Values of variables.

use serde::{Deserialize, Serialize};

/// A value. It is text to be copied, and never read as a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PromptValue {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A text, a name, or a word of an enum.
    Text(String),
    /// Several texts.
    List(Vec<String>),
}

impl PromptValue {
    /// What it is, for people; never what it says.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Boolean(_) => "a boolean",
            Self::Integer(_) => "a whole number",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
        }
    }
}

impl From<&str> for PromptValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for PromptValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for PromptValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<i64> for PromptValue {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for PromptValue {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<Vec<String>> for PromptValue {
    fn from(texts: Vec<String>) -> Self {
        Self::List(texts)
    }
}

impl From<&[&str]> for PromptValue {
    fn from(texts: &[&str]) -> Self {
        Self::List(texts.iter().map(|text| (*text).to_owned()).collect())
    }
}
