//! Development tasks that are longer than one cargo command. Run them as `cargo xtask TASK`.

mod arguments;
mod bench;
mod cargo;
mod merge_corpus;
mod report;
mod schema;
mod soak;

use std::process::ExitCode;

use arguments::TaskError;

const HELP: &str = "\
Development tasks of Offshoot.

Usage: cargo xtask TASK [OPTIONS]

Tasks:
  soak           Run the randomised tests, long or quick
  bench          Run the benchmarks
  merge-corpus   Merge published sources, beside git
  schema         Write the JSON Schema files, or check that they are current

`cargo xtask TASK --help` says more.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(TaskError::Help(text)) => {
            report::say(text);
            ExitCode::SUCCESS
        }
        Err(error) => {
            report::complain(&error.to_string());
            // Wrong usage and failed work are told apart, as most programs do.
            ExitCode::from(if matches!(error, TaskError::Usage(_)) { 2 } else { 1 })
        }
    }
}

fn run(arguments: &[String]) -> Result<(), TaskError> {
    let Some((task, rest)) = arguments.split_first() else {
        return Err(TaskError::Usage("which task? see `cargo xtask --help`".to_owned()));
    };
    match task.as_str() {
        "soak" => soak::run(soak::Options::parse(rest)?),
        "bench" => bench::run(&bench::Options::parse(rest)?),
        "merge-corpus" => merge_corpus::run(&merge_corpus::Options::parse(rest)?),
        "schema" => schema::run(&schema::Options::parse(rest)?),
        "--help" | "-h" | "help" => Err(TaskError::Help(HELP)),
        other => {
            Err(TaskError::Usage(format!("no task is called {other:?}; see `cargo xtask --help`")))
        }
    }
}
