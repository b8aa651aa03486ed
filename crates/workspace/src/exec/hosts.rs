//! The hosts that a command needs, as far as its words or what it printed tell.

use std::net::IpAddr;
use std::path::Path;

use offshoot_egress::{EgressReport, Refusal};
use offshoot_host::read_regular;
use offshoot_policy::{EffectCategory, Judged, Verdict};

use super::envelope::ExecutionResult;
use super::outlet::check_hosts;

/// The group of hosts that package managers download from.
const REGISTRIES: &str = "registries";
/// Programs that download from registries.
const PACKAGE_MANAGERS: [&str; 22] = [
    "npm", "npx", "pnpm", "yarn", "bun", "pip", "pip3", "pipx", "uv", "uvx", "poetry", "cargo",
    "gem", "bundle", "go", "mvn", "gradle", "composer", "dotnet", "apt", "apt-get", "rustup",
];
/// Those of them that read the settings of npm.
const NPM_LIKE: [&str; 5] = ["npm", "npx", "pnpm", "yarn", "bun"];
/// Settings are written by people; anything larger is something else.
const LARGEST_SETTINGS: u64 = 64 * 1024;
/// Programs that take an address without a scheme.
const FETCHERS: [&str; 4] = ["curl", "wget", "http", "https"];
/// Clients of PostgreSQL: they use a local socket unless they are given a host.
const POSTGRES: [&str; 6] = ["psql", "pg_dump", "pg_restore", "pg_isready", "createdb", "dropdb"];
/// Options of ssh that have a value.
const SSH_VALUES: &str = "BbcDEeFIiJLlmOopQRSWw";
/// At most so many lines of what a command printed are looked at, from its end.
const MOST_LINES: usize = 200;
/// At most so many hosts are named.
const MOST_HOSTS: usize = 4;

/// The part of a command that is known to need the network: none where it says that it does without, uses a local
/// socket, or talks to a server that another part of the same command can be.
pub fn needs_network(verdict: &Verdict) -> Option<&Judged> {
    let parts = verdict.parts.iter().map(|part| &part.judged);
    let mut needing = parts.filter(|part| part.categories.contains(EffectCategory::Networked));
    let may_serve = |part: &Judged| {
        !part.categories.contains(EffectCategory::Networked)
            && part.program().is_some_and(|program| program != "cd")
    };
    let has_server = verdict.parts.iter().any(|part| may_serve(&part.judged));
    let serves_itself = |part: &Judged| {
        let hosts = hosts_of(part);
        has_server && !hosts.is_empty() && hosts.iter().all(|host| is_loopback(host))
    };
    needing.find(|part| !part.is_offline() && !uses_socket(part) && !serves_itself(part))
}

/// The hosts that the words of a command name, as rules have them; empty where they name none. A registry that settings of
/// npm in one of the `folders` name stands for those that everybody uses.
pub fn named_hosts(verdict: &Verdict, folders: &[&Path]) -> Vec<String> {
    let parts = verdict.parts.iter().map(|part| &part.judged);
    distinct(parts.flat_map(|part| {
        let hosts = hosts_of(part);
        let reads = part.program().is_some_and(|program| NPM_LIKE.contains(&program.as_str()));
        let own = if reads { own_registries(folders) } else { Vec::new() };
        match own.is_empty() {
            true => hosts,
            false => own.into_iter().chain(hosts.into_iter().filter(|h| h != REGISTRIES)).collect(),
        }
    }))
}

/// The hosts of the first settings of npm that name a registry.
fn own_registries(folders: &[&Path]) -> Vec<String> {
    let of = |folder: &&Path| {
        let bytes = read_regular(&folder.join(".npmrc"), LARGEST_SETTINGS).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let values = text.lines().filter_map(|line| line.split_once('='));
        let registries = values.filter(|(key, _)| key.trim() == "registry");
        let hosts: Vec<String> = registries.filter_map(|(_, url)| host_of(url.trim())).collect();
        Some(hosts).filter(|hosts| !hosts.is_empty())
    };
    folders.iter().find_map(of).unwrap_or_default()
}

