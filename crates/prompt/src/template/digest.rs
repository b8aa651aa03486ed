//! What a template is recognised by.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::template::Template;

/// The BLAKE3 digest of a template with everything that it includes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TemplateDigest([u8; 32]);

impl TemplateDigest {
    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(|hash| Self(*hash.as_bytes()))
    }

    /// The digest of a template that includes templates with these digests, in order.
    pub(crate) fn of(template: &Template, includes: &[Self]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("offshoot prompt template 1");
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        add(template.name.as_bytes());
        add(&template.version.to_le_bytes());
        add(template.place.as_str().as_bytes());
        add(template.text.as_bytes());
        let variables = serde_json::to_string(&template.variables);
        // Nothing that was checked fails here; if it did, the digest would still tell one from another.
        add(variables.unwrap_or_else(|_| format!("{:?}", template.variables)).as_bytes());
        for digest in includes {
            add(&digest.0);
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// In the place of one until it is known.
    pub(crate) const UNKNOWN: Self = Self([0; 32]);
}

impl fmt::Display for TemplateDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        blake3::Hash::from_bytes(self.0).fmt(f)
    }
}

impl fmt::Debug for TemplateDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TemplateDigest({self})")
    }
}

impl From<TemplateDigest> for String {
    fn from(digest: TemplateDigest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for TemplateDigest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| "no digest of a template".to_owned())
    }
}
