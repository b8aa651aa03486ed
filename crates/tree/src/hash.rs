//! The hashes that name things.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use offshoot_store::Hash;

/// What is read at once of a long file.
const LONGEST_BUFFER: usize = 1 << 20;

macro_rules! hash_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Hash);

        impl $name {
            /// The hash as 64 hex digits.
            pub fn to_hex(&self) -> String {
                blake3::Hash::from_bytes(self.0).to_hex().to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.to_hex())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), &self.to_hex()[..12])
            }
        }
    };
}

hash_type! {
    /// The bytes of a file: plain BLAKE3.
    BlobId
}
hash_type! {
    /// A directory node with all its metadata.
    NodeId
}
hash_type! {
    /// Names, kinds, executable bits and bytes of a directory, and nothing else.
    ContentId
}
hash_type! {
    /// A whole tree with all its metadata: a state of files.
    RootId
}

impl BlobId {
    /// The id of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The id of a file's bytes, from its start.
    pub fn of_file(file: &File) -> io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        // Most files are short, and a long buffer would cost more than reading them.
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(LONGEST_BUFFER);
        let mut buffer = vec![0u8; length.saturating_add(1).min(LONGEST_BUFFER)];
        let mut at = 0;
        loop {
            let got = file.read_at(&mut buffer, at)?;
            if got == 0 {
                return Ok(Self(*hasher.finalize().as_bytes()));
            }
            hasher.update(&buffer[..got]);
            at += got as u64;
        }
    }
}

impl NodeId {
    /// The id of an encoded node.
    pub(crate) fn of(encoded: &[u8]) -> Self {
        Self(blake3::derive_key("offshoot v1 tree node", encoded))
    }
}

impl ContentId {
    /// The id of a node's content encoding.
    pub(crate) fn of(encoded: &[u8]) -> Self {
        Self(blake3::derive_key("offshoot v1 tree content", encoded))
    }
}

impl RootId {
    /// The id of an encoded root.
    pub(crate) fn of(encoded: &[u8]) -> Self {
        Self(blake3::derive_key("offshoot v1 tree root", encoded))
    }
}
