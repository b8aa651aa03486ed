//! The table of keys: the one place that says what exists and what each may be.

use offshoot_protocol::{
    AbandonedWork, ApprovalFallback, CommitTimes, CredentialMode, DriverChoice, Network, When, Word,
};

use super::value::Kind;

/// One setting that can be made.
#[derive(Debug)]
pub(super) struct Key {
    /// Section and name, as in `diff.context`.
    pub(super) name: &'static str,
    /// What it may be set to.
    pub(super) kind: Kind,
}

const YEAR: u64 = 365 * 24 * 60 * 60;

const WHEN: Kind = Kind::Choice(When::names);

/// Every key, in the order in which they are shown.
pub(super) const KEYS: &[Key] = &[
    Key { name: "ui.color", kind: WHEN },
    Key { name: "ui.progress", kind: WHEN },
    Key { name: "ui.pager", kind: Kind::Command },
    Key { name: "ui.hints", kind: Kind::Boolean },
    Key { name: "diff.context", kind: Kind::Integer { min: 0, max: 1_000 } },
    Key { name: "diff.renames", kind: Kind::Boolean },
    Key { name: "diff.rename_similarity", kind: Kind::Integer { min: 1, max: 100 } },
    Key { name: "diff.max_text_bytes", kind: Kind::Size { max: 1 << 30 } },
    Key {
        name: "workspace.ephemeral_ttl",
        kind: Kind::Duration { min_seconds: 1, max_seconds: YEAR },
    },
    Key { name: "exec.timeout", kind: Kind::Duration { min_seconds: 0, max_seconds: YEAR } },
    Key { name: "exec.grace", kind: Kind::Duration { min_seconds: 0, max_seconds: 3_600 } },
    Key { name: "exec.output_limit", kind: Kind::Size { max: 1 << 30 } },
    Key { name: "exec.driver", kind: Kind::Choice(DriverChoice::names) },
    Key { name: "exec.refresh", kind: Kind::Boolean },
    Key { name: "exec.hard_link_bytes", kind: Kind::Size { max: 1 << 50 } },
    Key { name: "exec.broker", kind: Kind::Boolean },
    Key { name: "exec.net", kind: Kind::Choice(Network::names) },
    Key { name: "exec.allow", kind: Kind::Hosts },
    Key { name: "exec.max_processes", kind: Kind::Integer { min: 0, max: 4_194_304 } },
    Key { name: "exec.max_file_size", kind: Kind::Size { max: 1 << 60 } },
    Key { name: "exec.max_memory", kind: Kind::Size { max: 1 << 60 } },
    Key { name: "exec.max_tmpfs", kind: Kind::Size { max: 1 << 60 } },
    Key { name: "exec.max_cpu", kind: Kind::Duration { min_seconds: 0, max_seconds: YEAR } },
    Key { name: "exec.max_disk", kind: Kind::Size { max: 1 << 60 } },
    Key { name: "cache.enabled", kind: Kind::Boolean },
    Key { name: "cache.skip", kind: Kind::Names(offshoot_workspace::cache_names) },
    Key { name: "cache.max_size", kind: Kind::Size { max: 1 << 60 } },
    Key { name: "agents.credentials", kind: Kind::Choice(CredentialMode::names) },
    Key { name: "agents.inject", kind: Kind::Presets },
    Key { name: "agents.host_state", kind: Kind::Presets },
    Key { name: "agents.trusted", kind: Kind::Presets },
    Key { name: "agents.max_cache", kind: Kind::Size { max: 1 << 60 } },
    Key { name: "agent.model", kind: Kind::Model },
    Key { name: "agent.models", kind: Kind::Models },
    Key { name: "agent.failover", kind: Kind::Models },
    Key { name: "agent.attempts", kind: Kind::Integer { min: 1, max: 20 } },
    Key { name: "agent.mcp", kind: Kind::Servers },
    Key { name: "agent.max_cost", kind: Kind::Money { max: 1_000_000_000_000 } },
    Key { name: "agent.max_turns", kind: Kind::Integer { min: 0, max: 1_000_000 } },
    Key { name: "agent.max_time", kind: Kind::Duration { min_seconds: 0, max_seconds: YEAR } },
    Key { name: "policy.rego_timeout", kind: Kind::Duration { min_seconds: 0, max_seconds: 60 } },
    Key { name: "approvals.expire", kind: Kind::Duration { min_seconds: 1, max_seconds: YEAR } },
    Key { name: "approvals.fallback", kind: Kind::Choice(ApprovalFallback::names) },
    Key { name: "approvals.approvers", kind: Kind::Accounts },
    Key { name: "approvals.notify", kind: Kind::Command },
    Key { name: "approvals.elicitation", kind: Kind::Boolean },
    Key { name: "commit.times", kind: Kind::Choice(CommitTimes::names) },
    Key { name: "recover.abandoned", kind: Kind::Choice(AbandonedWork::names) },
    Key { name: "compact.auto", kind: Kind::Boolean },
    Key { name: "compact.depth", kind: Kind::Integer { min: 2, max: 400 } },
    Key { name: "run.timeout", kind: Kind::Duration { min_seconds: 0, max_seconds: YEAR } },
    Key { name: "import.threads", kind: Kind::Integer { min: 0, max: 256 } },
    Key { name: "gc.auto", kind: Kind::Boolean },
    Key { name: "gc.auto_operations", kind: Kind::Integer { min: 1, max: 1_000_000_000 } },
    Key { name: "gc.auto_size", kind: Kind::Size { max: 1 << 60 } },
    Key { name: "gc.keep_operations", kind: Kind::Integer { min: 0, max: 1_000_000_000 } },
    Key { name: "gc.keep_age", kind: Kind::Duration { min_seconds: 0, max_seconds: 100 * YEAR } },
    Key { name: "gc.max_size", kind: Kind::Size { max: 1 << 60 } },
    Key {
        name: "store.busy_timeout",
        kind: Kind::Duration { min_seconds: 0, max_seconds: 24 * 60 * 60 },
    },
];

