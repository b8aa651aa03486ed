//! What Offshoot prints for programs: versioned documents and their JSON Schema.
//!
//! Every command with `--json` prints exactly one [`Document`]. Documents of one `schema_version` may gain fields and never
//! lose or change them. This crate holds plain data; it knows no vault and no command line.

mod approval;
mod audit;
mod binding;
mod cache;
mod change;
mod commit;
mod diff;
mod document;
mod documents;
mod exec;
mod file;
mod fleet;
mod git;
mod help;
mod hint;
mod history;
mod integration;
mod mcp;
mod merge;
mod model;
mod outcome;
mod own_agent;
mod policy;
mod preset;
mod recover;
mod review;
mod sandbox;
mod schema;
mod session;
mod status;
mod text;
mod tools;
mod vault;
mod way_on;
mod workspace;

pub use approval::*;
pub use audit::*;
pub use binding::*;
pub use cache::*;
pub use change::*;
pub use commit::*;
pub use diff::*;
pub use document::*;
pub use documents::schemas;
pub use exec::*;
pub use file::*;
pub use fleet::*;
pub use git::*;
pub use help::*;
pub use hint::*;
pub use history::*;
pub use integration::*;
pub use mcp::*;
pub use merge::*;
pub use model::*;
pub use offshoot_vocabulary::*;
pub use outcome::*;
pub use own_agent::*;
pub use policy::*;
pub use preset::*;
pub use recover::*;
pub use review::*;
pub use sandbox::{
    CredentialDoc, PathExplanationDoc, ProfileDoc, ProfileNameDoc, SandboxShowDoc, SeenPlaceDoc,
    WallDoc,
};
pub use schema::SchemaFile;
pub use session::*;
pub use status::*;
pub use text::*;
pub use tools::*;
pub use vault::*;
pub use way_on::*;
pub use workspace::*;
