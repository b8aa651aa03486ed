//! What to do next.

use offshoot_vocabulary::Goal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do next, and what it comes to. The text output says the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WayOnDoc {
    /// What it comes to.
    pub goal: Goal,
    /// Where or from when on the commands can run, in words; null where that is here and now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Commands for a shell, each only after the one before succeeded. They run in the folder; git commands of a repository run where it was
    /// changed, which for `pull` and `merge` is in the workspace.
    pub commands: Vec<String>,
}
