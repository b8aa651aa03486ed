//! The command line.

use std::path::PathBuf;

use crate::benchmarks::{ALL, Benchmark};

/// Fewer say too little about the spread.
const PAIRS: usize = 15;

/// What to run and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Do as little as shows that each benchmark works.
    pub(crate) smoke: bool,
    /// Where to write the figures as JSON.
    pub(crate) json: Option<PathBuf>,
    /// Where to write the tables as Markdown.
    pub(crate) markdown: Option<PathBuf>,
    /// An older program, to be compared with.
    pub(crate) old: Option<PathBuf>,
    names: Vec<String>,
    pairs: Option<usize>,
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// To measure.
    Run(Options),
    /// This text.
    Help(String),
}

impl Options {
    /// How often each side of a comparison runs.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs.unwrap_or(if self.smoke { 1 } else { PAIRS })
    }

    /// One number for a smoke run and another for a real one.
    pub(crate) fn scaled(&self, smoke: usize, real: usize) -> usize {
        if self.smoke { smoke } else { real }
    }

    /// What to type to measure the same again.
    pub(crate) fn command(&self) -> String {
        let smoke = self.smoke.then(|| "--smoke".to_owned());
        let pairs = self.pairs.map(|pairs| format!("--pairs={pairs}"));
        let old = self.old.as_ref().map(|old| format!("--old={}", old.display()));
        let words = [Some("cargo xtask bench".to_owned()), smoke, pairs, old].into_iter().flatten();
        words.chain(self.names.clone()).collect::<Vec<_>>().join(" ")
    }

    /// The benchmarks asked for, in the order in which they are listed.
    pub(crate) fn benchmarks(&self) -> impl Iterator<Item = &'static Benchmark> {
        ALL.iter().filter(|b| self.names.is_empty() || self.names.iter().any(|n| b.is_called(n)))
    }
}

/// Reads the command line.
pub(crate) fn parse(arguments: &[String]) -> Result<Request, String> {
    let mut options = Options::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let (name, attached) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (argument.as_str(), None),
        };
        let mut value = || {
            let value = attached.clone().or_else(|| rest.next().cloned());
            value.ok_or_else(|| format!("{name} needs a value"))
        };
        match name {
            "--smoke" if attached.is_none() => options.smoke = true,
            "--help" | "-h" => return Ok(Request::Help(help())),
            "--json" => options.json = Some(value()?.into()),
            "--markdown" => options.markdown = Some(value()?.into()),
            "--old" => options.old = Some(value()?.into()),
            "--pairs" => {
                let pairs = value()?.parse().ok().filter(|&pairs: &usize| pairs > 0);
                options.pairs = Some(pairs.ok_or("--pairs needs a number above 0")?);
            }
            _ if ALL.iter().any(|benchmark| benchmark.is_called(name)) => {
                options.names.push(name.to_owned());
            }
            _ => return Err(format!("no benchmark or option is called {argument:?}; see --help")),
        }
    }
    Ok(Request::Run(options))
}

fn help() -> String {
    let benchmarks: String =
        ALL.iter().map(|b| format!("  {:<12} {}\n", b.name, b.about)).collect();
    format!(
        "\
Measure the release build of offshoot beside other programs and print the ratios.

Usage: offshoot-benches [--smoke] [--pairs N] [--json FILE] [--markdown FILE] [--old PROGRAM] [NAME...]

  NAME         Run only the benchmarks of these names; a family's name stands for all of it
  --smoke      Do as little as shows that each benchmark works; its figures mean nothing
  --pairs N    How often each side of a comparison runs [default: {PAIRS}]
  --json FILE  Write the figures to a file too
  --markdown FILE
               Write the tables to a file too
  --old PROGRAM
               Compare with this build of offshoot in `pair`; without it, with the program itself
  -h, --help

Files are made in $OFFSHOOT_BENCH_DIR, else in the folder for temporary files.

Benchmarks:
{benchmarks}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Options, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        match parse(&words)? {
            Request::Run(options) => Ok(options),
            Request::Help(text) => Err(text),
        }
    }

    #[test]
    fn names_choose_benchmarks_and_none_means_all() {
        let names = |text| {
            let options = parsed(text).expect("the options are right");
            options.benchmarks().map(|benchmark| benchmark.name).collect::<Vec<_>>()
        };
        assert_eq!(names("scale --smoke import"), ["import", "scale"]);
        assert_eq!(names("").len(), ALL.len());
        assert_eq!(names("exec").len(), 7);
        assert_eq!(names("exec-start"), ["exec-start"]);
    }

    #[test]
    fn values_are_taken_from_either_side() {
        let expected = Options { json: Some("f".into()), pairs: Some(3), ..Options::default() };
        assert_eq!(parsed("--json f --pairs=3"), Ok(expected.clone()));
        assert_eq!(parsed("--json=f --pairs 3"), Ok(expected));
    }

    #[test]
    fn commands_say_what_was_measured_and_not_where_it_went() {
        let options = parsed("exec --json f --pairs 3").expect("the options are right");
        assert_eq!(options.command(), "cargo xtask bench --pairs=3 exec");
    }

    #[test]
    fn mistakes_are_refused() {
        for text in ["imports", "exec-", "--somke", "--pairs 0", "--pairs", "--smoke=1"] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
