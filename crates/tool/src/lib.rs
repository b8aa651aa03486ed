//! Tools of agents: what a model can call, checked and limited. `docs/design/tools.md` describes it.
//!
//! A [`Tool`] has a contract and does something; the attribute [`macro@tool`] makes one of an async function. A [`ToolRegistry`] holds
//! tools and calls them: it looks at capabilities, repairs and checks arguments, asks the [`CallPolicy`], keeps time, and shortens
//! what is too long for a model. What all calls of one session share is their [`ToolHost`].
//!
//! ```
//! use offshoot_tool::{ToolRegistry, tool};
//!
//! /// Add two numbers.
//! #[tool(effects = "read")]
//! async fn add_numbers(
//!     /// The first.
//!     first: i64,
//!     /// The second.
//!     #[default(1)]
//!     second: i64,
//! ) -> String {
//!     (first + second).to_string()
//! }
//!
//! # fn main() -> Result<(), offshoot_tool::RegistryError> {
//! let mut registry = ToolRegistry::new();
//! registry.add(AddNumbers)?;
//! let contract = registry.get("add_numbers").expect("it was just added");
//! assert_eq!(contract.description, "Add two numbers.");
//! assert_eq!(contract.schema["required"], serde_json::json!(["first"]));
//! assert_eq!(contract.schema["properties"]["second"]["default"], 1);
//! # Ok(())
//! # }
//! ```

mod arguments;
mod background;
mod blocking;
mod builtin;
mod capability;
mod context;
mod contract;
mod effects;
mod error;
mod full_texts;
mod host;
mod html;
#[doc(hidden)]
pub mod macros;
mod notes;
mod outcome;
mod output;
mod policy;
mod registry;
mod session;
mod shorten;
mod tool;

pub use arguments::Repair;
pub use capability::{Capabilities, Capability};
pub use context::{CallContext, CallProgress};
pub use contract::{CallLimits, ToolContract};
pub use effects::Effects;
pub use error::{FatalError, ToolError, ToolRefusal};
pub use full_texts::{FullTextError, FullTexts, MemoryFullTexts, ResultId, TextPart};
pub use host::ToolHost;
pub use notes::{MemoryNotes, Notes, NotesError};
pub use offshoot_tool_macros::tool;
pub use outcome::{CallEnding, CallOutcome, CallResult};
pub use output::{ApprovalNeeded, ExecFacts, TextOutput, ToolOutput, ToolReturn, UserQuestion};
pub use policy::{CallPolicy, CallVerdict};
pub use registry::{RegistryError, ToolRegistry};
pub use session::{SessionNotes, SessionTexts};
pub use tool::Tool;
