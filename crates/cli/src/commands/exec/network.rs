//! Whether a command gets the network: by its options, by what the user settled before, or by asking them.

use offshoot_protocol::{FileAccess, Network};
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use offshoot_engine::exec::ExecutionResult;
use offshoot_engine::policy::{Verdict, judge};
use offshoot_engine::sandbox::{RememberedNet, Rules, named_hosts, needs_network, tried_hosts};

use super::ask::Ask;
use super::form::Form;
use super::preset;
use crate::commands::config::FORGET;
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
    let sandbox = ask.options.sandbox.as_deref();
    ask.unconfined = profile.is_open();
    ask.only_reads = profile.files == FileAccess::Read;
    ask.may_reach = rules.profiles.may_reach(sandbox, Network::Proxy, &[]);
    if let Some((net, allow)) = ask.options.net()? {
        (ask.net, ask.asked_net, ask.allow) = (net, Some(net), allow);
        return preset::allow(ask, context, rules);
    }
    ask.net = profile.network;
    preset::allow(ask, context, rules)?;
    if ask.net != Network::None || !asks(context, form) {
        return Ok(());
    }
    let place = project.unwrap_or(Path::new("/"));
    let verdict = judge(
        &rules.policy,
        &ask.command,
        &ask.question().surroundings(context, place, Vec::new())?,
    );
    let what = needs_network(&verdict).filter(|_| verdict.decision.runs());
    let Some(what) = what.map(|part| part.name()) else { return Ok(()) };
    let mut hosts = named(&verdict, project);
    if !rules.profiles.may_reach(sandbox, Network::Proxy, &hosts) {
        hosts.clear();
    }
    let all = rules.profiles.may_reach(sandbox, Network::Host, &[]);
    if all || !hosts.is_empty() {
        let allowed = answer(&what, &hosts.join(","), all, project, context)?;
        ask.allow.extend(Some(allowed.allow).filter(|allow| !allow.is_empty()));
        (ask.net, ask.asked_net, ask.asked) = (allowed.network, Some(allowed.network), true);
    }
    Ok(())
}

/// What is said before a command that is known to need the network and has none.
pub(super) fn warning(result: &ExecutionResult) -> Option<String> {
    let verdict = result.decision.as_ref()?;
    let what = needs_network(verdict)?.name();
    let hosts = named(verdict, result.mountpoint.as_deref());
    let text = format!("{} needs the network, which is off: {}", line(&what), advice(&hosts));
    Some(format!("{}\n", paint(DIM, &text)))
}

/// What is said at the end of a command that tried what it could not reach.
pub(super) fn unreached(result: &ExecutionResult, may_reach: bool) -> String {
    // What a command names is known better than what it printed, which may be one host of many.
    let verdict = result.decision.as_ref().filter(|_| result.egress.is_none());
    let hosts = verdict.map(|verdict| named(verdict, result.mountpoint.as_deref()));
    let hosts = hosts.filter(|hosts| !hosts.is_empty()).unwrap_or_else(|| tried_hosts(result));
    match (&result.egress, may_reach) {
        (None, false) => "the command tried to reach the network, which is off".to_owned(),
        (None, true) => {
            let advice = advice(&hosts);
            format!("the command tried to reach the network, which is off: {advice}")
        }
        (Some(_), _) if hosts.is_empty() => {
            "network: the command tried ports that no rule names: add --net allow=HOST:PORT"
                .to_owned()
        }
        (Some(_), _) => {
            let tried = hosts.join(", ");
            let advice = advice(&hosts);
            line(&format!("network: the command tried {tried}, which no rule names: {advice}"))
        }
    }
}

/// What would let a command reach what it needs, and no more where that is known.
fn advice(hosts: &[String]) -> String {
    match hosts {
        [] => "add --net allow=HOST, or --net host for all of the network".to_owned(),
        hosts => line(&format!("add --net allow={}", hosts.join(","))),
    }
}

/// The hosts that a command names, and those that settings of its project or its user name for it.
fn named(verdict: &Verdict, project: Option<&Path>) -> Vec<String> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let folders: Vec<&Path> = project.into_iter().chain(home.as_deref()).collect();
    named_hosts(verdict, &folders)
}

/// Whether there is somebody to ask: at a terminal, and not a program that watches one.
pub(super) fn asks(context: &Context, form: Form) -> bool {
    let attended = terminal::is_attended() && std::io::stderr().is_terminal();
    let unattended = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false");
    attended && form.is_text() && !context.output.is_quiet() && !unattended
}

/// Asks for what a command needs: for these hosts alone where they are known, and for everything where they are not.
fn answer(
    what: &str,
    hosts: &str,
    all: bool,
    project: Option<&Path>,
    context: &Context,
) -> Result<RememberedNet> {
    let everything = || RememberedNet { network: Network::Host, allow: String::new() };
    let always = if project.is_some() { "/always" } else { "" };
    let (what, shown) = (line(what), line(hosts));
    let (question, yes) = match hosts {
        "" => {
            let all = "Allow it all of the network? (--net allow=HOST allows less)";
            (format!("{all} [y/N{always}]"), everything())
        }
        _ => {
            let all = if all { "/all" } else { "" };
            let narrow = RememberedNet { network: Network::Proxy, allow: hosts.to_owned() };
            (format!("Allow it to reach {shown}? [y/N{always}{all}]"), narrow)
        }
    };
    output::eprint(&format!("{what} needs the network. {question} "));
    drop(std::io::stderr().flush());
    let nothing = RememberedNet { network: Network::None, allow: String::new() };
    let mut answer = String::new();
    if std::io::stdin().lock().read_line(&mut answer).is_err() {
        return Ok(nothing);
    }
    match (answer.trim().to_lowercase().as_str(), project) {
        ("y" | "yes", _) => Ok(yes),
        ("all", _) if all => Ok(everything()),
        ("a" | "always", Some(project)) => {
            let file = context.engine.remember_net(project, &yes)?;
            let reach = if hosts.is_empty() { "all of the network" } else { &shown };
            let text = format!(
                "every command of this project reaches {reach} from now on ({}); `{FORGET}` takes it back",
                file.display()
            );
            output::eprint(&format!("{}\n", paint(DIM, &line(&text))));
            Ok(yes)
        }
        _ => Ok(nothing),
    }
}
