//! Reading the audit log: what happened, found by who, when and what.

use std::collections::HashMap;

use offshoot_protocol::ExecState;
use offshoot_store::Id;
use offshoot_vault::{Actor, AuditEvent, AuditHead, Vault, Waiter};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::{Result, ServiceError};
use crate::exec::state::state_of;

/// Which events are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Those of one workspace.
    pub workspace: Option<Id>,
    /// Those of a time or later.
    pub since_ms: Option<u64>,
    /// Those of before a time.
    pub until_ms: Option<u64>,
    /// Those of a kind, such as `exec`.
    pub kind: Option<String>,
    /// Those by a user.
    pub user: Option<String>,
    /// Those by an agent.
    pub agent: Option<String>,
    /// Those of a session.
    pub session: Option<String>,
    /// Those that changed a file, or anything in a directory.
    pub path: Option<String>,
    /// Those about a command, by the start of its id.
    pub exec: Option<String>,
}

/// An event, read.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// The event as it is recorded.
    pub event: AuditEvent,
    /// Who, as the caller says.
    pub actor: Actor,
    /// The account of the process that recorded it; none in events of older versions.
    pub uid: Option<u32>,
    /// What happened.
    pub kind: String,
    /// The workspace that it belongs to.
    pub workspace: Option<Id>,
    /// One line for people.
    pub summary: String,
    /// Everything else.
    pub details: Map<String, Value>,
    /// It is the start of a command that is over, and nothing says how it ended: whoever ran it was killed.
    pub cut_short: bool,
}

/// What is read of an event's text.
#[derive(Deserialize)]
struct Told {
    actor: Actor,
    #[serde(default)]
    uid: Option<u32>,
    kind: String,
    workspace: Option<Id>,
    summary: String,
    #[serde(default)]
    details: Map<String, Value>,
}

impl AuditEntry {
    fn read(event: AuditEvent) -> Result<Self> {
        let told: Told = serde_json::from_str(&event.text).map_err(|error| {
            ServiceError::Internal(format!("audit event {} cannot be read: {error}", event.seq))
        })?;
        let Told { actor, uid, kind, workspace, summary, details } = told;
        let cut_short = false;
        Ok(Self { event, actor, uid, kind, workspace, summary, details, cut_short })
    }

    /// A detail that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.details.get(name).and_then(Value::as_str)
    }

    /// The command that it is about, by its id.
    pub fn exec(&self) -> Option<&str> {
        self.text("exec")
    }

    /// Whether something holds.
    pub fn holds(&self, name: &str) -> bool {
        self.details.get(name).and_then(Value::as_bool) == Some(true)
    }

    /// The approvals that a person went past, by using what was tried before anybody approved of it.
    pub fn unapproved(&self) -> impl Iterator<Item = &str> {
        let past = self.details.get("unapproved").and_then(Value::as_array);
        past.into_iter().flatten().filter_map(Value::as_str)
    }

    /// The files that it changed: path, what happened, and where it was before. Of what is no UTF-8 the rest is shown.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str, Option<&str>)> {
        self.listed("files")
    }

    /// The files that a trial would change.
    pub fn tried_files(&self) -> impl Iterator<Item = (&str, &str, Option<&str>)> {
        self.listed("tried_files")
    }

    fn listed(&self, name: &str) -> impl Iterator<Item = (&str, &str, Option<&str>)> {
        let files = self.details.get(name).and_then(|files| files.get("changed"));
        files.and_then(Value::as_array).into_iter().flatten().filter_map(|file| {
            let text = |name: &str| {
                let found = file.get(name)?;
                found.as_str().or_else(|| found.get("lossy").and_then(Value::as_str))
            };
            Some((text("path")?, text("kind")?, text("from")))
        })
    }
}

impl AuditFilter {
    /// Whether an event is meant.
    pub fn fits(&self, entry: &AuditEntry) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        let time_ms = entry.event.time_ms;
        self.workspace.is_none_or(|wanted| entry.workspace == Some(wanted))
            && self.since_ms.is_none_or(|since| time_ms >= since)
            && self.until_ms.is_none_or(|until| time_ms < until)
            && is(&self.kind, Some(&entry.kind))
            && is(&self.user, Some(&entry.actor.user))
            && is(&self.agent, entry.actor.agent.as_deref())
            && is(&self.session, entry.actor.session.as_deref())
            && self
                .exec
                .as_deref()
                .is_none_or(|wanted| entry.exec().is_some_and(|exec| exec.starts_with(wanted)))
            && self.path.as_deref().is_none_or(|wanted| {
                let below = |path: &str| is_below(path, wanted);
                entry.files().any(|(path, _, from)| below(path) || from.is_some_and(below))
            })
    }
}

/// Whether a path is another one or lies in it.
fn is_below(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Reads the audit log of a vault.
#[derive(Clone, Copy, Debug)]
pub struct AuditService<'a> {
    vault: &'a Vault,
}

impl<'a> AuditService<'a> {
    /// Works on a vault.
    pub fn new(vault: &'a Vault) -> Self {
        Self { vault }
    }

