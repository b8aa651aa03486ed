//! Renames in a workspace, with a broker and without, beside bare overlayfs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::helper;
use crate::report::{Report, Unit};

pub(in crate::benchmarks) const NAME: &str = "exec-rename";

/// Where renames are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Overlay,
    Native,
    Brokered,
}

impl Place {
    const ALL: [Self; 3] = [Self::Overlay, Self::Native, Self::Brokered];

    fn word(self) -> &'static str {
        match self {
            Self::Overlay => "overlayfs",
            Self::Native => "workspace, no broker",
            Self::Brokered => "workspace",
        }
    }
}

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let about = "renames, timed where they are made; without a broker `mv` copies and deletes";
    let mut report = Report::new(NAME, about);
    let dir = bench.tree(bench.options.scaled(50, 10_000))?;
    let home = bench.vault_of(&dir)?;
    let count = bench.options.scaled(100, 20_000);
    let script = format!(
        "set -e\ncp {} own\n{} own other {count}\n{} directory mv -T part-000 moved\n",
        crate::tree::file(0).display(),
        helper::rename_prefix()?,
        helper::lap_prefix()?
    );
    let laps = std::cell::RefCell::new(vec![[Vec::new(), Vec::new()]; Place::ALL.len()]);
    let mut contest = Contest::default();
    for place in Place::ALL {
        let (laps, script, dir, home) = (&laps, &script, &dir, &home);
        contest.add(move |turn| {
            let found = renames(bench, place, (dir, home), script)?;
            let whole = found.iter().sum();
            if turn > 0 {
                let [files, directory] = found;
                let kept = &mut laps.borrow_mut()[place as usize];
                kept[0].push(files.as_secs_f64() / count as f64);
                kept[1].push(directory.as_secs_f64());
            }
            Ok(whole)
        });
    }
    contest.run(bench.options.pairs())?;
    let laps = laps.into_inner();
    for (at, what) in ["one rename of a file", "mv of a directory of the tree"].iter().enumerate() {
        for place in Place::ALL {
            let seconds = laps[place as usize][at].clone();
            report.add(format!("{what}: {}", place.word()), Unit::Time, seconds);
        }
        for other in [Place::Native, Place::Overlay] {
            let both = laps[Place::Brokered as usize][at].iter().zip(&laps[other as usize][at]);
            let label = format!("{what}: workspace / {}", other.word());
            report.add(label, Unit::Ratio, both.map(|(a, b)| a / b).collect());
        }
    }
    Ok(report)
}

/// What the files and what the directory took.
fn renames(
    bench: &Bench,
    place: Place,
    (dir, home): (&Path, &PathBuf),
    script: &str,
) -> Result<[std::time::Duration; 2]> {
    let scratch = bench.fresh("renames");
    let name = scratch.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let words = ["sh", "-c", script];
    let mut command: Command = match place {
        Place::Overlay => {
            let mut command = helper::on_overlay(dir, &scratch)?;
            command.args(words);
            command
        }
        Place::Native | Place::Brokered => {
            bench.prepare(home, dir, &["workspace", "create", name, "--from", "head"])?;
            let broker = format!("exec.broker={}", place == Place::Brokered);
            let exec = ["-c", &broker, "exec", "-w", name, "--json", "--"];
            bench.offshoot(home, dir, &[&exec[..], &words].concat())
        }
    };
    bench.settle()?;
    let output = command.output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}: {printed}{said}", place.word(), output.status).into());
    }
    let printed = match place {
        Place::Overlay => printed,
        _ => {
            let envelope: Value = serde_json::from_str(&printed)?;
            let result = &envelope["result"];
            if result["sandbox"]["broker"] != (place == Place::Brokered) {
                return Err(format!("{}: not as asked for: {result}", place.word()).into());
            }
            result["stdout"].as_str().unwrap_or_default().to_owned()
        }
    };
    let laps: Vec<_> = helper::laps(&printed).into_iter().map(|lap| lap.took).collect();
    <[_; 2]>::try_from(laps).map_err(|laps| format!("not two laps: {laps:?}").into())
}
