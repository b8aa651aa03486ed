//! What tools do to the world.

/// What a tool may do to the world, from which an agent knows when to call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effects {
    /// It only looks.
    Reads,
    /// It changes the workspace or the session.
    Changes,
    /// It runs what it is given.
    Runs,
    /// It asks a person.
    Asks,
}

impl Effects {
    /// Whether calls of such tools may run at the same time as others of the kind.
    pub fn may_run_in_parallel(self) -> bool {
        matches!(self, Self::Reads)
    }

    /// Whether a call whose outcome is not known may simply be made again.
    pub fn may_be_repeated(self) -> bool {
        matches!(self, Self::Reads)
    }
}