    /// The newest events that are meant, at most `limit`, oldest first; and whether there are more before them.
    pub fn list(&self, filter: &AuditFilter, limit: usize) -> Result<(Vec<AuditEntry>, bool)> {
        let (mut found, mut before) = (Vec::new(), u64::MAX);
        'pages: loop {
            let page = self.vault.audit_events_before(before)?;
            let Some(last) = page.last() else { break };
            before = last.seq;
            for event in page {
                let entry = AuditEntry::read(event)?;
                if filter.fits(&entry) {
                    found.push(entry);
                    // One more than is wanted says that there are more.
                    if found.len() > limit {
                        break 'pages;
                    }
                }
            }
        }
        let more = found.len() > limit;
        found.truncate(limit);
        found.reverse();
        Ok((found, more))
    }

    /// The events after a number that are meant, oldest first, and the number of the last one that was looked at.
    pub fn after(&self, seq: u64, filter: &AuditFilter) -> Result<(Vec<AuditEntry>, u64)> {
        let (mut found, mut seen) = (Vec::new(), seq);
        for event in self.vault.audit_events(seq)? {
            seen = event.seq;
            let entry = AuditEntry::read(event)?;
            if filter.fits(&entry) {
                found.push(entry);
            }
        }
        Ok((found, seen))
    }

    /// How far the log goes, made durable first: what somebody keeps elsewhere has to stay true after a power cut.
    pub fn durable_head(&self) -> Result<(AuditHead, Option<offshoot_vault::SignedHead>)> {
        if !self.vault.is_read_only() && self.vault.require_own().is_ok() {
            self.vault.make_durable()?;
        }
        Ok(self.vault.audit_head()?)
    }

    /// The number of the last event that was removed, and when that was; none where all are there.
    pub fn pruned(&self) -> Result<Option<(u64, Option<u64>)>> {
        let Some(pruned) = self.vault.audit_pruned()? else { return Ok(None) };
        let filter = AuditFilter { kind: Some(PRUNE.to_owned()), ..AuditFilter::default() };
        let (found, _) = self.list(&filter, 1)?;
        Ok(Some((pruned.seq, found.first().map(|entry| entry.event.time_ms))))
    }

    /// Marks the starts of commands that are over.
    fn mark_cut_short(&self, entries: &mut [AuditEntry]) -> Result<()> {
        for entry in entries.iter_mut().filter(|entry| entry.kind == STARTED) {
            let id = entry.exec().and_then(|exec| exec.parse::<Id>().ok());
            // Older programs did not say which process it is: theirs are over.
            let process = entry.details.get(PROCESS).cloned();
            let process = process.and_then(|value| serde_json::from_value::<Waiter>(value).ok());
            let runs = process.is_some_and(|process| process.is_there());
            // One that ended at this moment has a record that says how.
            let record = id.map(|id| self.vault.exec(&id)).transpose()?.flatten();
            let state = record.as_ref().map(state_of);
            let ended =
                !matches!(state, None | Some(ExecState::Crashed | ExecState::PendingApproval));
            entry.cut_short = !runs && !ended;
        }
        Ok(())
    }

    /// What happened in a workspace, or in the whole vault, oldest first: starts of commands only where nothing says how they ended.
    pub fn story(&self, workspace: Option<Id>, limit: usize) -> Result<(Vec<AuditEntry>, bool)> {
        let filter = AuditFilter { workspace, ..AuditFilter::default() };
        let (mut entries, more) = self.list(&filter, limit.saturating_mul(2))?;
        // What waited for an approval has an event of before it started, too.
        let ends = entries.iter().filter(|entry| entry.kind != STARTED);
        let ended: HashMap<String, u64> = ends
            .filter(|entry| entry.kind.starts_with("exec"))
            .filter_map(|entry| Some((entry.exec()?.to_owned(), entry.event.seq)))
            .collect();
        let has_ended = |entry: &AuditEntry| {
            entry.exec().and_then(|exec| ended.get(exec)).is_some_and(|end| *end > entry.event.seq)
        };
        entries.retain(|entry| entry.kind != STARTED || !has_ended(entry));
        let dropped = entries.len().saturating_sub(limit);
        entries.drain(..dropped);
        if entries.iter().any(|entry| entry.kind == STARTED) {
            self.mark_cut_short(&mut entries)?;
        }
        Ok((entries, more || dropped > 0))
    }
}

/// What events can be about. A test has every one of them recorded that a command leaves.
pub const AUDIT_KINDS: &[&str] = &[
    "exec_started",
    "exec",
    "exec_ended",
    "exec_failed",
    "credential_written",
    "approve",
    "deny",
    "expire",
    "kill",
    "permission",
    "governance",
    "recover keep",
    "recover drop",
    "policy_changed",
    "settings_changed",
    "config set",
    "config unset",
    "mcp trust",
    "mcp forget",
    "mcp call",
    "mcp result",
    "vault create",
    "vault import",
    "vault rename",
    "vault repair",
    "vault pack",
    "gc",
    "import",
    "workspace create",
    "workspace rename",
    "workspace delete",
    "workspace expire",
    "discard",
    "checkpoint create",
    "checkpoint restore",
    "checkpoint delete",
    "session create",
    "session fork",
    "session rename",
    "session delete",
    "session state",
    "session export",
    "fs write",
    "fs mkdir",
    "fs rm",
    "fs mv",
    "fs cp",
    "fs revert",
    "fs import",
    "review",
    "resolve",
    "merge",
    "pull",
    "commit",
    "git commit",
    "git follow",
    "export",
    "undo",
    "redo",
    "op restore",
    "binding add",
    "binding move",
    "binding remove",
    "cache clear",
    "audit rotate",
    "audit prune",
];

/// The detail of such an event that says which process runs the command.
pub(crate) const PROCESS: &str = "process";
/// The kind of the event before a command starts.
pub(crate) const STARTED: &str = "exec_started";
/// The kind of the event about a login that was written to the user's home.
pub(crate) const CREDENTIAL_WRITTEN: &str = "credential_written";
/// The kind of the event that says that others were removed.
const PRUNE: &str = "audit prune";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_itself_and_what_is_in_it() {
        assert!(is_below("/src/a", "/src") && is_below("/src", "/src/") && is_below("/a", "/"));
        assert!(!is_below("/srcs", "/src") && !is_below("/", "/src"));
    }
}
