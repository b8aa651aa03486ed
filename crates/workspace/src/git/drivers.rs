//! Programs that the settings of a repository name under names of its own choice, and what is set in their place.
//!
//! Settings with fixed names are overridden by the list in `run`. Filters, drivers and hooks have any name, so the names are read from the
//! settings themselves. What a person set for all of their repositories stays: it is not the repository that names it.

use std::collections::{BTreeMap, BTreeSet};

/// What is set instead of what a repository says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Overrides {
    /// Keys and values, in the order in which they are to be set.
    pub(super) pairs: Vec<(String, String)>,
    /// Filters that do not run.
    pub(super) filters: BTreeSet<String>,
}

/// The last names of keys that name programs, by their section, and what is harmless in their place.
///
/// Without its driver git would merge with what it has: one that fails makes a conflict of it.
const HARMLESS: &[(&str, &str, &str)] = &[
    ("filter", "clean", ""),
    ("filter", "smudge", ""),
    ("filter", "process", ""),
    ("diff", "command", "false"),
    ("diff", "textconv", "cat"),
    ("merge", "driver", "false"),
    ("hook", "command", "true"),
    ("trailer", "command", "true"),
    ("trailer", "cmd", "true"),
    ("tar", "command", "false"),
    ("lfs", "clean", "false"),
    ("lfs", "smudge", "false"),
    ("lfs", "path", "false"),
    ("submodule", "update", "none"),
    ("credential", "helper", ""),
    ("gpg", "program", "false"),
    ("gpg", "defaultkeycommand", "false"),
    ("remote", "vcs", ""),
];

impl Overrides {
    /// Reads what `git config --list -z --show-scope` prints.
    pub(super) fn read(listed: &[u8]) -> Self {
        let text = String::from_utf8_lossy(listed);
        let mut parts = text.split('\0');
        let (mut own, mut named) = (BTreeMap::new(), BTreeMap::new());
        while let (Some(scope), Some(pair)) = (parts.next(), parts.next()) {
            let (key, value) = pair.split_once('\n').unwrap_or((pair, ""));
            let Some(harmless) = harmless(key) else { continue };
            match scope {
                "local" | "worktree" => drop(named.insert(key.to_owned(), harmless)),
                "command" => {}
                _ => drop(own.insert(key.to_owned(), value.to_owned())),
            }
        }
        let mut overrides = Self::default();
        for (key, harmless) in named {
            let value = own.get(&key).cloned().unwrap_or_else(|| harmless.to_owned());
            if let Some(name) = filter_name(&key).filter(|_| !own.contains_key(&key)) {
                overrides.filters.insert(name.to_owned());
            }
            overrides.pairs.push((key, value));
        }
        // Git may compare such files as they are; whoever stores one asks first whether its filter is missing.
        let required = |name: &String| (format!("filter.{name}.required"), "false".to_owned());
        overrides.pairs.extend(overrides.filters.iter().map(required).collect::<Vec<_>>());
        overrides
    }

    /// The variables that tell git. They take any name, where `-c` would take one with `=` in it for another.
    pub(super) fn variables(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let count = ("GIT_CONFIG_COUNT".to_owned(), self.pairs.len().to_string());
        let pairs = self.pairs.iter().enumerate().flat_map(|(at, (key, value))| {
            let key = (format!("GIT_CONFIG_KEY_{at}"), key.clone());
            [key, (format!("GIT_CONFIG_VALUE_{at}"), value.clone())]
        });
        std::iter::once(count).chain(pairs)
    }
}

/// What is harmless in the place of a key that names a program.
fn harmless(key: &str) -> Option<&'static str> {
    let (section, rest) = key.split_once('.')?;
    let last = rest.rsplit('.').next()?;
    let found = HARMLESS.iter().find(|(of, name, _)| *of == section && *name == last);
    found.map(|(_, _, harmless)| *harmless)
}

fn filter_name(key: &str) -> Option<&str> {
    let (name, _) = key.strip_prefix("filter.")?.rsplit_once('.')?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: &[(&str, &str, &str)]) -> Vec<(String, String)> {
        let text = rows.iter().map(|(scope, key, value)| format!("{scope}\0{key}\n{value}\0"));
        Overrides::read(text.collect::<String>().as_bytes()).pairs
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_a_repository_names_is_set_otherwise() {
        let rows = [
            ("local", "filter.a=b.c.clean", "evil"),
            ("worktree", "merge.x.driver", "evil"),
            ("local", "core.bare", "false"),
            ("command", "core.pager", "cat"),
        ];
        let wanted = [
            ("filter.a=b.c.clean", ""),
            ("merge.x.driver", "false"),
            ("filter.a=b.c.required", "false"),
        ];
        assert_eq!(read(&rows), pairs(&wanted));
    }

    #[test]
    fn what_a_person_set_for_all_repositories_stays() {
        assert_eq!(read(&[("global", "filter.lfs.clean", "git-lfs clean -- %f")]), []);
        let both = [
            ("system", "filter.lfs.clean", "old"),
            ("global", "filter.lfs.clean", "git-lfs clean -- %f"),
            ("local", "filter.lfs.clean", "evil"),
        ];
        assert_eq!(read(&both), pairs(&[("filter.lfs.clean", "git-lfs clean -- %f")]));
    }

    #[test]
    fn a_setting_without_a_value_is_one() {
        let found = Overrides::read(b"local\0filter.x.clean\0local\0core.bare\nfalse\0");
        assert_eq!(found.filters.len(), 1);
    }
}
