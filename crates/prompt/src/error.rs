//! What is wrong with files, and with prompts.

use std::fmt;

use crate::guard::personal::PersonalKind;
use crate::template::digest::TemplateDigest;

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptProblem {
    /// The file, as it was called.
    pub file: String,
    /// Where in it: line and column, from 1; none where it is about the whole file.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that can be said.
    pub hint: Option<String>,
}

impl fmt::Display for PromptProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Files that cannot be used. All problems of all files are listed, as far as they can be found at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TemplateError {
    /// What is wrong; at least one.
    pub problems: Vec<PromptProblem>,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// A prompt that cannot be built. No error has a value in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No template has this name and version.
    #[error("there is no template `{name}`{}", hinted(.hint))]
    UnknownTemplate {
        /// The name.
        name: String,
        /// The name that may be meant.
        hint: Option<String>,
    },
    /// A template of another layer was named.
    #[error("the template `{name}` is of the layer `{layer}`, and one of `{wanted}` is needed")]
    Layer {
        /// The name.
        name: String,
        /// Its layer.
        layer: &'static str,
        /// The one that is needed.
        wanted: &'static str,
    },
    /// A template is not for this type of task.
    #[error(
        "the template `{name}` is not for tasks of the type `{task_type}`; see its `for_tasks`"
    )]
    NotForTask {
        /// The name.
        name: String,
        /// The type.
        task_type: String,
    },
    /// No template of the prompt has this variable.
    #[error("no template of this prompt has the variable `{variable}`{}", hinted(.hint))]
    UnknownVariable {
        /// The variable.
        variable: String,
        /// The name that may be meant.
        hint: Option<String>,
    },
    /// A variable has no value.
    #[error("the template `{template}` needs the variable `{variable}` ({expected})")]
    MissingVariable {
        /// The template.
        template: String,
        /// The variable.
        variable: String,
        /// What it has to be.
        expected: String,
    },
    /// A value of another type, or beyond a limit.
    #[error(
        "the variable `{variable}` of the template `{template}` has to be {expected}; it is {found}"
    )]
    WrongValue {
        /// The template.
        template: String,
        /// The variable.
        variable: String,
        /// What it has to be.
        expected: String,
        /// What it is, without the value.
        found: String,
    },
    /// A template with its values and parts becomes too long.
    #[error(
        "the template `{template}` becomes longer than {bytes} bytes or {pieces} pieces; include less"
    )]
    TooLong {
        /// The template.
        template: String,
        /// How many bytes it may have.
        bytes: usize,
        /// How many pieces it may be made of.
        pieces: usize,
    },
    /// Two sections of context have one name, or that of a template.
    #[error("two sections are called `{name}`; give one another name")]
    DuplicateSection {
        /// The name.
        name: String,
    },
    /// A template may not speak in the system layer.
    #[error(
        "the template `{name}` ({digest}) may not speak in the system layer: allow its digest, or take it out"
    )]
    NotAllowed {
        /// The name.
        name: String,
        /// Its digest.
        digest: TemplateDigest,
    },
    /// Something that may not be sent.
    #[error(
        "line {line} of the section `{section}` has a value of the kind `{kind}`, which may not be sent"
    )]
    Blocked {
        /// The section.
        section: String,
        /// The line, from 1.
        line: usize,
        /// What it is: a kind of personal data, or none for a credential.
        kind: BlockedKind,
    },
    /// The prompt does not fit.
    #[error(
        "the prompt needs {needed} tokens, and there are {budget}: shorten `{largest}`, or take away what is required"
    )]
    TooLarge {
        /// So many are needed at least.
        needed: usize,
        /// So many there are.
        budget: usize,
        /// The largest section that is left.
        largest: String,
    },
    /// A section may not be cut and is longer than it may be.
    #[error(
        "the section `{section}` has {tokens} tokens, {most} is the most, and it may not be cut"
    )]
    SectionTooLarge {
        /// The section.
        section: String,
        /// Its size.
        tokens: usize,
        /// The most.
        most: usize,
    },
    /// The values of a record cannot be written.
    #[error("the prompt cannot be recorded: {0}")]
    Record(String),
}

/// What is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockedKind {
    /// A credential.
    Secret,
    /// Personal data.
    Personal(PersonalKind),
}

impl fmt::Display for BlockedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret => f.write_str("secret"),
            Self::Personal(kind) => kind.fmt(f),
        }
    }
}

fn hinted(hint: &Option<String>) -> String {
    hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"))
}
