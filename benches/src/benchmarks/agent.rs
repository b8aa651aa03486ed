//! Offshoot's own agent: its loop, its sessions, its tools.

pub(super) mod sessions;
pub(super) mod tool;
pub(super) mod turns;

use std::path::Path;

use offshoot_coder::{Coder, CoderOptions, Rested};
use offshoot_engine::{Offshoot, Options, Workspace};
use offshoot_tool::{ToolRegistry, tool};

use crate::Result;
use crate::bench::Bench;

/// Count, and do nothing else.
#[tool(effects = "read")]
async fn nothing(
    /// The number of the call.
    number: u64,
) -> String {
    format!("{number} calls so far")
}

/// Tools that cost nothing.
fn registry() -> Result<ToolRegistry> {
    let mut registry = ToolRegistry::new();
    registry.add(Nothing)?;
    Ok(registry)
}

/// A workspace of a vault on the disk of the benchmarks, used from inside of this process.
fn workspace(bench: &Bench, home: &Path, tree: &Path, name: &str) -> Result<Workspace> {
    let path = std::env::var_os("PATH").map(|path| ("PATH".into(), path));
    let mut environment: Vec<_> = path.into_iter().collect();
    environment.push(("HOME".into(), bench.dir().into()));
    let mut options = Options::new(environment).registry(home);
    // What is tidied after one measurement would be a part of the next.
    options.overrides = ["compact.auto=false", "gc.auto=false"].map(str::to_owned).into();
    Ok(Offshoot::open(options)?.project(tree)?.fork(name)?)
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// Has an agent do a task to its end.
async fn work(workspace: &Workspace, options: CoderOptions, task: &str) -> Result<Coder> {
    let mut coder = Coder::begin(workspace, options).await?;
    match coder.say(task).await? {
        Rested::Idle { .. } => Ok(coder),
        rested => Err(format!("the agent rests too early: {rested:?}").into()),
    }
}
