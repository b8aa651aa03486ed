//! `cargo xtask merge-corpus`: merges of published sources, beside those of git.

mod packages;
mod registry;

use crate::arguments::{Argument, Arguments, TaskError, unknown};
use crate::cargo;
use registry::Registry;

const HELP: &str = "\
Merge published versions of packages with Offshoot and with git, and say where the results differ. Needs git, npm, python3
with pip, and their registries.

Usage: cargo xtask merge-corpus [--list] [--markdown FILE]

  --list           Also say which paths differ in which merge
  --markdown FILE  Write every merge and every difference to a table
  -h, --help

The sources are fetched once, to target/merge-corpus. It fails if a difference is of a kind that nobody has explained.
";

/// What to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    list: bool,
    markdown: Option<String>,
}

impl Options {
    pub(crate) fn parse(all: &[String]) -> Result<Self, TaskError> {
        let mut options = Self::default();
        let mut arguments = Arguments::new(all);
        while let Some(argument) = arguments.next() {
            match argument {
                Argument::Flag("--list", None) => options.list = true,
                Argument::Flag(name @ "--markdown", value) => {
                    options.markdown = Some(arguments.file(name, value)?);
                }
                Argument::Flag("--help" | "-h", None) => return Err(TaskError::Help(HELP)),
                Argument::Flag(..) | Argument::Plain(_) => {
                    return Err(unknown("merge-corpus", &argument));
                }
            }
        }
        Ok(options)
    }

    /// What cargo is called with.
    fn arguments(&self, sources: &[String]) -> Vec<String> {
        let words = ["run", "-p", "offshoot-vault", "--example", "merge-corpus", "--"];
        let mut all: Vec<String> = words.map(str::to_owned).to_vec();
        all.extend(sources.iter().cloned());
        all.extend(self.list.then(|| "--list".to_owned()));
        all.extend(self.markdown.iter().map(|file| format!("--markdown={file}")));
        all
    }
}

/// Fetches what is missing and merges.
pub(crate) fn run(options: &Options) -> Result<(), TaskError> {
    let dir = cargo::root().join("target/merge-corpus");
    let mut sources = Vec::new();
    for registry in Registry::ALL {
        let found = registry.fetch(&dir)?;
        sources.push(format!("{}={}", registry.word(), found.display()));
    }
    let arguments = options.arguments(&sources);
    cargo::run(&mut cargo::command(arguments.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::words;

    #[test]
    fn every_package_has_versions_enough_to_merge() {
        for registry in Registry::ALL {
            for (name, versions) in registry.packages() {
                let versions: Vec<&str> = versions.split(' ').collect();
                assert!(versions.len() >= 5, "{name}");
                let all: std::collections::BTreeSet<&&str> = versions.iter().collect();
                assert_eq!(all.len(), versions.len(), "{name} has a version twice");
            }
        }
    }

    #[test]
    fn passes_options_on() {
        let options = Options::parse(&words("--list --markdown /m")).unwrap();
        let expected =
            words("run -p offshoot-vault --example merge-corpus -- npm=/n --list --markdown=/m");
        assert_eq!(options.arguments(&words("npm=/n")), expected);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let refused = |text| Options::parse(&words(text)).unwrap_err();
        assert!(matches!(refused("--lst"), TaskError::Usage(_)));
        assert!(matches!(refused("memchr"), TaskError::Usage(_)));
        assert!(matches!(refused("--markdown"), TaskError::Usage(_)));
        assert_eq!(refused("-h"), TaskError::Help(HELP));
    }
}
