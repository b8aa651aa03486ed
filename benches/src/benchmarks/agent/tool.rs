//! A call of a tool through the registry, beside what has to be done anyway: parsing its arguments and calling the function.

use std::sync::Arc;
use std::time::{Duration, Instant};

use offshoot_tool::{CallContext, CallOutcome, Capabilities, ToolHost};
use serde::Deserialize;

use super::{registry, runtime, workspace};
use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Report, Unit};

pub(in crate::benchmarks) const NAME: &str = "agent-tool";

#[derive(Deserialize)]
struct Arguments {
    number: u64,
}

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let calls = u32::try_from(bench.options.scaled(100, 20_000))?;
    let tree = bench.tree(bench.options.scaled(50, 100))?;
    let home = bench.vault_of(&tree)?;
    let host = Arc::new(ToolHost::new(workspace(bench, &home, &tree, "w")?));
    let (registry, runtime) = (registry()?, runtime()?);
    let arguments: Vec<String> = (0..calls).map(|it| format!("{{\"number\": {it}}}")).collect();
    let mut contest = Contest::default();
    let through = contest.add(|_| {
        let start = Instant::now();
        runtime.block_on(async {
            for text in &arguments {
                let context =
                    CallContext::new(Arc::clone(&host), "bench").capabilities(Capabilities::all());
                let CallOutcome::Done(_) = registry.call("nothing", text, context).await else {
                    return Err("a call did not end".into());
                };
            }
            Ok::<Duration, Box<dyn std::error::Error>>(start.elapsed() / calls)
        })
    });
    let direct = contest.add(|_| {
        let start = Instant::now();
        runtime.block_on(async {
            for text in &arguments {
                let arguments: Arguments = serde_json::from_str(text)?;
                std::hint::black_box(super::nothing(arguments.number).await);
            }
            Ok::<Duration, Box<dyn std::error::Error>>(start.elapsed() / calls)
        })
    });
    let found = contest.run(bench.options.pairs())?;
    let mut report = Report::new(NAME, format!("{calls} calls of a tool that does nothing"));
    report.add("through the registry", Unit::Time, found.seconds(through));
    report.add("parse the arguments, call the function", Unit::Time, found.seconds(direct));
    report.add("what the registry adds", Unit::Time, found.minus(through, direct));
    Ok(report)
}
