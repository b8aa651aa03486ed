//! The answer to what may not run.

use std::time::{Duration, Instant};

use offshoot_policy::{Judged, Remedy, RuleInfo, Verdict};
use offshoot_protocol::{
    EffectCategory, ErrorBody, ExecState, ExitCode, Hint, PolicyDecision, PolicyLayer,
};

use super::envelope::ExecutionResult;
use super::executor::ExecutionObserver;
use super::request::ExecutionRequest;
use super::runtime::ProxyRuntime;
use super::summary::shortened;
use crate::error::Result;

impl ProxyRuntime<'_> {
    /// Answers what may not run, and records that it was asked for. Nothing is forked or mounted for it. What waits to run in a workspace
    /// that is not there yet is asked on what that would be made from, which is brought up to date as for a command that runs.
    pub(super) fn refuse(
        &self,
        request: &ExecutionRequest,
        result: &mut ExecutionResult,
        verdict: Verdict,
        observer: &mut dyn ExecutionObserver,
        started: Instant,
    ) {
        result.error = Some(refusal(&verdict));
        let cannot_wait = self.cannot_wait(request).filter(|_| result.approval.is_some());
        if let Some(why) = cannot_wait {
            result.approval = None;
            result.error = Some(unkept(&verdict, why));
        }
        if result.approval.is_some()
            && self.standing(request).is_none()
            && let Err(error) = observer.allowed()
        {
            (result.approval, result.decision) = (None, Some(verdict));
            return self.fail(request, result, error, started);
        }
        // What may run never gets here, and would not run either. Nobody is asked about what could not run anyway.
        result.state = match result.approval {
            Some(_) => verdict.decision.refusal().unwrap_or(ExecState::Denied),
            None => ExecState::Denied,
        };
        result.decision = Some(verdict);
        result.total = started.elapsed();
        if let Err(error) = self.record_refusal(request, result) {
            // It is refused all the same.
            (result.approval, result.state) = (None, ExecState::Denied);
            result.warnings.push(format!("this exec could not be recorded: {error}"));
        }
        self.tell_pending(result);
    }

    /// Says how a person decides about what is pending.
    pub(super) fn tell_pending(&self, result: &mut ExecutionResult) {
        let pending = result.decision.as_ref().filter(|_| result.pending_approval().is_some());
        if let Some(verdict) = pending {
            result.error = Some(pending_error(verdict, result));
        }
    }

    fn record_refusal(
        &self,
        request: &ExecutionRequest,
        result: &mut ExecutionResult,
    ) -> Result<()> {
        let state = result.state;
        // Whoever asks gets the same answer, whether or not there is such a workspace.
        let standing = self.standing(request);
        let workspace = standing.map(|(workspace, _)| workspace);
        let base = self.starting_point(request);
        self.vault.transact("exec", &request.actor, |tx| {
            let command = shortened(&request.command.display());
            tx.summary(format!("exec {command}: {}", state.as_str()));
            tx.record_always();
            if let Some(workspace) = workspace {
                tx.scope(workspace);
            }
            self.park(tx, request, result, (workspace, base, None))?;
            self.tell_pending(result);
            self.record(tx, request, result, state, workspace)
        })?;
        Ok(())
    }
}

/// What a verdict that lets nothing run says to whoever asked.
pub fn refusal(verdict: &Verdict) -> ErrorBody {
    let what = match verdict.decision {
        PolicyDecision::Deny => "policy denies this command",
        // Nobody can approve of it.
        PolicyDecision::RequireApproval if futility(verdict).is_some() => {
            "this command is not allowed here"
        }
        PolicyDecision::RequireApproval => "this command needs a person's approval",
        PolicyDecision::Allow | PolicyDecision::AllowWithCheckpoint => "policy allows this command",
    };
    let code = match is_futile(verdict) {
        true => ExitCode::Denied,
        false => verdict.decision.exit_code(),
    };
    let mut refusal = ErrorBody::new(code, format!("{what}: {}", verdict.reason));
    refusal.hint = suggestion(verdict).map(|remedy| remedy.advice);
    refusal
}

