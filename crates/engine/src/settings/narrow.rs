//! What a project's file may do with each key.
//!
//! Commands in a workspace can write that file, and so can whoever made the repository. So it may ask for less than its reader has, and
//! never for more: what would widen something is left out, and told.

use std::fmt;
use std::time::Duration;

use offshoot_protocol::ProjectRule;
use serde_json::Value as Json;

use super::error::SettingPlace;
use super::value::names;
use super::{duration, keys};

/// How a project's file may narrow a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// It sets whatever it wants: nothing depends on it but how things look or how fast they are.
    Free,
    /// No more than its reader has.
    Lower,
    /// The same where 0 is no limit at all.
    LowerLimit,
    /// No less than its reader has.
    Raise,
    /// It may turn it off.
    Off,
    /// Only this word, which turns it off.
    Only(&'static str),
    /// What it names is added to what its reader names.
    Add,
    /// One of those that its reader lists by another key.
    Among(&'static str),
    /// Nothing: it is about what others run, and whether what commands did can be taken back.
    Never,
}

use Rule::{Add, Among, Free, Lower, LowerLimit, Never, Off, Only, Raise};

/// Every key. What is not here is the user's alone, so that a key that somebody forgot widens nothing; a test finds it.
const RULES: &[(&str, Rule)] = &[
    ("ui.color", Free),
    ("ui.progress", Free),
    ("ui.pager", Never),
    ("ui.hints", Free),
    ("diff.context", Free),
    ("diff.renames", Free),
    ("diff.rename_similarity", Free),
    ("diff.max_text_bytes", Raise),
    ("workspace.ephemeral_ttl", Raise),
    ("exec.timeout", LowerLimit),
    ("exec.grace", Lower),
    ("exec.output_limit", Lower),
    ("exec.driver", Free),
    ("exec.refresh", Free),
    ("exec.hard_link_bytes", Lower),
    ("exec.broker", Off),
    ("exec.net", Only("none")),
    ("exec.allow", Never),
    ("exec.max_processes", LowerLimit),
    ("exec.max_file_size", LowerLimit),
    ("exec.max_memory", LowerLimit),
    ("exec.max_tmpfs", LowerLimit),
    ("exec.max_cpu", LowerLimit),
    ("exec.max_disk", LowerLimit),
    ("cache.enabled", Off),
    ("cache.skip", Add),
    ("cache.max_size", Lower),
    ("agents.credentials", Only("none")),
    ("agents.inject", Never),
    ("agents.host_state", Never),
    ("agents.trusted", Never),
    ("agents.max_cache", Lower),
    ("agent.model", Among("agent.models")),
    ("agent.models", Never),
    ("agent.failover", Never),
    ("agent.attempts", Lower),
    ("agent.mcp", Never),
    ("agent.max_cost", LowerLimit),
    ("agent.max_turns", LowerLimit),
    ("agent.max_time", LowerLimit),
    ("policy.rego_timeout", Lower),
    ("approvals.expire", Never),
    ("approvals.fallback", Never),
    ("approvals.approvers", Never),
    ("approvals.notify", Never),
    ("approvals.elicitation", Never),
    ("commit.times", Free),
    ("recover.abandoned", Never),
    ("compact.auto", Free),
    ("compact.depth", Free),
    ("run.timeout", LowerLimit),
    ("import.threads", Free),
    ("gc.auto", Off),
    ("gc.auto_operations", Raise),
    ("gc.auto_size", Raise),
    ("gc.keep_operations", Never),
    ("gc.keep_age", Never),
    ("gc.max_size", Never),
    ("store.busy_timeout", Lower),
];

/// A setting of a project's file that is left out.
///
/// ```
/// use offshoot_engine::settings::{Sources, load};
///
/// for setting in load(&Sources::default())?.ignored() {
///     println!("{setting}");
/// }
/// # Ok::<(), offshoot_engine::settings::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredSetting {
    /// Where it was written.
    pub place: SettingPlace,
    /// The key.
    pub key: &'static str,
    /// Why, after the value that it has there.
    why: String,
}

impl fmt::Display for IgnoredSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} is ignored: {}", self.place, self.key, self.why)
    }
}

/// What a project's file may do with a key.
pub(super) fn rule(name: &str) -> Rule {
    RULES.iter().find(|(key, _)| *key == name).map_or(Never, |(_, rule)| *rule)
}

/// What a project's file may do with a key.
pub(crate) fn project_rule(name: &str) -> ProjectRule {
    rule(name).word()
}

impl Rule {
    /// The same in a word.
    pub(super) fn word(self) -> ProjectRule {
        match self {
            Free => ProjectRule::Free,
            Never => ProjectRule::Never,
            _ => ProjectRule::Narrow,
        }
    }

    /// For a comment behind the origin; nothing where there is nothing to know.
    pub(super) fn note(self) -> &'static str {
        match self {
            Free => "",
            Lower | LowerLimit => "; a project may only lower it",
            Raise => "; a project may only raise it",
            Off | Only(_) => "; a project may only turn it off",
            Add => "; a project may only add to it",
            Among(_) => "; a project may only choose from your list",
            Never => "; only you set it",
        }
    }
}

