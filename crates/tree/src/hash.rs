//! The hashes that name things.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use offshoot_host::disk::is_sparse;
use offshoot_store::Hash;
use rustix::fs;
use rustix::io::Errno;

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
        Self::of_file_while(file, &|| true)
    }

    /// The same for as long as that is wanted, which is asked for every part; an error of the kind `TimedOut` where it is not any more.
    /// Holes are not read.
    pub fn of_file_while(file: &File, wanted: &dyn Fn() -> bool) -> io::Result<Self> {
        let stat = fs::fstat(file)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let mut hasher = blake3::Hasher::new();
        // Most files are short, and a long buffer would cost more than reading them.
        let length = usize::try_from(size).unwrap_or(LONGEST_BUFFER);
        let mut buffer = vec![0u8; length.saturating_add(1).min(LONGEST_BUFFER)];
        let mut at = 0;
        // Where the data ends that is being read.
        let mut data_end = if is_sparse(&stat) { 0 } else { u64::MAX };
        loop {
            if !wanted() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if at >= data_end && at < size {
                let (start, end) = next_data(file, at, size);
                data_end = end;
                at = hash_zeros(&mut hasher, at, start, wanted)?;
                continue;
            }
            let want = usize::try_from(data_end.saturating_sub(at)).unwrap_or(usize::MAX);
            let want = if at < size { want.min(buffer.len()) } else { buffer.len() };
            let got = file.read_at(&mut buffer[..want], at)?;
            if got == 0 {
                return Ok(Self(*hasher.finalize().as_bytes()));
            }
            hasher.update(&buffer[..got]);
            at += got as u64;
        }
    }
}

/// Where data starts at or after a place, and where that ends; both at the end of a file that has nothing but a hole there.
fn next_data(file: &File, at: u64, size: u64) -> (u64, u64) {
    match fs::seek(file, fs::SeekFrom::Data(at)) {
        Ok(start) => {
            let end = fs::seek(file, fs::SeekFrom::Hole(start)).unwrap_or(u64::MAX);
            (start.min(size), end.max(start + 1))
        }
        Err(Errno::NXIO) => (size, u64::MAX),
        // No holes on this file system: all is data.
        Err(_) => (at, u64::MAX),
    }
}

/// Takes in the zeros of a hole, a few at a time; gives where it ends.
fn hash_zeros(
    hasher: &mut blake3::Hasher,
    mut at: u64,
    end: u64,
    wanted: &dyn Fn() -> bool,
) -> io::Result<u64> {
    static ZEROS: [u8; LONGEST_BUFFER] = [0; LONGEST_BUFFER];
    while at < end {
        if !wanted() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let length = usize::try_from(end - at).unwrap_or(usize::MAX).min(ZEROS.len());
        hasher.update(&ZEROS[..length]);
        at += length as u64;
    }
    Ok(end)
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// A file of these parts: data at a place.
    fn file(length: u64, parts: &[(u64, &[u8])]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(length).unwrap();
        for (at, bytes) in parts {
            file.write_all_at(bytes, *at).unwrap();
        }
        file
    }

    #[test]
    fn holes_hash_as_the_zeros_that_they_are() {
        let block = [7u8; 5000];
        for (length, parts) in [
            (0, &[][..]),
            (10 << 20, &[]),
            (10 << 20, &[(0, &block[..])]),
            (10 << 20, &[(3 << 20, &block[..]), (5 << 20, &block[..1])]),
            ((10 << 20) + 1, &[((10 << 20) - 4999, &block[..])]),
            (5000, &[(0, &block[..])]),
        ] {
            let mut bytes = vec![0; length as usize];
            for (at, part) in parts {
                bytes[*at as usize..][..part.len()].copy_from_slice(part);
            }
            assert_eq!(
                BlobId::of_file(&file(length, parts)).unwrap(),
                BlobId::of(&bytes),
                "{length}"
            );
        }
    }

    #[test]
    fn nobody_waits_longer_than_is_wanted() {
        let started = Instant::now();
        let wanted = || started.elapsed() < Duration::from_millis(50);
        let error = BlobId::of_file_while(&file(1 << 42, &[(1 << 30, b"data")]), &wanted);
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}
