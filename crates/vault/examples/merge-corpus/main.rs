//! Merges published versions of packages and compares every result with what git makes of it.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for developers")]

#[path = "../../tests/vault/merge/git_repo.rs"]
mod git_repo;
mod merging;
mod reasons;
mod report;
mod scenario;
mod sources;

use std::path::Path;
use std::process::ExitCode;

use offshoot_vault::{Actor, ImportOptions, VaultOptions, VaultRegistry};

use merging::Merger;
use report::{Report, Row};

const USAGE: &str = "usage: merge-corpus REGISTRY=FOLDER... [--list] [--markdown=FILE]";

fn main() -> ExitCode {
    let (mut sources, mut list, mut markdown) = (Vec::new(), false, None);
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("--markdown", file)) => markdown = Some(file.to_owned()),
            Some((registry, folder)) => sources.push((registry.to_owned(), folder.to_owned())),
            None if argument == "--list" => list = true,
            None => {
                println!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    let report = merge_all(&sources);
    if list {
        print!("{}", report.differences());
    }
    print!("{}", report.summary());
    if let Some(file) = markdown {
        std::fs::write(file, report.markdown()).unwrap();
    }
    if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn merge_all(sources: &[(String, String)]) -> Report {
    let scratch = tempfile::tempdir().unwrap();
    let home = VaultRegistry::new(scratch.path().join("home"), VaultOptions::default());
    let created = home.create("corpus", None, &ImportOptions::default(), &Actor::user("corpus"));
    let merger = Merger { vault: created.unwrap().vault, scratch: scratch.path().to_owned() };
    let mut report = Report::default();
    for (registry, folder) in sources {
        for package in sources::packages(registry, Path::new(folder)) {
            let decided = |states: [&git_repo::Files; 3], preferred: &git_repo::Files| {
                merger.decided(states, preferred)
            };
            for scenario in scenario::scenarios(&package, &decided) {
                let compared = merger.compare(&scenario.states);
                report.rows.push(Row::new(&package, &scenario, compared));
            }
        }
    }
    report
}
