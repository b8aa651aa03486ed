//! `cargo xtask bench`: the benchmarks, optimised where their numbers count.

use std::process::Command;

use crate::arguments::{Argument, Arguments, TaskError, unknown};
use crate::cargo::{self, PRODUCT_OF_USERS, Program};

const HELP: &str = "\
Run the benchmarks and print their ratios.

Usage: cargo xtask bench [--smoke] [--pairs N] [--json FILE] [--markdown FILE] [--old PROGRAM] [NAME...]

  NAME         Run only the benchmarks of these names; a family's name stands for all of it
  --smoke      Do as little as shows that each benchmark works; its numbers mean nothing
  --pairs N    How often each side of a comparison runs [default: 15]
  --json FILE  Write the figures to a file too
  --markdown FILE
               Write the tables to a file too
  --old PROGRAM
               Compare with this build of offshoot in `pair`; without it, with the program itself
  -h, --help
";

/// What to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    smoke: bool,
    pairs: Option<u32>,
    json: Option<String>,
    markdown: Option<String>,
    old: Option<String>,
    names: Vec<String>,
}

impl Options {
    pub(crate) fn parse(all: &[String]) -> Result<Self, TaskError> {
        let mut options = Self::default();
        let mut arguments = Arguments::new(all);
        while let Some(argument) = arguments.next() {
            match argument {
                Argument::Flag("--smoke", None) => options.smoke = true,
                Argument::Flag(name @ "--pairs", attached) => {
                    options.pairs = Some(arguments.number(name, attached)?);
                }
                Argument::Flag(name @ "--json", attached) => {
                    options.json = Some(arguments.file(name, attached)?);
                }
                Argument::Flag(name @ "--markdown", attached) => {
                    options.markdown = Some(arguments.file(name, attached)?);
                }
                Argument::Flag(name @ "--old", attached) => {
                    options.old = Some(arguments.file(name, attached)?);
                }
                Argument::Flag("--help" | "-h", None) => return Err(TaskError::Help(HELP)),
                Argument::Plain(name) => options.names.push(name.to_owned()),
                Argument::Flag(..) => return Err(unknown("bench", &argument)),
            }
        }
        Ok(options)
    }

    fn arguments(&self) -> Vec<String> {
        let smoke = self.smoke.then(|| "--smoke".to_owned());
        let pairs = self.pairs.map(|pairs| format!("--pairs={pairs}"));
        // Cargo starts programs in the repository's top directory, wherever the task was started.
        let file = |option: &str, file: &Option<String>| {
            let file = file.as_ref()?;
            let file = std::path::absolute(file).unwrap_or_else(|_| file.into());
            Some(format!("--{option}={}", file.display()))
        };
        let (json, markdown) = (file("json", &self.json), file("markdown", &self.markdown));
        let old = file("old", &self.old);
        let options = [smoke, pairs, json, markdown, old].into_iter().flatten();
        options.chain(self.names.clone()).collect()
    }

    /// They drive `offshoot` as users build it. A smoke run takes the benchmarks themselves from the build of the tests.
    fn command(&self) -> Result<Command, TaskError> {
        let mut command = if self.smoke {
            cargo::built(Program::Binary("offshoot-benches"))?
        } else {
            cargo::command(["run", "--release", "-p", "offshoot-benches", "--"])
        };
        command.envs([PRODUCT_OF_USERS]);
        Ok(command)
    }
}

/// Runs the benchmarks.
pub(crate) fn run(options: &Options) -> Result<(), TaskError> {
    cargo::run(options.command()?.args(options.arguments()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::words;

    #[test]
    fn passes_names_and_smoke_on() {
        let options = Options::parse(&words("fork --smoke status")).unwrap();
        assert_eq!(options.arguments(), words("--smoke fork status"));
        let options = Options::parse(&words("--pairs 3 --old /o --markdown /m --json /f")).unwrap();
        assert_eq!(options.arguments(), words("--pairs=3 --json=/f --markdown=/m --old=/o"));
    }

    #[test]
    fn what_is_measured_is_optimised() {
        let command = Options::default().command().unwrap();
        let arguments = command.get_args().map(|word| word.to_string_lossy());
        assert!(arguments.eq(words("run --release -p offshoot-benches --")));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let refused = |text| Options::parse(&words(text)).unwrap_err();
        assert!(matches!(refused("--somke"), TaskError::Usage(_)));
        assert!(matches!(refused("--smoke=1"), TaskError::Usage(_)));
        assert!(matches!(refused("--json"), TaskError::Usage(_)));
        assert_eq!(refused("--help"), TaskError::Help(HELP));
    }
}
