//! What to do next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do next, and what it comes to. The text output says the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WayOnDoc {
    /// What it comes to.
    pub goal: GoalDoc,
    /// Where or from when on the commands can run, in words; null where that is here and now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Commands for a shell, each only after the one before succeeded. They run in the folder; git commands of a repository run where it was
    /// changed, which for `pull` and `merge` is in the workspace.
    pub commands: Vec<String>,
}

/// What commands come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GoalDoc {
    /// The branch has the commits of both sides.
    Merge,
    /// The same; the merge records the files as they are.
    Record,
    /// The other side's branch takes the place of this one.
    Replace,
    /// The changes of a stash are in the files.
    Apply,
    /// The commits that were kept apart are shown.
    Show,
    /// The conflicts can be decided in the workspace.
    Decide,
    /// What was done is taken back.
    Undo,
}
