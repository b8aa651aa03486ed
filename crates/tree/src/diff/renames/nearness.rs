//! How near two paths are, and which directories were moved as a whole.

use std::collections::HashMap;

use crate::path::VaultPath;

/// Longer common ends of paths are not told apart.
pub(super) const LONGEST_END: usize = 16;

/// How near two paths are: how many names they share at the end, whether they are in the same directory, how many they share at the start.
pub(super) fn nearness(from: &VaultPath, to: &VaultPath) -> (usize, bool, usize) {
    let (old, new) = (from.names(), to.names());
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let is_beside = old.len() == new.len() && start + 1 >= old.len();
    (common_end(from, to), is_beside, start)
}

/// How many names two paths share at the end.
pub(super) fn common_end(from: &VaultPath, to: &VaultPath) -> usize {
    let pairs = from.names().iter().rev().zip(to.names().iter().rev());
    pairs.take(LONGEST_END).take_while(|(a, b)| a == b).count()
}

/// Directories that seem to have been moved, with how many files show it.
#[derive(Debug, Default)]
pub(super) struct DirectoryMoves {
    /// Where files came from, by where they are.
    origins: HashMap<VaultPath, HashMap<VaultPath, usize>>,
}

impl DirectoryMoves {
    /// Counts a file that was moved.
    pub(super) fn count(&mut self, from: &VaultPath, to: &VaultPath) {
        if let Some((old, new)) = moved_directory(from, to) {
            *self.origins.entry(new).or_default().entry(old).or_insert(0) += 1;
        }
    }

    /// How many files show that the directory was moved which would take one path to the other.
    pub(super) fn lead(&self, from: &VaultPath, to: &VaultPath) -> usize {
        let found = moved_directory(from, to)
            .and_then(|(old, new)| self.origins.get(&new)?.get(&old).copied());
        found.unwrap_or(0)
    }

    /// The paths that a file would have come from if it was moved with its directory, with how many files show that.
    pub(super) fn sources(&self, to: &VaultPath) -> Vec<(usize, VaultPath)> {
        let mut found = Vec::new();
        let above = std::iter::successors(to.parent(), VaultPath::parent);
        for directory in above.take(LONGEST_END) {
            let rest = &to.names()[directory.names().len()..];
            for (from, count) in self.origins.get(&directory).into_iter().flatten() {
                let path = rest.iter().fold(from.clone(), |path, name| path.join(name));
                found.push((*count, path));
            }
        }
        found
    }
}

/// The directories that differ between two paths which end in the same names; nothing where even the last name differs.
fn moved_directory(from: &VaultPath, to: &VaultPath) -> Option<(VaultPath, VaultPath)> {
    let shared = common_end(from, to);
    let above =
        |path: &VaultPath| std::iter::successors(Some(path.clone()), VaultPath::parent).nth(shared);
    if shared == 0 { None } else { Some((above(from)?, above(to)?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of so many names, the last of which are the same whatever it starts with.
    fn deep(first: &str, names: usize) -> VaultPath {
        let below = (1..names).rev().map(|number| format!("d{number}"));
        let all: Vec<String> = std::iter::once(first.to_owned()).chain(below).collect();
        VaultPath::parse(format!("/{}", all.join("/")).as_bytes()).unwrap()
    }

    /// What is looked at for each path does not grow with its depth.
    #[test]
    fn long_common_ends_are_not_told_apart() {
        for (names, shared) in [(3, 2), (LONGEST_END + 1, LONGEST_END), (100, LONGEST_END)] {
            assert_eq!(common_end(&deep("a", names), &deep("b", names)), shared, "{names}");
        }
    }

    #[test]
    fn moves_of_directories_far_above_are_not_looked_for() {
        let mut moves = DirectoryMoves::default();
        moves.count(&deep("a", 2), &deep("b", 2));
        for (names, found) in [(2, 1), (LONGEST_END + 1, 1), (100, 0)] {
            let sources = moves.sources(&deep("b", names));
            assert_eq!(sources.len(), found, "{names}: {sources:?}");
        }
    }
}
