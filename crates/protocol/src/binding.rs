//! Documents about the folders that a vault is bound to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Kind;
use crate::file::ImportDoc;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<BindingListDoc>,
    schema::of::<BindingAddedDoc>,
    schema::of::<BindingRemovedDoc>,
    schema::of::<BindingMovedDoc>,
];

/// A folder that a vault is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingDoc {
    /// Its name; `/` for the folder that the vault was made from.
    pub name: String,
    /// Where it lies in the vault's tree.
    pub at: Text,
    /// The folder on the host, where commands see it too.
    pub directory: Text,
    /// Whether there is a folder on the host now.
    pub present: bool,
    /// When it was bound.
    pub created: String,
    /// Whether it is the git directory of the folder that the vault was made from, which lies outside of that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub git: bool,
}

/// The git directory of the folder that a vault was made from, where it lies outside of that: the folder is a linked working tree, a
/// submodule or the like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitDirectoryDoc {
    /// The git directory on the host.
    pub directory: Text,
    /// Whether it is part of the vault. Where it is not, git commits made in workspaces are lost.
    pub bound: bool,
    /// Its name as a folder of the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The bytes of its files in the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Why it is not part of the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The folders of a vault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingListDoc {
    /// The vault.
    pub vault: String,
    /// Its folders, the top of the tree first.
    pub bindings: Vec<BindingDoc>,
}

impl Kind for BindingListDoc {
    const KIND: &'static str = "binding.list";
}

/// A folder that was bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingAddedDoc {
    /// The folder.
    pub binding: BindingDoc,
    /// The operation.
    pub operation: Option<String>,
    /// What was found in all folders of the vault.
    pub import: ImportDoc,
}

impl Kind for BindingAddedDoc {
    const KIND: &'static str = "binding.add";
}

/// A folder that was let go of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingRemovedDoc {
    /// The folder as it was bound.
    pub binding: BindingDoc,
    /// The operation.
    pub operation: Option<String>,
}

impl Kind for BindingRemovedDoc {
    const KIND: &'static str = "binding.remove";
}

/// A folder that lies elsewhere now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingMovedDoc {
    /// Where it was.
    pub from: Text,
    /// The folder now.
    pub binding: BindingDoc,
    /// The operation, unless it lay there already.
    pub operation: Option<String>,
}

impl Kind for BindingMovedDoc {
    const KIND: &'static str = "binding.move";
}