/// The hosts that a command tried in vain at ports where nobody listens, as rules have them: by what it printed, else by
/// its words.
pub fn tried_hosts(result: &ExecutionResult) -> Vec<String> {
    let printed = if result.terminal { &result.stdout } else { &result.stderr };
    let printed = printed_hosts(&String::from_utf8_lossy(&printed.bytes));
    if !printed.is_empty() {
        return printed;
    }
    let project = result.mountpoint.as_deref();
    let named = |verdict| named_hosts(verdict, project.as_slice());
    let mut named = result.decision.as_ref().map(named).unwrap_or_default();
    if let Some(report) = &result.egress {
        // What went through the proxy is not what it tried in vain, and a rule without a port is about usual ports.
        named.retain(|host| has_port(host) && !passed(report, host));
    }
    named
}

/// Names the port of refused hosts whose address alone was asked for, where the words of the command have it.
pub(super) fn name_ports(report: &mut EgressReport, verdict: &Verdict) {
    let named = named_hosts(verdict, &[]);
    let connections = &report.connections;
    for refused in report.refused.iter_mut().filter(|refused| refused.port == 0) {
        let mut about = connections.iter().filter(|one| one.host.as_ref() == Some(&refused.host));
        let asked_only = about.all(|one| one.port == 0);
        let start = format!("{}:", refused.host);
        if refused.refusal == Refusal::NotAllowed
            && asked_only
            && let Some(named) = named.iter().find(|named| named.starts_with(&start))
        {
            refused.flag = Some(format!("--net allow={named}"));
        }
    }
}

fn passed(report: &EgressReport, host: &str) -> bool {
    let target = |one: &offshoot_egress::Connection| {
        one.host.as_ref().is_some_and(|own| own.with_port(one.port) == host)
    };
    report.connections.iter().any(target)
}

fn distinct(hosts: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for host in hosts {
        if check_hosts(&host).is_ok() && !all.contains(&host) {
            all.push(host);
        }
    }
    all
}

fn hosts_of(part: &Judged) -> Vec<String> {
    let Some(program) = part.program() else { return Vec::new() };
    let words: Vec<String> =
        part.words.iter().skip(1).filter_map(|word| word.literal().map(Into::into)).collect();
    if let Some(host) = client_host(&program, &words) {
        return vec![host];
    }
    if !part.categories.contains(EffectCategory::Networked) {
        return Vec::new();
    }
    let mut hosts = Vec::new();
    if PACKAGE_MANAGERS.contains(&program.as_str()) {
        hosts.push(REGISTRIES.to_owned());
    }
    hosts.extend(words.iter().filter_map(|word| host_of(word)));
    if FETCHERS.contains(&program.as_str()) {
        hosts.extend(words.iter().filter_map(|word| bare_host(word)));
    }
    hosts
}

/// The host of a client that is told it by options or by its place among the words.
fn client_host(program: &str, words: &[String]) -> Option<String> {
    let by_options = |host: &[&str], port: &[&str], usual: &str| {
        let host = option(words, host).filter(|host| !host.starts_with('/'))?;
        Some(format!("{host}:{}", option(words, port).unwrap_or_else(|| usual.to_owned())))
    };
    match program {
        _ if POSTGRES.contains(&program) => {
            by_options(&["-h", "--host"], &["-p", "--port"], "5432")
        }
        "mysql" | "mysqldump" | "mariadb" => {
            by_options(&["-h", "--host"], &["-P", "--port"], "3306")
        }
        "redis-cli" => by_options(&["-h"], &["-p"], "6379"),
        "ssh" => {
            let host = ssh_host(words).filter(|host| !host.contains("://"))?;
            let host = host.rsplit('@').next().unwrap_or(host);
            Some(format!("{host}:{}", option(words, &["-p"]).unwrap_or_else(|| "22".to_owned())))
        }
        "nc" | "ncat" | "telnet" => {
            let mut places = words.iter().filter(|word| !word.starts_with('-'));
            let (host, port) = (places.next()?, places.next()?);
            port.parse::<u16>().is_ok().then(|| format!("{host}:{port}"))
        }
        _ => None,
    }
}

