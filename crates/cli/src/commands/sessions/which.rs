//! Which session is meant, and how it is shown.

use clap::Args;
use offshoot_coder::{EventRecord, LogError, event_records};
use offshoot_engine::session::ListedSession;
use offshoot_engine::vault::Vault;
use offshoot_protocol::{ExitCode, SessionDoc};

use crate::complete;
use crate::context::Context;
use crate::error::{CliError, Result};

#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Session: a name or the start of an id
    #[arg(add = complete::sessions())]
    pub(super) session: String,
}

/// The session that is meant, of the workspace that is named first.
pub(super) fn find(args: &NameArgs, context: &Context, vault: &Vault) -> Result<ListedSession> {
    let workspace = match context.workspace_name() {
        Some(_) => context.workspace_to_read(vault)?,
        None => None,
    };
    let workspace = workspace.as_ref().map(|workspace| &workspace.id);
    Ok(context.engine.sessions(vault).find(&args.session, workspace)?)
}

/// The events of a conversation with Offshoot's own agent.
pub(super) fn records(session: &ListedSession, vault: &Vault) -> Result<Vec<EventRecord>> {
    let (mut records, mut next) = (Vec::new(), 1);
    loop {
        let page = vault.session_events(&session.record.id, next, u32::MAX)?;
        let Some(last) = page.last() else { return Ok(records) };
        next = last.number + 1;
        records.extend(event_records(&page).map_err(|error| {
            match error {
                LogError::Damaged { number, .. } => CliError::usage(format!(
                    "event {number} is none of Offshoot's own agent: another program wrote it"
                ))
                .hint("`offshoot sessions export` without --markdown writes any session"),
                other => CliError::new(ExitCode::Failure, other.to_string()),
            }
        })?);
    }
}

pub(super) fn document(
    session: &ListedSession,
    context: &Context,
    vault: &Vault,
) -> Result<SessionDoc> {
    Ok(context.engine.sessions(vault).document(session)?)
}

/// How a session stands, and whether a process has taken it up.
pub(super) fn state(session: &SessionDoc) -> String {
    match session.holder {
        Some(_) => format!("{}, in use", session.state),
        None => session.state.to_string(),
    }
}
