//! Coding agents, which run by a preset.

use std::path::Path;
use std::time::Duration;

use offshoot_engine::preset::{Preset, PresetFit, PresetReach};
use offshoot_engine::sandbox::Rules;
use offshoot_protocol::Network;

use super::ask::Ask;
use crate::context::Context;
use crate::error::{CliError, Result};

/// Finds the preset of a command, and fits the command to it.
pub(super) fn settle(ask: &mut Ask<'_>, context: &Context) -> Result<()> {
    let found = context.engine.preset_for(&ask.command, ask.options.preset.as_deref())?;
    if found.is_none() && ask.options.trust_agent {
        return Err(CliError::usage(
            "--trust-agent is for coding agents, and this command is none",
        )
        .hint("--preset NAME says which it is; `offshoot presets list` lists them"));
    }
    let trusts = |preset: &Preset| context.config().agents.trusts(&preset.name);
    ask.trusted = ask.options.trust_agent || found.as_ref().is_some_and(trusts);
    ask.preset = found;
    let Some(fit) = ask.fit() else { return Ok(()) };
    let line = fit.line(&ask.command);
    let lost: Vec<String> = fit
        .lost(&ask.command)
        .iter()
        .map(|lost| format!("{} loses work here: {}", lost.argument, lost.why))
        .collect();
    lost.into_iter().for_each(|lost| context.output.note(lost));
    ask.command = line;
    // An agent works for as long as its task takes.
    ask.default_timeout = Duration::ZERO;
    Ok(())
}

/// Tells an agent which project it works in, where its preset does.
pub(super) fn place(ask: &mut Ask<'_>, project: Option<&Path>) {
    let (Some(fit), Some(project)) = (ask.fit(), project) else { return };
    ask.command = fit.in_project(&ask.command, project);
}

/// Lets an agent reach the hosts of its preset, where the user did not say otherwise and may.
pub(super) fn allow(ask: &mut Ask<'_>, context: &Context, rules: &Rules) -> Result<()> {
    let Some(fit) = ask.fit() else { return Ok(()) };
    let caller = (&context.engine.viewer(), ask.options.env.as_slice());
    match fit.reach(rules, ask.options.sandbox.as_deref(), ask.asked_net, caller)? {
        PresetReach::AsAsked => {}
        PresetReach::Barred => {
            context.output.note("the sandbox profile lets this agent reach none of its hosts");
        }
        PresetReach::Hosts(hosts) => {
            (ask.net, ask.asked_net) = (Network::Proxy, Some(Network::Proxy));
            ask.allow.extend(hosts);
        }
    }
    Ok(())
}

/// Says by which preset a command runs.
pub(super) fn announce(ask: &Ask<'_>, context: &Context) {
    let Some(fit) = ask.fit() else { return };
    let PresetFit { preset, .. } = fit;
    let reach = match ask.net {
        Network::None => "it has no network".to_owned(),
        Network::Proxy => format!("it reaches {}", shortened(&ask.allow.join(","))),
        Network::Host => "it reaches all of the network".to_owned(),
    };
    let name = &preset.name;
    context
        .output
        .note(format!("preset {name}: {reach}; `offshoot presets show {name}` says more"));
    let agents = &context.config().agents;
    if agents.keeps_outside(name) {
        context.output.note(format!("the key of {name} stays outside; the network proxy adds it"));
    }
    if agents.shares_state(name) {
        let note = format!("{name} shares your own sessions, and writes to them");
        context.output.note(note);
    }
    if fit.is_logged_in(&context.engine.viewer(), &ask.options.env) == Some(false) {
        let login = preset.login.as_ref().map(|login| login.command.as_str()).unwrap_or_default();
        context.output.note(format!("{} does not seem to be logged in: {login}", preset.summary));
    }
}

/// The first hosts of a list, and how many more there are.
fn shortened(hosts: &str) -> String {
    const SHOWN: usize = 3;
    let hosts: Vec<&str> = hosts.split(',').collect();
    match hosts.len().saturating_sub(SHOWN) {
        0 => hosts.join(", "),
        more => format!("{} and {more} more", hosts[..SHOWN].join(", ")),
    }
}

/// Whether nobody needs to hear that a host was refused.
pub(super) fn is_quiet(preset: Option<&Preset>, host: &str) -> bool {
    preset.is_some_and(|preset| preset.is_quiet(host))
}
