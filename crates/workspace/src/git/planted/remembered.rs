//! What repositories remember beside their refs: logs, indexes, and files that name commits.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::VaultPath;

use super::held_refs::{Names, held};
use crate::error::Result;
use crate::git::merge::{Brought, Judge, Surroundings, is_id};
use crate::git::repository::{Refs, State, common, is_repository};

/// How git writes that another branch was checked out; it goes back by what follows.
const SWITCH: &[u8] = b"checkout: moving from ";

/// The repositories that were looked at.
pub(super) struct Looks<'a> {
    states: [State<'a>; 3],
    judge: &'a dyn Judge,
    all: BTreeMap<VaultPath, Look<'a>>,
}

/// One repository, or what belongs to a further working tree of one.
pub(super) struct Look<'a> {
    pub(super) brought: Brought<'a>,
    /// The host has none.
    pub(super) is_new: bool,
    /// Its refs that stay.
    pub(super) held: Names,
    /// What its refs name that do not stay.
    coming: Vec<Vec<u8>>,
    /// The branches that the host has, or gets.
    branches: BTreeSet<Vec<u8>>,
}

impl<'a> Looks<'a> {
    /// The states are those before and after the changes, and the folders.
    pub(super) fn new(states: [State<'a>; 3], judge: &'a dyn Judge) -> Self {
        Self { states, judge, all: BTreeMap::new() }
    }

    pub(super) fn known(&self, at: &VaultPath) -> Option<&Look<'a>> {
        self.all.get(at)
    }

    pub(super) fn add(&mut self, at: &VaultPath) -> Result<()> {
        if self.all.contains_key(at) {
            return Ok(());
        }
        if common(at) != *at {
            self.add(&common(at))?;
        }
        let [before, after, main] = self.states;
        let host = match is_repository(main.tree, at)? {
            true => Some(main),
            false => is_repository(before.tree, at)?.then_some(before),
        };
        let is_new = host.is_none();
        let top = host.unwrap_or(after).working_tree(at)?;
        let host = host.unwrap_or(main);
        let (judge, depth) = (self.judge, 0);
        let (base, folder, workspace) = (before, main, after);
        let around = Surroundings { host, base, folder, workspace, judge, depth };
        let brought = Brought::new(around, at, top)?;
        let (old, new) = (own_refs(before, at)?, own_refs(after, at)?);
        let (held, coming) = held(at, (&old, &new), self.states, (&brought, is_new))?;
        let shared = self.all.get(&common(at)).map_or(&held, |look| &look.held);
        let new = after.refs(at)?.into_keys().filter(|name| !shared.contains_key(name));
        let branch = |name: Vec<u8>| Some(name.strip_prefix(b"refs/heads/")?.to_vec());
        let branches = new.chain(main.refs(at)?.into_keys()).filter_map(branch).collect();
        self.all.insert(at.clone(), Look { brought, is_new, held, coming, branches });
        Ok(())
    }
}

