//! Deciding about a request before anything is looked up or touched, and the answer to what may not run.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use offshoot_mount::target_for;
use offshoot_policy::{Category, Decision, Engine, Judged, Layer, Remedy, Verdict};
use offshoot_protocol::{ErrorBody, ExitCode};
use offshoot_vault::{Id, Refusal};

use super::envelope::{ExecutionEnvelope, ExecutionResult};
use super::request::{CommandLine, ExecutionRequest};
use super::seal::{details, shortened};
use super::state::ProxyExecutionState as State;
use crate::error::{Result, ServiceError};
use crate::policy::{Places, context_of, judge};
use crate::wire;

/// What tells git to write nothing that it was not asked for.
const QUIET_GIT: (&str, &str) = ("GIT_OPTIONAL_LOCKS", "0");
/// The same for `git diff`, which does not heed that.
const QUIET_DIFF: (&str, &str) = ("diff.autoRefreshIndex", "false");

/// The door of a vault: what has to be known of it to decide about a request. Nobody needs to have it open.
#[derive(Clone, Copy, Debug)]
pub struct Door<'a> {
    /// Its directory.
    pub dir: &'a Path,
    /// Its name.
    pub name: &'a str,
    /// The folders that it is bound to, that of the top of the tree first.
    pub folders: &'a [PathBuf],
    /// The user's home.
    pub home: Option<&'a Path>,
    /// What decides.
    pub policy: &'a Engine,
}

/// What became of a request at the door.
#[derive(Debug)]
pub enum Answered {
    /// It may not run; that is recorded.
    Refused {
        /// What to answer.
        envelope: Box<ExecutionEnvelope>,
        /// So many records wait for the vault to be opened that somebody should
        /// ([`take_in_refusals`](offshoot_vault::Vault::take_in_refusals)).
        many_wait: bool,
    },
    /// It may run, or there is something else wrong with it than what it does.
    Let(Box<ExecutionRequest>),
}

impl Door<'_> {
    /// Refuses a request that may not run, and puts down in others that they may.
    pub fn ask(&self, mut request: ExecutionRequest) -> Answered {
        let started = Instant::now();
        let mut result = ExecutionResult::new(Id::random(), self.name);
        let valid = validate(&request, &mut result, self.folders).is_ok();
        if !valid || self.lets_pass(&mut request, &mut result) {
            request.verdict = result.decision;
            return Answered::Let(Box::new(request));
        }
        let many_wait = self.refuse(&request, &mut result, started);
        let envelope = Box::new(ExecutionEnvelope { request, result });
        Answered::Refused { envelope, many_wait }
    }

    /// Decides whether a request may run, unless that was decided already, and puts down the verdict.
    pub(super) fn lets_pass(
        &self,
        request: &mut ExecutionRequest,
        result: &mut ExecutionResult,
    ) -> bool {
        let verdict = request.verdict.take().unwrap_or_else(|| self.decide(request, result));
        result.decision.insert(verdict).decision.runs()
    }

    fn decide(&self, request: &ExecutionRequest, result: &ExecutionResult) -> Verdict {
        let places = Places {
            workspace: result.mountpoint.as_deref().unwrap_or(Path::new("")),
            folders: self.folders.get(1..).unwrap_or_default(),
            cwd: result.cwd.as_deref().unwrap_or(Path::new("")),
            home: self.home,
        };
        judge(self.policy, &request.command, &context_of(request, &places))
    }

    /// Answers what may not run, and records that it was asked for. Nothing is found, forked or mounted for it. Returns whether
    /// many records wait.
    pub(super) fn refuse(
        &self,
        request: &ExecutionRequest,
        result: &mut ExecutionResult,
        started: Instant,
    ) -> bool {
        let Some(verdict) = &result.decision else { return false };
        result.state = match verdict.decision {
            Decision::Deny => State::Denied,
            _ => State::PendingApproval,
        };
        result.error = Some(refusal(verdict));
        result.total = started.elapsed();
        record_of(request, result).record(self.dir).unwrap_or_else(|error| {
            // It is refused all the same.
            result.warnings.push(format!("this exec could not be recorded: {error}"));
            false
        })
    }
}

