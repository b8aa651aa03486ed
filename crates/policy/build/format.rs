//! The files of `knowledge/`, as they are written.

use serde::Deserialize;

/// One file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(default)]
    pub tool: Vec<Tool>,
    #[serde(default)]
    pub variable: Vec<Variable>,
    #[serde(default)]
    pub place: Vec<CredentialLocation>,
}

/// A program, a builtin of the shell, or a subcommand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    pub names: String,
    #[serde(default)]
    pub about: String,
    pub is: String,
    pub style: Option<String>,
    #[serde(default)]
    pub flags: String,
    #[serde(default)]
    pub values: String,
    #[serde(default)]
    pub reads: String,
    #[serde(default)]
    pub optional: String,
    pub operands: Option<String>,
    pub first: Option<String>,
    #[serde(default)]
    pub unless: String,
    pub language: Option<String>,
    pub input: Option<String>,
    #[serde(default)]
    pub leading: bool,
    #[serde(default)]
    pub appends: bool,
    #[serde(default)]
    pub versioned: bool,
    #[serde(default)]
    pub default: bool,
    #[serde(default)]
    pub option: Vec<Effect>,
    #[serde(default)]
    pub when: Vec<When>,
    #[serde(default)]
    pub sub: Vec<Self>,
    /// For people and for tests; the tables know nothing of them.
    #[serde(default, rename = "example")]
    _example: Vec<Example>,
}

/// An option that matters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Effect {
    pub names: String,
    pub value: Option<String>,
    #[serde(default)]
    pub optional: bool,
    #[serde(default)]
    pub write_with: String,
    #[serde(default)]
    pub only: String,
    #[serde(default)]
    pub except: String,
    pub adds: Option<String>,
    pub is: Option<String>,
    pub operands: Option<String>,
    pub language: Option<String>,
    pub input: Option<String>,
    pub why: String,
}

/// Something that holds by number of operands or by what options there are.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct When {
    pub operands_at_least: Option<u16>,
    pub operands_at_most: Option<u16>,
    #[serde(default)]
    pub words: String,
    #[serde(default)]
    pub with: String,
    #[serde(default)]
    pub without: String,
    pub adds: Option<String>,
    pub is: Option<String>,
    pub why: String,
}

/// A command and what it is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Example {
    #[serde(rename = "run")]
    _run: String,
    #[serde(rename = "is")]
    _is: String,
}

/// Variables that change what programs do.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variable {
    pub names: String,
    pub adds: String,
    #[serde(default)]
    pub harmless: String,
    #[serde(default)]
    pub lasting: bool,
    pub why: String,
}

/// Where credentials lie.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CredentialLocation {
    #[serde(default)]
    pub home: String,
    #[serde(default)]
    pub absolute: String,
    pub why: String,
}
