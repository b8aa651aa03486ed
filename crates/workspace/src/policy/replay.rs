//! What other rules would have said about commands that are recorded.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use offshoot_policy::{Context, Policy, Verdict};
use offshoot_protocol::{ExecEnvelopeDoc, PolicyDecision, Text};
use offshoot_store::Id;
use offshoot_vault::{Binding, ExecRecord, Vault};

use super::judge::judge;
use crate::error::Result;
use crate::exec::request::CommandLine;

/// How many execs are read at a time.
const PAGE: u32 = 500;

/// What other rules would have said.
#[derive(Debug, Default)]
pub struct Replay {
    /// How many recorded commands were looked at.
    pub execs: u64,
    /// How many would be decided as they were.
    pub same: u64,
    /// How many have no request that could be decided again.
    pub unreadable: u64,
    /// Those that would be decided differently, newest first.
    pub different: Vec<Replayed>,
}

/// A recorded command that would be decided differently.
#[derive(Debug)]
pub struct Replayed {
    /// What is recorded.
    pub record: ExecRecord,
    /// What was decided then, by its word.
    pub before: Option<PolicyDecision>,
    /// What would be decided now.
    pub after: Verdict,
}

/// Decides again about what is recorded.
#[derive(Clone, Debug)]
pub struct ReplayService<'a> {
    vault: &'a Vault,
    policy: &'a Policy,
    user_home: Option<&'a PathBuf>,
    /// Further folders of the vault as it is now.
    folders: Vec<PathBuf>,
}

impl<'a> ReplayService<'a> {
    /// Works on a vault; `user_home` is the user's home.
    pub fn new(
        vault: &'a Vault,
        policy: &'a Policy,
        user_home: Option<&'a PathBuf>,
    ) -> Result<Self> {
        let bindings = vault.bindings()?;
        let further = bindings.iter().filter(|binding| !binding.is_first());
        let folders = further.map(Binding::host_path).collect();
        Ok(Self { vault, policy, user_home, folders })
    }

    /// Decides again about all commands of a workspace, or of the vault.
    pub fn run(&self, workspace: Option<Id>) -> Result<Replay> {
        let mut replay = Replay::default();
        let mut before = None;
        loop {
            let page = self.vault.execs(workspace, before, PAGE)?;
            let Some(last) = page.last() else { return Ok(replay) };
            before = Some(last.id);
            for listed in page {
                // Listings come without the envelope, where the request is.
                let Some(record) = self.vault.exec(&listed.id)? else { continue };
                self.look(record, &mut replay);
            }
        }
    }

    /// Decides again about one command; none where its request is not recorded.
    pub fn again(&self, exec: &Id) -> Result<Option<Verdict>> {
        let envelope = self.vault.exec(exec)?.as_ref().and_then(envelope);
        Ok(envelope.map(|envelope| self.decide(&envelope)))
    }

    fn decide(&self, envelope: &ExecEnvelopeDoc) -> Verdict {
        judge(self.policy, &command(envelope), &self.context(envelope))
    }

    fn look(&self, record: ExecRecord, replay: &mut Replay) {
        replay.execs += 1;
        let Some(envelope) = envelope(&record) else {
            replay.unreadable += 1;
            return;
        };
        let after = self.decide(&envelope);
        let before = envelope.result.decision.map(|decision| decision.decision);
        if before == Some(after.decision) {
            replay.same += 1;
        } else {
            replay.different.push(Replayed { record, before, after });
        }
    }

    fn context(&self, envelope: &ExecEnvelopeDoc) -> Context {
        let (request, result) = (&envelope.request, &envelope.result);
        let workspace = result.mountpoint.as_ref().map(path).unwrap_or_default();
        Context {
            cwd: result.cwd.as_ref().map_or_else(|| workspace.clone(), path),
            workspace,
            folders: self.folders.clone(),
            home: self.user_home.cloned(),
            network: request.net,
            read_only: request.readonly,
            unconfined: result.unconfined,
            terminal: result.terminal,
            stdin: request.stdin,
            // Values are not recorded: they may be secrets.
            environment: request
                .env_set
                .iter()
                .map(|name| {
                    (
                        String::from_utf8_lossy(&name.to_bytes().unwrap_or_default()).into_owned(),
                        String::new(),
                    )
                })
                .collect(),
        }
    }
}

/// What was asked for, as it is recorded.
fn envelope(record: &ExecRecord) -> Option<ExecEnvelopeDoc> {
    serde_json::from_str(record.envelope.as_deref()?).ok()
}

fn command(envelope: &ExecEnvelopeDoc) -> CommandLine {
    let mut words = envelope.request.command.iter().map(os_string);
    match envelope.request.shell {
        true => CommandLine::Shell(words.next().unwrap_or_default()),
        false => CommandLine::Argv(words.collect()),
    }
}

fn os_string(text: &Text) -> OsString {
    OsString::from_vec(text.to_bytes().unwrap_or_default())
}

fn path(text: &Text) -> PathBuf {
    PathBuf::from(os_string(text))
}
