//! What is decided by.

use offshoot_vocabulary::PolicyLayer;
use std::time::Duration;

/// How long a file of Rego may take for one decision, where nothing else is said.
pub const REGO_TIMEOUT: Duration = Duration::from_millis(100);

/// What a policy decides by.
#[derive(Clone, Debug)]
pub struct PolicyOptions {
    /// Files of rules, in any order. Several of one layer are one layer.
    pub layers: Vec<LayerSource>,
    /// How long a file of Rego may take for one decision.
    pub rego_timeout: Duration,
}

impl Default for PolicyOptions {
    fn default() -> Self {
        Self { layers: Vec::new(), rego_timeout: REGO_TIMEOUT }
    }
}

impl PolicyOptions {
    /// What these rules are recognised by, with those built into this version.
    pub(crate) fn digest(&self) -> [u8; blake3::OUT_LEN] {
        let mut hasher = blake3::Hasher::new_derive_key("offshoot policy 1");
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(env!("CARGO_PKG_VERSION"));
        add(&self.rego_timeout.as_millis().to_string());
        for LayerSource { layer, toml, rego } in &self.layers {
            add(layer.as_str());
            for file in [toml, rego] {
                add(file.as_ref().map_or("", |file| &file.name));
                add(file.as_ref().map_or("", |file| &file.text));
            }
        }
        *hasher.finalize().as_bytes()
    }
}

/// Rules of one layer.
#[derive(Clone, Debug)]
pub struct LayerSource {
    /// Whose they are; never what is built in.
    pub layer: PolicyLayer,
    /// The rules as TOML.
    pub toml: Option<NamedText>,
    /// The rules as Rego.
    pub rego: Option<NamedText>,
}

/// The text of a file and what to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedText {
    /// What to call it: a path as people know it.
    pub name: String,
    /// What is in it.
    pub text: String,
}
