//! Headers that the proxy adds, read from where the user keeps them. No command holds one.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use offshoot_egress::{Credential, Credentials, Host, NetRules, Secret};
use offshoot_host::read_regular;
use offshoot_profile::{CredentialRule, Profiles, ValueSource};
use rustix::process::{Pid, Signal, kill_process_group};

use super::super::request::ExecutionRequest;
use super::super::sight::{Sight, Viewer};
use crate::error::{Result, ServiceError};

/// No header that servers accept is longer.
const LONGEST: u64 = 16 * 1024;
/// Shorter values are not looked for in variables.
const SHORTEST: usize = 6;
/// How long a program has to print a value.
const PATIENCE: Duration = Duration::from_secs(30);

/// A credential for a host that a command may reach.
#[derive(Clone, Debug)]
pub(super) struct Needed {
    rule: CredentialRule,
    host: Host,
    port: Option<u16>,
}

/// Whether a rule names a host and a header, or what is wrong with it.
pub(super) fn check(rule: &CredentialRule) -> Result<(), String> {
    let (host, port) = Host::parse_with_port(&rule.host).map_err(|error| error.to_string())?;
    let (header, value) = (rule.header.clone(), Secret::new("value"));
    let credential = Credential { host, port, header, value, plain_http: rule.plain_http };
    Credentials::new(vec![credential]).map(drop).map_err(|error| error.to_string())
}

/// The credentials for hosts that the rules let a command reach.
pub(super) fn needed(
    profiles: &Profiles,
    rules: &NetRules,
    inspect: &NetRules,
) -> Result<Vec<Needed>> {
    let mut needed = Vec::new();
    for rule in profiles.credentials() {
        let fail = |problem: String| failed(rule, &problem);
        let (host, port) =
            Host::parse_with_port(&rule.host).map_err(|error| fail(error.to_string()))?;
        let reached: Vec<_> = rules.about(&host, port).collect();
        if reached.is_empty() {
            continue;
        }
        let encrypted = reached.iter().any(|rule| rule.upgrades())
            || inspect.about(&host, port).next().is_some()
            || rule.plain_http;
        if !encrypted {
            return Err(fail(
                "the proxy cannot add it to TLS that it does not look into; add the host to `inspect` of [tls], \
                 or set `plain_http`"
                    .to_owned(),
            ));
        }
        needed.push(Needed { rule: rule.clone(), host, port });
    }
    Ok(needed)
}

/// Keeps from a command what credentials are read from: variables, unless somebody gave them to this command, and files.
pub(in super::super) fn withhold(
    profiles: &Profiles,
    viewer: &Viewer,
    folders: &[PathBuf],
    request: &mut ExecutionRequest,
    sight: &mut Sight,
) -> Result<()> {
    for rule in profiles.credentials() {
        match &rule.value_from {
            ValueSource::Env(name) => {
                let given =
                    request.set_by_caller.iter().any(|set| set.as_os_str() == name.as_str());
                request.environment.retain(|(set, _)| given || set.as_os_str() != name.as_str());
            }
            ValueSource::File(place) => {
                let Some(path) = viewer.path(place) else { continue };
                let real = path.canonicalize().unwrap_or_else(|_| path.clone());
                if folders.iter().any(|folder| real.starts_with(folder) || path.starts_with(folder))
                {
                    let path = path.display();
                    let problem =
                        format!("{path} lies in the project, where every command reads it");
                    return Err(failed(rule, &problem));
                }
                sight.hidden.extend([path, real]);
            }
            ValueSource::Command(_) => {}
        }
    }
    sight.hidden.dedup();
    Ok(())
}

/// Reads the values. Variables that hold one, under whatever name, do not reach the command.
pub(super) fn read(
    needed: &[Needed],
    viewer: &Viewer,
    request: &mut ExecutionRequest,
) -> Result<Vec<Credential>> {
    let mut credentials = Vec::new();
    for Needed { rule, host, port } in needed {
        let value = value(&rule.value_from, viewer).map_err(|problem| failed(rule, &problem))?;
        let given = request.set_by_caller.clone();
        let holds = |set: &OsString| contains(set.as_bytes(), value.as_bytes());
        request.environment.retain(|(name, set)| given.contains(name) || !holds(set));
        let value = match &rule.scheme {
            Some(scheme) => Secret::new(format!("{scheme} {value}")),
            None => Secret::new(value),
        };
        credentials.push(Credential {
            host: host.clone(),
            port: *port,
            header: rule.header.clone(),
            value,
            plain_http: rule.plain_http,
        });
    }
    Ok(credentials)
}

fn failed(rule: &CredentialRule, problem: &str) -> ServiceError {
    let host = rule.host.escape_debug();
    ServiceError::Request(format!("cannot use the credential for {host}: {problem}"))
}

