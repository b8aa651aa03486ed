//! All rules of one layer.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::decision::{EscalationFallback, EscalationTarget, EscalationTerms, GovernanceDecision};
use crate::request::{DataSensitivity, GovernanceRequest, GovernedAction};
use crate::rules::rule::Rule;
use crate::verdict::GovernanceRule;

/// What somebody says about a request.
#[derive(Clone, Debug)]
pub(crate) struct Opinion {
    pub(crate) decision: GovernanceDecision,
    pub(crate) rule: Arc<GovernanceRule>,
    /// A rule was written for it, or a module of Rego said so; otherwise it is a default, of which a rule takes the place.
    pub(crate) explicit: bool,
}

impl Opinion {
    /// The stricter of two, of which the first is of a wider layer: where both escalate it keeps its say in who is asked.
    pub(crate) fn narrowed(self, by: Self) -> Self {
        match (&self.decision, &by.decision) {
            (GovernanceDecision::Escalate(wide), GovernanceDecision::Escalate(narrow)) => {
                let decision = GovernanceDecision::Escalate(wide.clone().tightened(narrow));
                Self { decision, ..self }
            }
            (wide, narrow) if narrow.strictness() > wide.strictness() => by,
            _ => self,
        }
    }
}

/// The rules of a layer.
#[derive(Debug, Default)]
pub(crate) struct LayerRules {
    rules: Vec<Rule>,
    /// The places of the rules that may be about an action.
    by_action: [Vec<usize>; GovernedAction::ALL.len()],
    defaults: [Option<(GovernanceDecision, Arc<GovernanceRule>)>; GovernedAction::ALL.len()],
}

impl LayerRules {
    /// Adds a rule.
    pub(crate) fn add(&mut self, rule: Rule) {
        let place = self.rules.len();
        for action in GovernedAction::ALL {
            if rule.actions.is_empty() || rule.actions.contains(action) {
                self.by_action[*action as usize].push(place);
            }
        }
        self.rules.push(rule);
    }

    /// Sets what is decided where no rule fits. Where two files differ, the stricter holds.
    pub(crate) fn set_default(
        &mut self,
        action: GovernedAction,
        decision: GovernanceDecision,
        rule: Arc<GovernanceRule>,
    ) {
        let default = &mut self.defaults[action as usize];
        *default = Some(match default.take() {
            None => (decision, rule),
            Some((before, its)) => {
                let opinion = |decision, rule| Opinion { decision, rule, explicit: false };
                let stricter = strictest([opinion(before, its), opinion(decision, rule)].iter());
                match stricter {
                    Some(Opinion { decision, rule, .. }) => (decision, rule),
                    None => return,
                }
            }
        });
    }

    /// How many rules there are.
    pub(crate) fn count(&self) -> usize {
        self.rules.len()
    }

    /// What the layer says about a request; none where it has no rule and no default for it.
    pub(crate) fn say(&self, request: &GovernanceRequest) -> Option<Opinion> {
        let rules = self.by_action[request.action as usize].iter().map(|place| &self.rules[*place]);
        let mut fitting = Vec::new();
        let mut allows = None;
        for rule in rules.filter(|rule| rule.fits(request)) {
            match rule.decision {
                // Of those that say the same the one with the first name is named, so that the order of files means nothing.
                GovernanceDecision::Allow => keep_first(&mut allows, rule),
                _ => fitting.push(rule),
            }
        }
        let opinion = |rule: &Rule| Opinion {
            decision: rule.decision.clone(),
            rule: Arc::clone(&rule.info),
            explicit: true,
        };
        if fitting.is_empty() {
            return allows.map(opinion).or_else(|| self.default(request));
        }
        let opinions: Vec<Opinion> = fitting.into_iter().map(opinion).collect();
        strictest(opinions.iter())
    }

    fn default(&self, request: &GovernanceRequest) -> Option<Opinion> {
        let (decision, rule) = self.defaults[request.action as usize].as_ref()?;
        if decision.is_allowed() && request.sensitivity > DataSensitivity::COVERED {
            return None;
        }
        let (decision, rule) = (decision.clone(), Arc::clone(rule));
        Some(Opinion { decision, rule, explicit: false })
    }
}

fn keep_first<'a>(kept: &mut Option<&'a Rule>, rule: &'a Rule) {
    let name = |rule: &'a Rule| (&rule.info.name, &rule.info.file);
    if kept.is_none_or(|kept| name(rule) < name(kept)) {
        *kept = Some(rule);
    }
}

/// The strictest of several; of escalations one, with the strictest fallback and the shortest time of all.
pub(crate) fn strictest<'a>(
    opinions: impl Iterator<Item = &'a Opinion> + Clone,
) -> Option<Opinion> {
    let mut worst = opinions.clone().min_by_key(|opinion| order(opinion))?.clone();
    if let GovernanceDecision::Escalate(terms) = &mut worst.decision {
        for opinion in opinions {
            if let GovernanceDecision::Escalate(other) = &opinion.decision {
                *terms = terms.clone().tightened(other);
            }
        }
    }
    Some(worst)
}

type Order<'a> = (Reverse<u8>, TermsOrder<'a>, &'a str, &'a Option<Arc<str>>);
type TermsOrder<'a> = Option<(Reverse<EscalationFallback>, bool, u64, &'a EscalationTarget)>;

/// What goes first is the strictest. Nothing depends on where a rule stands.
fn order(opinion: &Opinion) -> Order<'_> {
    let terms = match &opinion.decision {
        GovernanceDecision::Escalate(EscalationTerms { ask, within_s, fallback }) => {
            let is_agent = matches!(ask, EscalationTarget::Agent(_));
            Some((Reverse(*fallback), is_agent, *within_s, ask))
        }
        GovernanceDecision::Allow | GovernanceDecision::Deny => None,
    };
    let strictness = Reverse(opinion.decision.strictness());
    (strictness, terms, &opinion.rule.name, &opinion.rule.file)
}
