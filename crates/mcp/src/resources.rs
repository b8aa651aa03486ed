//! Workspaces and commands as resources.

use offshoot_engine::exec::{ExecFilter, ExecService};
use offshoot_engine::{Error, Result};
use offshoot_protocol::{Document, ExitCode};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

use crate::session::Session;
use crate::tools::standing;

/// So many commands are listed, the last ones.
const MOST_LISTED: u32 = 50;
const JSON: &str = "application/json";

/// What can be asked for.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    [
        ("offshoot://workspace/{name}", "workspace", "How a workspace stands", JSON),
        ("offshoot://exec/{id}", "exec", "What a command did: the envelope", JSON),
        ("offshoot://exec/{id}/stdout", "exec-stdout", "All that a command printed", "text/plain"),
        (
            "offshoot://exec/{id}/stderr",
            "exec-stderr",
            "All errors that a command printed",
            "text/plain",
        ),
    ]
    .map(|(template, name, description, kind)| {
        ResourceTemplate::new(template, name).with_description(description).with_mime_type(kind)
    })
    .into()
}

/// The workspaces that a session may see, and their last commands.
pub(crate) fn list(session: &Session) -> Result<Vec<Resource>> {
    let vault = session.project.vault();
    let mut found = Vec::new();
    let mut own = Vec::new();
    for workspace in vault.workspaces()? {
        if session.may_see(Some(&workspace.name), None) {
            let uri = format!("offshoot://workspace/{}", workspace.name);
            found.push(Resource::new(uri, workspace.name.clone()).with_mime_type(JSON));
            own.push(workspace.id);
        }
    }
    let (execs, _) = ExecService::new(vault).list(&ExecFilter::default(), MOST_LISTED)?;
    for record in execs {
        if record.workspace.is_some_and(|workspace| own.contains(&workspace)) {
            let command = offshoot_engine::text::line(&record.command);
            let uri = format!("offshoot://exec/{}", record.id);
            found.push(
                Resource::new(uri, record.id.short())
                    .with_description(command)
                    .with_mime_type(JSON),
            );
        }
    }
    Ok(found)
}

/// What a resource has in it.
pub(crate) fn read(session: &Session, uri: &str) -> Result<ResourceContents> {
    let unknown = || {
        Error::new(ExitCode::NotFound, format!("there is no resource {uri}"))
            .hint("resources/list and resources/templates/list say what there is")
    };
    let path = uri.strip_prefix("offshoot://").ok_or_else(unknown)?;
    let parts: Vec<&str> = path.split('/').collect();
    match *parts {
        ["workspace", name] if session.may_see(Some(name), None) => {
            let workspace = session.project.workspace(name)?;
            let (document, _) = standing(session, Some(workspace))?;
            json(uri, &Document::new(document, Vec::new()))
        }
        ["exec", id] | ["exec", id, "stdout" | "stderr"] => {
            let vault = session.project.vault();
            let service = ExecService::new(vault);
            let record = service.find(id)?;
            let workspaces = vault.workspaces()?;
            let name = workspaces.iter().find(|one| Some(one.id) == record.workspace);
            let asked_by = session.project.envelope(&record.id)?;
            let by = asked_by.as_ref().and_then(|one| one.request.actor.session.as_deref());
            if !session.may_see(name.map(|one| &*one.name), by) {
                return Err(unknown());
            }
            match parts.get(2) {
                None => json(uri, &asked_by.ok_or_else(unknown)?),
                Some(stream) => {
                    let (stdout, stderr) = service.output(&record.id)?;
                    let bytes = if *stream == "stdout" { stdout } else { stderr };
                    Ok(ResourceContents::text(String::from_utf8_lossy(&bytes), uri))
                }
            }
        }
        _ => Err(unknown()),
    }
}

fn json(uri: &str, document: &impl serde::Serialize) -> Result<ResourceContents> {
    let text = serde_json::to_string(document).map_err(|error| {
        Error::new(ExitCode::Failure, format!("{uri} cannot be written as JSON: {error}"))
    })?;
    Ok(ResourceContents::text(text, uri).with_mime_type(JSON))
}
