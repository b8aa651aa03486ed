//! `offshoot policy replay`.

use std::path::PathBuf;

use clap::Args;
use offshoot_policy::Layer;
use offshoot_workspace::{PolicyFile, Replay, ReplayService, Resolver, wire};

use super::test::LayerName;
use crate::context::Context;
use crate::error::Result;
use crate::render::{self, DIM, paint, table};

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Rule file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Use the file in place of this layer's rules
    #[arg(long, value_enum, default_value_t = LayerName::User)]
    layer: LayerName,
}

pub(crate) fn run(args: &ReplayArgs, context: &Context) -> Result<()> {
    let layer = args.layer.layer();
    let mut files = context.engine.policy_files();
    files.retain(|file| file.layer != layer || layer == Layer::Request);
    files.push(PolicyFile { layer, path: args.file.clone(), required: true });
    let policy = context.engine.policy_of(files).current()?;
    let opened = context.vault()?;
    let workspace = match context.workspace_name() {
        Some(name) => Some(Resolver::new(&opened.vault).workspace(name)?.id),
        None => None,
    };
    let home = context.engine.options().user_home();
    let replay = ReplayService::new(&opened.vault, &policy, home.as_ref())?.run(workspace)?;
    context.output.data(wire::policy_replay(&replay), |_| text(&replay))
}

fn text(replay: &Replay) -> String {
    let rows = replay.different.iter().map(|replayed| {
        let before = replayed.before.as_deref().unwrap_or("nothing recorded");
        vec![
            paint(DIM, &replayed.record.id.short()),
            format!("{before} -> {}", replayed.after.decision),
            render::line(&replayed.record.command),
            paint(DIM, &replayed.after.rule.name),
        ]
    });
    let mut text = table(&["EXEC", "DECISION", "COMMAND", "RULE"], rows.collect());
    let (execs, same) = (render::count(replay.execs, "command"), replay.same);
    let different = replay.different.len();
    text.push_str(&format!("{execs}: {same} decided as before, {different} differently\n"));
    text
}
