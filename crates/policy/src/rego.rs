//! Rules in Rego: policies about the whole request.
//!
//! A policy is bounded in time; when that is over, the answer is no. Memory is bounded only by what can be had in that time, and by
//! limits on the functions that make much out of little. A single step, such as multiplying two numbers that were made very long,
//! goes on by itself after nobody waits for it any more.

#[cfg(not(feature = "rego"))]
mod absent;
mod answer;
#[cfg(feature = "rego")]
mod functions;
#[cfg(feature = "rego")]
pub(crate) mod input;
#[cfg(feature = "rego")]
mod module;
#[cfg(feature = "rego")]
mod names;
#[cfg(feature = "rego")]
mod nesting;
#[cfg(feature = "rego")]
mod own_stack;
#[cfg(feature = "rego")]
pub(crate) mod questions;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use offshoot_vocabulary::{PolicyDecision, PolicyLayer};

use crate::context::Context;
use crate::error::Problem;
use crate::options::NamedText;
use crate::verdict::part::PartVerdict;
use crate::verdict::rule_info::RuleInfo;

#[cfg(not(feature = "rego"))]
use absent::Module;
use answer::Answer;
#[cfg(feature = "rego")]
use module::Module;

/// A file of Rego.
#[derive(Debug)]
pub(crate) struct RegoFile {
    layer: PolicyLayer,
    name: Arc<str>,
    policy: Module,
}

/// What a file of Rego wants.
#[derive(Debug, Default)]
pub(crate) struct Wish {
    /// What it decides; in the user's layer this may widen.
    pub(crate) decision: Option<(PolicyDecision, Arc<RuleInfo>)>,
    /// What is at least to be decided.
    pub(crate) floor: Option<(PolicyDecision, Arc<RuleInfo>)>,
}

impl RegoFile {
    /// Reads a file.
    pub(crate) fn load(layer: PolicyLayer, file: &NamedText) -> Result<Self, Problem> {
        let policy = Module::load(&file.name, &file.text)?;
        Ok(Self { layer, name: Arc::from(file.name.as_str()), policy })
    }

    /// What it defines in vain.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        self.policy.warnings().iter().map(|warning| format!("{}: {warning}", self.name))
    }

    pub(crate) fn layer(&self) -> PolicyLayer {
        self.layer
    }

    /// Asks what it wants. What goes wrong is a denial.
    pub(crate) fn ask(
        &self,
        parts: &[PartVerdict],
        stands: PolicyDecision,
        context: &Context,
        timeout: Duration,
    ) -> Wish {
        match self.policy.ask(parts, stands, context, timeout) {
            Ok(answer) => self.wish(answer),
            Err(reason) => {
                let rule = self.rule("data.offshoot", Some(reason));
                Wish { decision: None, floor: Some((PolicyDecision::Deny, rule)) }
            }
        }
    }

    fn wish(&self, answer: Answer) -> Wish {
        let Answer { decision, reason, deny, require_approval } = answer;
        let decision =
            decision.map(|decision| (decision, self.rule("data.offshoot.decision", reason)));
        let sets = [
            (PolicyDecision::Deny, "data.offshoot.deny", deny),
            (PolicyDecision::RequireApproval, "data.offshoot.require_approval", require_approval),
        ];
        let floor = sets.into_iter().find(|(_, _, messages)| !messages.is_empty()).map(
            |(decision, name, messages)| (decision, self.rule(name, Some(messages.join("; ")))),
        );
        Wish { decision, floor }
    }

    fn rule(&self, name: &str, reason: Option<String>) -> Arc<RuleInfo> {
        Arc::new(RuleInfo {
            layer: self.layer,
            name: name.to_owned(),
            file: Some(Arc::clone(&self.name)),
            reason: reason.map(Cow::Owned),
            is_default: false,
        })
    }
}
