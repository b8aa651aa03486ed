//! Sessions of the agent: how long it takes to take a long one up again, and the memory of those that rest.

use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

use offshoot_coder::{Coder, CoderOptions, TurnSettings, event_records};
use offshoot_engine::Workspace;
use offshoot_provider::Scripted;
use serde_json::Value;

use super::{registry, runtime, work, workspace};
use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Report, Unit};

pub(in crate::benchmarks) const NAME: &str = "agent-sessions";

/// A turn with one call has so many events.
const EVENTS_OF_TURN: usize = 5;
/// So many events are read at once.
const PAGE: u32 = 256;

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let (events, idle) = (bench.options.scaled(100, 10_000), bench.options.scaled(10, 1_000));
    let tree = bench.tree(bench.options.scaled(50, 100))?;
    let home = bench.vault_of(&tree)?;
    let own = workspace(bench, &home, &tree, "w")?;
    let runtime = runtime()?;
    let script = script(events / EVENTS_OF_TURN);
    let coder = runtime.block_on(work(&own, options(&script)?, "count"))?;
    let session = coder.session().clone();
    drop(coder);
    let count = session.head()?.events;
    let mut text = Vec::new();
    session.export_lines(&mut text)?;
    let file = bench.fresh("session");
    fs::write(&file, &text)?;
    bench.settle()?;

    let mut contest = Contest::default();
    let resumed = contest.add(|_| {
        let options = options("version = 1\n")?;
        let start = Instant::now();
        let coder = runtime.block_on(Coder::resume(session.clone(), options))?;
        let took = start.elapsed();
        drop(coder);
        Ok(took)
    });
    let read = contest.add(|_| {
        let start = Instant::now();
        let mut next = 1;
        while let Some(last) = {
            let page = session.events(next, PAGE)?;
            event_records(&page)?;
            page.last().map(|event| event.number)
        } {
            next = last + 1;
        }
        Ok(start.elapsed())
    });
    let plain = contest.add(|_| {
        let start = Instant::now();
        for line in fs::read_to_string(&file)?.lines() {
            std::hint::black_box(serde_json::from_str::<Value>(line)?);
        }
        Ok(start.elapsed())
    });
    let found = contest.run(bench.options.pairs())?;
    let each = memory(&runtime, &own, idle)?;

    let about = format!(
        "a session of {count} events ({} KiB as lines of JSON), and {idle} sessions that rest after one answer",
        text.len() / 1024
    );
    let mut report = Report::new(NAME, about);
    report.add("take it up again", Unit::Time, found.seconds(resumed));
    report.add("of that: read its events", Unit::Time, found.seconds(read));
    report.add("plain: read the file and parse JSON", Unit::Time, found.seconds(plain));
    report.add("take it up / plain", Unit::Ratio, found.ratio(resumed, plain));
    report.add("memory of a session that rests", Unit::Size, vec![each]);
    Ok(report)
}

fn options(script: &str) -> Result<CoderOptions> {
    let mut settings = TurnSettings::new("scripted");
    settings.limits.steps = None;
    let model = Scripted::parse(script)?;
    Ok(CoderOptions::shared(std::sync::Arc::new(model), settings).registry(registry()?))
}

/// So many calls, and a last word.
fn script(turns: usize) -> String {
    let mut script = "version = 1\n".to_owned();
    for number in 0..turns {
        // Writing to a string cannot fail.
        write!(
            script,
            "[[turn]]\nsay = [{{ call = \"nothing\", id = \"c{number}\", arguments = {{ number = {number} }} }}]\n"
        )
        .unwrap_or(());
    }
    script + "[[turn]]\nsay = [{ text = \"Done.\" }]\n"
}

/// What a session takes that is open in this process and rests.
fn memory(runtime: &tokio::runtime::Runtime, own: &Workspace, count: usize) -> Result<f64> {
    let before = resident()?;
    let mut resting = Vec::with_capacity(count);
    for _ in 0..count {
        resting.push(runtime.block_on(work(own, options(&script(0))?, "hello"))?);
    }
    let after = resident()?;
    drop(resting);
    Ok(after.saturating_sub(before) as f64 / count as f64)
}

/// The bytes of this process that are in memory.
fn resident() -> Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
    Ok(kib.ok_or("the kernel does not say how much memory there is")? * 1024)
}