/// The first word of ssh that is neither an option nor the value of one.
fn ssh_host(words: &[String]) -> Option<&str> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            None => return Some(word),
            // `-p 22`, but not `-p22`.
            Some(option) if option.len() == 1 && SSH_VALUES.contains(option) => {
                words.next();
            }
            Some(_) => {}
        }
    }
    None
}

/// The value of an option: `-h VALUE`, `-hVALUE`, `--host VALUE`, `--host=VALUE`.
fn option(words: &[String], names: &[&str]) -> Option<String> {
    words.iter().enumerate().find_map(|(at, word)| {
        let name = names.iter().find(|name| word.starts_with(**name))?;
        let rest = &word[name.len()..];
        let value = match (rest, name.starts_with("--")) {
            ("", _) => words.get(at + 1).map(String::as_str),
            (rest, true) => rest.strip_prefix('='),
            (rest, false) => Some(rest),
        };
        value.map(str::to_owned)
    })
}

/// Whether it talks to a server by a socket in the file system.
fn uses_socket(part: &Judged) -> bool {
    let Some(program) = part.program().filter(|program| POSTGRES.contains(&program.as_str()))
    else {
        return false;
    };
    let words: Vec<String> =
        part.words.iter().skip(1).filter_map(|word| word.literal().map(Into::into)).collect();
    let all_known = words.len() + 1 == part.words.len();
    let is_address = |word: &String| word.contains("://") || word.contains("host=");
    all_known && client_host(&program, &words).is_none() && !words.iter().any(is_address)
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
    let usual = [
        ("ssh", ":22"),
        ("git", ":9418"),
        ("ftp", ":21"),
        ("postgres", ":5432"),
        ("postgresql", ":5432"),
        ("mysql", ":3306"),
        ("redis", ":6379"),
    ];
    let port = usual.iter().find(|(name, _)| *name == scheme).map(|(_, port)| *port);
    let has_port = has_port(host);
    let host = host.strip_suffix(":443").or(host.strip_suffix(":80")).unwrap_or(host);
    Some(if has_port { host.to_owned() } else { format!("{host}{}", port.unwrap_or_default()) })
}

/// The host of an address without a scheme, where it cannot be the name of a file: `HOST:PORT`, `localhost`.
fn bare_host(word: &str) -> Option<String> {
    let host = word.split(['/', '?']).next().filter(|_| !word.contains("://"))?;
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-')
        && !name.starts_with('-');
    let is_host = has_port(host) || host == "localhost" || host.parse::<IpAddr>().is_ok();
    (is_name && is_host).then(|| host.to_owned())
}

fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

