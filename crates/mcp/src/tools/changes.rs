//! What a workspace changed, and how it stands.

use offshoot_engine::difference::Difference;
use offshoot_engine::report::changes;
use offshoot_engine::text::{head, plain};
use offshoot_engine::{Error, Result, Workspace};
use offshoot_protocol::{ExitCode, StatusDoc, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answer, MOST_TEXT};
use crate::arguments::Arguments;
use crate::session::Session;

/// More of a patch is left out.
const MOST_PATCH: usize = 256 << 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffArgs {
    /// Compare with this checkpoint or snapshot. Without it, with what the workspace was forked from.
    since: Option<String>,
    /// Show only these paths, with all below them.
    #[serde(default)]
    paths: Vec<String>,
    /// Leave the patch out: only which files changed.
    #[serde(default)]
    names_only: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusArgs {}

pub(super) fn diff(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: DiffArgs = arguments.parse()?;
    let Some(workspace) = session.workspace(arguments.workspace())? else {
        let message = "there is no workspace yet, so nothing changed";
        return Err(Error::new(ExitCode::NotFound, message)
            .hint("the first call of exec, write or edit forks one"));
    };
    let paths = args.paths.iter().map(|path| session.path(path)).collect::<Result<Vec<_>>>()?;
    let since = match &args.since {
        Some(text) => Some(session.point(text, &workspace)?),
        None => None,
    };
    let Difference { mut document, patch } =
        workspace.difference(since, &paths, !args.names_only)?;
    let text = match (&*document.changes, &patch) {
        ([], _) => "nothing changed".to_owned(),
        (_, Some(patch)) => head(&plain(patch), MOST_TEXT * 2),
        (all, None) => changes(all),
    };
    let mut notes = session.notes();
    if let Some(mut patch) = patch {
        if patch.len() > MOST_PATCH {
            notes.push(format!("the patch is cut: {} bytes", patch.len()));
            patch.truncate(MOST_PATCH);
        }
        document.patch = Some(Text::new(&patch));
    }
    Ok(Answer::framed(document, notes, text))
}

pub(super) fn status(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let StatusArgs {} = arguments.parse()?;
    let (document, text) = standing(session, session.workspace(arguments.workspace())?)?;
    Ok(Answer::framed(document, session.notes(), text))
}

/// How a workspace stands, as a document and in words.
pub(crate) fn standing(
    session: &Session,
    workspace: Option<Workspace>,
) -> Result<(StatusDoc, String)> {
    let project = &session.project;
    let Some(workspace) = workspace else {
        let document =
            project.engine().status_without_workspace(project.vault(), project.name())?;
        let text = format!(
            "vault {}: no workspace yet; the first call of exec, write or edit forks one",
            project.name()
        );
        return Ok((document, text));
    };
    let document = workspace.status()?.document(project.name());
    let mut text = format!(
        "vault {}, workspace {}",
        project.name(),
        document.workspace.as_deref().unwrap_or_default()
    );
    text.push_str(&match &*document.changes {
        [] => "\nnothing to commit".to_owned(),
        all => format!("\nto commit:\n{}", changes(all)),
    });
    if document.behind > 0 {
        text.push_str(&format!("\nthe user's folder is {} changes ahead", document.behind));
    }
    for (count, what) in [
        (document.conflicts.len(), "conflicts to resolve in the workspace"),
        (document.clashes.len(), "conflicts with the user's folder"),
        (document.stays.len(), "paths are held back from commits"),
    ] {
        if count > 0 {
            text.push_str(&format!("\n{count} {what}"));
        }
    }
    if let Some(refused) = &document.refused {
        text.push_str(&format!("\na commit is refused: {refused}"));
    }
    if let Some(last) = &document.last_operation {
        text.push_str(&format!("\nlast: {last}"));
    }
    Ok((document, text))
}