/// What is said to whoever asked for something that a person decides about.
fn pending_error(verdict: &Verdict, result: &ExecutionResult) -> ErrorBody {
    let error = refusal(verdict);
    let Some(approval) = result.pending_approval() else { return error };
    let id = approval.id.short();
    let hint = Hint::command("offshoot approvals show")
        .arg(&id)
        .text(" shows it, ")
        .then("offshoot approvals approve")
        .arg(&id)
        .text(if approval.trial.is_some() { " makes it real" } else { " runs it" });
    error.with_hint(Some(&hint))
}

/// What is said to whoever waited for the decision in vain; what was said before where nothing is pending.
pub(super) fn still_pending(result: &ExecutionResult, waited: Duration) -> Option<ErrorBody> {
    let pending = result.decision.as_ref().zip(result.pending_approval());
    let Some((verdict, approval)) = pending else { return result.error.clone() };
    let (id, asks) = (approval.id.short(), refusal(verdict).message);
    let message = format!("nobody decided within {waited:?}: {asks}");
    let hint = Hint::from("it still waits: ")
        .then("offshoot approvals wait")
        .arg(&id)
        .text(" goes on waiting, ")
        .then("offshoot approvals approve")
        .arg(&id)
        .text(if approval.trial.is_some() { " makes it real" } else { " runs it" });
    Some(ErrorBody::new(ExitCode::PendingApproval, message).with_hint(Some(&hint)))
}

/// What would have let a command run, without the rule where that is of no use: no rule makes what is outside of a workspace writable.
pub fn suggestion(verdict: &Verdict) -> Option<Remedy> {
    if let Some(futile) = futility(verdict) {
        return Some(Remedy::none(futile.advice()));
    }
    verdict.remedy()
}

/// Whether running a command would be of no use, whatever a person says.
pub(crate) fn is_futile(verdict: &Verdict) -> bool {
    futility(verdict).is_some()
}

/// What is said where a command would wait, and cannot.
fn unkept(verdict: &Verdict, why: &str) -> ErrorBody {
    let message = format!("this command needs a person's approval ({}), and {why}", verdict.reason);
    let hint = Hint::from("run it with --wait-approval, which waits for the decision");
    ErrorBody::new(ExitCode::Denied, message).with_hint(Some(&hint))
}

/// Why all that keeps a command from running is of no use, whatever rules say.
fn futility(verdict: &Verdict) -> Option<Futile> {
    let stopped = verdict.parts.iter().filter(|part| !part.decision.runs());
    let futile: Option<Vec<Futile>> = stopped
        .map(|part| Futile::of(&part.judged).filter(|why| why.holds(&part.rule, verdict)))
        .collect();
    futile.and_then(|all| all.into_iter().max())
}

/// Why a command is of no use, whatever rules say; the worse comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Futile {
    /// Confinement throws away what it does, or keeps it from doing it.
    NotKept,
    /// Confinement makes it fail.
    Fails,
}

impl Futile {
    fn of(judged: &Judged) -> Option<Self> {
        match judged.wrapped.contains(EffectCategory::HostEscapeRisk) {
            true => Some(Self::Fails),
            false => judged.only_writes_outside().then_some(Self::NotKept),
        }
    }

    /// Whether a person who asked to be asked would decide about nothing. What is built in stops only what is of no use; a default of
    /// somebody's stops what is useful as well, and what gains rights is not, in a workspace.
    fn holds(self, rule: &RuleInfo, verdict: &Verdict) -> bool {
        let default = rule.is_default && verdict.is_confined();
        rule.layer == PolicyLayer::BuiltIn || (default && self == Self::Fails)
    }

    fn advice(self) -> &'static str {
        match self {
            Self::NotKept => {
                "a rule does not help: nothing of it would be kept, only files in the project are kept; run it yourself, outside of Offshoot"
            }
            Self::Fails => {
                "a rule does not help: a command gains no rights, and writes only to its workspace, to /tmp and to a throw-away home; run it yourself, outside of Offshoot"
            }
        }
    }
}
