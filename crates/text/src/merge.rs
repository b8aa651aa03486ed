//! Merging texts line by line: any number of sides against one base.
//!
//! A line is a run of bytes up to and including `\n`, so that line ends and a missing last newline are part of what is merged.

use std::ops::Range;

use crate::lines::changed_lines;

/// A part of a merged text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Lines of one version: 0 is the base, 1 the first side.
    Clean { version: usize, lines: Range<usize> },
    /// Sides that changed the same lines differently.
    Conflict(Region),
}

/// Lines that sides changed in different ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The lines in the base, counted from 0.
    pub base: Range<usize>,
    /// The lines in each side, in the order of the sides.
    pub sides: Vec<Range<usize>>,
    /// Which sides changed them.
    pub changed: Vec<usize>,
}

/// Texts and how they fit together.
#[derive(Debug)]
pub struct TextMerge<'a> {
    /// The lines of the base and of every side.
    pub(crate) versions: Vec<Vec<&'a [u8]>>,
    pub(crate) pieces: Vec<Piece>,
}

/// A change of one side.
struct Hunk {
    side: usize,
    before: Range<usize>,
    /// How many lines took their place.
    after: usize,
}

impl<'a> TextMerge<'a> {
    /// Merges; a missing base counts as an empty one.
    pub fn of(base: &'a [u8], sides: &[&'a [u8]]) -> Self {
        let versions: Vec<Vec<&[u8]>> =
            [base].iter().chain(sides).map(|text| lines(text)).collect();
        let mut merge = Self { versions, pieces: Vec::new() };
        let mut reached = 0;
        // How many lines further each side is than the base.
        let mut shifts = vec![0_isize; sides.len()];
        for hunks in groups(hunks(base, sides)) {
            let start = hunks.iter().map(|hunk| hunk.before.start).min().unwrap_or(reached);
            let end = hunks.iter().map(|hunk| hunk.before.end).max().unwrap_or(reached);
            merge.clean(0, reached..start);
            let before = shifts.clone();
            for hunk in &hunks {
                shifts[hunk.side] += hunk.after as isize - hunk.before.len() as isize;
            }
            let ranges = before.iter().zip(&shifts);
            let sides = ranges.map(|(from, to)| {
                start.saturating_add_signed(*from)..end.saturating_add_signed(*to)
            });
            let mut changed: Vec<usize> = hunks.iter().map(|hunk| hunk.side).collect();
            changed.sort_unstable();
            changed.dedup();
            merge.region(Region { base: start..end, sides: sides.collect(), changed });
            reached = end;
        }
        merge.clean(0, reached..merge.versions[0].len());
        merge
    }

    /// The conflicts, in order.
    pub fn conflicts(&self) -> impl Iterator<Item = &Region> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Conflict(region) => Some(region),
            Piece::Clean { .. } => None,
        })
    }

    /// The merged text; nothing where there are conflicts.
    pub fn merged(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Clean { version, lines } => {
                    self.lines(*version, lines).iter().for_each(|line| out.extend_from_slice(line));
                }
                Piece::Conflict(_) => return None,
            }
        }
        Some(out)
    }

    pub(crate) fn lines(&self, version: usize, range: &Range<usize>) -> &[&'a [u8]] {
        &self.versions[version][range.clone()]
    }

    fn clean(&mut self, version: usize, lines: Range<usize>) {
        if !lines.is_empty() {
            self.pieces.push(Piece::Clean { version, lines });
        }
    }

    /// Takes a region from whoever changed it, where all who did agree.
    fn region(&mut self, region: Region) {
        let text = |side: usize| self.lines(side + 1, &region.sides[side]);
        let Some(&first) = region.changed.first() else { return };
        if region.changed.iter().all(|&side| text(side) == text(first)) {
            self.clean(first + 1, region.sides[first].clone());
        } else if region.base.is_empty() {
            self.inserted(region, first);
        } else {
            self.pieces.push(Piece::Conflict(region));
        }
    }

    /// Different lines in the same new place: what they have in common at both ends is no conflict.
    fn inserted(&mut self, mut region: Region, first: usize) {
        let texts: Vec<&[&[u8]]> =
            region.changed.iter().map(|&side| self.lines(side + 1, &region.sides[side])).collect();
        let shortest = texts.iter().map(|text| text.len()).min().unwrap_or(0);
        let alike = |line: fn(&[&'a [u8]], usize) -> &'a [u8], most: usize| {
            let same = |n: &usize| texts.iter().all(|text| line(text, *n) == line(texts[0], *n));
            (0..most).take_while(same).count()
        };
        let prefix = alike(|text, n| text[n], shortest);
        let suffix = alike(|text, n| text[text.len() - 1 - n], shortest - prefix);
        let Range { start, end } = region.sides[first];
        for &side in &region.changed {
            let range = &mut region.sides[side];
            *range = range.start + prefix..range.end - suffix;
        }
        self.clean(first + 1, start..start + prefix);
        self.pieces.push(Piece::Conflict(region));
        self.clean(first + 1, end - suffix..end);
    }
}

/// All changes of all sides, by where they start in the base.
fn hunks(base: &[u8], sides: &[&[u8]]) -> Vec<Hunk> {
    let of_side = |(side, text): (usize, &&[u8])| {
        changed_lines(base, text).into_iter().map(move |change| Hunk {
            side,
            before: change.before.start as usize..change.before.end as usize,
            after: change.after.len(),
        })
    };
    let mut hunks: Vec<Hunk> = sides.iter().enumerate().flat_map(of_side).collect();
    hunks.sort_by_key(|hunk| (hunk.before.start, hunk.before.end, hunk.side));
    hunks
}

/// Puts together what overlaps or touches: where no line of the base stands between two changes, which comes first is
/// anybody's guess.
fn groups(hunks: Vec<Hunk>) -> Vec<Vec<Hunk>> {
    let mut groups: Vec<Vec<Hunk>> = Vec::new();
    let mut end = 0;
    for hunk in hunks {
        match groups.last_mut() {
            Some(group) if hunk.before.start <= end => {
                end = end.max(hunk.before.end);
                group.push(hunk);
            }
            _ => {
                end = hunk.before.end;
                groups.push(vec![hunk]);
            }
        }
    }
    groups
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

#[cfg(test)]
mod tests;
