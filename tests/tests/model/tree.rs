//! A state of files as a plain map.

use std::collections::BTreeMap;

/// Why the model refuses something; for people who read a failure.
pub(crate) type Refused = &'static str;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file, by the hash of its bytes.
    File([u8; 32]),
    Directory,
    Symlink(Vec<u8>),
}

/// When something was last modified. The model has no clock; it knows which times are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// As the host has it.
    Host(i64, u32),
    /// By this command.
    Step(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) stamp: Stamp,
}

/// All paths without a leading `/`; the top is the empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree(pub(crate) BTreeMap<String, Node>);

pub(crate) fn parent(path: &str) -> Option<&str> {
    if path.is_empty() {
        return None;
    }
    Some(path.rsplit_once('/').map_or("", |(parent, _)| parent))
}

fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

fn is_within(path: &str, directory: &str) -> bool {
    let below = path.strip_prefix(directory);
    directory.is_empty() || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Tree {
    fn is_directory(&self, path: &str) -> bool {
        self.0.get(path).is_some_and(|node| node.kind == Kind::Directory)
    }

    fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// Everything at and below a path, by what follows it.
    fn below(&self, path: &str) -> Vec<(String, Node)> {
        let inside = self.0.iter().filter(|(found, _)| is_within(found, path));
        inside.map(|(found, node)| (found[path.len()..].to_owned(), node.clone())).collect()
    }

    fn erase(&mut self, path: &str) {
        self.0.retain(|found, _| !is_within(found, path));
    }

    fn touch(&mut self, path: &str, stamp: Stamp) {
        if let Some(directory) = parent(path).and_then(|parent| self.0.get_mut(parent)) {
            directory.stamp = stamp;
        }
    }

    /// Puts something at a path in place of what is there.
    fn put(&mut self, path: &str, what: Vec<(String, Node)>, stamp: Stamp) -> Result<(), Refused> {
        if !parent(path).is_some_and(|parent| self.is_directory(parent)) {
            return Err("no directory to put it into");
        }
        if !self.has(path) {
            self.touch(path, stamp);
        }
        self.erase(path);
        self.0.extend(what.into_iter().map(|(rest, node)| (format!("{path}{rest}"), node)));
        Ok(())
    }

    fn make_directories(&mut self, path: &str, stamp: Stamp) -> Result<(), Refused> {
        if self.is_directory(path) {
            return Ok(());
        }
        if self.has(path) {
            return Err("not a directory");
        }
        self.make_directories(parent(path).unwrap_or_default(), stamp)?;
        self.put(path, vec![(String::new(), directory(stamp))], stamp)
    }

    pub(crate) fn write(
        &mut self,
        path: &str,
        hash: [u8; 32],
        parents: bool,
        stamp: Stamp,
    ) -> Result<(), Refused> {
        let mode = match self.0.get(path) {
            Some(Node { kind: Kind::File(before), .. }) if *before == hash => return Ok(()),
            Some(Node { kind: Kind::File(_), mode, .. }) => *mode,
            Some(_) => return Err("not a file"),
            None => 0o644,
        };
        if parents {
            self.make_directories(parent(path).unwrap_or_default(), stamp)?;
        }
        self.put(path, vec![(String::new(), Node { kind: Kind::File(hash), mode, stamp })], stamp)
    }

    pub(crate) fn mkdir(&mut self, path: &str, parents: bool, stamp: Stamp) -> Result<(), Refused> {
        if parents {
            return self.make_directories(path, stamp);
        }
        if self.has(path) {
            return Err("it exists");
        }
        self.put(path, vec![(String::new(), directory(stamp))], stamp)
    }

    pub(crate) fn remove(
        &mut self,
        path: &str,
        recursive: bool,
        stamp: Stamp,
    ) -> Result<(), Refused> {
        if path.is_empty() || !self.has(path) {
            return Err("nothing to remove");
        }
        if !recursive && self.below(path).len() > 1 {
            return Err("not empty");
        }
        self.touch(path, stamp);
        self.erase(path);
        Ok(())
    }

    /// Where something goes that is moved or copied.
    fn target(&self, from: &str, to: &str) -> Result<String, Refused> {
        if from.is_empty() || !self.has(from) {
            return Err("nothing to move or copy");
        }
        let into = self.is_directory(to) && from != to;
        let to = if into { join(to, name(from)) } else { to.to_owned() };
        if self.is_directory(from) && to != from && is_within(&to, from) {
            return Err("into itself");
        }
        if to != from && self.has(&to) && (self.is_directory(&to) || self.is_directory(from)) {
            return Err("a directory is in the way");
        }
        Ok(to)
    }

    pub(crate) fn rename(&mut self, from: &str, to: &str, stamp: Stamp) -> Result<(), Refused> {
        let to = self.target(from, to)?;
        if to == from {
            return Ok(());
        }
        let moved = self.below(from);
        self.touch(from, stamp);
        self.erase(from);
        self.put(&to, moved, stamp)
    }

    pub(crate) fn copy(
        &mut self,
        from: &str,
        to: &str,
        recursive: bool,
        stamp: Stamp,
    ) -> Result<(), Refused> {
        if self.is_directory(from) && (!recursive || from == to) {
            return Err("a directory");
        }
        let to = self.target(from, to)?;
        if to == from && self.is_directory(from) {
            return Err("a directory onto itself");
        }
        self.put(&to, self.below(from), stamp)
    }

    pub(crate) fn revert(
        &mut self,
        path: &str,
        source: &Self,
        stamp: Stamp,
    ) -> Result<(), Refused> {
        if !source.has(path) {
            return self.remove(path, true, stamp);
        }
        if path.is_empty() {
            *self = source.clone();
            return Ok(());
        }
        self.make_directories(parent(path).unwrap_or_default(), stamp)?;
        self.put(path, source.below(path), stamp)
    }
}

fn directory(stamp: Stamp) -> Node {
    Node { kind: Kind::Directory, mode: 0o755, stamp }
}
