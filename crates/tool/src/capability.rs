//! What a call may use.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

/// Something that a call may use, as one word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability(Cow<'static, str>);

impl Capability {
    /// Reading files of the workspace.
    pub const FILES: Self = Self(Cow::Borrowed("files"));
    /// Changing files of the workspace.
    pub const EDIT: Self = Self(Cow::Borrowed("edit"));
    /// Running commands.
    pub const RUN: Self = Self(Cow::Borrowed("run"));
    /// Fetching pages.
    pub const NETWORK: Self = Self(Cow::Borrowed("network"));
    /// Marking states and going back.
    pub const HISTORY: Self = Self(Cow::Borrowed("history"));
    /// Keeping notes with the session.
    pub const NOTES: Self = Self(Cow::Borrowed("notes"));
    /// Asking a person.
    pub const ASK: Self = Self(Cow::Borrowed("ask"));

    /// Those of the built-in tools.
    pub const BUILTIN: [Self; 7] =
        [Self::FILES, Self::EDIT, Self::RUN, Self::NETWORK, Self::HISTORY, Self::NOTES, Self::ASK];

    /// One by its word.
    pub fn new(word: impl Into<Cow<'static, str>>) -> Self {
        Self(word.into())
    }

    /// Its word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the calls of somebody may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Everything that is not in the set.
    inverted: bool,
    set: BTreeSet<Capability>,
}

impl Capabilities {
    /// Everything, also what tools of others need.
    pub fn all() -> Self {
        Self { inverted: true, set: BTreeSet::new() }
    }

    /// Nothing.
    pub fn none() -> Self {
        Self { inverted: false, set: BTreeSet::new() }
    }

    /// These.
    pub fn of(all: impl IntoIterator<Item = Capability>) -> Self {
        Self { inverted: false, set: all.into_iter().collect() }
    }

    /// This one too.
    #[must_use]
    pub fn with(mut self, capability: Capability) -> Self {
        match self.inverted {
            true => drop(self.set.remove(&capability)),
            false => drop(self.set.insert(capability)),
        }
        self
    }

    /// Not this one.
    #[must_use]
    pub fn without(mut self, capability: &Capability) -> Self {
        match self.inverted {
            true => drop(self.set.insert(capability.clone())),
            false => drop(self.set.remove(capability)),
        }
        self
    }

    /// Whether it is there.
    pub fn has(&self, capability: &Capability) -> bool {
        self.set.contains(capability) != self.inverted
    }
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_away_is_not_there() {
        let other = Capability::new("other");
        let all = Capabilities::all();
        assert!(all.has(&Capability::RUN) && all.has(&other));
        let less = all.without(&Capability::RUN);
        assert!(!less.has(&Capability::RUN) && less.has(&other));
        assert!(less.with(Capability::RUN).has(&Capability::RUN));
        let few = Capabilities::of([Capability::FILES]).with(Capability::EDIT);
        assert!(few.has(&Capability::EDIT) && !few.has(&other));
        assert!(!few.without(&Capability::EDIT).has(&Capability::EDIT));
        assert!(!Capabilities::none().has(&Capability::FILES));
    }
}
