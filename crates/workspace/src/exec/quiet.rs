//! Keeping git from tidying up where a command only looks.

use std::ffi::OsString;

use offshoot_policy::Verdict;

use super::envelope::ExecutionResult;
use super::request::ExecutionRequest;

/// What tells git to write nothing that it was not asked for.
const QUIET_GIT: (&str, &str) = ("GIT_OPTIONAL_LOCKS", "0");
/// The same for `git diff`, which does not heed that.
const QUIET_DIFF: (&str, &str) = ("diff.autoRefreshIndex", "false");

/// Keeps programs that only look from tidying up on the way: git would write its index anew, and run a hook of the project then.
pub(super) fn quieten(request: &mut ExecutionRequest, result: &ExecutionResult) {
    let read_only = |verdict: &Verdict| verdict.categories.is_read_only();
    let environment = &mut request.environment;
    if result.decision.as_ref().is_some_and(read_only)
        && !environment.iter().any(|(name, _)| name == QUIET_GIT.0)
    {
        environment.push((QUIET_GIT.0.into(), QUIET_GIT.1.into()));
        configure_git(environment, QUIET_DIFF);
    }
}

/// Adds a setting to those that git takes from its environment.
fn configure_git(environment: &mut Vec<(OsString, OsString)>, (key, value): (&str, &str)) {
    let count = environment.iter_mut().find(|(name, _)| name == "GIT_CONFIG_COUNT");
    let Some((_, count)) = count else { return };
    let Some(next) = count.to_str().and_then(|count| count.parse::<u32>().ok()) else { return };
    *count = (next + 1).to_string().into();
    environment.push((format!("GIT_CONFIG_KEY_{next}").into(), key.into()));
    environment.push((format!("GIT_CONFIG_VALUE_{next}").into(), value.into()));
}
