//! Decisions that are not made without being told.

use std::sync::Arc;

use crate::decision::GovernanceDecision;
use crate::engine::GovernanceEngine;
use crate::event::GovernanceEvent;
use crate::observer::GovernanceObserver;
use crate::request::GovernanceRequest;
use crate::verdict::{GovernanceRemedy, GovernanceRule, GovernanceVerdict};

/// An engine with an observer: what cannot be told is denied. Put an [`crate::ObserverQueue`] before whatever may be slow or fail.
pub struct GovernanceGate {
    engine: Arc<GovernanceEngine>,
    observer: Arc<dyn GovernanceObserver>,
}

impl GovernanceGate {
    /// A gate of both.
    pub fn new(engine: Arc<GovernanceEngine>, observer: Arc<dyn GovernanceObserver>) -> Self {
        Self { engine, observer }
    }

    /// The engine.
    pub fn engine(&self) -> &GovernanceEngine {
        &self.engine
    }

    /// Decides about a request, and tells the observer.
    pub fn decide(&self, request: &GovernanceRequest, now_ms: u64) -> GovernanceVerdict {
        let verdict = self.engine.decide(request);
        let told = self.observer.observe(&GovernanceEvent::decided(request, &verdict, now_ms));
        let Err(error) = told else { return verdict };
        let reason = format!("the decision could not be recorded: {error}");
        let rule = GovernanceRule::built_in("unrecorded", reason.clone());
        GovernanceVerdict {
            decision: GovernanceDecision::Deny,
            reason,
            remedy: Some(GovernanceRemedy::Stopped { by: vec![Arc::clone(&rule)] }),
            rule,
            ..verdict
        }
    }
}
