//! `cargo xtask schema`: the JSON Schema of everything that Offshoot prints.

use crate::arguments::{Argument, Arguments, TaskError, unknown};
use crate::cargo;

const HELP: &str = "\
Write the JSON Schema files in docs/schema from the types of the protocol crate.

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
        let mut arguments = vec!["run", "-p", "offshoot-protocol", "--example"];
        arguments.extend(["write-schema", "--", "docs/schema"]);
        if self.check {
            arguments.push("--check");
        }
        arguments
    }
}

/// Writes or checks the files.
pub(crate) fn run(options: &Options) -> Result<(), TaskError> {
    cargo::run(&mut cargo::command(options.arguments()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::words;

    #[test]
    fn passes_check_on() {
        let plain = "run -p offshoot-protocol --example write-schema -- docs/schema";
        let write = Options::parse(&[]).unwrap();
        assert_eq!(write.arguments(), words(plain));
        let check = Options::parse(&words("--check")).unwrap();
        assert_eq!(check.arguments(), words(&format!("{plain} --check")));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let refused = |text| Options::parse(&words(text)).unwrap_err();
        assert!(matches!(refused("--chek"), TaskError::Usage(_)));
        assert!(matches!(refused("docs"), TaskError::Usage(_)));
        assert_eq!(refused("-h"), TaskError::Help(HELP));
    }
}
