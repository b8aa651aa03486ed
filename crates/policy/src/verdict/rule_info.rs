//! Which rule decided.

use offshoot_vocabulary::PolicyLayer;
use std::borrow::Cow;
use std::sync::Arc;

/// A rule that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// Whose it is.
    pub layer: PolicyLayer,
    /// Its name: as it was given, `defaults.CATEGORY` for a default, `data.offshoot.NAME` for Rego.
    pub name: String,
    /// The file that it is in, as it was called; none for what is built in.
    pub file: Option<Arc<str>>,
    /// Its reason, where it gives one.
    pub reason: Option<Cow<'static, str>>,
    /// It is a default, which decides by category about what no rule of its layer names.
    pub is_default: bool,
}
