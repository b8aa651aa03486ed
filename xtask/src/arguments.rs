//! Arguments of tasks, and why a task ends early.

use std::fmt;
use std::str::FromStr;

/// Why a task did not do its work, or did not do it well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TaskError {
    /// Help was asked for: the text.
    Help(&'static str),
    /// The arguments are wrong.
    Usage(String),
    /// The work failed.
    Failed(String),
}

impl fmt::Display for TaskError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Help(text) => formatter.write_str(text),
            Self::Usage(message) | Self::Failed(message) => formatter.write_str(message),
        }
    }
}

/// One argument of a task.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Argument<'a> {
    /// `--name`, or `--name=value` with its value.
    Flag(&'a str, Option<&'a str>),
    /// Anything else.
    Plain(&'a str),
}

/// Walks over the arguments of a task.
pub(crate) struct Arguments<'a> {
    rest: &'a [String],
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(all: &'a [String]) -> Self {
        Self { rest: all }
    }

    /// The next argument.
    pub(crate) fn next(&mut self) -> Option<Argument<'a>> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        if !first.starts_with('-') {
            return Some(Argument::Plain(first));
        }
        Some(match first.split_once('=') {
            Some((name, value)) => Argument::Flag(name, Some(value)),
            None => Argument::Flag(first, None),
        })
    }

    /// The number that a flag takes, from behind `=` or from the next argument.
    pub(crate) fn number<N: FromStr>(
        &mut self,
        flag: &str,
        attached: Option<&str>,
    ) -> Result<N, TaskError> {
        self.text(attached)
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| TaskError::Usage(format!("{flag} needs a number")))
    }

    /// The file that a flag takes, from behind `=` or from the next argument.
    pub(crate) fn file(&mut self, flag: &str, attached: Option<&str>) -> Result<String, TaskError> {
        let file = self.text(attached).filter(|text| !text.is_empty()).map(str::to_owned);
        file.ok_or_else(|| TaskError::Usage(format!("{flag} needs a file")))
    }

    fn text<'b>(&mut self, attached: Option<&'b str>) -> Option<&'b str>
    where
        'a: 'b,
    {
        attached.or_else(|| match self.next() {
            Some(Argument::Plain(text)) => Some(text),
            _ => None,
        })
    }
}

/// The error for an argument that a task does not know.
pub(crate) fn unknown(task: &str, argument: &Argument<'_>) -> TaskError {
    let text = match argument {
        Argument::Flag(name, Some(value)) => format!("{name}={value}"),
        Argument::Flag(text, None) | Argument::Plain(text) => (*text).to_owned(),
    };
    TaskError::Usage(format!("{task} takes no {text:?}; see `cargo xtask {task} --help`"))
}

#[cfg(test)]
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_from_either_side() {
        let all = words("--cases 5 --cases=6 --cases x --cases");
        let mut arguments = Arguments::new(&all);
        let mut numbers = Vec::new();
        while let Some(Argument::Flag(name, attached)) = arguments.next() {
            numbers.push(arguments.number::<u64>(name, attached));
        }
        let missing = Err(TaskError::Usage("--cases needs a number".to_owned()));
        assert_eq!(numbers, [Ok(5), Ok(6), missing.clone(), missing]);
    }
}