fn record_of(request: &ExecutionRequest, result: &ExecutionResult) -> Refusal {
    let state = result.state;
    let command = request.command.display();
    Refusal {
        exec: result.id,
        workspace: request.place.workspace().map(str::to_owned),
        started_ms: result.started_ms,
        ended_ms: result.started_ms + result.total.as_millis() as u64,
        state: state.word().to_owned(),
        summary: format!("exec {}: {}", shortened(&command), state.word()),
        command,
        actor: request.actor.clone(),
        details: details(request, result),
        envelope: wire::stored_envelope(request, result, state),
    }
}

/// Looks at the request; returns where the workspace will be seen.
pub(super) fn validate(
    request: &ExecutionRequest,
    result: &mut ExecutionResult,
    folders: &[PathBuf],
) -> Result<PathBuf> {
    match &request.command {
        CommandLine::Argv(arguments) if arguments.first().is_none_or(|a| a.is_empty()) => {
            return Err(ServiceError::Request("there is no command to run".to_owned()));
        }
        _ => {}
    }
    let bound = folders.first();
    let target = target_for(bound.map(PathBuf::as_path));
    if let Some(bound) = bound.filter(|bound| **bound != target) {
        let (bound, target) = (bound.display(), target.display());
        let warning = format!("{bound} is no folder any more; the workspace is at {target}");
        result.warnings.push(warning);
    }
    result.cwd = Some(working_directory(&target, request.cwd.as_deref())?);
    result.mountpoint = Some(target.clone());
    Ok(target)
}

/// Keeps programs that only look from tidying up on the way: git would write its index anew, and run a hook of the project then.
pub(super) fn quieten(request: &mut ExecutionRequest, result: &ExecutionResult) {
    let read_only = |verdict: &Verdict| verdict.categories.is_read_only();
    let environment = &mut request.environment;
    if result.decision.as_ref().is_some_and(read_only)
        && !environment.iter().any(|(name, _)| name == QUIET_GIT.0)
    {
        environment.push((QUIET_GIT.0.into(), QUIET_GIT.1.into()));
        configure_git(environment, QUIET_DIFF);
    }
}

/// Adds a setting to those that git takes from its environment.
fn configure_git(environment: &mut Vec<(OsString, OsString)>, (key, value): (&str, &str)) {
    let count = environment.iter_mut().find(|(name, _)| name == "GIT_CONFIG_COUNT");
    let Some((_, count)) = count else { return };
    let Some(next) = count.to_str().and_then(|count| count.parse::<u32>().ok()) else { return };
    *count = (next + 1).to_string().into();
    environment.push((format!("GIT_CONFIG_KEY_{next}").into(), key.into()));
    environment.push((format!("GIT_CONFIG_VALUE_{next}").into(), value.into()));
}

/// What a verdict that lets nothing run says to whoever asked.
pub fn refusal(verdict: &Verdict) -> ErrorBody {
    let code = match verdict.decision {
        Decision::Deny => ExitCode::Denied,
        _ => ExitCode::PendingApproval,
    };
    let what = match verdict.decision {
        Decision::Deny => "policy denies this command",
        // Nobody can approve of it.
        _ if futility(verdict).is_some() => "this command is not allowed here",
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
    if let Some(futile) = futility(verdict) {
        return Some(Remedy { rule: None, advice: futile.advice().to_owned() });
    }
    verdict.remedy()
}

/// Why all that keeps a command from running is of no use, whatever rules say.
fn futility(verdict: &Verdict) -> Option<Futile> {
    let stopped = verdict.parts.iter().filter(|part| !part.decision.runs());
    let futile: Option<Vec<Futile>> = stopped
        .map(|part| Futile::of(&part.judged).filter(|_| part.rule.layer == Layer::BuiltIn))
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
        match judged.wrapped.contains(Category::HostEscapeRisk) {
            true => Some(Self::Fails),
            false => judged.only_writes_outside().then_some(Self::NotKept),
        }
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

/// Where a command starts; never outside of the workspace by accident.
fn working_directory(target: &Path, asked: Option<&Path>) -> Result<PathBuf> {
    let Some(asked) = asked else { return Ok(target.to_owned()) };
    if asked.is_absolute() {
        return Ok(asked.to_owned());
    }
    let mut path = target.to_owned();
    for part in asked.components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            _ => {
                let asked = asked.display();
                return Err(ServiceError::Request(format!(
                    "the working directory {asked} leads out of the workspace"
                )));
            }
        }
    }
    Ok(path)
}
