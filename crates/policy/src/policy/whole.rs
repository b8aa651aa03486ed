//! The strictest of all parts.

use std::borrow::Cow;
use std::sync::Arc;

use offshoot_vocabulary::{Network, PolicyDecision, PolicyLayer};

use crate::category::Categories;
use crate::context::Context;
use crate::rules::Standing;
use crate::rules::built_in::{Opinion, built_in};
use crate::rules::facts::Facts;
use crate::verdict::part::PartVerdict;
use crate::verdict::rule_info::RuleInfo;

/// What was decided about the whole request.
pub(crate) struct Whole {
    pub(crate) decision: PolicyDecision,
    pub(crate) rule: Arc<RuleInfo>,
    /// The first part that the rule decided about; none where it is about the whole.
    pub(crate) part: Option<usize>,
    /// A rule about the whole that keeps it from running, whatever is said about its parts.
    pub(crate) stopped_by: Option<Arc<RuleInfo>>,
}

impl Whole {
    /// What a rule about the whole request wants, if that is stricter.
    pub(crate) fn narrow(&mut self, wish: Option<(PolicyDecision, Arc<RuleInfo>)>) {
        let Some((decision, rule)) = wish else { return };
        if !decision.runs() && self.stopped_by.is_none() {
            self.stopped_by = Some(Arc::clone(&rule));
        }
        if decision > self.decision {
            (self.decision, self.rule, self.part) = (decision, rule, None);
        }
    }

    /// Why, for people: what the rule says, else why the part is of its kind.
    pub(crate) fn reason(&self, parts: &[PartVerdict], context: &Context) -> Cow<'static, str> {
        let own = self.rule.reason.clone();
        let unread = self.part.and_then(|part| parts.get(part)).filter(|part| part.judged.unread);
        if let Some(why) = unread.and_then(|part| part.judged.reasons.first()) {
            return match self.rule.layer {
                PolicyLayer::BuiltIn => format!("{}, so it may do anything", why.why).into(),
                _ => format!("{}, so it may be what `{}` is about", why.why, self.rule.name).into(),
            };
        }
        if let Some(own) = own.clone().filter(|_| self.rule.layer != PolicyLayer::BuiltIn) {
            return own;
        }
        let why = self.part.and_then(|part| parts.get(part)).and_then(|part| {
            let worst = Facts::new(&part.judged, context).categories.worst();
            part.judged.reasons.iter().find(|reason| reason.category == worst)
        });
        match (why, own) {
            (Some(why), _) => why.why.clone(),
            (None, Some(own)) => own,
            (None, None) => Cow::Owned(format!("the rule `{}` says so", self.rule.name)),
        }
    }
}

/// The strictest of all parts, layer by layer.
#[derive(Default)]
pub(crate) struct Tally<'a> {
    widened: Option<(usize, Opinion<'a>)>,
    own: Option<(usize, Opinion<'a>)>,
    narrowed: Option<(usize, Opinion<'a>)>,
}

impl<'a> Tally<'a> {
    /// Counts a part.
    pub(crate) fn add(&mut self, part: usize, standing: &Standing<'a>) {
        keep_stricter(&mut self.widened, part, Some(standing.widened));
        keep_stricter(&mut self.own, part, standing.own);
        keep_stricter(&mut self.narrowed, part, standing.narrowed);
    }

    /// What the rules of all layers say.
    pub(crate) fn whole(&self) -> Whole {
        self.narrowed(self.widened())
    }

    /// What stands after the user's rules.
    pub(crate) fn widened(&self) -> Whole {
        match &self.widened {
            Some((part, opinion)) => of_part(*part, *opinion),
            None => {
                let nothing = built_in(Categories::READ_ONLY, Network::None);
                Whole { part: None, ..of_part(0, nothing) }
            }
        }
    }

    /// What the user's Rego wants in place of what is built in, and what the user's rules say themselves.
    pub(crate) fn replaced(&self, wish: (PolicyDecision, Arc<RuleInfo>)) -> Whole {
        let (decision, rule) = wish;
        match &self.own {
            Some((part, own)) if own.decision > decision => of_part(*part, *own),
            _ => {
                let stopped_by = (!decision.runs()).then(|| Arc::clone(&rule));
                Whole { decision, rule, part: None, stopped_by }
            }
        }
    }

    /// What project and request say as well.
    pub(crate) fn narrowed(&self, whole: Whole) -> Whole {
        match &self.narrowed {
            Some((part, opinion)) if opinion.decision > whole.decision => {
                Whole { stopped_by: whole.stopped_by, ..of_part(*part, *opinion) }
            }
            _ => whole,
        }
    }
}

fn of_part(part: usize, opinion: Opinion<'_>) -> Whole {
    Whole {
        decision: opinion.decision,
        rule: Arc::clone(opinion.rule),
        part: Some(part),
        stopped_by: None,
    }
}

fn keep_stricter<'a>(
    kept: &mut Option<(usize, Opinion<'a>)>,
    part: usize,
    opinion: Option<Opinion<'a>>,
) {
    let Some(opinion) = opinion else { return };
    if kept.is_none_or(|(_, kept)| opinion.decision > kept.decision) {
        *kept = Some((part, opinion));
    }
}
