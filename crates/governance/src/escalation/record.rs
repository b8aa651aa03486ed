//! One escalation as data, and what can become of it.

use serde::{Deserialize, Serialize};

use crate::decision::{EscalationFallback, EscalationTarget, GovernanceDecision};
use crate::escalation::error::EscalationError;
use crate::request::{GovernanceDigest, GovernanceRequest};
use crate::verdict::GovernanceVerdict;
use crate::word::words;

/// The version of records that is written and read here.
const VERSION: u32 = 1;

words! {
    /// How far an escalation came.
    pub enum EscalationState {
        /// It waits for an answer.
        Pending = "pending",
        /// It was granted.
        Granted = "granted",
        /// It was denied.
        Denied = "denied",
        /// Nobody answered in time, so the fallback holds.
        Expired = "expired",
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EscalationAnswer {
    /// Who answers.
    pub by: EscalationTarget,
    /// Whether it is granted.
    pub grant: bool,
    /// Why.
    #[serde(default)]
    pub reason: String,
}

/// What happens to an escalation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EscalationEvent {
    /// Time goes by.
    Tick,
    /// Somebody answers.
    Answer(EscalationAnswer),
    /// The grant is used for this request.
    Use {
        /// The digest of the request.
        request: GovernanceDigest,
    },
}

/// A question about one request, and its answer. A grant is bound to the digest of the request and used once.
///
/// ```
/// use offshoot_governance::{
///     EscalationAnswer, EscalationEvent, EscalationRecord, EscalationState, EscalationTarget, GovernanceEngine,
///     GovernanceLayer, GovernanceOptions, GovernanceRequest, GovernanceSource, GovernedAction,
/// };
///
/// let rules = "version = 1\n[defaults]\nspend = \"escalate\"\n[escalation]\nask = \"person:desk\"\n";
/// let user = GovernanceSource::toml(GovernanceLayer::User, "user.toml", rules);
/// let engine = GovernanceEngine::new(&GovernanceOptions::of(vec![user]))?;
/// let request = GovernanceRequest::new("helper", GovernedAction::Spend, "account").with_cost(5_000_000);
/// let mut record = EscalationRecord::open("e-1", &request, &engine.decide(&request), 0)?;
/// let by = EscalationTarget::Person("desk".to_owned());
/// record.apply(1_000, EscalationEvent::Answer(EscalationAnswer { by, grant: true, reason: String::new() }))?;
/// assert_eq!(record.state, EscalationState::Granted);
/// assert!(engine.redeem(&request, &mut record, 2_000)?.decision.is_allowed());
/// assert!(engine.redeem(&request, &mut record, 3_000).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EscalationRecord {
    version: u32,
    /// What it is called.
    pub id: String,
    /// The digest of the request.
    pub digest: GovernanceDigest,
    /// What is asked about; it has no data.
    pub request: GovernanceRequest,
    /// Who is asked.
    pub asked: EscalationTarget,
    /// The name of the rule that asks.
    pub rule: String,
    /// Why it asks.
    pub reason: String,
    /// When it was asked, in milliseconds.
    pub opened_ms: u64,
    /// From when on nobody can answer any more.
    pub deadline_ms: u64,
    /// What holds then.
    pub fallback: EscalationFallback,
    /// How far it came.
    pub state: EscalationState,
    /// The answer, where there is one.
    pub answer: Option<EscalationAnswer>,
    /// From when on a grant cannot be used any more; none while there is nothing to use.
    pub use_by_ms: Option<u64>,
    /// When the grant was used.
    pub used_ms: Option<u64>,
}

impl EscalationRecord {
    /// Begins an escalation of a verdict that asks for one.
    pub fn open(
        id: &str,
        request: &GovernanceRequest,
        verdict: &GovernanceVerdict,
        now_ms: u64,
    ) -> Result<Self, EscalationError> {
        let GovernanceDecision::Escalate(terms) = &verdict.decision else {
            return Err(EscalationError::NoEscalation { id: id.to_owned() });
        };
        if verdict.request != request.digest() {
            return Err(EscalationError::NoEscalation { id: id.to_owned() });
        }
        let record = Self {
            version: VERSION,
            id: id.to_owned(),
            digest: verdict.request,
            request: request.clone(),
            asked: terms.ask.clone(),
            rule: verdict.rule.name.clone(),
            reason: verdict.reason.clone(),
            opened_ms: now_ms,
            deadline_ms: now_ms.saturating_add(terms.within_s.saturating_mul(1000)),
            fallback: terms.fallback,
            state: EscalationState::Pending,
            answer: None,
            use_by_ms: None,
            used_ms: None,
        };
        record.check_asked()?;
        Ok(record)
    }

