//! What the audit log says of a command: before it starts, and when it is over.

use std::collections::BTreeMap;

use offshoot_protocol::{ExecState, Network, PolicyDecision};
use offshoot_vault::{Actor, Transaction, VaultError, Waiter};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::envelope::ExecutionResult;
use super::options::RuntimeOptions;
use super::request::ExecutionRequest;
use super::runtime::{Execution, ProxyRuntime};
use super::summary::shortened;
use crate::audit::{PROCESS, STARTED};
use crate::error::Result;

/// One that joined a session is over; what it changed is that session's.
const ENDED: &str = "exec_ended";
/// A command that did not come so far that a workspace was found for it.
const FAILED: &str = "exec_failed";

/// What decides about commands, as the audit log remembers it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct InForce {
    /// The digest of the rules.
    rules: String,
    /// The digest of the profiles, and of what projects take away from them.
    profiles: String,
    /// Limits and other settings that walls are made of, by key.
    #[serde(default)]
    walls: BTreeMap<String, String>,
}

impl InForce {
    /// As it is now. What holds for one command alone is no other setting: that one is as it was known.
    fn of(options: &RuntimeOptions, known: Option<&Self>) -> Self {
        let profiles = format!("{:?}", options.profiles);
        let wall = |(key, value): &(&'static str, Option<String>)| {
            let was = || known.and_then(|known| known.walls.get(*key).cloned());
            Some(((*key).to_owned(), value.clone().or_else(was)?))
        };
        Self {
            rules: digest(options),
            profiles: blake3::hash(profiles.as_bytes()).to_string(),
            walls: options.lasting.iter().filter_map(wall).collect(),
        }
    }

    fn limits(&self) -> String {
        let all: Vec<String> =
            self.walls.iter().map(|(key, value)| format!("{key} {value}")).collect();
        all.join(", ")
    }
}

/// What the rules of a process are recognised by, in hexadecimal digits.
fn digest(options: &RuntimeOptions) -> String {
    blake3::Hash::from_bytes(options.policy.digest()).to_string()
}

