//! Deciding whether a command may run, and the answer to what may not.

use std::path::{Path, PathBuf};
use std::time::Instant;

use offshoot_policy::{Category, Decision, Judged, Layer, Remedy, Verdict};
use offshoot_protocol::{ErrorBody, ExitCode};

use super::envelope::ExecutionResult;
use super::request::ExecutionRequest;
use super::runtime::{Execution, ProxyRuntime};
use super::seal::shortened;
use super::state::ProxyExecutionState as State;
use crate::error::Result;
use crate::policy::{Places, context_of, judge};
use crate::resolve::Resolver;

impl ProxyRuntime<'_> {
    /// Decides whether a command may run, before anything is found or forked for it.
    pub(super) fn decide(&self, execution: &Execution<'_>, folders: &[PathBuf]) -> Verdict {
        let Execution { request, result } = execution;
        let places = Places {
            workspace: result.mountpoint.as_deref().unwrap_or(Path::new("")),
            folders: folders.get(1..).unwrap_or_default(),
            cwd: result.cwd.as_deref().unwrap_or(Path::new("")),
            home: self.options.home.as_deref(),
        };
        judge(&self.options.policy, &request.command, &context_of(request, &places))
    }

    /// Answers what may not run, and records that it was asked for. Nothing is forked or mounted for it.
    pub(super) fn refuse(
        &self,
        execution: &mut Execution<'_>,
        verdict: &Verdict,
        started: Instant,
    ) {
        let Execution { request, result } = execution;
        result.state = match verdict.decision {
            Decision::Deny => State::Denied,
            _ => State::PendingApproval,
        };
        result.error = Some(refusal(verdict));
        result.total = started.elapsed();
        if let Err(error) = self.record_refusal(request, result) {
            // It is refused all the same.
            result.warnings.push(format!("this exec could not be recorded: {error}"));
        }
    }

    fn record_refusal(&self, request: &ExecutionRequest, result: &ExecutionResult) -> Result<()> {
        let state = result.state;
        let named = request.place.workspace().map(|name| Resolver::new(self.vault).look_up(name));
        // Whoever asks gets the same answer, whether or not there is such a workspace.
        let workspace = named.and_then(|found| found.ok().flatten()).map(|found| found.id);
        self.vault.transact("exec", &request.actor, |tx| {
            let command = shortened(&request.command.display());
            tx.summary(format!("exec {command}: {}", state.word()));
            tx.record_always();
            if let Some(workspace) = workspace {
                tx.scope(workspace);
            }
            self.record(tx, request, result, state, workspace)
        })?;
        Ok(())
    }
}

/// What a verdict that lets nothing run says to whoever asked.
pub fn refusal(verdict: &Verdict) -> ErrorBody {
    let code = match verdict.decision {
        Decision::Deny => ExitCode::Denied,
        _ => ExitCode::PendingApproval,
    };
    let what = match verdict.decision {
        Decision::Deny => "policy denies this command",
        _ => "this command needs a person's approval",
    };
    ErrorBody {
        code: code.word().to_owned(),
        exit_code: code.number(),
        message: format!("{what}: {}", verdict.reason),
        hint: suggestion(verdict).map(|remedy| remedy.advice),
        candidates: Vec::new(),
    }
}

/// What would have let a command run, without the rule where that is of no use: no rule makes what is outside of a workspace writable.
pub fn suggestion(verdict: &Verdict) -> Option<Remedy> {
    let mut stopped = verdict.parts.iter().filter(|part| !part.decision.runs()).peekable();
    let all_futile = stopped.peek().is_some()
        && stopped.all(|part| part.rule.layer == Layer::BuiltIn && is_futile(&part.judged));
    if all_futile {
        let advice = "a rule would let it run, but it would fail all the same: a command gains no rights, and can only write to its workspace, to /tmp and to a throw-away home";
        return Some(Remedy { rule: None, advice: advice.to_owned() });
    }
    verdict.remedy()
}

/// Whether a command does what confinement makes fail, whatever rules say.
fn is_futile(judged: &Judged) -> bool {
    judged.wrapped.contains(Category::HostEscapeRisk) || judged.only_writes_outside()
}