    /// Reads a record that was stored as JSON. One that was changed, or is of another version, is refused.
    pub fn from_json(text: &str) -> Result<Self, EscalationError> {
        let damaged = |why: String| EscalationError::Damaged(why);
        let record: Self =
            serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
        if record.version != VERSION {
            return Err(damaged(format!("version {} is not known", record.version)));
        }
        if record.request.digest() != record.digest {
            return Err(damaged(format!("`{}` has the digest of another request", record.id)));
        }
        record.check_asked()?;
        Ok(record)
    }

    /// The record as JSON, to be stored.
    pub fn to_json(&self) -> Result<String, EscalationError> {
        serde_json::to_string(self).map_err(|error| EscalationError::Damaged(error.to_string()))
    }

    fn check_asked(&self) -> Result<(), EscalationError> {
        match &self.asked {
            EscalationTarget::Agent(agent) if *agent == self.request.agent => {
                Err(EscalationError::AsksItself { agent: agent.clone() })
            }
            EscalationTarget::Agent(_) | EscalationTarget::Person(_) => Ok(()),
        }
    }

    /// Takes one step. Whatever comes, time is looked at first: a record whose time is over has expired, also where the step is refused.
    pub fn apply(&mut self, now_ms: u64, event: EscalationEvent) -> Result<(), EscalationError> {
        if self.state == EscalationState::Pending && now_ms >= self.deadline_ms {
            self.state = EscalationState::Expired;
            if self.fallback == EscalationFallback::Allow {
                self.use_by_ms = Some(self.deadline_ms.saturating_add(self.period_ms()));
            }
        }
        match event {
            EscalationEvent::Tick => Ok(()),
            EscalationEvent::Answer(answer) => self.answer(now_ms, answer),
            EscalationEvent::Use { request } => self.use_grant(now_ms, request),
        }
    }

    fn answer(&mut self, now_ms: u64, answer: EscalationAnswer) -> Result<(), EscalationError> {
        if answer.by != self.asked {
            let (id, asked) = (self.id.clone(), self.asked.clone());
            return Err(EscalationError::NotAsked { id, by: answer.by, asked });
        }
        if self.state != EscalationState::Pending {
            return Err(self.cannot_be("answered"));
        }
        if answer.grant {
            self.state = EscalationState::Granted;
            self.use_by_ms = Some(now_ms.saturating_add(self.period_ms()));
        } else {
            self.state = EscalationState::Denied;
        }
        self.answer = Some(answer);
        Ok(())
    }

    fn use_grant(&mut self, now_ms: u64, request: GovernanceDigest) -> Result<(), EscalationError> {
        let id = || self.id.clone();
        if request != self.digest {
            return Err(EscalationError::OtherRequest { id: id() });
        }
        let is_permitted = match self.state {
            EscalationState::Granted => true,
            EscalationState::Expired => self.fallback == EscalationFallback::Allow,
            EscalationState::Pending | EscalationState::Denied => false,
        };
        if !is_permitted {
            return Err(self.cannot_be("used"));
        }
        if let Some(at_ms) = self.used_ms {
            return Err(EscalationError::Used { id: id(), at_ms });
        }
        match self.use_by_ms {
            Some(use_by_ms) if now_ms < use_by_ms => {
                self.used_ms = Some(now_ms);
                Ok(())
            }
            use_by_ms => {
                Err(EscalationError::Stale { id: id(), use_by_ms: use_by_ms.unwrap_or_default() })
            }
        }
    }

    fn cannot_be(&self, wanted: &'static str) -> EscalationError {
        EscalationError::State { id: self.id.clone(), state: self.state, wanted }
    }

    /// How long there was to answer, and is to use a grant.
    fn period_ms(&self) -> u64 {
        self.deadline_ms.saturating_sub(self.opened_ms)
    }

    /// Who permitted it, for people.
    pub(crate) fn permission(&self) -> String {
        match &self.answer {
            Some(answer) => format!("granted by {} (`{}`)", answer.by, self.id),
            None => format!("nobody answered in time, and `{}` is allowed then", self.id),
        }
    }
}
