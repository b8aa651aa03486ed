//! Keys that sign for the log.

use std::fmt;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use offshoot_host::disk;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use crate::error::{Result, VaultError, io_error};

/// What a file with a key starts with.
const MARK: &str = "offshoot-audit-key-1:";

/// An Ed25519 key that signs.
#[derive(Debug)]
pub(crate) struct AuditKey {
    pair: Ed25519KeyPair,
}

impl AuditKey {
    /// Reads a key; nothing where there is no such file.
    pub(crate) fn load(path: &Path) -> Result<Option<Self>> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io_error("read", path)(error)),
        };
        let seed = text.trim_ascii().strip_prefix(MARK).and_then(unhex::<32>);
        let pair = seed.and_then(|seed| Ed25519KeyPair::from_seed_unchecked(&seed).ok());
        match pair {
            Some(pair) => Ok(Some(Self { pair })),
            None => Err(VaultError::NotAKey(path.to_owned())),
        }
    }

    /// Makes a key at a path where there is none: whole or not at all, so that a crash leaves no file that is no key. The caller sees to it
    /// that nobody else makes one there.
    pub(crate) fn make(path: &Path) -> Result<Self> {
        let mut seed = [0; 32];
        rustix::rand::getrandom(&mut seed, rustix::rand::GetRandomFlags::empty()).map_err(
            |errno| io_error("find random numbers for", path)(std::io::Error::from(errno)),
        )?;
        let text = format!("{MARK}{}\n", hex(&seed));
        let unfinished = Self::unfinished(path);
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(io_error("remove", &unfinished)(error));
            }
            _ => {}
        }
        let mut options = fs::OpenOptions::new();
        let made = options.write(true).create_new(true).mode(0o600).open(&unfinished);
        made.and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .map_err(io_error("write", &unfinished))?;
        fs::rename(&unfinished, path).map_err(io_error("write", path))?;
        if let Some(folder) = path.parent() {
            disk::sync_dir(folder).map_err(io_error("sync", folder))?;
        }
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed);
        pair.map(|pair| Self { pair }).map_err(|_| VaultError::NotAKey(path.to_owned()))
    }

    /// Where a key is written before it is at its path.
    pub(super) fn unfinished(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".tmp");
        PathBuf::from(name)
    }

    /// What others check its signatures with.
    pub(crate) fn public(&self) -> PublicKey {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.pair.public_key().as_ref());
        PublicKey(bytes)
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> Signature {
        let mut signature = [0; 64];
        signature.copy_from_slice(self.pair.sign(bytes).as_ref());
        Signature(signature)
    }
}

/// What signatures are checked with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PublicKey([u8; 32]);

/// A signature.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Signature([u8; 64]);

impl PublicKey {
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Whether a signature for these bytes is its own.
    pub fn has_signed(&self, bytes: &[u8], signature: &Signature) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(bytes, &signature.0).is_ok()
    }
}

impl Signature {
    pub(crate) fn new(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }
}

/// A text is no key, or no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} hexadecimal digits are expected")]
pub struct NotHex(usize);

macro_rules! as_hex {
    ($type:ident, $length:literal) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex(&self.0))
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($type), "({})"), self)
            }
        }

        impl FromStr for $type {
            type Err = NotHex;

            fn from_str(text: &str) -> Result<Self, NotHex> {
                unhex(text).map(Self).ok_or(NotHex(2 * $length))
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }

        impl TryFrom<String> for $type {
            type Error = NotHex;

            fn try_from(text: String) -> Result<Self, NotHex> {
                text.parse()
            }
        }
    };
}

as_hex!(PublicKey, 32);
as_hex!(Signature, 64);

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let [high, low] = [pair[0], pair[1]].map(|digit| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        });
        *byte = high? << 4 | low?;
    }
    Some(bytes)
}
