//! Documents about what commands may read, reach and use.

use offshoot_vocabulary::{Demand, FileAccess, Network, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Kind;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] =
    &[schema::of::<SandboxShowDoc>, schema::of::<PathExplanationDoc>];

/// What a profile lets commands read, reach and use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileDoc {
    /// What it is called; with ` & FILE` where a project's file takes something away.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// What commands do with the workspace.
    pub files: FileAccess,
    /// Groups of places that they see.
    pub reads: Vec<String>,
    /// What they see besides.
    pub show: Vec<String>,
    /// What they do not see, wherever it is.
    pub hide: Vec<String>,
    /// What they reach.
    pub network: Network,
    /// Hosts that they reach by the network proxy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Package caches of the vault are there.
    pub caches: bool,
    /// They are held to limits.
    pub limits: bool,
    /// Options of a command can widen it.
    pub widen: bool,
    /// They may make namespaces of their own.
    pub nested_namespaces: bool,
    /// They may use io_uring.
    pub io_uring: bool,
    /// What is asked of each wall.
    pub walls: Vec<WallDoc>,
}

/// What is asked of a wall.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WallDoc {
    /// The wall.
    pub name: String,
    /// What is asked of it.
    pub demand: Demand,
}

/// A profile that there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileNameDoc {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub about: String,
}

/// Something of the host that commands see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeenPlaceDoc {
    /// Where.
    pub path: Text,
    /// How.
    pub visibility: Visibility,
    /// Why: the group of places and the tool, or who named it.
    pub why: String,
    /// How many lines the copy has not, or only without the login in an address, since they seem to hold a credential.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// The numbers of the lines that the copy has not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out_lines: Vec<usize>,
    /// The numbers of the lines of which only the login is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out_logins: Vec<usize>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A header that the network proxy adds, so that commands never hold it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CredentialDoc {
    /// The host that it is for.
    pub host: String,
    /// The name of the header.
    pub header: String,
    /// Where its value is read from.
    pub from: String,
    /// It may be sent without TLS.
    pub plain_http: bool,
}

/// A profile, and what it comes to on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SandboxShowDoc {
    /// The profile.
    pub profile: ProfileDoc,
    /// What decides what its commands reach: `profile`, a project's file, or who set `exec.net`.
    #[serde(default)]
    pub network_from: String,
    /// What of the host commands see by it, beside the workspace.
    pub seen: Vec<SeenPlaceDoc>,
    /// What the network proxy adds to requests for some hosts; never its value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<CredentialDoc>,
    /// Hosts whose TLS the network proxy looks into.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inspected: Vec<String>,
    /// All profiles that there are, with what they are for.
    pub profiles: Vec<ProfileNameDoc>,
    /// The file that the user's own profiles belong in.
    pub file: Option<Text>,
}

impl Kind for SandboxShowDoc {
    const KIND: &'static str = "sandbox.show";
}

/// Whether commands see a path, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathExplanationDoc {
    /// The path, without links.
    pub path: Text,
    /// Whether the host has something there.
    pub exists: bool,
    /// Whether commands see it, and how.
    pub visibility: Visibility,
    /// Why, in a sentence.
    pub why: String,
    /// The place that makes it seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Text>,
    /// How many lines the copy has not, or only without the login in an address, since they seem to hold a credential.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// The numbers of the lines that the copy has not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out_lines: Vec<usize>,
    /// The numbers of the lines of which only the login is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out_logins: Vec<usize>,
    /// The profile that says so.
    pub profile: String,
}

impl Kind for PathExplanationDoc {
    const KIND: &'static str = "doctor.explain";
}
