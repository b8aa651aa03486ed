//! What a command would do, and whether it may: parse, classify, decide.
//!
//! The crate is pure: it opens no file, reads no environment and starts no process. Texts of rules and of commands go in, a
//! verdict comes out. [`script`] is the common form of what is asked for, whether it came as arguments or as a text for the
//! shell; `docs/design/policy.md` says what the categories mean and how rules are laid over each other.

mod category;
mod classify;
mod context;
mod error;
mod judged;
mod knowledge;
mod options;
mod parse;
mod policy;
mod rego;
mod rules;
pub mod script;
mod verdict;

pub use category::Categories;
pub use classify::{classify, credentials_in_home};
pub use context::Context;
pub use error::{PolicyError, Problem};
pub use judged::{Judged, Reason, TouchedPath};
pub use offshoot_vocabulary::{
    CommandPart, EffectCategory, Network, PathAccess, PolicyDecision, PolicyLayer,
};
pub use options::{LayerSource, NamedText, PolicyOptions, REGO_TIMEOUT};
pub use parse::{MAX_TEXT, parse_argv, parse_text};
pub use policy::Policy;
#[cfg(feature = "rego")]
pub use rego::input::input_document;
#[cfg(feature = "rego")]
pub use rego::questions::{RegoModule, RegoQuestions};
pub use verdict::Verdict;
pub use verdict::part::PartVerdict;
pub use verdict::remedy::{FILE_HEADER, Remedy};
pub use verdict::rule_info::RuleInfo;
