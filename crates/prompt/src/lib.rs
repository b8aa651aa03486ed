//! Prompts as data: layered templates, typed variables, graphs, guardrails and a budget.
//!
//! ```
//! use offshoot_prompt::{PromptEngine, PromptSource, PromptRequest};
//!
//! let templates = r#"
//! version = 1
//! [[template]]
//! name = "greet"
//! version = 1
//! layer = "task"
//! text = "Greet {{name}}."
//! variables = { name = { type = "name" } }
//! "#;
//! let engine = PromptEngine::load(&[PromptSource::new("greet.toml", templates)])?;
//! let built = engine.build(&PromptRequest::new("hello", "greet").with("name", "world"))?;
//! assert_eq!(built.text(), "Greet world.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/design/prompts.md` has the format of templates and graphs, and what guardrails and the budget do. Nothing here does I/O: files come in as
//! texts, and the same inputs give the same bytes.

mod budget;
mod engine;
mod error;
mod estimate;
mod graph;
mod guard;
mod record;
mod request;
mod section;
mod source;
mod template;
mod value;
mod word;

pub use engine::PromptEngine;
pub use error::{BlockedKind, BuildError, PromptProblem, TemplateError};
pub use estimate::{CharacterEstimator, TokenEstimator};
pub use graph::error::GraphError;
pub use graph::state::{GraphState, GraphStatus, MAX_ANSWER};
pub use graph::{GraphPrompt, PromptGraph};
pub use guard::personal::{
    IdChecksum, NationalIdShape, PersonalKind, PersonalPatterns, PersonalSpan,
};
pub use guard::{GuardAction, GuardFinding, Guardrails};
pub use record::{PromptRecord, SectionRecord, TemplateUse};
pub use request::{BuiltPrompt, ContextSection, PromptMessage, PromptRequest};
pub use section::{MessageLayer, SectionRule, TrimRule};
pub use source::PromptSource;
pub use template::digest::TemplateDigest;
pub use template::variable::{VariableKind, VariableRule};
pub use value::PromptValue;