/// The key of the reader's that a project's value is compared with.
pub(super) fn compared(key: &'static str) -> &'static str {
    match rule(key) {
        Among(list) => list,
        _ => key,
    }
}

/// The value that a key gets where a project asks for one and its reader has another, by the key that it is compared with.
pub(super) fn narrowed(
    key: &'static str,
    place: &SettingPlace,
    reader: &Json,
    project: Json,
) -> Result<Json, IgnoredSetting> {
    let rule = rule(key);
    let is_narrower = match rule {
        Free => true,
        Never => false,
        Lower => amount(&project) <= amount(reader),
        Raise => amount(&project) >= amount(reader),
        LowerLimit => limit(&project) <= limit(reader),
        Off => project == Json::Bool(false),
        Only(word) => project.as_str() == Some(word),
        Add => return Ok(both(reader, &project)),
        Among(_) => {
            let listed = reader.as_str().unwrap_or_default();
            project.as_str().is_some_and(|one| names(listed).any(|name| name == one.trim()))
        }
    };
    if is_narrower {
        return Ok(project);
    }
    let shown = |value: &Json| {
        let text = keys::find(key).map(|key| key.kind.to_toml(value));
        text.unwrap_or_else(|| value.to_string())
    };
    let why = match rule {
        Never => "only you decide that".to_owned(),
        Raise => format!("a project may only raise it, and you have {}", shown(reader)),
        Off | Only(_) => "a project may only turn it off".to_owned(),
        Among(list) => format!("a project may only choose from your {list}"),
        _ => format!("a project may only lower it, and you have {}", shown(reader)),
    };
    Err(IgnoredSetting { place: place.clone(), key, why })
}

/// A number, a size in bytes, or a duration in nanoseconds.
fn amount(value: &Json) -> u128 {
    let length = value.as_str().and_then(duration::parse).as_ref().map(Duration::as_nanos);
    length.or_else(|| value.as_u64().map(u128::from)).unwrap_or(u128::MAX)
}

/// The same where nothing means as much as there is.
fn limit(value: &Json) -> u128 {
    match amount(value) {
        0 => u128::MAX,
        amount => amount,
    }
}

/// The names of two lists.
fn both(reader: &Json, project: &Json) -> Json {
    let mut all: Vec<&str> = names(reader.as_str().unwrap_or_default()).collect();
    for name in names(project.as_str().unwrap_or_default()) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all.join(",").into()
}

#[cfg(test)]
mod tests {
    use super::super::keys::KEYS;
    use super::*;

    #[test]
    fn every_key_is_decided_about() {
        let decided: Vec<&str> = RULES.iter().map(|(key, _)| *key).collect();
        let keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(decided, keys);
    }

    #[test]
    fn nothing_is_widened() {
        let place = SettingPlace::Flag;
        let asks = |key, reader: Json, project: Json| narrowed(key, &place, &reader, project).ok();
        for (key, reader, wider, narrower) in [
            ("exec.timeout", Json::from("5m"), Json::from("1h"), Json::from("1m")),
            ("exec.timeout", "5m".into(), "0s".into(), "5m".into()),
            ("exec.max_memory", 1000.into(), 0.into(), 10.into()),
            ("exec.max_processes", 10.into(), 11.into(), 9.into()),
            ("exec.output_limit", 1000.into(), 1001.into(), 0.into()),
            ("exec.net", "none".into(), "host".into(), "none".into()),
            ("exec.broker", false.into(), true.into(), false.into()),
            ("gc.auto", false.into(), true.into(), false.into()),
            ("workspace.ephemeral_ttl", "24h".into(), "1s".into(), "48h".into()),
            // What its reader lists by another key.
            ("agent.model", "a/x, b/y".into(), "a/z".into(), "b/y".into()),
            ("agent.model", "a/x".into(), "".into(), "a/x".into()),
            ("agent.max_cost", 1000.into(), 0.into(), 999.into()),
            ("agent.max_turns", 10.into(), 11.into(), 9.into()),
            ("agent.max_time", "1h".into(), "2h".into(), "1m".into()),
            ("agent.attempts", 4.into(), 5.into(), 1.into()),
            // What a review shows is not a project's to take away.
            ("diff.max_text_bytes", 1000.into(), 0.into(), 1001.into()),
        ] {
            assert_eq!(asks(key, reader.clone(), wider), None, "{key}");
            assert_eq!(asks(key, reader, narrower.clone()), Some(narrower), "{key}");
        }
        // Without a limit of the reader's own any limit is narrower.
        assert_eq!(asks("exec.max_memory", 0.into(), 7.into()), Some(7.into()));
        assert_eq!(asks("exec.net", "host".into(), "none".into()), Some("none".into()));
        assert_eq!(asks("cache.skip", "npm".into(), "pip".into()), Some("npm,pip".into()));
        for key in [
            "ui.pager",
            "agents.inject",
            "agents.host_state",
            "agents.trusted",
            "agent.models",
            "agent.failover",
            "agent.mcp",
            "recover.abandoned",
            "gc.keep_operations",
            "gc.keep_age",
        ] {
            assert_eq!(asks(key, 1.into(), 1.into()), None, "{key}");
        }
        assert_eq!(rule("made.up"), Never);
    }
}
