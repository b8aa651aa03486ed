//! In place of the interpreter, where it was left out when Offshoot was built.

use std::time::Duration;

use offshoot_vocabulary::PolicyDecision;

use super::answer::Answer;
use crate::context::Context;
use crate::error::Problem;
use crate::verdict::part::PartVerdict;

/// A policy; there is none.
#[derive(Debug)]
pub(super) enum Module {}

impl Module {
    /// Refuses: a policy that is never asked must not look as if it were.
    pub(super) fn load(name: &str, _: &str) -> Result<Self, Problem> {
        Err(Problem {
            file: name.to_owned(),
            place: None,
            message: "Rego was left out when this program was built".to_owned(),
            hint: Some("use rules in TOML, or a build with the feature `rego`".to_owned()),
        })
    }

    /// There is no policy to warn about.
    pub(super) fn warnings(&self) -> &[String] {
        match *self {}
    }

    /// There is no policy to ask.
    pub(super) fn ask(
        &self,
        _: &[PartVerdict],
        _: PolicyDecision,
        _: &Context,
        _: Duration,
    ) -> Result<Answer, String> {
        match *self {}
    }
}
