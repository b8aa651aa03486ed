//! What changed, marking states, and going back.

use offshoot_engine::checkpoint::NewCheckpoint;
use offshoot_engine::operation::Scope;
use offshoot_engine::report::changes;
use offshoot_engine::text::plain;
use offshoot_tool_macros::tool;

use crate::blocking::blocking;
use crate::context::CallContext;
use crate::error::ToolError;
use crate::host::ToolHost;

/// What an agent does not take back: the first reaches into the person's folder, the others are the workspace and the conversation.
const NOT_UNDONE: [(&str, &str); 3] = [
    ("commit", "the last operation is a commit: undoing it changes the user's folder"),
    ("workspace create", "nothing was done in the workspace that could be undone"),
    ("session create", "nothing was done in this conversation that could be undone"),
];

/// Show what changed in the workspace since it was forked, or since a checkpoint, as a patch.
#[tool(effects = "read", capability = "files", crate = "crate")]
pub(crate) async fn diff(
    /// Compare with this checkpoint or snapshot. Without it, with what the workspace was forked from.
    since: Option<String>,
    /// Show only these paths, with all below them.
    #[default]
    paths: Vec<String>,
    /// Leave the patch out: only which files changed.
    #[default(false)]
    names_only: bool,
    context: CallContext,
) -> Result<String, ToolError> {
    let compare = move |host: &ToolHost| {
        let workspace = host.workspace();
        let paths =
            paths.iter().map(|path| host.path(path)).collect::<Result<Vec<_>, ToolError>>()?;
        let since = since.map(|text| workspace.own_point(&text)).transpose()?;
        let difference = workspace.difference(since, &paths, !names_only)?;
        Ok(match (&*difference.document.changes, difference.patch) {
            ([], _) => "nothing changed".to_owned(),
            // All of it is in what lists fold, such as build output.
            (all, Some(patch)) if patch.is_empty() => changes(all),
            (_, Some(patch)) => plain(&patch),
            (all, None) => changes(all),
        })
    };
    blocking(&context, compare).await
}

/// Mark the state of the workspace, so that `undo` with `to` can go back to it.
#[tool(effects = "change", capability = "history", crate = "crate")]
pub(crate) async fn checkpoint(
    /// What to call it. Without it, a name is made.
    name: Option<String>,
    /// What is special about this state.
    #[default]
    message: String,
    context: CallContext,
) -> Result<String, ToolError> {
    let mark = move |host: &ToolHost| {
        let project = host.workspace().project();
        let record = host.workspace().record().map_err(offshoot_engine::Error::from)?;
        let new = NewCheckpoint { name: name.as_deref(), automatic: false, reason: &message };
        let made = project.engine().checkpoints(project.vault()).create(&record, &new);
        let made = made.map_err(offshoot_engine::Error::from)?;
        Ok(format!("checkpoint {}: `undo` with to={} goes back to it", made.name, made.name))
    };
    blocking(&context, mark).await
}

/// Undo the last operation of the workspace (a command, a write, an edit), or go back to a checkpoint with `to`.
#[tool(effects = "change", capability = "history", crate = "crate")]
pub(crate) async fn undo(
    /// Go back to this checkpoint instead of undoing the last operation.
    to: Option<String>,
    context: CallContext,
) -> Result<String, ToolError> {
    let back = move |host: &ToolHost| {
        let workspace = host.workspace();
        if let Some(to) = to {
            let label = workspace.own_point(&to)?.label;
            workspace.restore(&to)?;
            return Ok(format!("the workspace is back at {label}"));
        }
        let target = workspace.project().vault().undo_target(Scope::Workspace(workspace.id()));
        let target = target.map_err(offshoot_engine::Error::from)?;
        if let Some((_, why)) = NOT_UNDONE.iter().find(|(kind, _)| *kind == target.kind) {
            return Err(ToolError::refused(*why).hint("go back to a checkpoint with `to`"));
        }
        Ok(format!("undone: {}", workspace.undo()?.target.summary))
    };
    blocking(&context, back).await
}
