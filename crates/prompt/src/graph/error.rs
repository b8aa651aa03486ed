//! Why a plan does not go on.

/// What is wrong with a step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The state is of another version.
    #[error("version {version} of states is not known")]
    Version {
        /// The version.
        version: u32,
    },
    /// The state is of another plan, or of another text of this one.
    #[error("the state belongs to the plan {graph}, and not to `{name}` as it is now; begin anew")]
    OtherGraph {
        /// The digest of that plan.
        graph: String,
        /// What this one is called.
        name: String,
    },
    /// The state names a node that does not exist.
    #[error("the plan has no node `{node}`")]
    UnknownNode {
        /// The node.
        node: String,
    },
    /// There is nothing more to do.
    #[error("the plan is over: {how}")]
    Over {
        /// How it ended.
        how: String,
    },
    /// The answer is too long.
    #[error("an answer of {bytes} bytes is longer than {most}")]
    AnswerTooLong {
        /// Its length.
        bytes: usize,
        /// The most.
        most: usize,
    },
    /// A stored state cannot be read.
    #[error("the state of a plan cannot be read: {0}")]
    Damaged(String),
}
