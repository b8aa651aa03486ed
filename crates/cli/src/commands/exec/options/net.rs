//! The values of `--net`.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use offshoot_engine::sandbox::check_hosts;
use offshoot_protocol::{Network, Word};

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
pub(super) struct NetParser;

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
                    format!("not one of {names} or allow=HOSTS")
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