impl ProxyRuntime<'_> {
    /// Records where rules, profiles or limits are others than the log knows. Where nothing can be recorded, whoever records what was
    /// decided says so.
    pub(super) fn note_rules(&self, actor: &Actor) {
        let _known = self.compare_rules(actor).is_ok();
    }

    fn compare_rules(&self, actor: &Actor) -> Result<()> {
        let known: Option<InForce> = self.vault.rules_in_force()?;
        let now = InForce::of(self.options, known.as_ref());
        if known.as_ref() == Some(&now) {
            return Ok(());
        }
        let known = known.unwrap_or_default();
        let changes = [
            ("policy_changed", "rules", [&known.rules, &now.rules]),
            ("settings_changed", "profiles", [&known.profiles, &now.profiles]),
            ("settings_changed", "limits", [&known.limits(), &now.limits()]),
        ];
        for (kind, what, [before, after]) in changes.into_iter().filter(|(.., [a, b])| a != b) {
            self.vault.announce(kind, actor, |tx| {
                tx.summary(match before.is_empty() {
                    true => format!("note the {what} in force"),
                    false => format!("other {what} are in force"),
                });
                tx.detail("what", what);
                tx.detail("before", Some(before).filter(|before| !before.is_empty()));
                tx.detail("after", after);
                tx.set_rules_in_force(&now)
            })?;
        }
        Ok(())
    }

    /// Records that a command is about to start. Nothing that it does is ever there without this.
    pub(super) fn announce(&self, execution: &Execution<'_>) -> Result<()> {
        let Execution { request, result, .. } = execution;
        let describe = |tx: &mut Transaction<'_, '_>| {
            let command = shortened(&request.command.display());
            if let Some((workspace, name)) = &result.workspace {
                tx.scope(*workspace);
                tx.summary(format!("start {command} in {name}"));
            }
            for (name, value) in asked(request, result, self.options) {
                tx.detail(&name, value);
            }
            // Who reads the log finds out by this that it is over, where nothing says how it ended.
            tx.detail(PROCESS, serde_json::to_value(Waiter::own()).unwrap_or_default());
            request.call.iter().try_for_each(|call| tx.call_exec(call, &result.id))
        };
        match &request.call {
            // Whoever comes back after a power cut has to know that it started.
            Some(_) => self.vault.record_event(STARTED, &request.actor, describe)?,
            None => self.vault.announce(STARTED, &request.actor, describe)?,
        }
        Ok(())
    }

    /// Records the end of a command that joined a session.
    pub(super) fn announce_end(&self, execution: &Execution<'_>) -> Result<()> {
        let Execution { request, result, .. } = execution;
        self.vault.record_event(ENDED, &request.actor, |tx| {
            if let Some((workspace, _)) = &result.workspace {
                tx.scope(*workspace);
            }
            tx.summary(format!("end {}", shortened(&request.command.display())));
            for (name, value) in details(request, (result, result.state), self.options) {
                tx.detail(&name, value);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Records a command that failed on its way, and says where that cannot be.
    pub(super) fn record_failed(&self, request: &ExecutionRequest, result: &mut ExecutionResult) {
        if result.workspace.is_none() {
            // Nothing happened that somebody could miss.
            let _recorded = self.record_early_failure(request, result).is_ok();
        } else if let Err(error) = self.record_failure(request, result) {
            result.warnings.push(format!("this exec could not be recorded: {error}"));
        }
    }

    /// Records a command that failed before a workspace was found for it.
    fn record_early_failure(
        &self,
        request: &ExecutionRequest,
        result: &ExecutionResult,
    ) -> Result<(), VaultError> {
        self.vault.record_event(FAILED, &request.actor, |tx| {
            tx.summary(format!("exec {} failed", shortened(&request.command.display())));
            for (name, value) in details(request, (result, result.state), self.options) {
                tx.detail(&name, value);
            }
            Ok(())
        })
    }
}

/// What was asked for, and what was decided about it.
fn asked(
    request: &ExecutionRequest,
    result: &ExecutionResult,
    options: &RuntimeOptions,
) -> Map<String, Value> {
    let mut details = Map::new();
    let mut add = |name: &str, value: Value| details.insert(name.to_owned(), value);
    add("exec", result.id.to_string().into());
    add("command", request.command.display().into());
    if let Some(cwd) = &result.cwd {
        add("cwd", cwd.to_string_lossy().into());
    }
    let decision = result.decision.as_ref().map(|verdict| verdict.decision);
    add("decision", decision.map_or("none", PolicyDecision::as_str).into());
    if let Some(verdict) = &result.decision {
        add("rule", format!("{}:{}", verdict.rule.layer, verdict.rule.name).into());
        add("why", verdict.reason.to_string().into());
        add("categories", verdict.categories.to_string().into());
        add("rules", digest(options).into());
    }
    if let Some(profile) = &result.profile {
        add("profile", profile.name.clone().into());
        if profile.is_open() {
            add("unconfined", true.into());
        }
    }
    if request.reach() != Network::None {
        add("network", request.reach().as_str().into());
    }
    if let Some(session) = &result.joined {
        add("joined", session.to_string().into());
    }
    details
}

/// What the audit event says of an exec that is over.
pub(super) fn details(
    request: &ExecutionRequest,
    (result, state): (&ExecutionResult, ExecState),
    options: &RuntimeOptions,
) -> Map<String, Value> {
    let mut details = asked(request, result, options);
    let mut add = |name: &str, value: Value| details.insert(name.to_owned(), value);
    add("state", state.as_str().into());
    add("exit_code", result.exit_code.into());
    if let Some(signal) = result.signal {
        add("signal", signal.into());
    }
    let flags = [
        ("read_only", result.read_only),
        ("timed_out", result.timed_out),
        ("interrupted", result.interrupted),
        ("recoverable", result.recoverable),
    ];
    for (name, _) in flags.into_iter().filter(|(_, holds)| *holds) {
        add(name, true.into());
    }
    if let Some(limit) = result.limit_reached {
        add("limit_reached", limit.as_str().into());
    }
    if let Some(first) = &result.rerun {
        add("rerun", first.reason.as_str().into());
    }
    if let Some(earlier) = &result.approved_by {
        add("approved_by", earlier.id.to_string().into());
    }
    if let Some(checkpoint) = &result.checkpoint {
        add("checkpoint", checkpoint.clone().into());
    }
    if let Some(error) = &result.error {
        add("error", error.message.clone().into());
    }
    add("duration_ms", u64::try_from(result.total.as_millis()).unwrap_or(u64::MAX).into());
    details
}
