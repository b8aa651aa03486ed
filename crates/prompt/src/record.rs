//! How a prompt was made.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::guard::GuardFinding;
use crate::request::PromptMessage;
use crate::section::{MessageLayer, TrimRule};
use crate::template::digest::TemplateDigest;
use crate::value::PromptValue;

/// A template that a prompt has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateUse {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// Its digest, with everything that it includes.
    pub digest: TemplateDigest,
}

/// What became of a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionRecord {
    /// Its name.
    pub name: String,
    /// Its layer.
    pub layer: MessageLayer,
    /// How many tokens it had.
    pub tokens_before: usize,
    /// How many it has.
    pub tokens: usize,
    /// How it was cut; none where it is whole.
    pub cut: Option<TrimRule>,
}

/// How a prompt was made. It has no value of a variable in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRecord {
    /// The version of the format; fields may be added to one.
    pub version: u32,
    /// The templates, in their order.
    pub templates: Vec<TemplateUse>,
    /// The BLAKE3 digest of the variables.
    pub variables: String,
    /// The sections, in their order.
    pub sections: Vec<SectionRecord>,
    /// What guardrails found.
    pub findings: Vec<GuardFinding>,
    /// How many tokens there were.
    pub budget: Option<usize>,
    /// How many tokens the prompt has.
    pub tokens: usize,
    /// The sections that somebody has to summarise.
    pub to_summarise: Vec<String>,
    /// The BLAKE3 digest of all messages.
    pub result: String,
}

/// The digest of variables.
pub(crate) fn digest_of_variables(
    variables: &BTreeMap<String, PromptValue>,
) -> Result<String, serde_json::Error> {
    let mut hasher = blake3::Hasher::new_derive_key("offshoot prompt variables 1");
    for (name, value) in variables {
        let value = serde_json::to_vec(value)?;
        for bytes in [name.as_bytes(), &value] {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
    }
    Ok(hasher.finalize().to_string())
}

/// The digest of messages.
pub(crate) fn digest_of_messages(messages: &[PromptMessage]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("offshoot prompt result 1");
    for message in messages {
        for text in [message.layer.as_str(), &message.text] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
    }
    hasher.finalize().to_string()
}
