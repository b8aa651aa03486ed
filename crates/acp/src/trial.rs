//! A command that policy leaves to a person, tried in a copy of the agent's workspace.

use std::sync::Arc;
use std::time::Duration;

use offshoot_engine::approval::{Approval, ApprovalScope, ApprovalState};
use offshoot_engine::exec::{CommandLine, Network};
use offshoot_engine::id::Id;
use offshoot_engine::live::LiveChange;
use offshoot_engine::text::{line, plain, tail};
use offshoot_engine::{Offshoot, Options, Project, Result, Workspace};
use offshoot_protocol::{ExecEnvelopeDoc, ExecState};

use crate::changes::LONGEST;
use crate::link::Link;
use crate::name;
use crate::place::{confined, numbered};
use crate::settings::AcpSettings;

/// How long a command is tried: somebody waits for the question.
const LONGEST_TRIAL: Duration = Duration::from_secs(60);
/// So much of what it printed is shown.
const MOST_OUTPUT: usize = 4 << 10;

/// What came of trying a command.
pub(crate) enum Attempt {
    /// It was tried, and waits for a person.
    Waits(Box<Trial>),
    /// Nobody is asked about it, with the reason.
    Refused(String),
    /// It could not be tried, with the reason.
    Untried(String),
}

/// A command that was tried, and the approval that waits for a person; none where a rule let the trial run, which has less than the agent.
pub(crate) struct Trial {
    pub(crate) project: Project,
    pub(crate) approval: Option<Approval>,
    pub(crate) changes: Vec<LiveChange>,
    envelope: Arc<ExecEnvelopeDoc>,
    /// Only goes away.
    _copy: Copy,
}

/// How a person decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Approved(ApprovalScope),
    Denied(Option<String>),
    /// Nobody decides any more.
    Gone,
}

/// The copy of a workspace, as long as somebody may decide about what was tried in it.
struct Copy(Option<Workspace>);

impl Drop for Copy {
    fn drop(&mut self) {
        // What cannot be removed now is listed as any workspace is.
        let _stays = self.0.take().map(Workspace::delete).is_some_and(|deleted| deleted.is_err());
    }
}

impl Trial {
    /// Tries a command of the agent, without the network, on what the agent has written so far.
    pub(crate) fn attempt(
        settings: &AcpSettings,
        link: &Link,
        session: &str,
        command: &CommandLine,
    ) -> Result<Attempt> {
        let own = link.workspace.project();
        let actor = own.engine().actor().through(&name::agent(settings), session);
        let options = Options { actor: Some(actor), ..own.engine().options().clone() };
        let project = Offshoot::open(options)?.vault(own.name())?;
        let name = format!("{}-trial", link.name);
        let copy = numbered(&name, |name| project.live_fork(&link.exec.id(), name))?;
        let copy = Copy(Some(copy));
        let network = Some((Network::None, Vec::new()));
        let tried = confined(settings, network, command.clone(), link.below.as_deref())
            .timeout(LONGEST_TRIAL);
        let Some(workspace) = &copy.0 else { return Ok(Attempt::Untried(String::new())) };
        let exec = workspace.exec(tried)?;
        let envelope = exec.wait();
        let result = &envelope.result;
        let error = result.error.as_ref().map(|error| error.message.clone());
        if result.state == ExecState::Completed {
            let id = |text: &Option<String>| text.as_deref().and_then(|id| id.parse::<Id>().ok());
            let changes = match (id(&result.snapshot_before), id(&result.snapshot_after)) {
                (Some(before), Some(after)) => project.changes_between(&before, &after, LONGEST)?,
                _ => Vec::new(),
            };
            let trial = Self { project, approval: None, changes, envelope, _copy: copy };
            return Ok(Attempt::Waits(Box::new(trial)));
        }
        if result.state != ExecState::PendingApproval {
            return Ok(match result.state {
                ExecState::Denied => Attempt::Refused(error.unwrap_or_default()),
                state => Attempt::Untried(error.unwrap_or_else(|| state.to_string())),
            });
        }
        let service = project.engine().approvals(project.vault());
        let approval = service.find(&exec.id().to_string())?;
        if let Some(why) = &approval.untried {
            return Ok(Attempt::Untried(why.clone()));
        }
        let changes = project.tried_changes(&approval, LONGEST)?;
        let approval = Some(approval);
        Ok(Attempt::Waits(Box::new(Self { project, approval, changes, envelope, _copy: copy })))
    }

    /// What a person has to know beside the diffs.
    pub(crate) fn told(&self) -> String {
        let result = &self.envelope.result;
        let ended = match (result.timed_out, result.exit_code, result.signal) {
            (true, ..) => format!("it was ended after {} s", LONGEST_TRIAL.as_secs()),
            (_, Some(code), _) => format!("exit code {code}"),
            (_, _, Some(signal)) => format!("signal {signal}"),
            (..) => "it ended".to_owned(),
        };
        let changed = if self.changes.is_empty() { ", no file changes" } else { "" };
        let mut text = format!(
            "Tried in a copy of the workspace, without the network: {ended}{changed}. If you allow it, the agent runs it.\n"
        );
        for (name, stream) in [("stdout", &result.stdout), ("stderr", &result.stderr)] {
            let printed = plain(stream.as_str().as_bytes());
            let printed = printed.trim_end();
            if !printed.is_empty() {
                text.push_str(&format!("--- {name}\n{}\n", tail(printed, MOST_OUTPUT)));
            }
        }
        if let Some(approval) = &self.approval {
            let id = approval.id.short();
            text.push_str(&format!("Elsewhere: `offshoot approvals show {id}`"));
        }
        text
    }

    /// How somebody has decided by now, here or elsewhere.
    pub(crate) fn word(&self) -> Result<Option<Word>> {
        let Some(approval) = &self.approval else { return Ok(None) };
        let service = self.project.engine().approvals(self.project.vault());
        service.expire()?;
        let now = service.find(&approval.id.to_string())?;
        let decision = now.decision.as_ref();
        Ok(match now.state {
            ApprovalState::Pending | ApprovalState::Granted | ApprovalState::Running => None,
            ApprovalState::Approved => {
                Some(Word::Approved(decision.map_or(ApprovalScope::Once, |given| given.scope)))
            }
            ApprovalState::Denied => {
                Some(Word::Denied(decision.and_then(|given| given.reason.as_deref()).map(line)))
            }
            ApprovalState::Expired | ApprovalState::Gone => Some(Word::Gone),
        })
    }

    /// Decides as the person in the editor did.
    pub(crate) fn answer(&self, client: &str, approves: Option<ApprovalScope>) -> Result<()> {
        match &self.approval {
            Some(approval) => self.project.answer_elicited(&approval.id, client, approves, None),
            None => Ok(()),
        }
    }
}
