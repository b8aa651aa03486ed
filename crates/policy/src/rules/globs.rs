//! Globs of many rules, compared at once.

use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

/// How `*` reads a slash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slash {
    /// As any other character.
    Plain,
    /// As the end of a name: only `**` goes past it.
    Separates,
}

/// A set of globs, each with the place of its rule.
#[derive(Debug, Default)]
pub(crate) struct Globs {
    set: GlobSet,
    owners: Vec<usize>,
}

impl Globs {
    /// Compiles globs, each with the place of its rule.
    pub(crate) fn new<'a>(
        globs: impl IntoIterator<Item = (usize, &'a str)>,
        slash: Slash,
    ) -> Result<Self, globset::Error> {
        let mut set = GlobSetBuilder::new();
        let mut owners = Vec::new();
        for (owner, glob) in globs {
            let mut add = |glob: &str| {
                let separates = slash == Slash::Separates;
                set.add(GlobBuilder::new(glob).literal_separator(separates).build()?);
                owners.push(owner);
                Ok::<_, globset::Error>(())
            };
            add(glob)?;
            // All below a directory, and the directory: deleting it deletes all below it.
            let directory = glob.strip_suffix("/**").filter(|directory| !directory.is_empty());
            if let (Slash::Separates, Some(directory)) = (slash, directory) {
                add(directory)?;
            }
        }
        Ok(Self { set: set.build()?, owners })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Adds the places of the rules that have a glob for this text.
    pub(crate) fn add_hits(&self, text: &str, hits: &mut Vec<usize>) {
        if self.is_empty() {
            return;
        }
        let found = self.set.matches_candidate(&Candidate::from_bytes(text));
        hits.extend(found.into_iter().map(|index| self.owners[index]));
    }
}