/// Whether a text holds a secret. Short ones are in many texts by chance.
pub(in super::super) fn contains(text: &[u8], secret: &[u8]) -> bool {
    secret.len() >= SHORTEST && text.windows(secret.len()).any(|window| window == secret)
}

/// The value, or what is wrong; never a part of it.
fn value(source: &ValueSource, viewer: &Viewer) -> std::result::Result<String, String> {
    let bytes = match source {
        ValueSource::Env(name) => match viewer.variable(name) {
            Some(value) => value.as_bytes().to_vec(),
            None => return Err(format!("the variable {name} is not set")),
        },
        ValueSource::File(place) => {
            let path = viewer.path(place).ok_or_else(|| format!("there is no {place}"))?;
            read_regular(&path, LONGEST)
                .map_err(|error| format!("cannot read {}: {error}", path.display()))?
        }
        ValueSource::Command(command) => printed(command, viewer)?,
    };
    let text =
        String::from_utf8(bytes).map_err(|_| format!("the value of {source} is not text"))?;
    match text.trim() {
        "" => Err(format!("the {source} has no value")),
        text => Ok(text.to_owned()),
    }
}

/// What a program of the user prints.
fn printed(command: &[String], viewer: &Viewer) -> std::result::Result<Vec<u8>, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("`command` names no program".to_owned());
    };
    let fail = |what: &str| format!("{program} {what}");
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(viewer.variables.iter().map(|(name, value)| (name, value)))
        .current_dir(viewer.home.as_deref().unwrap_or(Path::new("/")))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| fail(&format!("cannot be run: {error}")))?;
    let pipe = child.stdout.take();
    let (sender, receiver) = mpsc::channel();
    let reading = std::thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.map(|pipe| pipe.take(LONGEST + 1).read_to_end(&mut bytes));
        // Whoever waited may have given up.
        drop(sender.send(read.map(|read| read.map(|_| bytes))));
    });
    let printed = reading.ok().and_then(|_| receiver.recv_timeout(PATIENCE).ok());
    if printed.is_none() {
        // It may be over already; then there is nothing to end.
        let killed = kill_process_group(Pid::from_child(&child), Signal::KILL);
        drop(killed.map_err(std::io::Error::from));
    }
    let status = child.wait().map_err(|error| fail(&format!("was lost: {error}")))?;
    match printed {
        None => Err(fail("printed nothing for too long")),
        Some(Some(Ok(bytes))) if bytes.len() as u64 > LONGEST => Err(fail("printed too much")),
        Some(Some(Ok(bytes))) if status.success() => Ok(bytes),
        Some(Some(Ok(_))) => Err(fail(&format!("failed ({status})"))),
        Some(_) => Err(fail("closed its output")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn viewer(variables: &[(&str, &str)]) -> Viewer {
        let own = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        Viewer { home: None, variables: variables.iter().map(own).collect() }
    }

    #[test]
    fn short_values_are_in_many_texts() {
        assert!(contains(b"Bearer hush-hush", b"hush-hush"));
        assert!(!contains(b"/usr/bin", b"bin"));
        assert!(!contains(b"", b"hush-hush"));
    }

    #[test]
    fn values_come_from_where_the_user_keeps_them() {
        let path = std::env::var("PATH").unwrap();
        let viewer = viewer(&[("TOKEN", "hush"), ("PATH", &path), ("EMPTY", "")]);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "hush\n").unwrap();
        let command = |words: &[&str]| {
            ValueSource::Command(words.iter().map(|word| (*word).to_owned()).collect())
        };
        for source in [
            ValueSource::Env("TOKEN".to_owned()),
            ValueSource::File(file.path().display().to_string()),
            command(&["echo", "hush"]),
            command(&["sh", "-c", "echo $TOKEN"]),
        ] {
            assert_eq!(value(&source, &viewer).as_deref(), Ok("hush"), "{source}");
        }
        for (source, problem) in [
            (ValueSource::Env("NONE".to_owned()), "the variable NONE is not set"),
            (ValueSource::Env("EMPTY".to_owned()), "the variable EMPTY is not set"),
            (ValueSource::File("/none/at/all".to_owned()), "cannot read /none/at/all"),
            (ValueSource::File("~/none".to_owned()), "there is no ~/none"),
            (command(&[]), "names no program"),
            (command(&["/none/at/all", "hush"]), "/none/at/all cannot be run"),
            (command(&["sh", "-c", "echo hush; exit 3"]), "sh failed (exit status: 3)"),
            (command(&["sh", "-c", "yes hush"]), "sh printed too much"),
            (command(&["true", "hush"]), "the command true has no value"),
        ] {
            let said = value(&source, &viewer).unwrap_err();
            assert!(said.contains(problem) && !said.contains("hush"), "{said}");
        }
    }
}
