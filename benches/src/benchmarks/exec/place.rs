//! Where workloads run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::project::Project;
use super::workload::Workload;
use crate::Result;
use crate::bench::{Bench, UNWALLED};
use crate::helper::{self, Lap};

/// A kind of place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The plain file system.
    Plain,
    /// Overlayfs, with the project below and nothing else around it.
    Overlay,
    /// A workspace.
    Workspace,
    /// The same without the walls that look at each call: Landlock, the filter of calls, and ids of its own.
    Unwalled,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Plain, Self::Overlay, Self::Workspace, Self::Unwalled];

    /// The profile where it is a workspace.
    fn profile(self) -> Option<&'static str> {
        match self {
            Self::Plain | Self::Overlay => None,
            Self::Workspace => Some("workspace"),
            Self::Unwalled => Some(UNWALLED),
        }
    }

    /// Its name.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Overlay => "overlayfs",
            Self::Workspace => "workspace",
            Self::Unwalled => "workspace without walls",
        }
    }
}

/// A project with everything that the places need of it.
pub(super) struct Ground<'a> {
    bench: &'a Bench,
    pub(super) project: Project,
    dir: PathBuf,
    home: PathBuf,
}

/// What a run of a script took.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// Its timed parts.
    pub(super) laps: Vec<Lap>,
    /// All of it, with making the place and what comes after.
    pub(super) whole: Duration,
    /// Of that, what was not the command itself; only where the place is a workspace.
    pub(super) around: Duration,
}

/// What a workload needs in its places, made before anything is measured.
pub(super) struct Prepared {
    /// A copy for each turn.
    copies: Vec<PathBuf>,
    script: String,
}

impl<'a> Ground<'a> {
    pub(super) fn new(bench: &'a Bench, project: Project) -> Result<Self> {
        let dir = project.make(bench)?;
        let home = bench.vault_of(&dir)?;
        Ok(Self { bench, project, dir, home })
    }

    pub(super) fn prepare(&self, workload: &Workload) -> Result<Prepared> {
        let script = workload.script(&self.bench.options, &helper::lap_prefix()?);
        let mut copies = Vec::new();
        // Made at once: were they made between the turns, what a turn deletes would slow them down.
        for _ in 0..=workload.turns(&self.bench.options) {
            if workload.only_reads {
                copies.push(self.dir.clone());
                continue;
            }
            let copy = self.bench.fresh("copy");
            self.project.copy(&self.dir, &copy)?;
            copies.push(copy);
        }
        self.bench.settle()?;
        Ok(Prepared { copies, script })
    }

    /// Runs a script in a place that nothing ran in before.
    pub(super) fn run(&self, kind: Kind, prepared: &Prepared, turn: usize) -> Result<Run> {
        let script = ["sh", "-c", &prepared.script];
        let scratch = self.bench.fresh("place");
        let name = scratch.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut command = match (kind, kind.profile()) {
            (_, Some(profile)) => {
                self.bench.prepare(
                    &self.home,
                    &self.dir,
                    &["workspace", "create", name, "--from", "head"],
                )?;
                let exec = ["exec", "-w", name, "--sandbox", profile, "--json", "--"];
                self.bench.offshoot(&self.home, &self.dir, &[&exec[..], &script].concat())
            }
            (Kind::Overlay, None) => {
                let mut command = helper::on_overlay(&self.dir, &scratch)?;
                command.args(script);
                command
            }
            (_, None) => {
                let mut command = Command::new(script[0]);
                command.args(&script[1..]).current_dir(&prepared.copies[turn]);
                command
            }
        };
        if kind.profile().is_none() {
            command.env_clear().env("HOME", self.bench.dir()).env("USER", "bench");
        }
        command.env("PATH", path());
        self.bench.settle()?;
        let start = Instant::now();
        let output = command.output()?;
        let whole = start.elapsed();
        read(kind, &output, whole)
    }
}

/// Where programs are found: the toolchain that builds this comes first, so that no chooser of toolchains is measured.
fn path() -> OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    let toolchain = cargo.as_deref().and_then(Path::parent).map(Path::to_owned);
    let all = toolchain.into_iter().chain(std::env::split_paths(&own));
    std::env::join_paths(all).unwrap_or(own)
}

fn read(kind: Kind, output: &Output, whole: Duration) -> Result<Run> {
    let printed = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let word = kind.word();
        return Err(format!("{word}: {}: {printed}{said}", output.status).into());
    }
    if kind.profile().is_none() {
        return Ok(Run { laps: helper::laps(&printed), whole, around: Duration::ZERO });
    }
    let envelope: Value = serde_json::from_str(&printed)?;
    let result = &envelope["result"];
    let millis = |name: &str| result[name].as_u64().ok_or("the envelope lacks a time");
    let around = Duration::from_millis(millis("total_ms")?.saturating_sub(millis("duration_ms")?));
    let laps = helper::laps(result["stdout"].as_str().unwrap_or_default());
    // On a plain copy everything would be as fast as on the plain file system.
    if result["driver"] != "overlay" {
        return Err(format!("the workspace was not on overlayfs: {}", result["warnings"]).into());
    }
    Ok(Run { laps, whole, around })
}
