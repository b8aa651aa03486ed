//! Named groups of hosts, from a table that is part of the program.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

/// Hosts that are allowed together, by one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetGroup {
    /// What it is called in a rule.
    pub name: String,
    /// What it is, for people.
    pub about: String,
    /// Its rules, as they could stand on the command line.
    pub hosts: Vec<String>,
}

#[derive(Deserialize)]
struct Entry {
    about: String,
    hosts: Vec<String>,
}

/// All groups, by name.
pub fn groups() -> &'static [NetGroup] {
    static GROUPS: OnceLock<Vec<NetGroup>> = OnceLock::new();
    GROUPS.get_or_init(|| {
        let table: BTreeMap<String, Entry> =
            toml::from_str(include_str!("../groups.toml")).expect("the built-in table is valid");
        let group = |(name, entry): (String, Entry)| NetGroup {
            name,
            about: entry.about,
            hosts: entry.hosts,
        };
        table.into_iter().map(group).collect()
    })
}
