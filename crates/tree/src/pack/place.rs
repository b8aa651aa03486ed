//! Where content is among packs.

use offshoot_store::{Hash, Id};

use crate::codec::{Decoder, FormatError, put_varint};

/// Content up to this length is one record; longer content is cut into chunks.
pub const WHOLE_LIMIT: u64 = 1 << 20;

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PackPlace {
    /// The pack.
    pub pack: Id,
    /// Where the record starts.
    pub offset: u64,
    /// How long it is.
    pub length: u64,
}

/// A part of a long file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRef {
    /// The BLAKE3 of its bytes.
    pub id: Hash,
    /// How many they are.
    pub length: u64,
}

impl PackPlace {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.pack.as_bytes());
        put_varint(out, self.offset);
        put_varint(out, self.length);
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut input = Decoder::new(bytes);
        let pack = Id::from_bytes(input.array()?);
        let place = Self { pack, offset: input.varint()?, length: input.varint()? };
        input.end()?;
        Ok(place)
    }
}

pub(crate) fn encode_chunks(chunks: &[ChunkRef], out: &mut Vec<u8>) {
    put_varint(out, chunks.len() as u64);
    for chunk in chunks {
        out.extend_from_slice(&chunk.id);
        put_varint(out, chunk.length);
    }
}

pub(crate) fn decode_chunks(bytes: &[u8]) -> Result<Vec<ChunkRef>, FormatError> {
    let mut input = Decoder::new(bytes);
    let count = input.varint()?;
    let mut chunks = Vec::new();
    for _ in 0..count {
        chunks.push(ChunkRef { id: input.array()?, length: input.varint()? });
    }
    input.end()?;
    if chunks.is_empty() { Err(FormatError("it has no chunks")) } else { Ok(chunks) }
}
