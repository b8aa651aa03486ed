//! `cargo xtask soak`: the randomised tests, for as long as they deserve.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::arguments::{Argument, Arguments, TaskError, unknown};
use crate::cargo::{self, PRODUCT_OF_USERS};
use crate::report;

const HELP: &str = "\
Run the randomised tests against the optimised program, and print how long each took.

Usage: cargo xtask soak [--quick] [--seed N] [--cases N]

  --quick    The tier that CI runs: minutes, seed 1001 unless another is given, and tests that are not optimised
             themselves, so that those of `cargo test --workspace` need not be compiled again
  --seed N   Start from this seed; without it the long tier takes one from the clock and prints it
  --cases N  Run this many cases instead of the tier's own number
  -h, --help

Tests get OFFSHOOT_TEST_TIER (long or quick), OFFSHOOT_SEED, with --quick OFFSHOOT_TEST_PRODUCT (release) and, with
--cases, OFFSHOOT_TEST_CASES.
";

/// Test binaries of the long tier: files or directories of `tests/tests`.
const TESTS: &[&str] = &["model", "crash", "oracle", "homecoming"];

/// The seed of a quick run: the same each time, so that CI fails for a change and not by chance. Cases count up from it; the
/// ordinary test run starts at 1 and does as many, so that here they are others.
const QUICK_SEED: u64 = 1001;

/// How to run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Options {
    quick: bool,
    seed: Option<u64>,
    cases: Option<u64>,
}

/// How one test went.
struct Outcome {
    test: &'static str,
    time: Duration,
    error: Option<TaskError>,
}

impl Options {
    pub(crate) fn parse(all: &[String]) -> Result<Self, TaskError> {
        let mut options = Self::default();
        let mut arguments = Arguments::new(all);
        while let Some(argument) = arguments.next() {
            match argument {
                Argument::Flag("--quick", None) => options.quick = true,
                Argument::Flag(name @ "--seed", value) => {
                    options.seed = Some(arguments.number(name, value)?);
                }
                Argument::Flag(name @ "--cases", value) => {
                    options.cases = Some(arguments.number(name, value)?);
                }
                Argument::Flag("--help" | "-h", None) => return Err(TaskError::Help(HELP)),
                Argument::Flag(..) | Argument::Plain(_) => return Err(unknown("soak", &argument)),
            }
        }
        Ok(options)
    }

    fn tier(self) -> &'static str {
        if self.quick { "quick" } else { "long" }
    }

    fn seed_or_new(self) -> u64 {
        let from_clock = || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            u64::from(now.unwrap_or_default().subsec_nanos())
        };
        match (self.seed, self.quick) {
            (Some(seed), _) => seed,
            (None, true) => QUICK_SEED,
            (None, false) => from_clock(),
        }
    }

    /// The command line that does the same again.
    fn again(self, seed: u64) -> String {
        let quick = if self.quick { " --quick" } else { "" };
        let cases = self.cases.map(|cases| format!(" --cases {cases}")).unwrap_or_default();
        format!("cargo xtask soak{quick} --seed {seed}{cases}")
    }
}

/// Runs every test, also after one has failed, and sums up.
pub(crate) fn run(options: Options) -> Result<(), TaskError> {
    check_tests_exist(TESTS, &cargo::root().join("tests/tests"))?;
    let seed = options.seed_or_new();
    let again = options.again(seed);
    report::say(&format!("soak: {} tier, seed {seed}", options.tier()));
    let outcomes: Vec<Outcome> = TESTS.iter().map(|test| run_one(test, options, seed)).collect();
    report::say(&summary(&outcomes));
    if outcomes.iter().all(|outcome| outcome.error.is_none()) {
        Ok(())
    } else {
        Err(TaskError::Failed(format!("soak failed; to repeat: {again}")))
    }
}

fn check_tests_exist(tests: &[&str], directory: &Path) -> Result<(), TaskError> {
    for test in tests {
        let file = directory.join(format!("{test}.rs"));
        let main = directory.join(test).join("main.rs");
        if !file.is_file() && !main.is_file() {
            return Err(TaskError::Failed(format!(
                "the test {test:?} is to be soaked, but {} does not exist",
                file.display()
            )));
        }
    }
    Ok(())
}

