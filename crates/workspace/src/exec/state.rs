//! How far an exec is.

/// The states of an exec, in their order; every one may lead to `Failed`, and `Deciding` to `Denied` or `PendingApproval`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProxyExecutionState {
    /// The request is looked at.
    Validating,
    /// Whether it may run is decided; nothing is touched before.
    Deciding,
    /// The workspace is found or forked, and held.
    Preparing,
    /// The inside is made.
    Mounting,
    /// The command runs.
    Executing,
    /// What it changed is taken and recorded.
    Sealing,
    /// It is over.
    Completed,
    /// Policy does not let it run.
    Denied,
    /// It waits for a person to approve it.
    PendingApproval,
    /// It could not be brought to its end.
    Failed,
}

impl ProxyExecutionState {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Validating => "validating",
            Self::Deciding => "deciding",
            Self::Preparing => "preparing",
            Self::Mounting => "mounting",
            Self::Executing => "executing",
            Self::Sealing => "sealing",
            Self::Completed => "completed",
            Self::Denied => "denied",
            Self::PendingApproval => "pending_approval",
            Self::Failed => "failed",
        }
    }

    /// Whether policy did not let it run.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Denied | Self::PendingApproval)
    }

    /// The state that follows where all goes well.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Validating => Some(Self::Deciding),
            Self::Deciding => Some(Self::Preparing),
            Self::Preparing => Some(Self::Mounting),
            Self::Mounting => Some(Self::Executing),
            Self::Executing => Some(Self::Sealing),
            Self::Sealing => Some(Self::Completed),
            Self::Completed | Self::Denied | Self::PendingApproval | Self::Failed => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ProxyExecutionState;

    #[test]
    fn every_way_ends() {
        let mut state = ProxyExecutionState::Validating;
        let mut passed = vec![state.word()];
        while let Some(next) = state.next() {
            assert!(next > state);
            state = next;
            passed.push(state.word());
        }
        assert_eq!(
            passed,
            [
                "validating",
                "deciding",
                "preparing",
                "mounting",
                "executing",
                "sealing",
                "completed"
            ]
        );
        assert_eq!(ProxyExecutionState::Failed.next(), None);
    }
}
