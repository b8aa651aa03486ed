//! Sessions: conversations of agents, each in a workspace.

use std::io::Write;
use std::path::Path;

use offshoot_host::HostError;
use offshoot_protocol::{SessionDoc, SessionHeaderDoc};
use offshoot_store::{Id, StoreError};
use offshoot_vault::{
    Actor, LONGEST_PAGE, NewSession, NewSessionFork, SessionError, SessionHead, SessionRecord,
    Vault, VaultError, WorkspaceRecord, WorkspaceState,
};
use serde::Serialize;

use crate::error::{Result, ServiceError};
use crate::friendly::friendly_name;
use crate::id_lookup::Asked;
use crate::resolve::{Point, Resolver};
use crate::undecided;
use crate::wire::{session as session_doc, session_event};
use crate::workspace::checked;

/// What exported sessions say that they are.
const FORMAT: &str = "offshoot-session";
/// The version of their format.
const VERSION: u32 = 1;
/// What forks keep of a long name, in bytes: a number has room behind it.
const LONGEST_BASE: usize = 80;
/// What is looked for.
const WHAT: &str = "session";

/// How to fork a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionFork<'a> {
    /// The last event that goes along; all where there is none.
    pub at: Option<u64>,
    /// The name of the new session; one like that of its parent where there is none.
    pub name: Option<&'a str>,
    /// The name of the workspace; a friendly one is found where there is none.
    pub workspace: Option<&'a str>,
}

/// A session as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSession {
    /// What it is.
    pub record: SessionRecord,
    /// How it stands.
    pub head: SessionHead,
}

/// Makes, finds, forks and removes sessions.
#[derive(Debug)]
pub struct SessionService<'a> {
    vault: &'a Vault,
    actor: Actor,
}

