//! What somebody has to decide about an entry, as the tree keeps it: every side's version, so that no byte is lost until then.

use offshoot_text::markers::has_markers_of;

use crate::codec::{Decoder, FormatError, put_bytes, put_varint};
use crate::entry::conflict_kind::ConflictKind;
use crate::entry::{ALL_FLAGS, Entry, HAS_CONFLICT};
use crate::path::VaultPath;

/// A conflict that a merge left open. The entry that has it is what is shown meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictRecord {
    /// Why it could not be merged; sorted, each once, at least one.
    pub kinds: Vec<ConflictKind>,
    /// The lengths of the markers in the shown text, where it has some; sorted, each once. There are several where a text with
    /// markers was merged again.
    pub marker_lengths: Vec<usize>,
    /// What it was.
    pub base: Option<Version>,
    /// What each side has, the most important one first.
    pub sides: Vec<RecordedSide>,
    /// Where else in the tree something was put that could not be at the path; sorted, each once.
    pub beside: Vec<VaultPath>,
}

/// One side of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedSide {
    /// What the side is called.
    pub label: String,
    /// What it has; nothing where it is not there. Never with a conflict of its own.
    pub version: Option<Version>,
}

/// An entry and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its path, in the state that it comes from.
    pub path: VaultPath,
    /// All that is recorded of it.
    pub entry: Entry,
}

impl ConflictRecord {
    /// The base's version and those of the sides.
    pub fn versions(&self) -> impl Iterator<Item = &Version> {
        let sides = self.sides.iter().filter_map(|side| side.version.as_ref());
        self.base.iter().chain(sides)
    }

    /// Whether the shown text has markers, so that writing it without them decides.
    pub fn has_markers(&self) -> bool {
        !self.marker_lengths.is_empty()
    }

    /// Whether a text still has any of its markers.
    pub fn is_marked(&self, text: &[u8]) -> bool {
        self.marker_lengths.iter().any(|length| has_markers_of(text, *length))
    }

    /// Takes in another conflict over the same entry. What both have is kept once.
    pub fn absorb(&mut self, other: Self) {
        union(&mut self.kinds, other.kinds);
        union(&mut self.marker_lengths, other.marker_lengths);
        union(&mut self.beside, other.beside);
        if self.base.is_none() {
            self.base = other.base;
        }
        for side in other.sides {
            if !self.sides.contains(&side) {
                self.sides.push(side);
            }
        }
    }

    /// The hash that stands for it in the content of a directory.
    pub(crate) fn hash(&self) -> [u8; 32] {
        let mut encoded = Vec::new();
        self.encode(&mut encoded);
        *blake3::hash(&encoded).as_bytes()
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.kinds.iter().fold(0, |bits, kind| bits | 1 << kind.bit()));
        put_varint(out, self.marker_lengths.len() as u64);
        self.marker_lengths.iter().for_each(|length| put_varint(out, *length as u64));
        put_version(out, self.base.as_ref());
        put_varint(out, self.sides.len() as u64);
        for side in &self.sides {
            put_bytes(out, side.label.as_bytes());
            put_version(out, side.version.as_ref());
        }
        put_varint(out, self.beside.len() as u64);
        self.beside.iter().for_each(|path| put_bytes(out, &path.relative()));
    }

    pub(crate) fn decode(input: &mut Decoder<'_>) -> Result<Self, FormatError> {
        let kinds = decode_kinds(input.varint()?)?;
        let marker_lengths = decode_sorted(input, |input| {
            let length = usize::try_from(input.varint()?).unwrap_or(0);
            if length > 0 { Ok(length) } else { Err(FormatError("a marker has no length")) }
        })?;
        let base = decode_version(input)?;
        let mut sides = Vec::new();
        for _ in 0..input.varint()? {
            let label = std::str::from_utf8(input.bytes()?);
            let label =
                label.map_err(|_| FormatError("the label of a side is no text"))?.to_owned();
            sides.push(RecordedSide { label, version: decode_version(input)? });
        }
        let beside = decode_sorted(input, decode_path)?;
        Ok(Self { kinds, marker_lengths, base, sides, beside })
    }
}

fn union<T: Ord>(all: &mut Vec<T>, more: Vec<T>) {
    all.extend(more);
    all.sort_unstable();
    all.dedup();
}

fn put_version(out: &mut Vec<u8>, version: Option<&Version>) {
    out.push(u8::from(version.is_some()));
    if let Some(version) = version {
        put_bytes(out, &version.path.relative());
        version.entry.encode_nameless(out);
    }
}

fn decode_version(input: &mut Decoder<'_>) -> Result<Option<Version>, FormatError> {
    match input.byte()? {
        0 => return Ok(None),
        1 => {}
        _ => return Err(FormatError("a version is neither there nor not")),
    }
    let path = decode_path(input)?;
    let name = path.name().unwrap_or_default().to_vec();
    // A version has no conflict of its own, so nothing here is nested deeper.
    let entry = Entry::decode_nameless(name, input, ALL_FLAGS & !HAS_CONFLICT)?;
    Ok(Some(Version { path, entry }))
}

fn decode_path(input: &mut Decoder<'_>) -> Result<VaultPath, FormatError> {
    let bytes = input.bytes()?;
    let path = VaultPath::parse(bytes).ok().filter(|path| path.relative() == bytes);
    path.ok_or(FormatError("a version has an impossible path"))
}

fn decode_kinds(bits: u64) -> Result<Vec<ConflictKind>, FormatError> {
    let kinds: Vec<ConflictKind> =
        ConflictKind::ALL.into_iter().filter(|kind| bits & 1 << kind.bit() != 0).collect();
    let known = kinds.iter().fold(0, |bits, kind| bits | 1 << kind.bit());
    match bits == known && bits != 0 {
        true => Ok(kinds),
        false => Err(FormatError("a conflict is of an unknown kind")),
    }
}

/// A list in order, each item once.
fn decode_sorted<T: Ord>(
    input: &mut Decoder<'_>,
    item: impl Fn(&mut Decoder<'_>) -> Result<T, FormatError>,
) -> Result<Vec<T>, FormatError> {
    let mut items: Vec<T> = Vec::new();
    for _ in 0..input.varint()? {
        let next = item(input)?;
        if items.last().is_some_and(|last| *last >= next) {
            return Err(FormatError("a list in a conflict is out of order"));
        }
        items.push(next);
    }
    Ok(items)
}
