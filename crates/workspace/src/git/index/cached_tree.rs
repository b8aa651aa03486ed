//! The trees that an index remembers of its directories: `git commit` takes them for what is staged, without looking.

use std::collections::BTreeMap;

use offshoot_vault::MOST_DEEP;

use super::Index;
use super::trees::index_trees;

/// Whether every tree that is remembered has exactly the files of the index.
pub(super) fn is_true(remembered: &[u8], index: &Index, width: usize) -> bool {
    let trees = index_trees(index, width);
    let mut reading = Reading { rest: remembered, index, trees: &trees, width };
    reading.is_next_true(&[], 0) == Some(true) && reading.rest.is_empty()
}

struct Reading<'a> {
    rest: &'a [u8],
    index: &'a Index,
    /// What git would store.
    trees: &'a BTreeMap<Vec<u8>, Vec<u8>>,
    width: usize,
}

impl Reading<'_> {
    /// Whether what comes next is true of a directory in this one, and of all in that; nothing where it cannot be read.
    fn is_next_true(&mut self, above: &[u8], depth: usize) -> Option<bool> {
        let name = until(&mut self.rest, 0).filter(|_| depth < MOST_DEEP)?;
        let path = match (above, depth) {
            // Git does not look at the name of the first, which is that of the whole.
            (_, 0) => Vec::new(),
            ([], _) => name.to_vec(),
            (above, _) => [above, b"/", name].concat(),
        };
        let count: i64 = number(until(&mut self.rest, b' ')?)?;
        let directories: usize = number(until(&mut self.rest, b'\n')?)?;
        let mut is_true = true;
        // Otherwise git has to find out.
        if let Ok(count) = usize::try_from(count) {
            let (id, after) = self.rest.split_at_checked(self.width)?;
            self.rest = after;
            is_true = self.trees.get(&path).is_some_and(|tree| tree == id)
                && count == self.files_below(&path);
        }
        for _ in 0..directories {
            is_true &= self.is_next_true(&path, depth + 1)?;
        }
        Some(is_true)
    }

    fn files_below(&self, path: &[u8]) -> usize {
        let start = if path.is_empty() { Vec::new() } else { [path, b"/"].concat() };
        let files = self.index.range((start.clone(), 0)..);
        files.take_while(|((path, _), _)| path.starts_with(&start)).count()
    }
}

/// The bytes before the next one of this value, which goes too.
fn until<'a>(rest: &mut &'a [u8], end: u8) -> Option<&'a [u8]> {
    let at = rest.iter().position(|byte| *byte == end)?;
    let found = &rest[..at];
    *rest = &rest[at + 1..];
    Some(found)
}

fn number<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
