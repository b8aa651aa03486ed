//! Globs of many rules, compared at once.

use std::collections::HashSet;

use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

/// How `*` reads a slash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slash {
    /// As any other character.
    Plain,
    /// As the end of a name: only `**` goes past it.
    Separates,
}

impl Slash {
    /// What ends the first part of a text.
    fn end_of_part(self) -> char {
        match self {
            Self::Plain => ' ',
            Self::Separates => '/',
        }
    }
}

/// A set of globs, each with the place of its rule.
#[derive(Debug, Default)]
pub(crate) struct Globs {
    set: GlobSet,
    owners: Vec<usize>,
    /// The first words or names that texts may have, and what ends them; none where a glob leaves that open. Nearly all texts
    /// have another one, and need not be compared.
    beginnings: Option<(HashSet<String>, char)>,
}

impl Globs {
    /// Compiles globs, each with the place of its rule.
    pub(crate) fn new<'a>(
        globs: impl IntoIterator<Item = (usize, &'a str)>,
        slash: Slash,
    ) -> Result<Self, globset::Error> {
        let mut set = GlobSetBuilder::new();
        let mut owners = Vec::new();
        let end = slash.end_of_part();
        let mut beginnings = Some(HashSet::new());
        for (owner, glob) in globs {
            let mut add = |glob: &str| {
                let separates = slash == Slash::Separates;
                set.add(GlobBuilder::new(glob).literal_separator(separates).build()?);
                owners.push(owner);
                match (beginning(glob, end), &mut beginnings) {
                    (Some(known), Some(all)) => {
                        all.insert(known.to_owned());
                    }
                    _ => beginnings = None,
                }
                Ok::<_, globset::Error>(())
            };
            add(glob)?;
            // All below a directory, and the directory: deleting it deletes all below it.
            let directory = glob.strip_suffix("/**").filter(|directory| !directory.is_empty());
            if let (Slash::Separates, Some(directory)) = (slash, directory) {
                add(directory)?;
            }
        }
        Ok(Self { set: set.build()?, owners, beginnings: beginnings.map(|all| (all, end)) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Adds the places of the rules that have a glob for this text.
    pub(crate) fn add_hits(&self, text: &str, hits: &mut Vec<usize>) {
        if self.is_empty() || !self.may_fit(text) {
            return;
        }
        let found = self.set.matches_candidate(&Candidate::from_bytes(text));
        hits.extend(found.into_iter().map(|index| self.owners[index]));
    }

    fn may_fit(&self, text: &str) -> bool {
        let Some((beginnings, end)) = &self.beginnings else { return true };
        beginnings.contains(text.split(*end).next().unwrap_or_default())
    }
}

/// The first word or name that all texts have which fit a glob; none where that is open.
fn beginning(glob: &str, end: char) -> Option<&str> {
    let first = glob.split(end).next().unwrap_or_default();
    (!first.contains(['*', '?', '[', ']', '{', '}', '\\'])).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(globs: &[&str], slash: Slash, text: &str) -> Vec<usize> {
        let globs = Globs::new(globs.iter().copied().enumerate(), slash).expect("globs");
        let mut hits = Vec::new();
        globs.add_hits(text, &mut hits);
        hits.sort_unstable();
        hits
    }

    #[test]
    fn texts_with_another_beginning_do_not_fit() {
        let globs = ["git push *", "git", "rm -rf *"];
        assert_eq!(hits(&globs, Slash::Plain, "git push x"), [0]);
        assert_eq!(hits(&globs, Slash::Plain, "git"), [1]);
        assert_eq!(hits(&globs, Slash::Plain, "gitk push x"), <[usize; 0]>::default());
        let globs = ["src/**", "docs/*.md"];
        assert_eq!(hits(&globs, Slash::Separates, "src"), [0]);
        assert_eq!(hits(&globs, Slash::Separates, "src/a/b"), [0]);
        assert_eq!(hits(&globs, Slash::Separates, "docs/a.md"), [1]);
        assert_eq!(hits(&globs, Slash::Separates, "srcs/a"), <[usize; 0]>::default());
    }

    #[test]
    fn one_that_may_begin_with_anything_is_compared_with_all() {
        for open in ["* push*", "g?t push*", "[g]it push*", "{git,hg} push*", "\\git push*", "git*"]
        {
            assert_eq!(hits(&["rm *", open], Slash::Plain, "git push x"), [1], "{open}");
        }
        assert_eq!(hits(&["docs/**", "**/a"], Slash::Separates, "src/a"), [1]);
    }
}
