//! Frames of a journal in a file.

use twox_hash::XxHash3_64;

/// What a journal begins with; the last byte is the version.
pub(super) const MAGIC: &[u8; 7] = b"OFFKERN";

/// The version of the format.
pub(super) const VERSION: u8 = 1;

/// Bytes before the first frame.
pub(super) const START: usize = 8;

/// Bytes before the payload of a frame.
const HEADER: usize = 32;

/// The largest payload.
pub(super) const MOST: usize = 1 << 30;

/// After a crash, what was not written is zero from a multiple of this on.
const SECTOR: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    Snapshot,
    Batch,
}

#[derive(Debug)]
pub(super) struct Frame<'b> {
    pub(super) kind: FrameKind,
    pub(super) number: u64,
    pub(super) payload: &'b [u8],
}

/// What is at a place in a file.
#[derive(Debug)]
pub(super) enum Found<'b> {
    /// A frame, and where it ends.
    Frame(Frame<'b>, usize),
    /// The end of the file.
    End,
    /// The beginning of a frame that was never finished.
    Torn,
    /// Something else.
    Damage(&'static str),
}

/// Writes a frame.
pub(super) fn encode(kind: FrameKind, number: u64, payload: &[u8], bytes: &mut Vec<u8>) {
    let start = bytes.len();
    let kind = match kind {
        FrameKind::Snapshot => 1_u8,
        FrameKind::Batch => 2,
    };
    // Payloads are at most `MOST` bytes long.
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&[kind, 0, 0, 0]);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&XxHash3_64::oneshot(payload).to_le_bytes());
    let check = XxHash3_64::oneshot(&bytes[start..]);
    bytes.extend_from_slice(&check.to_le_bytes());
    bytes.extend_from_slice(payload);
}

/// Reads the frame at a place of a file.
pub(super) fn decode(file: &[u8], at: usize) -> Found<'_> {
    let rest = file.get(at..).unwrap_or_default();
    if rest.is_empty() {
        return Found::End;
    }
    let Some(header) = rest.get(..HEADER) else { return Found::Torn };
    if XxHash3_64::oneshot(&header[..24]) != word(&header[24..]) {
        return torn_or(file, at, HEADER, "the header of a frame does not verify");
    }
    let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
    let kind = match header[..4] {
        [1, 0, 0, 0] => FrameKind::Snapshot,
        [2, 0, 0, 0] => FrameKind::Batch,
        _ => return Found::Damage("a frame is of an unknown kind"),
    };
    let Some(payload) = rest.get(HEADER..HEADER + length) else { return Found::Torn };
    if XxHash3_64::oneshot(payload) != word(&header[16..24]) {
        return torn_or(file, at, HEADER + length, "the payload of a frame does not verify");
    }
    Found::Frame(Frame { kind, number: word(&header[8..16]), payload }, at + HEADER + length)
}

/// A frame was never finished if nothing but zeros is in the file from its start or a sector within it on.
fn torn_or(file: &[u8], at: usize, length: usize, damage: &'static str) -> Found<'static> {
    let zeros_from = file.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let sector = zeros_from.next_multiple_of(SECTOR);
    let from_start = zeros_from <= at;
    let from_sector = sector > at && sector < at + length && sector < file.len();
    if from_start || from_sector { Found::Torn } else { Found::Damage(damage) }
}

/// Writes the records of a batch.
pub(super) fn encode_batch(records: &[Vec<u8>]) -> Vec<u8> {
    let mut payload = Vec::with_capacity(records.iter().map(|record| record.len() + 4).sum());
    for record in records {
        let length = u32::try_from(record.len()).unwrap_or(u32::MAX);
        payload.extend_from_slice(&length.to_le_bytes());
        payload.extend_from_slice(record);
    }
    payload
}

/// Reads the records of a batch.
pub(super) fn decode_batch(payload: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut records = Vec::new();
    let mut rest = payload;
    while !rest.is_empty() {
        let (length, behind) = rest.split_first_chunk::<4>()?;
        let record = behind.get(..u32::from_le_bytes(*length) as usize)?;
        records.push(record.to_vec());
        rest = &behind[record.len()..];
    }
    Some(records)
}

fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
