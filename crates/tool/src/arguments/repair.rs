//! What is told of a repair.

use std::fmt;

/// Something that was repaired in the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Where, such as `edits[2].line`; nothing for the arguments as a whole.
    pub path: String,
    /// What was given, and what was made of it.
    pub what: String,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.what),
            false => write!(f, "`{}`: {}", self.path, self.what),
        }
    }
}
