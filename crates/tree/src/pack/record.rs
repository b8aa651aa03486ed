//! One record of a pack: bytes under their hash, compressed where that pays.

use std::borrow::Cow;

use offshoot_store::Hash;

use crate::codec::{Decoder, FormatError, put_varint};

/// What every pack starts with.
pub(crate) const MAGIC: &[u8; 4] = b"OPK\x01";
/// The bytes are compressed with zstd.
const COMPRESSED: u8 = 1;
/// No record holds more bytes than this, so a length that says otherwise is damage.
pub(crate) const LONGEST_RECORD: u64 = 8 << 20;
/// The longest head: flags, two lengths and an id.
pub(crate) const LONGEST_HEAD: usize = 1 + 10 + 10 + 32;
/// Fast, and most of what there is to gain.
const LEVEL: i32 = 3;

/// One record as it is in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackRecord<'a> {
    /// The BLAKE3 of its bytes.
    pub id: Hash,
    /// How many bytes it holds.
    pub length: u64,
    compressed: bool,
    stored: Cow<'a, [u8]>,
}

impl<'a> PackRecord<'a> {
    /// A record of these bytes; compressed where that saves at least a sixteenth.
    pub fn new(id: Hash, bytes: &'a [u8]) -> Self {
        let length = bytes.len() as u64;
        let compressed = zstd::bulk::compress(bytes, LEVEL).ok();
        match compressed.filter(|stored| stored.len() < bytes.len() - bytes.len() / 16) {
            Some(stored) => Self { id, length, compressed: true, stored: Cow::Owned(stored) },
            None => Self { id, length, compressed: false, stored: Cow::Borrowed(bytes) },
        }
    }

    /// As it stands in a pack.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(LONGEST_HEAD + self.stored.len());
        out.push(if self.compressed { COMPRESSED } else { 0 });
        put_varint(&mut out, self.length);
        put_varint(&mut out, self.stored.len() as u64);
        out.extend_from_slice(&self.id);
        out.extend_from_slice(&self.stored);
        out
    }

    /// Reads a whole record.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let mut input = Decoder::new(bytes);
        let head = Head::read(&mut input)?;
        let stored = input.take(head.stored as usize)?;
        input.end()?;
        let Head { id, length, compressed, .. } = head;
        Ok(Self { id, length, compressed, stored: Cow::Borrowed(stored) })
    }

    /// The bytes, verified against the id.
    pub fn bytes(&self) -> Result<Vec<u8>, FormatError> {
        let bytes = match self.compressed {
            true => zstd::bulk::decompress(&self.stored, self.length as usize)
                .map_err(|_| FormatError("it cannot be decompressed"))?,
            false => self.stored.to_vec(),
        };
        if bytes.len() as u64 != self.length || blake3::hash(&bytes).as_bytes() != &self.id {
            return Err(FormatError("its bytes hash to something else"));
        }
        Ok(bytes)
    }
}

/// What stands before the bytes of a record.
pub(crate) struct Head {
    pub(crate) id: Hash,
    pub(crate) length: u64,
    pub(crate) compressed: bool,
    /// How many bytes follow.
    pub(crate) stored: u64,
}

impl Head {
    pub(crate) fn read(input: &mut Decoder<'_>) -> Result<Self, FormatError> {
        let compressed = match input.byte()? {
            0 => false,
            COMPRESSED => true,
            _ => return Err(FormatError("it has unknown flags")),
        };
        let (length, stored) = (input.varint()?, input.varint()?);
        if length > LONGEST_RECORD || stored > LONGEST_RECORD {
            return Err(FormatError("a length is too large"));
        }
        Ok(Self { id: input.array()?, length, compressed, stored })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(bytes: &[u8]) -> usize {
        let id = *blake3::hash(bytes).as_bytes();
        let encoded = PackRecord::new(id, bytes).encode();
        let record = PackRecord::decode(&encoded).unwrap();
        assert_eq!((record.id, record.length), (id, bytes.len() as u64));
        assert_eq!(record.bytes().unwrap(), bytes);
        encoded.len()
    }

    #[test]
    fn records_round_trip_and_are_compressed_only_where_it_pays() {
        assert!(round_trip(&[7; 100_000]) < 1000);
        let mut noise = vec![0; 100_000];
        blake3::Hasher::new().finalize_xof().fill(&mut noise);
        assert!(round_trip(&noise) <= noise.len() + LONGEST_HEAD);
        round_trip(b"");
        round_trip(b"x");
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let bytes = b"some bytes, some bytes, some bytes, some bytes, some bytes".repeat(3);
        let encoded = PackRecord::new(*blake3::hash(&bytes).as_bytes(), &bytes).encode();
        for at in 0..encoded.len() {
            let mut damaged = encoded.clone();
            damaged[at] ^= 0x41;
            let read = PackRecord::decode(&damaged).and_then(|record| {
                let id = record.id;
                record.bytes().map(|read| (id, read))
            });
            let original = (*blake3::hash(&bytes).as_bytes(), bytes.clone());
            assert!(read.is_err() || read != Ok(original.clone()) || at == 0, "byte {at}");
        }
        for length in 0..encoded.len() {
            assert!(PackRecord::decode(&encoded[..length]).is_err(), "cut at {length}");
        }
    }
}