/// The names of all keys.
///
/// ```
/// use offshoot_engine::settings::key_names;
///
/// assert!(key_names().any(|key| key == "exec.timeout"));
/// ```
pub fn names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
}

/// The key of that name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Whether any key lies in a section of that name.
pub(super) fn is_section(name: &str) -> bool {
    KEYS.iter().any(|key| section_of(key.name) == name)
}

/// The key that somebody who wrote `name` most likely meant.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    // Below this, suggestions look random.
    const ALIKE: f64 = 0.8;
    let likeness = |key: &str| {
        let (section, leaf) = key.split_once('.').unwrap_or(("", key));
        // A key without its section, or a section alone, is compared with just that part.
        [key, section, leaf]
            .map(|part| strsim::jaro_winkler(name, part))
            .into_iter()
            .fold(0.0, f64::max)
    };
    KEYS.iter()
        .map(|key| (likeness(key.name), strsim::jaro(name, key.name), key.name))
        .filter(|(best, _, _)| *best >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)))
        .map(|(_, _, key)| key)
}

fn section_of(key: &str) -> &str {
    key.split_once('.').map_or(key, |(section, _)| section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_key_that_was_meant() {
        for (written, meant) in [
            ("diff.contxt", "diff.context"),
            ("dif.context", "diff.context"),
            ("diff_context", "diff.context"),
            ("diff.rename", "diff.renames"),
            ("diff.similarity", "diff.rename_similarity"),
            ("color", "ui.color"),
            ("ui.colour", "ui.color"),
            ("ephemeral_ttl", "workspace.ephemeral_ttl"),
            ("store.busy-timeout", "store.busy_timeout"),
            ("stor", "store.busy_timeout"),
        ] {
            assert_eq!(nearest(written), Some(meant), "{written}");
        }
    }

    #[test]
    fn suggests_nothing_for_something_else() {
        for written in ["", "zzz", "telemetry.sink", "\u{1f600}"] {
            assert_eq!(nearest(written), None, "{written}");
        }
    }

    #[test]
    fn each_key_is_one_name_in_one_section() {
        for key in KEYS {
            assert_eq!(key.name.matches('.').count(), 1, "{}", key.name);
            assert!(!key.name.contains("__"), "{}", key.name);
            assert!(is_section(section_of(key.name)));
        }
        assert!(!is_section("nothing"));
    }
}
