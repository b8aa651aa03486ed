//! Marking states and going back.

use offshoot_engine::checkpoint::NewCheckpoint;
use offshoot_engine::commit::CommitEvent;
use offshoot_engine::operation::Scope;
use offshoot_engine::{Error, Result, Workspace, wire};
use offshoot_protocol::{Document, ExitCode, Hint, RestoreDoc, RevertDoc, RevertVerb};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::consent::{Consent, Outcome, Proposal};
use crate::session::Session;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckpointArgs {
    /// What to call it. Without it, a name is made.
    name: Option<String>,
    /// What is special about this state.
    #[serde(default)]
    message: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UndoArgs {
    /// Go back to this checkpoint instead of undoing the last operation.
    to: Option<String>,
}

/// What came of going back.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the schema of two answers")]
pub(super) enum WentBack {
    Undone(Document<RevertDoc>),
    Restored(Document<RestoreDoc>),
}

pub(super) fn checkpoint(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: CheckpointArgs = arguments.parse()?;
    let workspace = session.to_change(arguments.workspace())?;
    let (project, record) = (workspace.project(), workspace.record()?);
    let new = NewCheckpoint { name: args.name.as_deref(), automatic: false, reason: &args.message };
    let made = project.engine().checkpoints(project.vault()).create(&record, &new)?;
    let document = wire::checkpoint(&made, std::slice::from_ref(&record));
    let text = format!("checkpoint {} of {}", document.name, document.workspace);
    Ok(Answer::framed(document, session.notes(), text))
}

pub(super) fn undo(session: &Session, arguments: &Arguments, consent: Consent) -> Result<Outcome> {
    let args: UndoArgs = arguments.parse()?;
    let Some(workspace) = session.workspace(arguments.workspace())? else {
        return Err(Error::new(ExitCode::NotFound, "there is no workspace yet: nothing to undo"));
    };
    match &args.to {
        Some(to) => restore(session, &workspace, to).map(Outcome::Done),
        None => revert(session, &workspace, consent),
    }
}

fn restore(session: &Session, workspace: &Workspace, to: &str) -> Result<Answer> {
    let (project, record) = (workspace.project(), workspace.record()?);
    session.point(to, workspace)?;
    let point = session.resolver().point_to_restore(to, &record)?;
    let restored = project.engine().checkpoints(project.vault()).restore(&record, &point)?;
    let document = RestoreDoc {
        workspace: record.name,
        to: point.label,
        snapshot: wire::snapshot(&restored.snapshot),
        operation: restored.operation.map(|id| id.to_string()),
    };
    let text = format!("workspace {} is back at {}", document.workspace, document.to);
    Ok(Answer::framed(document, session.notes(), text))
}

fn revert(session: &Session, workspace: &Workspace, consent: Consent) -> Result<Outcome> {
    let (project, scope) = (workspace.project(), Scope::Workspace(workspace.id()));
    let (engine, vault) = (project.engine(), project.vault());
    let target = vault.undo_target(scope)?;
    // Undoing a commit changes the folder.
    if target.kind == "commit" {
        let name = workspace.name()?;
        let state = target.id.to_string();
        match consent {
            Consent::Given => {}
            Consent::To(agreed) if agreed.state == state => {}
            Consent::Ask | Consent::To(_) => {
                let message = format!(
                    "{} wants to undo a commit of workspace {name}, in your folder too:\n\n    {}\n\nAccept to undo it, decline to keep it.",
                    session.client,
                    offshoot_engine::text::line(&target.summary),
                );
                return Ok(Outcome::Question { message, proposal: Proposal { state } });
            }
            Consent::None => {
                let message =
                    "the last operation is a commit: undoing it changes the user's folder";
                let hint = Hint::from("the user can do it: ").then("offshoot undo -w").arg(&name);
                return Err(Error::new(ExitCode::Denied, message).hint(hint));
            }
        }
    }
    let told = |event: &CommitEvent| engine.tell_event(event);
    let reverted = engine.revert(vault, RevertVerb::Undo, scope, &told)?.reversal;
    let document = RevertDoc {
        verb: RevertVerb::Undo,
        target: wire::operation(&reverted.target, &vault.workspaces()?),
        operation: reverted.operation.to_string(),
        repositories: wire::repositories(&reverted.git),
    };
    let text = format!("undone: {}", document.target.summary);
    Ok(Outcome::Done(Answer::framed(document, session.notes(), text)))
}
