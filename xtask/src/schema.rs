//! `cargo xtask schema`: the JSON Schema of everything that Offshoot prints, and the page about errors.

use crate::arguments::{Argument, Arguments, TaskError, unknown};
use crate::cargo::{self, Program};

const HELP: &str = "\
Write the JSON Schema files in docs/schema and the page docs/errors.md from the types of the
protocol crate.

Usage: cargo xtask schema [--check]

  --check   Write nothing; fail if a file is missing, superfluous or different
  -h, --help
";

/// What to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    check: bool,
}

impl Options {
    pub(crate) fn parse(all: &[String]) -> Result<Self, TaskError> {
        let mut options = Self::default();
        let mut arguments = Arguments::new(all);
        while let Some(argument) = arguments.next() {
            match argument {
                Argument::Flag("--check", None) => options.check = true,
                Argument::Flag("--help" | "-h", None) => return Err(TaskError::Help(HELP)),
                Argument::Flag(..) | Argument::Plain(_) => {
                    return Err(unknown("schema", &argument));
                }
            }
        }
        Ok(options)
    }

    fn arguments(&self) -> Vec<&str> {
        ["docs/schema", "docs/errors.md"]
            .into_iter()
            .chain(self.check.then_some("--check"))
            .collect()
    }
}

/// Writes or checks the files.
pub(crate) fn run(options: &Options) -> Result<(), TaskError> {
    cargo::run(cargo::built(Program::Example("write-schema"))?.args(options.arguments()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::words;

    #[test]
    fn passes_check_on() {
        let write = Options::parse(&[]).unwrap();
        assert_eq!(write.arguments(), ["docs/schema", "docs/errors.md"]);
        let check = Options::parse(&words("--check")).unwrap();
        assert_eq!(check.arguments(), ["docs/schema", "docs/errors.md", "--check"]);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let refused = |text| Options::parse(&words(text)).unwrap_err();
        assert!(matches!(refused("--chek"), TaskError::Usage(_)));
        assert!(matches!(refused("docs"), TaskError::Usage(_)));
        assert_eq!(refused("-h"), TaskError::Help(HELP));
    }
}
