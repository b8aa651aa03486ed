//! Packs: many objects in one file, with an index of where each is.

use std::cell::OnceCell;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use offshoot_tree::VaultPath;

use super::{Kind, LONGEST, hex};
use crate::error::Result;
use crate::git::repository::State;

/// A longer chain of differences is not followed.
const LONGEST_CHAIN: usize = 64;
const MAGIC: &[u8] = b"\xfftOc\x00\x00\x00\x02";
/// The header of an index and its table of first bytes.
const NAMES: usize = 8 + 256 * 4;

/// A pack with its index, which is of version 2.
pub(super) struct Pack<'a> {
    state: State<'a>,
    index: Vec<u8>,
    path: VaultPath,
    /// How long an id is.
    width: usize,
    count: usize,
    bytes: OnceCell<Option<Vec<u8>>>,
}

impl<'a> Pack<'a> {
    /// Nothing where the index is not understood.
    pub(super) fn new(state: State<'a>, index: Vec<u8>, path: VaultPath) -> Option<Self> {
        if !index.starts_with(MAGIC) {
            return None;
        }
        let count = number(&index, NAMES - 4)?;
        // After the tables come large offsets, and two checksums as long as an id.
        let fits = |width: &usize| {
            let least = NAMES + count * (width + 8) + 2 * width;
            index.len() >= least && (index.len() - least).is_multiple_of(8)
        };
        let name = path.name()?.strip_prefix(b"pack-")?.strip_suffix(b".pack")?;
        let width = Some(name.len() / 2).filter(fits)?;
        Some(Self { state, index, path, width, count, bytes: OnceCell::new() })
    }

    /// Where in the pack an object is.
    pub(super) fn find(&self, id: &[u8]) -> Option<usize> {
        let first = usize::from(*id.first()?);
        let table = |byte: usize| number(&self.index, 8 + byte * 4);
        let low = if first == 0 { 0 } else { table(first - 1)? };
        let (mut low, mut high) = (low, table(first)?.min(self.count));
        while low < high {
            let middle = low.midpoint(high);
            let at = NAMES + middle * self.width;
            match self.index.get(at..at + self.width)?.cmp(id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset(middle),
            }
        }
        None
    }

    fn offset(&self, number_of: usize) -> Option<usize> {
        let offsets = NAMES + self.count * (self.width + 4);
        let small = number(&self.index, offsets + number_of * 4)?;
        if small >> 31 == 0 {
            return Some(small);
        }
        let large = offsets + self.count * 4 + (small & 0x7fff_ffff) * 8;
        let bytes = self.index.get(large..large + 8)?;
        usize::try_from(u64::from_be_bytes(bytes.try_into().ok()?)).ok()
    }

    /// The object at a place.
    pub(super) fn read(&self, at: usize) -> Result<Option<(Kind, Vec<u8>)>> {
        if self.bytes.get().is_none() {
            let bytes = self.state.file(&self.path)?;
            self.bytes.get_or_init(|| bytes);
        }
        let bytes = self.bytes.get().and_then(Option::as_deref);
        Ok(bytes.and_then(|bytes| self.object(bytes, at, LONGEST_CHAIN)))
    }

    fn object(&self, bytes: &[u8], at: usize, depth: usize) -> Option<(Kind, Vec<u8>)> {
        let mut from = at;
        let first = *bytes.get(from)?;
        let mut byte = first;
        while byte & 0x80 != 0 {
            from += 1;
            byte = *bytes.get(from)?;
        }
        from += 1;
        let kind = match (first >> 4) & 7 {
            1 => Kind::Commit,
            2 => Kind::Tree,
            3 => Kind::Blob,
            4 => Kind::Tag,
            delta @ (6 | 7) => {
                let depth = depth.checked_sub(1)?;
                let (base, from) = match delta {
                    6 => {
                        let (back, from) = distance(bytes, from)?;
                        (at.checked_sub(back)?, from)
                    }
                    _ => {
                        let id = bytes.get(from..from + self.width)?;
                        (self.find(id)?, from + self.width)
                    }
                };
                let (kind, base) = self.object(bytes, base, depth)?;
                let delta = inflated(bytes.get(from..)?)?;
                return Some((kind, applied(&base, &delta)?));
            }
            _ => return None,
        };
        Some((kind, inflated(bytes.get(from..)?)?))
    }
}

impl std::fmt::Debug for Pack<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = String::from_utf8(hex(self.path.name().unwrap_or_default())).unwrap_or_default();
        formatter.debug_struct("Pack").field("name", &name).finish_non_exhaustive()
    }
}

fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    decompress_to_vec_zlib_with_limit(bytes, LONGEST).ok()
}

/// How far back the object is that a difference is from.
fn distance(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut back = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        back = back.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some((back, at + 1))
}

/// What a difference makes of the object that it is from.
fn applied(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let (_, at) = size(delta, 0)?;
    let (length, mut at) = size(delta, at)?;
    let mut made = Vec::new();
    while at < delta.len() {
        let order = delta[at];
        at += 1;
        if order & 0x80 == 0 {
            let end = at + usize::from(order);
            made.extend_from_slice(delta.get(at..end)?);
            at = end;
            continue;
        }
        let mut part = |bits: std::ops::Range<u8>| {
            let mut value = 0_usize;
            for (place, bit) in bits.enumerate() {
                if order & (1 << bit) != 0 {
                    value |= usize::from(*delta.get(at)?) << (8 * place);
                    at += 1;
                }
            }
            Some(value)
        };
        let (start, count) = (part(0..4)?, part(4..7)?);
        let count = if count == 0 { 0x1_0000 } else { count };
        made.extend_from_slice(base.get(start..start.checked_add(count)?)?);
        if made.len() > LONGEST {
            return None;
        }
    }
    (made.len() == length).then_some(made)
}

fn size(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let (mut value, mut shift) = (0_usize, 0_u32);
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        value |= usize::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte & 0x80 == 0 {
            return Some((value, at));
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_be_bytes(bytes.try_into().ok()?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_copies_and_adds() {
        // Ten bytes become: three from place 2, and two new ones.
        let delta = [10, 5, 0x91, 2, 3, 2, b'x', b'y'];
        assert_eq!(applied(b"0123456789", &delta), Some(b"234xy".to_vec()));
        assert_eq!(applied(b"0123", &[4, 5, 0x91, 2, 3, 2, b'x', b'y']), None);
        assert_eq!(applied(b"", &[0, 9]), None);
    }

    #[test]
    fn distances_have_no_two_forms() {
        assert_eq!(distance(&[0x7f], 0), Some((127, 1)));
        assert_eq!(distance(&[0x80, 0x00], 0), Some((128, 2)));
        assert_eq!(distance(&[0x80], 0), None);
    }
}
