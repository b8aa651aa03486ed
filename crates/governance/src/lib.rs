//! What agents may do: requests with intent and sensitivity, rules, escalation, observers.
//!
//! ```
//! use offshoot_governance::{
//!     GovernanceDecision, GovernanceEngine, GovernanceLayer, GovernanceOptions, GovernanceRequest, GovernanceSource,
//!     GovernedAction,
//! };
//!
//! let rules = r#"
//! version = 1
//! [[rule]]
//! name = "reading-tools"
//! decision = "allow"
//! action = "use_tool"
//! target = "read.*"
//! matches = [{ action = "use_tool", target = "read.file" }]
//! "#;
//! let source = GovernanceSource::toml(GovernanceLayer::User, "rules.toml", rules);
//! let engine = GovernanceEngine::new(&GovernanceOptions::of(vec![source]))?;
//! let read = GovernanceRequest::new("helper", GovernedAction::UseTool, "read.file");
//! assert_eq!(engine.decide(&read).decision, GovernanceDecision::Allow);
//! let mail = GovernanceRequest::new("helper", GovernedAction::SendMessage, "mailto:a@example.org");
//! assert_eq!(engine.decide(&mail).decision, GovernanceDecision::Deny);
//! # Ok::<(), offshoot_governance::PolicyError>(())
//! ```
//!
//! `docs/design/governance.md` has the format of rules, and what every decision means. The core is pure: no file, no clock and no chance but
//! what is given. [`FileOutbox`] alone writes to a disk.

mod classifier;
mod decision;
mod engine;
mod escalation;
mod event;
mod gate;
mod observer;
mod options;
mod outbox;
mod pattern;
mod rego;
mod request;
mod rules;
mod verdict;
mod word;

pub use classifier::{ContentInspector, CredentialInspector, SensitivityClassifier};
pub use decision::{
    EscalationFallback, EscalationTarget, EscalationTerms, GovernanceDecision, LONGEST_ESCALATION_S,
};
pub use engine::GovernanceEngine;
pub use escalation::desk::{EscalationAsker, EscalationDesk};
pub use escalation::error::EscalationError;
pub use escalation::record::{
    EscalationAnswer, EscalationEvent, EscalationRecord, EscalationState,
};
pub use escalation::store::{EscalationStore, MemoryEscalations};
pub use event::{GovernanceEvent, GovernanceEventKind};
pub use gate::GovernanceGate;
pub use observer::queue::{ObserverQueue, PumpReport, QueueLimits, QueueStats};
pub use observer::{CompositeObserver, GovernanceObserver, ObserverError};
pub use offshoot_policy::{NamedText, PolicyError, Problem, REGO_TIMEOUT};
pub use options::{GovernanceLayer, GovernanceOptions, GovernanceSource};
pub use outbox::file::{FileOutbox, OUTBOX_BYTES};
pub use outbox::memory::MemoryOutbox;
pub use outbox::{GovernanceOutbox, OutboxEntry, OutboxError};
pub use request::{
    DataSensitivity, GovernanceDigest, GovernanceRequest, GovernedAction, MAX_FIELD, MAX_LABELS,
};
pub use rules::file::MAX_RULES_FILE;
pub use rules::load::MAX_RULES;
pub use verdict::{GovernanceRemedy, GovernanceRule, GovernanceVerdict};
