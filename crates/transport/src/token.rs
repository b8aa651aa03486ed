//! Secrets that two peers share, and how one proves that it has it.

use std::collections::BTreeMap;
use std::fmt;

use ring::hmac;

use crate::error::IdentityError;
use crate::name::PeerName;

/// The least length of a token.
const LEAST: usize = 16;

/// A secret that a client and a server share. It is never sent, and nothing prints it.
///
/// ```
/// use offshoot_transport::PeerToken;
///
/// let token = PeerToken::new(b"0123456789abcdef0123")?;
/// assert_eq!(format!("{token:?}"), "PeerToken");
/// # Ok::<(), offshoot_transport::IdentityError>(())
/// ```
#[derive(Clone)]
pub struct PeerToken(hmac::Key);

impl PeerToken {
    /// Takes the bytes of a token: at least 16.
    pub fn new(bytes: &[u8]) -> Result<Self, IdentityError> {
        if bytes.len() < LEAST {
            return Err(IdentityError::ShortToken { least: LEAST, found: bytes.len() });
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, bytes)))
    }

    /// The token of a name that whoever has this one gives to it.
    #[must_use]
    pub fn derive(&self, name: &PeerName) -> Self {
        let bytes = [b"offshoot-peer/1 derived ", name.as_str().as_bytes()].concat();
        Self(hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&self.0, &bytes).as_ref()))
    }

    /// Proves that this side has it, in this one handshake.
    pub(crate) fn prove(&self, transcript: &Transcript<'_>) -> [u8; 32] {
        let mut proof = [0; 32];
        proof.copy_from_slice(hmac::sign(&self.0, &transcript.bytes()).as_ref());
        proof
    }

    /// Whether the other side has it. The time does not depend on what is wrong.
    pub(crate) fn verify(&self, transcript: &Transcript<'_>, proof: &[u8]) -> bool {
        hmac::verify(&self.0, &transcript.bytes(), proof).is_ok()
    }
}

impl fmt::Debug for PeerToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PeerToken")
    }
}

/// What a proof is about.
pub(crate) struct Transcript<'a> {
    /// `client` or `server`.
    pub(crate) side: &'static str,
    /// Keying material of the connection; empty without TLS.
    pub(crate) binding: &'a [u8],
    /// The server's number, used once.
    pub(crate) server: &'a [u8; 32],
    /// The client's number, used once.
    pub(crate) client: &'a [u8; 32],
    /// Who the client is.
    pub(crate) name: &'a PeerName,
}

impl Transcript<'_> {
    /// All of it; only the last part and the binding have no fixed length, and the binding says how long it is.
    fn bytes(&self) -> Vec<u8> {
        let side = self.side.as_bytes();
        let bound = [u8::try_from(self.binding.len()).unwrap_or(u8::MAX)];
        let name = self.name.as_str().as_bytes();
        [b"offshoot-peer/1 ", side, &bound, self.binding, self.server, self.client, name].concat()
    }
}

/// Which token belongs to whom.
#[derive(Clone, Debug, Default)]
pub struct TokenTable {
    rows: BTreeMap<PeerName, PeerToken>,
    secret: Option<PeerToken>,
}

impl TokenTable {
    /// Adds a row; a name has one token.
    pub fn insert(&mut self, name: PeerName, token: PeerToken) {
        self.rows.insert(name, token);
    }

    /// Gives every name without a row the token that a secret [derives](PeerToken::derive) for it: for agents of one user, who trust one another.
    #[must_use]
    pub fn with_secret(self, secret: PeerToken) -> Self {
        Self { secret: Some(secret), ..self }
    }

    /// Whether nobody has a token.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.secret.is_none()
    }

    /// Whether a proof is that of a name. An unknown name takes as long as a known one.
    pub(crate) fn verify(&self, transcript: &Transcript<'_>, proof: &[u8]) -> Option<PeerToken> {
        let nobody = PeerToken(hmac::Key::new(hmac::HMAC_SHA256, &[0; 32]));
        let derived = self.secret.as_ref().map(|secret| secret.derive(transcript.name));
        let token = self.rows.get(transcript.name).cloned().or(derived);
        let is_right = token.as_ref().unwrap_or(&nobody).verify(transcript, proof);
        token.filter(|_| is_right)
    }
}
