//! A way to be allowed what was not.

/// What would have let a request run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The smallest rules that would have allowed it, as TOML for the user's file; none where no rule of the user can.
    pub rule: Option<String>,
    /// The rule that allows this command alone, in the directory and with the network that it has; none where no rule says just that.
    pub exact: Option<String>,
    /// Why there is none; only where rules would have allowed it.
    pub inexact: Option<&'static str>,
    /// Where they belong, or why there are none.
    pub advice: String,
}

impl Remedy {
    /// No rule helps; what to do.
    pub fn none(advice: impl Into<String>) -> Self {
        Self { rule: None, exact: None, inexact: None, advice: advice.into() }
    }
}

/// What a file of rules begins with.
pub const FILE_HEADER: &str = "version = 1\n";
