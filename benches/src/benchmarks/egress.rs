//! The network proxy, from inside of a sandbox, beside a direct connection on loopback.

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::fetch::{self, Amount, Way};
use crate::helper;
use crate::report::{Report, Unit};

pub(super) const NAME: &str = "egress";

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let amount = Amount {
        megabytes: bench.options.scaled(8, 1024),
        requests: bench.options.scaled(20, 2000),
        connections: bench.options.scaled(5, 200),
    };
    let server = fetch::serve(amount.megabytes)?;
    let dir = bench.tree(10)?;
    let home = bench.vault_of(&dir)?;
    let allow = format!("allow={server}");
    let laps = RefCell::new(vec![[Vec::new(), Vec::new(), Vec::new()]; Way::ALL.len()]);
    let mut contest = Contest::default();
    for way in Way::ALL {
        let (laps, dir, home, allow) = (&laps, &dir, &home, &allow);
        contest.add(move |turn| {
            let words = helper::fetch(way, server, amount)?;
            let found = fetch(bench, way, (dir, home), &words, allow)?;
            if turn > 0 {
                let kept = &mut laps.borrow_mut()[way as usize];
                kept.iter_mut().zip(found).for_each(|(kept, took)| kept.push(took.as_secs_f64()));
            }
            Ok(found.iter().sum())
        });
    }
    contest.run(bench.options.pairs())?;

    let Amount { megabytes, requests, connections } = amount;
    let about = format!(
        "{megabytes} MiB to a command, {requests} small requests, {connections} connections; direct is without a sandbox"
    );
    let mut report = Report::new(NAME, about);
    let laps = laps.into_inner();
    let of = |way: Way, at: usize| &laps[way as usize][at];
    for way in Way::ALL {
        let rate = of(way, 0).iter().map(|seconds| megabytes as f64 / seconds).collect();
        report.add(format!("MiB a second: {}", way.word()), Unit::Rate, rate);
    }
    let ratio = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a / b).collect();
    for way in [Way::Http, Way::Tunnel] {
        // Rates are compared, so the times are divided the other way round.
        let label = format!("throughput: {} / direct", way.word());
        report.add(label, Unit::Ratio, ratio(of(Way::Direct, 0), of(way, 0)));
    }
    for (at, what, count) in [(1, "a request", requests), (2, "a connection", connections)] {
        for way in Way::ALL {
            let each = of(way, at).iter().map(|seconds| seconds / count as f64).collect();
            report.add(format!("{what}: {}", way.word()), Unit::Time, each);
        }
        for way in [Way::Http, Way::Tunnel] {
            let label = format!("{what}: {} / direct", way.word());
            report.add(label, Unit::Ratio, ratio(of(way, at), of(Way::Direct, at)));
        }
    }
    Ok(report)
}

/// What the three things took that a client does.
fn fetch(
    bench: &Bench,
    way: Way,
    (dir, home): (&Path, &Path),
    words: &[String],
    allow: &str,
) -> Result<[Duration; 3]> {
    let mut command = match way {
        Way::Direct => Command::new(&words[0]),
        Way::Http | Way::Tunnel => {
            bench.offshoot(home, dir, &["exec", "--json", "--net", allow, "--", &words[0]])
        }
    };
    let output = command.args(&words[1..]).output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}: {printed}{said}", way.word(), output.status).into());
    }
    let printed = match way {
        Way::Direct => printed,
        Way::Http | Way::Tunnel => {
            let envelope: Value = serde_json::from_str(&printed)?;
            let result = &envelope["result"];
            if result["network"]["refused"] != Value::Null {
                return Err(format!("{}: refused: {result}", way.word()).into());
            }
            result["stdout"].as_str().unwrap_or_default().to_owned()
        }
    };
    let laps: Vec<_> = helper::laps(&printed).into_iter().map(|lap| lap.took).collect();
    <[_; 3]>::try_from(laps).map_err(|laps| format!("not three laps: {laps:?}").into())
}
