//! Where the bytes of content are.

use offshoot_store::Id;

use crate::pack::place::{ChunkRef, PackPlace, decode_chunks, encode_chunks};

const INLINE: u8 = 0;
const LAYER: u8 = 1;
const PACK: u8 = 2;
const CHUNKS: u8 = 3;

/// A start of a value that is long enough to tell the layer it names, or the place in a pack.
pub const START: usize = 37;
/// A kind and an id.
const WITH_ID: usize = 17;

/// Where the bytes of a blob or of a chunk are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectLocation {
    /// In the object itself.
    Inline(Vec<u8>),
    /// In a file of a sealed layer.
    Layer {
        /// The layer.
        layer: Id,
        /// The path below the layer's `fs`.
        path: Vec<u8>,
    },
    /// In a record of a pack.
    Pack(PackPlace),
    /// In chunks, one after the other.
    Chunks(Vec<ChunkRef>),
}

/// What the start of a place tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectLocationStart {
    /// The bytes are in the object itself.
    Inline,
    /// They are in this layer.
    Layer(Id),
    /// They are in a record of a pack.
    Pack(PackPlace),
    /// They are in chunks.
    Chunks,
    /// It does not tell.
    Unknown,
}

impl ObjectLocation {
    /// As the object holds it.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Inline(bytes) => [&[INLINE], bytes.as_slice()].concat(),
            Self::Layer { layer, path } => [&[LAYER], layer.as_bytes().as_slice(), path].concat(),
            Self::Pack(place) => {
                let mut out = vec![PACK];
                place.encode(&mut out);
                out
            }
            Self::Chunks(chunks) => {
                let mut out = vec![CHUNKS];
                encode_chunks(chunks, &mut out);
                out
            }
        }
    }

    /// Reads what an object holds; nothing where it is of an unknown kind.
    pub fn decode(mut value: Vec<u8>) -> Option<Self> {
        match *value.first()? {
            INLINE => {
                value.remove(0);
                Some(Self::Inline(value))
            }
            LAYER => {
                let (id, path) = value[1..].split_first_chunk::<16>()?;
                Some(Self::Layer { layer: Id::from_bytes(*id), path: path.to_vec() })
            }
            PACK => PackPlace::decode(&value[1..]).ok().map(Self::Pack),
            CHUNKS => decode_chunks(&value[1..]).ok().map(Self::Chunks),
            _ => None,
        }
    }
}

impl ObjectLocationStart {
    /// Reads the first [`START`] bytes of a place.
    pub fn of(start: &[u8]) -> Self {
        let id = || start.get(1..WITH_ID).and_then(|id| id.try_into().ok()).map(Id::from_bytes);
        match start.first() {
            Some(&INLINE) => Self::Inline,
            Some(&LAYER) => id().map_or(Self::Unknown, Self::Layer),
            Some(&PACK) => PackPlace::decode(&start[1..]).map_or(Self::Unknown, Self::Pack),
            Some(&CHUNKS) => Self::Chunks,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_round_trip_and_their_starts_tell_what_they_name() {
        let id = Id::from_bytes([9; 16]);
        let chunks = vec![ChunkRef { id: [1; 32], length: 7 }, ChunkRef { id: [2; 32], length: 0 }];
        let place = PackPlace { pack: id, offset: u64::MAX, length: u64::MAX };
        let cases = [
            (ObjectLocation::Inline(b"bytes".to_vec()), ObjectLocationStart::Inline),
            (ObjectLocation::Inline(Vec::new()), ObjectLocationStart::Inline),
            (
                ObjectLocation::Layer { layer: id, path: b"a/b".to_vec() },
                ObjectLocationStart::Layer(id),
            ),
            (ObjectLocation::Pack(place), ObjectLocationStart::Pack(place)),
            (ObjectLocation::Chunks(chunks), ObjectLocationStart::Chunks),
        ];
        for (place, start) in cases {
            let encoded = place.encode();
            assert_eq!(ObjectLocationStart::of(&encoded[..encoded.len().min(START)]), start);
            assert_eq!(ObjectLocation::decode(encoded), Some(place));
        }
    }

    #[test]
    fn other_places_are_refused() {
        for bad in [&[][..], &[9], &[1, 2, 3], &[2; 18], &[3, 0], &[3, 1, 5]] {
            assert_eq!(ObjectLocation::decode(bad.to_vec()), None, "{bad:?}");
        }
        assert_eq!(ObjectLocationStart::of(&[2, 1]), ObjectLocationStart::Unknown);
    }
}