impl<'a> SessionService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone() }
    }

    /// All sessions, or those of a workspace; the one that changed last comes first.
    pub fn list(&self, workspace: Option<&Id>) -> Result<Vec<ListedSession>> {
        let mut found = self.vault.sessions()?;
        found.retain(|(record, _)| workspace.is_none_or(|id| record.workspace == *id));
        found.sort_by_key(|(record, head)| std::cmp::Reverse((head.changed_ms, record.id)));
        Ok(found.into_iter().map(|(record, head)| ListedSession { record, head }).collect())
    }

    /// The session of a name, or of an id that starts so. A name is looked for in one workspace first.
    pub fn find(&self, text: &str, workspace: Option<&Id>) -> Result<ListedSession> {
        if let Some(workspace) = workspace
            && let Some((record, head)) = self.vault.session_named(workspace, text)?
        {
            return Ok(ListedSession { record, head });
        }
        let all = self.list(None)?;
        let (named, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|session| session.record.name == text);
        if named.len() > 1 {
            let workspaces = self.vault.workspaces()?;
            let of = |session: &ListedSession| {
                let workspace = workspaces.iter().find(|it| it.id == session.record.workspace);
                workspace.map(|workspace| workspace.name.clone())
            };
            let workspaces = named.iter().filter_map(of).collect();
            return Err(ServiceError::SessionNames { text: text.to_owned(), workspaces });
        }
        let asked = Asked::new(text);
        let fitting = match named.is_empty() {
            true => others.iter().filter(|one| asked.fits(&one.record.id)).cloned().collect(),
            false => named,
        };
        let label = |session: &ListedSession| session.record.id.to_string();
        let found = asked.only(fitting, label)?;
        found.ok_or_else(|| {
            let names = others.iter().map(|session| session.record.name.as_str());
            asked.unknown_name(self.vault, WHAT, names)
        })
    }

    /// Makes a session in a workspace, under a name or a friendly one that no other session of the vault has.
    pub fn create(
        &self,
        workspace: &WorkspaceRecord,
        name: Option<&str>,
        (provider, model): (&str, &str),
    ) -> Result<ListedSession> {
        let workspace = workspace.id;
        loop {
            let free = match name {
                Some(name) => name.to_owned(),
                None => {
                    let all = self.list(None)?;
                    friendly_name(|name| all.iter().any(|other| other.record.name == name))
                }
            };
            let new = NewSession { workspace, name: &free, provider, model };
            match self.vault.create_session(&new, &self.actor) {
                // Somebody else found the same name at the same time.
                Err(VaultError::Store(StoreError::NameTaken { .. })) if name.is_none() => {}
                Err(error) => return Err(taken(error, &free)),
                Ok((record, head)) => return Ok(ListedSession { record, head }),
            }
        }
    }

    /// Forks a session and its workspace, as that was at an event: both in one operation, which undo takes back as a whole.
    pub fn fork(
        &self,
        session: &SessionRecord,
        fork: &SessionFork<'_>,
    ) -> Result<(ListedSession, WorkspaceRecord)> {
        let from = self.state_at(session, fork.at)?;
        let past = undecided::admit(self.vault, &self.actor, &from)?;
        let name = match fork.name {
            Some(name) => name.to_owned(),
            None => {
                let all = self.list(None)?;
                name_like(&session.name, |name| all.iter().any(|it| it.record.name == name))
            }
        };
        loop {
            let workspace = match fork.workspace {
                Some(name) => checked(name)?.to_owned(),
                None => {
                    let all = self.vault.workspaces()?;
                    friendly_name(|name| all.iter().any(|other| other.name == name))
                }
            };
            match self.fork_into(session, (fork.at, &name), (&from, &workspace), past.as_slice()) {
                Err(ServiceError::NameTaken { .. }) if fork.workspace.is_none() => {}
                other => return other,
            }
        }
    }

    fn fork_into(
        &self,
        session: &SessionRecord,
        (at, name): (Option<u64>, &str),
        (from, workspace): (&Point, &str),
        past: &[Id],
    ) -> Result<(ListedSession, WorkspaceRecord)> {
        offshoot_vault::check_ref_name(name)?;
        let made = self.vault.transact("session fork", &self.actor, |tx| {
            let id = tx.new_id();
            let state = WorkspaceState {
                head: from.snapshot.id,
                base: from.snapshot.id,
                parent: Some(session.workspace),
                created_ms: tx.time_ms(),
                expires_ms: None,
            };
            let made = WorkspaceRecord { id, name: workspace.to_owned(), state };
            tx.scope(id);
            tx.set_workspace(&made)?;
            let new = NewSessionFork { parent: session.id, at, workspace: id, name };
            let (record, head) = tx.fork_session(&new)?;
            tx.summary(format!("fork session {} into {workspace}", session.name));
            undecided::note(tx, past);
            Ok((ListedSession { record, head }, made))
        });
        Ok(made.map_err(|error| crate::workspace::taken(error, workspace))?.value)
    }

    /// The state that the workspace of a session had at an event, or has now.
    fn state_at(&self, session: &SessionRecord, at: Option<u64>) -> Result<Point> {
        let Some(number) = at else {
            let workspace = self.vault.workspace(&session.workspace)?;
            let workspace = workspace.ok_or(ServiceError::Vanished(session.workspace))?;
            return Resolver::new(self.vault).workspace_point(&workspace);
        };
        let session = session.id;
        let snapshot = self.vault.session_snapshot(&session, number)?;
        let snapshot = snapshot.ok_or(SessionError::NoState { session, number });
        let snapshot = self.vault.snapshot(&snapshot.map_err(VaultError::from)?)?;
        let label = snapshot.id.to_string();
        Ok(Point { label, snapshot, workspace: None, checkpoint: None })
    }

    /// Gives a session another name.
    pub fn rename(&self, session: &SessionRecord, name: &str) -> Result<SessionRecord> {
        let renamed = self.vault.rename_session(&session.id, name, &self.actor);
        renamed.map_err(|error| taken(error, name))
    }

    /// A session as a document, with who has taken it up.
    pub fn document(&self, session: &ListedSession) -> Result<SessionDoc> {
        let holder = self.vault.session_holder(&session.record.id)?;
        Ok(session_doc(session, &self.vault.workspaces()?, holder))
    }

    /// Writes a session as lines of JSON: a header, and one for each event until now. Gives how many events there are.
    pub fn export(&self, session: &ListedSession, out: &mut dyn Write) -> Result<u64> {
        let failed = |error: std::io::Error| {
            let error = HostError::io("write", Path::new("the session"), error);
            ServiceError::from(VaultError::from(error))
        };
        self.vault.record_session_export(&session.record.id, &self.actor)?;
        let (format, version) = (FORMAT.to_owned(), VERSION);
        let header = SessionHeaderDoc { format, version, session: self.document(session)? };
        writeln!(out, "{}", line(&header)).map_err(failed)?;
        let mut next = 1;
        while next <= session.head.events {
            let page = self.vault.session_events(&session.record.id, next, LONGEST_PAGE)?;
            let Some(last) = page.last().map(|event| event.number) else { break };
            for event in page.iter().filter(|event| event.number <= session.head.events) {
                writeln!(out, "{}", line(&session_event(event))).map_err(failed)?;
            }
            next = last + 1;
        }
        Ok(session.head.events)
    }

    /// Deletes a session. Undo brings it back.
    pub fn delete(&self, session: &SessionRecord) -> Result<Option<Id>> {
        Ok(self.vault.delete_session(&session.id, &self.actor)?)
    }
}

/// A document in a line.
fn line(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("documents are plain values with text keys")
}

/// The first free one of `NAME-2`, `NAME-3` and so on, for a fork of `NAME`: every name in the vault says which session is meant.
fn name_like(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = name.rsplit_once('-').filter(|(base, number)| {
        !base.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let base = numbered.map_or(name, |(base, _)| base);
    let mut end = base.len().min(LONGEST_BASE);
    while !base.is_char_boundary(end) {
        end -= 1;
    }
    let names = (2u64..).map(|number| format!("{}-{number}", &base[..end]));
    names.into_iter().find(|name| !is_taken(name)).unwrap_or_else(|| name.to_owned())
}

fn taken(error: VaultError, name: &str) -> ServiceError {
    match error {
        VaultError::Store(StoreError::NameTaken { .. }) => {
            ServiceError::NameTaken { what: WHAT, name: name.to_owned() }
        }
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_are_numbered() {
        assert_eq!(name_like("parser", |_| false), "parser-2");
        assert_eq!(name_like("parser", |name| name == "parser-2"), "parser-3");
        assert_eq!(name_like("parser-2", |name| name == "parser-2"), "parser-3");
        assert_eq!(name_like("brave-otter", |_| false), "brave-otter-2");
        assert_eq!(name_like("-7", |_| false), "-7-2");
        let long = name_like(&"ä".repeat(50), |_| false);
        assert_eq!(long, format!("{}-2", "ä".repeat(40)));
    }
}