fn run_one(test: &'static str, options: Options, seed: u64) -> Outcome {
    let start = Instant::now();
    let error = cargo::run(&mut test_command(test, options, seed)).err();
    Outcome { test, time: start.elapsed(), error }
}

fn test_command(test: &str, options: Options, seed: u64) -> Command {
    let mut command = if options.quick {
        // The build of the ordinary test run: of other packages, or optimised, nearly everything would be compiled again.
        let mut command = cargo::command(["test", "--workspace", "--test", test]);
        command.envs([PRODUCT_OF_USERS]);
        command
    } else {
        cargo::command(["test", "--release", "-p", "offshoot-tests", "--test", test])
    };
    command.env("OFFSHOOT_TEST_TIER", options.tier()).env("OFFSHOOT_SEED", seed.to_string());
    match options.cases {
        Some(cases) => command.env("OFFSHOOT_TEST_CASES", cases.to_string()),
        // One that is set outside must not quietly shorten the run.
        None => command.env_remove("OFFSHOOT_TEST_CASES"),
    };
    command
}

fn summary(outcomes: &[Outcome]) -> String {
    let mut lines = vec!["soak summary, builds included:".to_owned()];
    for outcome in outcomes {
        let word = if outcome.error.is_none() { "ok" } else { "FAILED" };
        let time = report::seconds(outcome.time);
        lines.push(format!("  {:<12} {word:<7} {time:>10}", outcome.test));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;
    use crate::arguments::words;

    fn variable(command: &Command, name: &str) -> Option<String> {
        let (_, value) = command.get_envs().find(|(key, _)| *key == OsStr::new(name))?;
        value.map(|value| value.to_string_lossy().into_owned())
    }

    #[test]
    fn options_reach_the_tests() {
        let options = Options::parse(&words("--quick --seed 7 --cases=9")).unwrap();
        let command = test_command("model", options, options.seed_or_new());
        assert_eq!(variable(&command, "OFFSHOOT_TEST_TIER").as_deref(), Some("quick"));
        assert_eq!(variable(&command, "OFFSHOOT_SEED").as_deref(), Some("7"));
        assert_eq!(variable(&command, "OFFSHOOT_TEST_CASES").as_deref(), Some("9"));
        let arguments = command.get_args().map(|word| word.to_string_lossy());
        assert!(arguments.eq(words("test --workspace --test model")));
        assert_eq!(variable(&command, "OFFSHOOT_TEST_PRODUCT").as_deref(), Some("release"));
        assert_eq!(options.again(7), "cargo xtask soak --quick --seed 7 --cases 9");
    }

    #[test]
    fn the_long_tier_is_the_default_and_optimised_and_quick_runs_repeat() {
        let long = Options::parse(&[]).unwrap();
        assert_eq!(long.tier(), "long");
        let command = test_command("model", long, 3);
        let arguments = command.get_args().map(|word| word.to_string_lossy());
        assert!(arguments.eq(words("test --release -p offshoot-tests --test model")));
        assert_eq!(variable(&command, "OFFSHOOT_TEST_CASES"), None);
        let quick = Options::parse(&words("--quick")).unwrap();
        assert_eq!(quick.seed_or_new(), QUICK_SEED);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let refused = |text| Options::parse(&words(text)).unwrap_err();
        for wrong in ["--qick", "model", "--seed", "--seed x", "--cases -1", "--quick=1"] {
            assert!(matches!(refused(wrong), TaskError::Usage(_)), "{wrong}");
        }
        assert_eq!(refused("--help"), TaskError::Help(HELP));
    }

    #[test]
    fn a_test_that_is_gone_is_an_error() {
        let directory = cargo::root().join("tests/tests");
        let error = check_tests_exist(&["no-such-test"], &directory).unwrap_err();
        assert!(error.to_string().contains("no-such-test.rs does not exist"));
        assert_eq!(check_tests_exist(&[], &directory), Ok(()));
    }

    #[test]
    fn the_summary_has_a_line_for_each_test() {
        let outcome = |test, error| Outcome { test, time: Duration::from_millis(12_340), error };
        let failed = Some(TaskError::Failed("x".to_owned()));
        let text = summary(&[outcome("model", None), outcome("crash", failed)]);
        let expected = "\
soak summary, builds included:
  model        ok          12.3 s
  crash        FAILED      12.3 s";
        assert_eq!(text, expected);
    }
}
