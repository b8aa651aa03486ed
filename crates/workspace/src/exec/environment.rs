//! Which variables a command gets.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Names that are passed on, and values that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentRules {
    /// Names to pass on from the caller; a `*` at the end stands for anything.
    pub pass: Vec<String>,
    /// Variables to set, whatever the caller has.
    pub set: Vec<(OsString, OsString)>,
}

impl EnvironmentRules {
    /// The variables that the command gets, sorted by name.
    pub fn apply(
        &self,
        caller: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let mut kept: Vec<(OsString, OsString)> =
            caller.into_iter().filter(|(name, _)| self.passes(name)).collect();
        for (name, value) in &self.set {
            kept.retain(|(other, _)| other != name);
            kept.push((name.clone(), value.clone()));
        }
        kept.sort();
        kept
    }

    fn passes(&self, name: &OsStr) -> bool {
        self.pass.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.as_bytes().starts_with(start.as_bytes()),
            None => name.as_bytes() == pattern.as_bytes(),
        })
    }
}

/// Variables by which tools that have no network give up at once. By themselves they try for up to a minute and more, since a network
/// that is switched off looks to them like one that fails.
const GIVE_UP: [(&str, &str); 3] =
    [("npm_config_fetch_retries", "0"), ("CARGO_NET_RETRY", "0"), ("PIP_RETRIES", "0")];

/// Variables by which tools try again soon, in milliseconds, where a host cannot be reached by the proxy. npm waits for 70 seconds otherwise.
const TRY_SOON: [(&str, &str); 2] =
    [("npm_config_fetch_retry_mintimeout", "500"), ("npm_config_fetch_retry_maxtimeout", "2000")];

/// Tells tools not to try again. Whoever set one of these variables knows better.
pub(super) fn give_up_at_once(environment: &mut Vec<(OsString, OsString)>) {
    add(environment, &GIVE_UP);
}

/// Tells tools not to wait for long before they try again. Whoever set one of these variables knows better.
pub(super) fn try_again_soon(environment: &mut Vec<(OsString, OsString)>) {
    add(environment, &TRY_SOON);
}

fn add(environment: &mut Vec<(OsString, OsString)>, variables: &[(&str, &str)]) {
    for (name, value) in variables {
        if !environment.iter().any(|(set, _)| set.eq_ignore_ascii_case(name)) {
            environment.push((name.into(), value.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_told_not_to_try_again() {
        let mut environment = vec![("NPM_CONFIG_FETCH_RETRIES".into(), "5".into())];
        give_up_at_once(&mut environment);
        let names: Vec<&OsStr> = environment.iter().map(|(name, _)| name.as_os_str()).collect();
        assert_eq!(names, ["NPM_CONFIG_FETCH_RETRIES", "CARGO_NET_RETRY", "PIP_RETRIES"]);
    }

    #[test]
    fn only_what_is_listed_is_passed_on() {
        let rules = EnvironmentRules {
            pass: vec!["PATH".to_owned(), "LC_*".to_owned()],
            set: vec![("A".into(), "set".into()), ("PATH".into(), "/bin".into())],
        };
        let caller = [("PATH", "/usr/bin"), ("LC_ALL", "C"), ("SECRET", "x"), ("PATHS", "y")];
        let caller = caller.map(|(name, value)| (name.into(), value.into()));
        let kept = rules.apply(caller);
        let expected = [("A", "set"), ("LC_ALL", "C"), ("PATH", "/bin")];
        assert_eq!(kept, expected.map(|(name, value)| (name.into(), value.into())));
    }
}
