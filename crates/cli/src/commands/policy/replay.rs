//! `offshoot policy replay`.

use offshoot_protocol::{PolicyDecision, PolicyLayer};
use std::path::PathBuf;

use clap::Args;
use offshoot_engine::policy::{PolicyFile, Replay, ReplayService};
use offshoot_engine::reference::Resolver;
use offshoot_engine::wire;

use super::test::LAYERS;
use crate::context::Context;
use crate::error::Result;
use crate::render::{self, DIM, paint, table};
use crate::words::words_of;

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Rule file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Use the file in place of this layer's rules
    #[arg(long, value_parser = words_of(LAYERS), default_value_t = PolicyLayer::User)]
    layer: PolicyLayer,
}

pub(crate) fn run(args: &ReplayArgs, context: &Context) -> Result<()> {
    let layer = args.layer;
    let opened = context.vault()?;
    let mut files = context.engine.policy_files(opened.folder()?.as_deref());
    files.retain(|file| file.layer != layer || layer == PolicyLayer::Request);
    files.push(PolicyFile { layer, path: args.file.clone(), required: true });
    let policy = context.engine.policy_of(files).current()?;
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
        let before = replayed.before.map_or("nothing recorded", PolicyDecision::as_str);
        vec![
            paint(DIM, &replayed.record.id.short()),
            format!("{before} -> {}", replayed.after.decision),
            render::line(&replayed.record.command),
            paint(DIM, &render::line(&replayed.after.rule.name)),
        ]
    });
    let mut text = table(&["EXEC", "DECISION", "COMMAND", "RULE"], rows.collect());
    let (execs, same) = (render::count(replay.execs, "command"), replay.same);
    let different = replay.different.len();
    text.push_str(&format!("{execs}: {same} decided as before, {different} differently\n"));
    text
}
