//! The hashes that git names content by.

use sha2::Digest;

/// One of them, being computed.
pub(crate) enum ObjectHash {
    Sha1(sha1_smol::Sha1),
    Sha256(Box<sha2::Sha256>),
}

impl ObjectHash {
    /// The one whose values have so many bytes.
    pub(crate) fn of_width(bytes: usize) -> Option<Self> {
        match bytes {
            20 => Some(Self::Sha1(sha1_smol::Sha1::new())),
            32 => Some(Self::Sha256(Box::default())),
            _ => None,
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hash) => hash.update(bytes),
            Self::Sha256(hash) => hash.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        match self {
            Self::Sha1(hash) => hash.digest().bytes().to_vec(),
            Self::Sha256(hash) => hash.finalize().to_vec(),
        }
    }
}