/// Whether a rule is about a loopback interface alone.
fn is_loopback(rule: &str) -> bool {
    let name = rule.rsplit_once(':').filter(|_| has_port(rule)).map_or(rule, |(name, _)| name);
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The hosts and ports that programs say they could not connect to.
fn printed_hosts(text: &str) -> Vec<String> {
    let lines = text.lines().rev().take(MOST_LINES).filter(|line| {
        let line = line.to_ascii_lowercase();
        ["refused", "connect"].iter().any(|word| line.contains(word))
    });
    let mut hosts = distinct(lines.flat_map(hosts_in));
    hosts.truncate(MOST_HOSTS);
    hosts
}

/// `to HOST port 80`, `at "HOST" (ADDRESS), port 80`, `ADDRESS:80`, and addresses with a scheme.
fn hosts_in(line: &str) -> Vec<String> {
    let plain = |word: &str| {
        let other = |c: char| !c.is_ascii_alphanumeric() && !"[]".contains(c);
        word.trim_matches(other).to_owned()
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut hosts = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if plain(word) == "port" {
            let port = words.get(at + 1).map(|port| plain(port));
            let before = words[..at].iter().rev().find(|word| !word.starts_with('('));
            if let (Some(port), Some(host)) = (port, before)
                && port.parse::<u16>().is_ok()
            {
                hosts.push(at_port(&plain(host), &port));
            }
            continue;
        }
        let word = word.trim_start_matches(['(', '"', '\'', '`']);
        let word = word.trim_end_matches([')', '"', '\'', '`', ',', '.', ';', ':']);
        if word.contains("://") {
            hosts.extend(host_of(word).filter(|host| has_port(host)));
        } else if let Some((host, port)) = word.rsplit_once(':')
            && port.parse::<u16>().is_ok()
        {
            let inner = host.trim_start_matches('[').trim_end_matches(']');
            let is_address = inner.parse::<IpAddr>().is_ok();
            hosts.extend((is_address || inner == "localhost").then(|| at_port(inner, port)));
        }
    }
    hosts
}

/// A rule for a host at a port; the two usual addresses of the loopback interface are its name.
fn at_port(host: &str, port: &str) -> String {
    let inner = host.trim_start_matches('[').trim_end_matches(']');
    match inner {
        "127.0.0.1" | "::1" => format!("localhost:{port}"),
        inner if inner.contains(':') => format!("[{inner}]:{port}"),
        inner => format!("{inner}:{port}"),
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
            ("ssh://git@git.corp:2222/x", Some("git.corp:2222")),
            ("postgres://me@db.corp/x", Some("db.corp:5432")),
            ("origin", None),
            ("a:b", None),
            ("x/y@z:1", None),
        ] {
            assert_eq!(host_of(word).as_deref(), host, "{word}");
        }
        for (word, host) in [
            ("localhost:8123/x", Some("localhost:8123")),
            ("localhost", Some("localhost")),
            ("out.txt", None),
            ("Accept:", None),
            ("-x:1", None),
        ] {
            assert_eq!(bare_host(word).as_deref(), host, "{word}");
        }
    }

    #[test]
    fn options_of_clients_name_hosts() {
        for (line, host) in [
            ("psql -h localhost -p 5577", Some("localhost:5577")),
            ("psql --host=db.corp", Some("db.corp:5432")),
            ("psql -h /tmp", None),
            ("psql", None),
            ("mysql -hdb.corp -P 3307", Some("db.corp:3307")),
            ("redis-cli -h db.corp", Some("db.corp:6379")),
            ("ssh github.com", Some("github.com:22")),
            ("ssh -i key -p 2222 me@git.corp ls -l", Some("git.corp:2222")),
            ("ssh -p2222 git.corp", Some("git.corp:2222")),
            ("nc -z db.corp 5432", Some("db.corp:5432")),
        ] {
            let mut words = line.split(' ').map(str::to_owned);
            let program = words.next().unwrap();
            let words: Vec<String> = words.collect();
            assert_eq!(client_host(&program, &words).as_deref(), host, "{line}");
        }
    }

    #[test]
    fn programs_say_what_they_could_not_reach() {
        for (line, hosts) in [
            (
                "curl: (7) Failed to connect to localhost port 18732 after 0 ms: Couldn't connect",
                &["localhost:18732"][..],
            ),
            ("ssh: connect to host github.com port 22: Connection refused", &["github.com:22"]),
            (
                "psql: error: connection to server at \"localhost\" (127.0.0.1), port 5577 failed: Connection refused",
                &["localhost:5577"],
            ),
            ("npm error connect ECONNREFUSED 127.0.0.1:18732", &["localhost:18732"]),
            ("Error: connect ECONNREFUSED ::1:18732", &["localhost:18732"]),
            (
                "request to http://localhost:18732/x failed, reason: connect refused",
                &["localhost:18732"],
            ),
            ("dial tcp 10.0.0.7:5432: connect: connection refused", &["10.0.0.7:5432"]),
            ("    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1555:16)", &[]),
            ("see localhost:1 for more", &[]),
        ] {
            assert_eq!(printed_hosts(line), hosts, "{line}");
        }
    }
}
