//! Whether a command gets the network: by its options, by what the user settled before, or by asking them.

use offshoot_protocol::Network;
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use offshoot_engine::policy::{EffectCategory, Verdict, judge};
use offshoot_engine::sandbox::{Rules, check_hosts};

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
    let sandbox = ask.options.sandbox.as_deref();
    ask.unconfined = profile.is_open();
    ask.may_reach = rules.profiles.may_reach(sandbox, Network::Proxy, &[]);
    if let Some((net, allow)) = ask.options.net()? {
        (ask.net, ask.asked_net, ask.allow) = (net, Some(net), allow);
        return Ok(());
    }
    ask.net = profile.network;
    let may_open = rules.profiles.may_reach(sandbox, Network::Host, &[]);
    if ask.net == Network::None && may_open && asks(context, form) {
        let place = project.unwrap_or(Path::new("/"));
        let verdict =
            judge(&rules.policy, &ask.command, &ask.question(context).context(place, Vec::new())?);
        if verdict.decision.runs()
            && let Some(what) = needing(&verdict)
        {
            ask.net = answer(&what, &narrowest(Some(&verdict)), project, context)?;
            ask.asked_net = Some(ask.net);
            ask.asked = true;
        }
    }
    Ok(())
}

/// What is said before a command that is known to need the network and has none.
pub(super) fn warning(verdict: &Verdict) -> Option<String> {
    let what = needing(verdict)?;
    let text =
        format!("{} needs the network, which is off: {}", line(&what), advice(Some(verdict)));
    Some(format!("{}\n", paint(DIM, &text)))
}

/// What would let a command reach what it needs, and no more where that is known.
pub(super) fn advice(verdict: Option<&Verdict>) -> String {
    let option = narrowest(verdict);
    let text = format!("add --net {option}");
    match option.as_str() {
        UNKNOWN => format!("{text}, or --net host for all of the network"),
        _ => line(&text),
    }
}

/// What stands for hosts that nobody knows.
const UNKNOWN: &str = "allow=HOST";
/// Programs that download from registries.
const PACKAGE_MANAGERS: [&str; 22] = [
    "npm", "npx", "pnpm", "yarn", "bun", "pip", "pip3", "pipx", "uv", "uvx", "poetry", "cargo",
    "gem", "bundle", "go", "mvn", "gradle", "composer", "dotnet", "apt", "apt-get", "rustup",
];

/// The narrowest value of `--net` that lets a command reach what its words name.
fn narrowest(verdict: Option<&Verdict>) -> String {
    let parts = verdict.into_iter().flat_map(|verdict| &verdict.parts).map(|part| &part.judged);
    let mut hosts: Vec<String> = Vec::new();
    for part in parts.filter(|part| part.categories.contains(EffectCategory::Networked)) {
        let is_manager =
            part.program().is_some_and(|program| PACKAGE_MANAGERS.contains(&program.as_str()));
        hosts.extend(is_manager.then(|| "registries".to_owned()));
        let words = part.words.iter().skip(1).filter_map(|word| word.literal());
        hosts.extend(words.filter_map(|word| host_of(&word)));
    }
    hosts.retain(|host| check_hosts(host).is_ok());
    let mut seen = Vec::new();
    hosts.retain(|host| {
        !seen.contains(host) && {
            seen.push(host.clone());
            true
        }
    });
    if hosts.is_empty() { UNKNOWN.to_owned() } else { format!("allow={}", hosts.join(",")) }
}

/// The host that an address names, as a rule has it: `https://HOST/`, `USER@HOST:PATH`.
fn host_of(word: &str) -> Option<String> {
    let Some((scheme, rest)) = word.split_once("://") else {
        let (login, _) = word.split_once(':')?;
        let (user, host) = login.split_once('@')?;
        let is_plain = |part: &str| !part.is_empty() && !part.contains(['/', '=']);
        return (is_plain(user) && is_plain(host)).then(|| format!("{host}:22"));
    };
    let scheme = scheme.rsplit(['+', '=']).next().unwrap_or(scheme);
    let host = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    let usual = [("ssh", ":22"), ("git", ":9418"), ("ftp", ":21")];
    let port = usual.iter().find(|(name, _)| *name == scheme).map(|(_, port)| *port);
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let host = host.strip_suffix(":443").or(host.strip_suffix(":80")).unwrap_or(host);
    Some(if has_port { host.to_owned() } else { format!("{host}{}", port.unwrap_or_default()) })
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

fn answer(
    what: &str,
    narrowest: &str,
    project: Option<&Path>,
    context: &Context,
) -> Result<Network> {
    let always = if project.is_some() { "/always" } else { "" };
    let (what, narrowest) = (line(what), line(narrowest));
    output::eprint(&format!(
        "{what} needs the network. Allow it all of the network? (--net {narrowest} allows less) [y/N{always}] "
    ));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_hosts() {
        for (word, host) in [
            ("https://example.com/a?b", Some("example.com")),
            ("http://me:pw@example.com:8080/", Some("example.com:8080")),
            ("https://example.com:443", Some("example.com")),
            ("git+https://github.com/a/b", Some("github.com")),
            ("--index-url=https://example.com/simple", Some("example.com")),
            ("git@github.com:a/b.git", Some("github.com:22")),
            ("ssh://git@github.com/a/b", Some("github.com:22")),
            ("origin", None),
            ("a:b", None),
            ("x/y@z:1", None),
        ] {
            assert_eq!(host_of(word).as_deref(), host, "{word}");
        }
    }
}
