//! Agent cards.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::field::{A2aMetadata, is_false, nullable};

/// JSON-RPC 2.0 over HTTP.
pub const BINDING_JSONRPC: &str = "JSONRPC";
/// HTTP with JSON, in the manner of REST.
pub const BINDING_REST: &str = "HTTP+JSON";

/// What an agent says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aCard {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, deserialize_with = "nullable")]
    pub description: String,
    /// Where it answers, the best place first.
    pub supported_interfaces: Vec<A2aInterface>,
    /// Who runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<A2aProvider>,
    /// Its version.
    #[serde(default, deserialize_with = "nullable")]
    pub version: String,
    /// Where its documentation is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// What it can do of the protocol.
    #[serde(default, deserialize_with = "nullable")]
    pub capabilities: A2aCapabilities,
    /// How clients may prove who they are.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "BTreeMap::is_empty")]
    pub security_schemes: BTreeMap<String, A2aSecurityScheme>,
    /// Which of these it wants: one of the list is enough.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<A2aSecurityRequirement>,
    /// Media types that it reads.
    #[serde(default, deserialize_with = "nullable")]
    pub default_input_modes: Vec<String>,
    /// Media types that it writes.
    #[serde(default, deserialize_with = "nullable")]
    pub default_output_modes: Vec<String>,
    /// What it can do.
    #[serde(default, deserialize_with = "nullable")]
    pub skills: Vec<A2aSkill>,
    /// Signatures of the card, which this crate neither makes nor checks.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<A2aCardSignature>,
    /// Where its icon is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
}

impl A2aCard {
    /// A card for an agent that reads and writes text. The server adds where it answers and what it can do of the protocol.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        version: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            supported_interfaces: Vec::new(),
            provider: None,
            version: version.into(),
            documentation_url: None,
            capabilities: A2aCapabilities::default(),
            security_schemes: BTreeMap::new(),
            security_requirements: Vec::new(),
            default_input_modes: vec!["text/plain".to_owned()],
            default_output_modes: vec!["text/plain".to_owned()],
            skills: Vec::new(),
            signatures: Vec::new(),
            icon_url: None,
        }
    }

    /// The same card with one more skill.
    #[must_use]
    pub fn with_skill(mut self, skill: A2aSkill) -> Self {
        self.skills.push(skill);
        self
    }
}

/// A place where an agent answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aInterface {
    /// The address.
    pub url: String,
    /// [`BINDING_JSONRPC`], [`BINDING_REST`] or another.
    pub protocol_binding: String,
    /// Sent with every request.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The revision of the protocol.
    pub protocol_version: String,
}

/// Who runs an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct A2aProvider {
    /// Their address.
    pub url: String,
    /// Their name.
    pub organization: String,
}

/// What an agent can do of the protocol.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aCapabilities {
    /// Whether it tells updates as they happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// Whether it calls webhooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_notifications: Option<bool>,
    /// Extensions of the protocol.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<A2aExtension>,
    /// Whether it has another card for those whom it knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_agent_card: Option<bool>,
}

/// An extension of the protocol.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct A2aExtension {
    /// Its name.
    #[serde(default, deserialize_with = "nullable")]
    pub uri: String,
    /// How the agent uses it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether clients have to know it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_false")]
    pub required: bool,
    /// Its own settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<A2aMetadata>,
}

/// Something that an agent can do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aSkill {
    /// Its name for programs.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it does.
    #[serde(default, deserialize_with = "nullable")]
    pub description: String,
    /// Words that it is found by.
    #[serde(default, deserialize_with = "nullable")]
    pub tags: Vec<String>,
    /// Messages that it is for.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Media types that it reads, if others than the agent's.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// Media types that it writes, if others than the agent's.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
    /// What it wants besides what the agent wants.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<A2aSecurityRequirement>,
}

/// A way for clients to prove who they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum A2aSecurityScheme {
    /// A scheme of the `Authorization` header.
    #[serde(rename_all = "camelCase")]
    HttpAuthSecurityScheme {
        /// The scheme, such as `Bearer`.
        scheme: String,
        /// What is said of it.
        #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
        description: String,
        /// What a token looks like.
        #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
        bearer_format: String,
    },
    /// A key in a header, a cookie or the query.
    ApiKeySecurityScheme {
        /// `header`, `cookie` or `query`.
        location: String,
        /// The name of the header, the cookie or the parameter.
        name: String,
        /// What is said of it.
        #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
        description: String,
    },
    /// Another scheme, as the card has it.
    #[serde(untagged)]
    Other(Value),
}

impl A2aSecurityScheme {
    /// A bearer token.
    #[must_use]
    pub fn bearer() -> Self {
        Self::HttpAuthSecurityScheme {
            scheme: "Bearer".to_owned(),
            description: String::new(),
            bearer_format: String::new(),
        }
    }
}

/// Schemes that are wanted together, with their scopes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct A2aSecurityRequirement {
    /// By the name of the scheme.
    #[serde(default, deserialize_with = "nullable")]
    pub schemes: BTreeMap<String, A2aScopes>,
}

/// Scopes of a scheme.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct A2aScopes {
    /// Their names.
    #[serde(default, deserialize_with = "nullable")]
    pub list: Vec<String>,
}

/// A signature of a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct A2aCardSignature {
    /// The protected header, in base64url.
    pub protected: String,
    /// The signature, in base64url.
    pub signature: String,
    /// The header that is not protected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<A2aMetadata>,
}
