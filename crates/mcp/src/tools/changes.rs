//! What a workspace changed, and how it stands.

use offshoot_engine::change::BinaryForm;
use offshoot_engine::error::ServiceError;
use offshoot_engine::file::VaultPath;
use offshoot_engine::{Error, Result, Workspace, wire};
use offshoot_protocol::{DiffDoc, ExitCode, StatusDoc, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answer, MOST_TEXT, changes, plain, start};
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
    let (mut document, patch) =
        difference(session, &workspace, args.since.as_deref(), &paths, !args.names_only)?;
    let text = match (&*document.changes, &patch) {
        ([], _) => "nothing changed".to_owned(),
        (_, Some(patch)) => start(&plain(patch), MOST_TEXT * 2),
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

/// What differs in a workspace from what it was forked from, or from something else.
fn difference(
    session: &Session,
    workspace: &Workspace,
    since: Option<&str>,
    paths: &[VaultPath],
    has_patch: bool,
) -> Result<(DiffDoc, Option<Vec<u8>>)> {
    let (engine, vault) = (session.project.engine(), session.project.vault());
    let record = workspace.record()?;
    let before = match since {
        Some(text) => {
            let point = session.resolver().point(text, Some(&record))?;
            (point.label, point.snapshot)
        }
        None => (format!("{}@base", record.name), vault.snapshot(&record.state.base)?),
    };
    let after = vault.snapshot(&record.state.head)?;
    let service = engine.changes(vault);
    let mut summary = service.between(&before.1.root, &after.root, false)?;
    let wanted = |path: &VaultPath| paths.iter().any(|filter| path.is_within(filter));
    summary.changes.retain(|change| paths.is_empty() || wanted(&change.path));
    let mut noise = engine.folding(vault, &[before.1.root, after.root])?;
    let sorted = offshoot_engine::change::sorted(&summary.changes, Some(&mut noise))?;
    let patch = match has_patch {
        true => {
            let mut patch = Vec::new();
            service.patch(sorted.single.iter().copied(), BinaryForm::Named, &mut patch)?;
            Some(patch)
        }
        false => None,
    };
    let document = DiffDoc {
        before: before.0,
        after: record.name,
        before_snapshot: before.1.id.to_string(),
        after_snapshot: after.id.to_string(),
        changes: summary.changes.iter().map(wire::change).collect(),
        metadata_only: summary.metadata_only(),
        stays: Vec::new(),
        patch: None,
    };
    Ok::<_, ServiceError>((document, patch)).map_err(Into::into)
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
