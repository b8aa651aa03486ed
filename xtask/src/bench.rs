//! `cargo xtask bench`: the benchmarks, optimised.

use crate::arguments::{Argument, Arguments, TaskError, unknown};
use crate::cargo;

const HELP: &str = "\
Run the benchmarks and print their ratios.

Usage: cargo xtask bench [--smoke] [NAME...]

  NAME      Run only the benchmarks of these names
  --smoke   Do as little as shows that each benchmark works; its numbers mean nothing
  -h, --help
";

/// What to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    smoke: bool,
    names: Vec<String>,
}

impl Options {
    pub(crate) fn parse(all: &[String]) -> Result<Self, TaskError> {
        let mut options = Self::default();
        let mut arguments = Arguments::new(all);
        while let Some(argument) = arguments.next() {
            match argument {
                Argument::Flag("--smoke", None) => options.smoke = true,
                Argument::Flag("--help" | "-h", None) => return Err(TaskError::Help(HELP)),
                Argument::Plain(name) => options.names.push(name.to_owned()),
                Argument::Flag(..) => return Err(unknown("bench", &argument)),
            }
        }
        Ok(options)
    }

    fn arguments(&self) -> Vec<&str> {
        let mut arguments = vec!["run", "--release", "-p", "offshoot-benches", "--"];
        if self.smoke {
            arguments.push("--smoke");
        }
        arguments.extend(self.names.iter().map(String::as_str));
        arguments
    }
}

/// Runs the benchmarks.
pub(crate) fn run(options: &Options) -> Result<(), TaskError> {
    cargo::run(&mut cargo::command(options.arguments()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::words;

    #[test]
    fn passes_names_and_smoke_on() {
        let options = Options::parse(&words("fork --smoke status")).unwrap();
        let expected = words("run --release -p offshoot-benches -- --smoke fork status");
        assert_eq!(options.arguments(), expected);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let refused = |text| Options::parse(&words(text)).unwrap_err();
        assert!(matches!(refused("--somke"), TaskError::Usage(_)));
        assert!(matches!(refused("--smoke=1"), TaskError::Usage(_)));
        assert_eq!(refused("--help"), TaskError::Help(HELP));
    }
}
