//! What a command may read, reach and use, as data.
//!
//! A [`Profile`] says it as a whole. Those that everybody has are in `data/profiles.toml`; a file of the user adds others or changes them, and a
//! project's file can only narrow what the user has ([`Profile::meet`]). What there is to read is a table of places, `data/reads.toml`, in
//! [groups] that profiles name.
//!
//! Nothing in here looks at files: it knows places by their names, and others find out what is there.

mod demand;
mod error;
mod files;
mod hosts;
mod preset;
mod profile;
mod reads;

pub use demand::Demands;
pub use error::ProfileError;
pub use files::{Profiles, ProjectNarrowing};
pub use hosts::{CredentialRule, HostRule, HostTable, TlsRules, ValueSource};
pub use preset::{
    HomePath, HomeRow, LostArgument, Preset, PresetAcp, PresetArguments, PresetHosts, PresetKey,
    PresetLogin, PresetVariables, Presets,
};
pub use profile::Profile;
pub use reads::{ALL, Group, HostTool, groups};