impl Look<'_> {
    /// Whether a file names a commit that brings what something on the host runs or obeys. Lines start with what they name; those of logs
    /// with what a ref was and what it became.
    pub(super) fn leads_to_some(&self, path: &VaultPath, text: &[u8]) -> Result<bool> {
        let is_stash = path.names().ends_with(&[b"refs".to_vec(), b"stash".to_vec()])
            || path.name() == Some(b"MERGE_AUTOSTASH");
        for line in text.split(|byte| *byte == b'\n') {
            if self.is_in_line(line, is_stash)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A log without the new lines that name such commits, or that git would go back to other places by; nothing where there are none.
    pub(super) fn without_lines(
        &self,
        text: &[u8],
        known: &[Option<Vec<u8>>; 2],
    ) -> Result<Option<Vec<u8>>> {
        let lines = |text| <[u8]>::split_inclusive(text, |byte: &u8| *byte == b'\n');
        let known: BTreeSet<&[u8]> = known.iter().flatten().flat_map(|text| lines(text)).collect();
        let mut kept = Vec::with_capacity(text.len());
        for line in lines(text) {
            let stays = !known.contains(line)
                && (self.is_in_line(line, false)? || self.goes_astray(line)?);
            if !stays {
                kept.extend_from_slice(line);
            }
        }
        Ok((kept != text).then_some(kept))
    }

    /// Whether `git checkout -` and the like would take a line for the way back to anything but a branch or a commit that brings nothing.
    fn goes_astray(&self, line: &[u8]) -> Result<bool> {
        for origin in origins(line) {
            let is_astray = match is_id(origin) {
                true => self.brought.is_in(origin, None)?,
                false => !is_plain_name(origin) || !self.branches.contains(origin),
            };
            if is_astray {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_in_line(&self, line: &[u8], is_stash: bool) -> Result<bool> {
        for word in line.split(u8::is_ascii_whitespace).take(2) {
            let is_in = match is_stash {
                _ if !is_id(word) => false,
                true => self.brought.is_in_stash(word, None, &self.coming)?,
                false => self.brought.is_in(word, None)?,
            };
            if is_in {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What a line of a log says was left, wherever in the line: git finds the message without a tab before it too.
fn origins(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let after = |(at, word): (usize, &[u8])| (word == SWITCH).then(|| &line[at + SWITCH.len()..]);
    let rest = line.windows(SWITCH.len()).enumerate().filter_map(after);
    rest.map(|rest| {
        let end = rest.windows(4).position(|word| word == b" to ");
        rest[..end.unwrap_or(rest.len())].trim_ascii_end()
    })
}

/// Whether git takes a name for that of a ref and for nothing else, also once the ref is gone: neither for an expression, nor for the start of an
/// id, which may follow `-g` as well.
fn is_plain_name(name: &[u8]) -> bool {
    let is_special = |byte: &u8| byte.is_ascii_control() || b" ~^:?*[\\".contains(byte);
    let has = |pair: &[u8]| name.windows(2).any(|found| found == pair);
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let start = &name[..name.len() - digits];
    let is_short_id = digits >= 4 && (start.is_empty() || start.ends_with(b"-g"));
    !name.is_empty()
        && !name.iter().any(is_special)
        && !has(b"@{")
        && !has(b"..")
        && !name.starts_with(b"-")
        && !is_short_id
}

/// The refs of a repository; of a further working tree those that it has for itself.
fn own_refs(state: State<'_>, at: &VaultPath) -> Result<Refs> {
    match common(at) == *at {
        true => state.refs(at),
        false => state.loose_refs(at, &at.join(b"refs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_back_is_found_wherever_git_finds_it() {
        let found = |line: &str| -> Vec<String> {
            let line = line.as_bytes().to_vec();
            origins(&line).map(|name| String::from_utf8_lossy(name).into_owned()).collect()
        };
        assert_eq!(found("1 2 u <u@x> 1 +0000\tcheckout: moving from a/b to c\n"), ["a/b"]);
        assert_eq!(found("1 2 u <u@x> 1 +0000checkout: moving from a to b to c\n"), ["a"]);
        assert_eq!(found("1 2 u <u@x> 1 +0000\tcheckout: moving from a\n"), ["a"]);
        let twice = "1 2 checkout: moving from a to b <u@x> 1 +0000\tcheckout: moving from c to d";
        assert_eq!(found(twice), ["a", "c"]);
        assert!(found("1 2 u <u@x> 1 +0000\tcommit: moving from a to b\n").is_empty());
    }

    #[test]
    fn only_names_of_refs_are_plain() {
        for name in ["main", "a/b", "fix-1234", "v1.2", "beefy", "x-gold", "feature-good"] {
            assert!(is_plain_name(name.as_bytes()), "{name}");
        }
        let others = [
            "",
            "main~1",
            "a^",
            "HEAD:x",
            "@{-1}",
            "a..b",
            "a b",
            "-x",
            "beef",
            "v1-3-gabcd",
            ":/x",
        ];
        for name in others {
            assert!(!is_plain_name(name.as_bytes()), "{name}");
        }
    }
}
