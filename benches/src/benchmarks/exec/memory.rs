//! The memory of an exec.

use offshoot_tests::memory::cost;

use crate::Result;
use crate::bench::Bench;
use crate::report::{Report, Unit};

pub(in crate::benchmarks) const NAME: &str = "exec-memory";

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let files = bench.options.scaled(100, 10_000);
    let tree = bench.tree(files)?;
    let home = bench.vault_of(&tree)?;
    let all = "for f in part-*/module-*/*; do echo more >> $f; done".to_owned();
    let scripts = [
        ("true".to_owned(), "true".to_owned()),
        ("10 changed files".to_owned(), super::ten_changes(files)),
        (format!("{files} changed files"), all),
    ];
    let turns = bench.options.pairs().min(5);
    let mut found = Vec::new();
    for (number, (label, script)) in scripts.into_iter().enumerate() {
        let mut sizes = Vec::new();
        for turn in 0..turns {
            let name = format!("n-{number}-{turn}");
            bench.prepare(&home, &tree, &["workspace", "create", &name, "--from", "head"])?;
            let arguments = ["exec", "-w", &name, "--json", "--", "sh", "-c", &script];
            sizes.push(cost(bench.offshoot(&home, &tree, &arguments))?.memory);
        }
        found.push((label, sizes));
    }
    let mut version = Vec::new();
    for _ in 0..turns {
        version.push(cost(bench.offshoot(&home, &tree, &["--version"]))?.memory);
    }

    let about = "the most memory that the process itself had resident, without the command";
    let mut report = Report::new(NAME, format!("{about}; in a tree of {files} files"));
    for (label, sizes) in &found {
        report.add(format!("exec: {label}"), Unit::Size, sizes.clone());
    }
    report.add("offshoot --version", Unit::Size, version);
    for (label, sizes) in &found[1..] {
        let ratio = sizes.iter().zip(&found[0].1).map(|(large, small)| large / small).collect();
        report.add(format!("exec: {label} / true"), Unit::Ratio, ratio);
    }
    Ok(report)
}
