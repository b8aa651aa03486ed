//! The values of `--net`.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use offshoot_engine::sandbox::check_hosts;
use offshoot_protocol::{Network, Word};

use crate::error::CliError;

/// How rules begin.
const ALLOW: &str = "allow=";

/// One value of `--net`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Net {
    /// One of the words.
    Mode(Network),
    /// Rules of hosts, with commas between them.
    Allow(String),
}

/// Takes a word or rules.
#[derive(Clone)]
pub(crate) struct NetParser;

/// What several values say together: what can be reached, and the rules of hosts; none where nobody said.
pub(crate) fn net(values: &[Net]) -> Result<Option<(Network, Vec<String>)>, CliError> {
    let allowed = |net: &Net| match net {
        Net::Allow(rules) => Some(rules.clone()),
        Net::Mode(_) => None,
    };
    match values {
        [] => Ok(None),
        [Net::Mode(network)] => Ok(Some((*network, Vec::new()))),
        several => match several.iter().map(allowed).collect() {
            Some(rules) => Ok(Some((Network::Proxy, rules))),
            None => Err(CliError::usage(
                "--net can be repeated with allow= only: `--net allow=HOST --net allow=HOST`",
            )),
        },
    }
}

impl TypedValueParser for NetParser {
    type Value = Net;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Net, Error> {
        let text = value.to_string_lossy();
        let problem = match text.strip_prefix(ALLOW) {
            Some("") => "allow= needs hosts: allow=example.com,registries".to_owned(),
            Some(rules) => match check_hosts(rules) {
                Ok(()) => return Ok(Net::Allow(rules.to_owned())),
                Err(problem) => problem,
            },
            None => match text.parse() {
                Ok(mode) => return Ok(Net::Mode(mode)),
                Err(_) => {
                    let names = Network::names().join(", ");
                    let meant = check_hosts(&text).is_ok() && text.contains('.');
                    let meant =
                        if meant { format!("; did you mean allow={text}?") } else { String::new() };
                    format!("not one of {names} or allow=HOSTS{meant}")
                }
            },
        };
        let mut error = Error::raw(
            ErrorKind::ValueValidation,
            format!("invalid value '{}' for '--net <NET>': {problem}\n", text.escape_debug()),
        )
        .with_cmd(command);
        if let Some(argument) = argument {
            let shown = ContextValue::String(argument.to_string());
            error.insert(ContextKind::InvalidArg, shown);
        }
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words =
            Network::ALL.iter().map(|word| PossibleValue::new(word.as_str()).help(word.meaning()));
        let allow =
            "These hosts, by the network proxy: allow=example.com,*.example.org:8443,registries";
        Some(Box::new(words.chain([PossibleValue::new(ALLOW).help(allow)])))
    }
}
