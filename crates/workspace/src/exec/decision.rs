//! Deciding about a request before anything is touched, and the answer to what may not run.

use std::path::Path;
use std::time::Instant;

use offshoot_policy::{Decision, Verdict};
use offshoot_protocol::{ErrorBody, ExitCode};
use offshoot_vault::Binding;

use super::request::ExecutionPlace;
use super::runtime::{Execution, ProxyRuntime};
use super::state::ProxyExecutionState as State;
use crate::error::Result;
use crate::policy::{Places, context_of, judge};

/// What tells git to write nothing that it was not asked for.
const QUIET_GIT: (&str, &str) = ("GIT_OPTIONAL_LOCKS", "0");

impl ProxyRuntime<'_> {
    /// What policy says.
    pub(super) fn decide(&self, execution: &Execution<'_>, bindings: &[Binding]) -> Verdict {
        let (request, result) = (&*execution.request, &execution.result);
        let further = bindings.iter().filter(|binding| !binding.is_first());
        let places = Places {
            workspace: result.mountpoint.as_deref().unwrap_or(Path::new("")),
            folders: further.map(Binding::host_path).collect(),
            cwd: result.cwd.as_deref().unwrap_or(Path::new("")),
            home: self.options.home.as_ref(),
        };
        judge(&self.options.policy, &request.command, &context_of(request, &places))
    }

    /// Keeps programs that only look from tidying up on the way: git would write its index anew, and run a hook of the project then.
    pub(super) fn quieten(&self, execution: &mut Execution<'_>) {
        let read_only = |verdict: &Verdict| verdict.categories.is_read_only();
        let environment = &mut execution.request.environment;
        if execution.result.decision.as_ref().is_some_and(read_only)
            && !environment.iter().any(|(name, _)| name == QUIET_GIT.0)
        {
            environment.push((QUIET_GIT.0.into(), QUIET_GIT.1.into()));
        }
    }

    /// Answers what may not run, and records that it was asked for. Nothing was found, forked or mounted for it.
    pub(super) fn refuse(&self, execution: &mut Execution<'_>, started: Instant) -> Result<()> {
        let result = &mut execution.result;
        let Some(verdict) = &result.decision else { return Ok(()) };
        result.state = match verdict.decision {
            Decision::Deny => State::Denied,
            _ => State::PendingApproval,
        };
        result.error = Some(refusal(verdict));
        if let ExecutionPlace::Workspace(workspace) = &execution.request.place {
            result.workspace = Some((workspace.id, workspace.name.clone()));
        }
        result.total = started.elapsed();
        self.record_refusal(execution.request, result)
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
        hint: verdict.remedy().map(|remedy| remedy.advice),
        candidates: Vec::new(),
    }
}
