//! What the last words about an exec need to know beside its envelope.

use offshoot_engine::exec::{ExecutionResult, RuntimeOptions};
use offshoot_engine::preset::Preset;
use offshoot_engine::sandbox::Viewer;
use offshoot_engine::settings::format_duration;
use offshoot_protocol::Hint;

use super::ask::Ask;
use super::setup::OpenProject;
use std::path::PathBuf;

use crate::context::Context;
use crate::invocation;

/// What the last words about an exec need to know beside its envelope.
#[derive(Debug, Default)]
pub(super) struct Closing {
    /// The workspace that a further command has to name.
    pub(super) workspace: Option<String>,
    /// The limit of time that was in force, and who set it.
    pub(super) limit: String,
    /// The option that gives more time, to whom the usual time is too short.
    pub(super) longer: Option<String>,
    /// SIGINT or SIGTERM, if that asked this process to end.
    pub(super) signal: Option<i32>,
    /// The same for any signal.
    pub(super) ended_by: Option<i32>,
    /// How many warnings were told when the command started.
    pub(super) told: usize,
    /// The file that a rule of the user belongs in.
    pub(super) rules: Option<PathBuf>,
    /// Who says what commands can see.
    pub(super) viewer: Viewer,
    /// The preset that it ran by.
    pub(super) preset: Option<Preset>,
    /// The command could have been given some of the network.
    pub(super) may_reach: bool,
}

impl Closing {
    pub(super) fn new(ask: &Ask<'_>, context: &Context, options: &RuntimeOptions) -> Self {
        let signals = options.signals.as_ref();
        let signal = signals.and_then(|signals| signals.asked_by());
        let ended_by = signals.and_then(|signals| signals.ended_by());
        let (limit, longer) = limit(ask);
        Self {
            workspace: None,
            limit,
            longer,
            signal,
            ended_by,
            told: 0,
            rules: context.engine.user_rule_file(),
            viewer: context.engine.viewer(),
            preset: ask.preset.clone(),
            may_reach: ask.may_reach,
        }
    }

    /// The exit code that stands for what happened. A command that was hung up or killed decides about it itself, if it ran.
    pub(super) fn exit_code(&self, result: &ExecutionResult) -> u8 {
        let ran = has_run(result);
        result.outcome().exit_code(if ran { self.signal } else { self.ended_by })
    }

    /// With the workspace that a further command has to name, where it does not mean that without being told.
    pub(super) fn naming(
        mut self,
        context: &Context,
        place: &OpenProject,
        result: &ExecutionResult,
    ) -> Self {
        if let Some((_, name)) = &result.workspace
            && !context.means_workspace(&place.vault.vault, name)
        {
            self.workspace = Some(name.clone());
        }
        self
    }

    /// A command to type next, about the workspace.
    pub(super) fn next(&self, command: &str) -> String {
        let hint = Hint::command(command);
        invocation::next(match &self.workspace {
            Some(workspace) => hint.words("-w").arg(workspace),
            None => hint,
        })
    }
}

/// Whether the command came so far that it ended somehow.
pub(super) fn has_run(result: &ExecutionResult) -> bool {
    result.exit_code.is_some() || result.signal.is_some()
}

/// How long the command had, who says so, and how it gets more time.
fn limit(ask: &Ask<'_>) -> (String, Option<String>) {
    let Some(limit) = ask.time().duration() else { return (String::new(), None) };
    let shown = format_duration(limit);
    match ask.timeout {
        Some(_) => (format!("{shown} (--timeout)"), None),
        None => {
            let longer = format!("--timeout {}", format_duration(limit.saturating_mul(LONGER)));
            (format!("{shown} ({})", ask.timeout_key), Some(longer))
        }
    }
}

/// How many times as long is suggested to whom the usual time is too short.
const LONGER: u32 = 6;
