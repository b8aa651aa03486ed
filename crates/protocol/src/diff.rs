//! The document about the difference of two points.

use offshoot_vocabulary::ExitCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::ChangeDoc;
use crate::commit::HeldDoc;
use crate::document::{Kind, Question};
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[schema::of::<DiffDoc>];

/// The difference of two points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiffDoc {
    /// The old point, as it is called.
    pub before: String,
    /// The new point, as it is called.
    pub after: String,
    /// The old snapshot.
    pub before_snapshot: String,
    /// The new snapshot.
    pub after_snapshot: String,
    /// What changed, by path.
    pub changes: Vec<ChangeDoc>,
    /// Paths left out because only their metadata changed.
    pub metadata_only: u64,
    /// What a commit would leave in the workspace, where `after` is what it would bring: `changes` has it only where its path was asked for.
    #[serde(default)]
    pub stays: Vec<HeldDoc>,
    /// The changes as a patch that `git apply` takes, binary files included; with `--patch`. It has what lists fold only with `--expand`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Text>,
}

impl Kind for DiffDoc {
    const KIND: &'static str = "diff";
}

impl Question for DiffDoc {
    fn answer(&self) -> ExitCode {
        let stays = self.stays.iter().any(|held| held.reason.is_difference());
        if self.changes.is_empty() && !stays { ExitCode::Success } else { ExitCode::Failure }
    }
}
