//! Benchmarks of the real `offshoot` binary, each beside something else that is measured in the same run.
//!
//! What is compared runs in turns, so that a machine that is busy for a while slows down both sides; what is printed is the
//! median of the turns with its spread, and the ratio with the goal that it has to meet.
#![expect(clippy::print_stdout, reason = "printing tables is what this program is for")]
#![expect(clippy::print_stderr, reason = "the same goes for what stops it")]

mod bench;
mod benchmarks;
mod commit;
mod contest;
mod fetch;
mod helper;
mod json;
mod machine;
mod markdown;
mod minimal_mcp;
mod options;
mod report;
mod run;
mod sample;
mod tree;

use std::process::ExitCode;

use crate::bench::Bench;
use crate::machine::Machine;
use crate::options::{Options, Request};
use crate::report::Report;

/// What stops a benchmark: there is nothing to do about it but to say so.
type Error = Box<dyn std::error::Error>;
type Result<T, E = Error> = std::result::Result<T, E>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = helper::run(&arguments) {
        return code;
    }
    let outcome = match options::parse(&arguments) {
        Ok(Request::Run(options)) => run(options),
        Ok(Request::Help(text)) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> Result<()> {
    let bench = Bench::new(options)?;
    let machine = Machine::of(bench.dir());
    print!("{machine}");
    println!("repeat with: {}", bench.options.command());
    if bench.options.smoke {
        println!("A smoke run: it shows that the benchmarks work, and its figures mean nothing.");
    }
    let mut reports = Vec::new();
    for benchmark in bench.options.benchmarks() {
        eprintln!("measuring {}", benchmark.name);
        let report = (benchmark.run)(&bench)
            .map_err(|error| format!("{} could not be measured: {error}", benchmark.name))?;
        print!("\n{}", report.table(bench.options.smoke));
        reports.push(report);
    }
    if !bench.options.smoke {
        print!("\n{}", summary(&reports));
    }
    if let Some(file) = &bench.options.json {
        std::fs::write(file, json::document(&machine, &bench.options, &reports))?;
    }
    if let Some(file) = &bench.options.markdown {
        std::fs::write(file, markdown::document(&machine, &bench.options, &reports))?;
    }
    bench.close()
}

/// Which goals were missed.
fn summary(reports: &[Report]) -> String {
    let with_goals = reports.iter().flat_map(Report::verdicts).count();
    let missed: Vec<String> = reports
        .iter()
        .flat_map(Report::verdicts)
        .filter(|verdict| !verdict.met)
        .map(|verdict| format!("  {}\n", verdict.text))
        .collect();
    let met = with_goals - missed.len();
    format!("{met} of {with_goals} goals met\n{}", missed.concat())
}
