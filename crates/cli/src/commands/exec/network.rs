//! Whether a command gets the network: by its options, by what the user settled before, or by asking them.

use offshoot_protocol::Network;
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use offshoot_engine::policy::{EffectCategory, Verdict, judge};
use offshoot_engine::sandbox::Rules;

use super::ask::Ask;
use super::form::Form;
use crate::context::Context;
use crate::error::Result;
use crate::output;
use crate::render::{DIM, line, paint};
use crate::terminal;

/// Decides what the command can reach. `project` is the folder that the answer is remembered for.
pub(super) fn settle(
    ask: &mut Ask<'_>,
    context: &Context,
    rules: &Rules,
    project: Option<&Path>,
    form: Form,
) -> Result<()> {
    let profile = rules.profiles.profile(ask.options.sandbox.as_deref())?;
    ask.unconfined = profile.is_open();
    if let Some((net, allow)) = ask.options.net()? {
        (ask.net, ask.asked_net, ask.allow) = (net, Some(net), allow);
        return Ok(());
    }
    ask.net = profile.network;
    if let Some(net) = project.and_then(|project| context.engine.remembered_net(project)) {
        (ask.net, ask.asked_net) = (net, Some(net));
    }
    if ask.net == Network::None && asks(context, form) {
        let place = project.unwrap_or(Path::new("/"));
        let verdict =
            judge(&rules.policy, &ask.command, &ask.question(context).context(place, Vec::new())?);
        if verdict.decision.runs()
            && let Some(what) = needing(&verdict)
        {
            ask.net = answer(&what, project, context)?;
            ask.asked_net = Some(ask.net);
            ask.asked = true;
        }
    }
    Ok(())
}

/// What is said before a command that is known to need the network and has none.
pub(super) fn warning(verdict: &Verdict) -> Option<String> {
    let what = needing(verdict)?;
    let text = format!("{} needs the network, which is off: add --net host", line(&what));
    Some(format!("{}\n", paint(DIM, &text)))
}

/// The command that is known to need the network.
fn needing(verdict: &Verdict) -> Option<String> {
    verdict
        .first_part(EffectCategory::Networked)
        .filter(|part| !part.is_offline())
        .map(|part| part.name())
}

/// Whether there is somebody to ask: at a terminal, and not a program that watches one.
fn asks(context: &Context, form: Form) -> bool {
    let attended = terminal::is_attended() && std::io::stderr().is_terminal();
    let unattended = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false");
    attended && form.is_text() && !context.output.is_quiet() && !unattended
}

fn answer(what: &str, project: Option<&Path>, context: &Context) -> Result<Network> {
    let always = if project.is_some() { "/always" } else { "" };
    output::eprint(&format!("{} needs the network. Allow it? [y/N{always}] ", line(what)));
    drop(std::io::stderr().flush());
    let mut answer = String::new();
    if std::io::stdin().lock().read_line(&mut answer).is_err() {
        return Ok(Network::None);
    }
    match (answer.trim().to_lowercase().as_str(), project) {
        ("y" | "yes", _) => Ok(Network::Host),
        ("a" | "always", Some(project)) => {
            let file = context.engine.remember_net(project, Network::Host)?;
            let text = format!("remembered for this project in {}", file.display());
            output::eprint(&format!("{}\n", paint(DIM, &line(&text))));
            Ok(Network::Host)
        }
        _ => Ok(Network::None),
    }
}
