//! From requests to verdicts.

use std::sync::Arc;
use std::time::Duration;

use offshoot_policy::{PolicyError, Problem};

use crate::decision::GovernanceDecision;
use crate::escalation::error::EscalationError;
use crate::escalation::record::{EscalationEvent, EscalationRecord};
use crate::options::{GovernanceLayer, GovernanceOptions};
use crate::rego::RegoRules;
use crate::request::{DataSensitivity, GovernanceRequest};
use crate::rules::layer::{LayerRules, Opinion, strictest};
use crate::rules::load::{MAX_RULES, read_file};
use crate::verdict::{GovernanceRemedy, GovernanceRule, GovernanceVerdict, allowing};

/// The layers that have files, from the widest to the narrowest.
const LAYERS: [GovernanceLayer; 3] =
    [GovernanceLayer::User, GovernanceLayer::Project, GovernanceLayer::Agent];

/// All rules that hold: it decides what agents may do. It never changes once it is made, and may be shared between threads.
///
/// ```
/// use offshoot_governance::{
///     DataSensitivity, GovernanceDecision, GovernanceEngine, GovernanceLayer, GovernanceOptions, GovernanceRemedy,
///     GovernanceRequest, GovernanceSource, GovernedAction,
/// };
///
/// let rules = "version = 1\n[defaults]\nask_model = \"allow\"\n";
/// let user = GovernanceSource::toml(GovernanceLayer::User, "user.toml", rules);
/// let engine = GovernanceEngine::new(&GovernanceOptions::of(vec![user]))?;
/// let request = GovernanceRequest::new("helper", GovernedAction::AskModel, "small-model");
/// assert!(engine.decide(&request).decision.is_allowed());
/// // A default covers internal data; for more there has to be a rule, and the verdict says which.
/// let verdict = engine.decide(&request.with_sensitivity(DataSensitivity::Confidential));
/// assert_eq!(verdict.decision, GovernanceDecision::Deny);
/// assert!(matches!(verdict.remedy, Some(GovernanceRemedy::Add { .. })));
/// # Ok::<(), offshoot_governance::PolicyError>(())
/// ```
#[derive(Debug)]
pub struct GovernanceEngine {
    layers: [LayerRules; LAYERS.len()],
    rego: Vec<RegoRules>,
    rego_timeout: Duration,
    examples: usize,
    warnings: Vec<String>,
    /// Why everything is denied.
    closed: Option<Arc<GovernanceRule>>,
}

impl GovernanceEngine {
    /// An engine of these rules; or all that is wrong with them.
    pub fn new(options: &GovernanceOptions) -> Result<Self, PolicyError> {
        let mut engine = Self {
            layers: Default::default(),
            rego: Vec::new(),
            rego_timeout: options.rego_timeout,
            examples: 0,
            warnings: Vec::new(),
            closed: None,
        };
        let mut problems = Vec::new();
        for source in &options.sources {
            let named = source.toml.as_ref().or(source.rego.as_ref());
            let file = named.map_or_else(String::new, |file| file.name.clone());
            let problem = |message: String| Problem { file, place: None, message, hint: None };
            let Some(place) = LAYERS.iter().position(|layer| *layer == source.layer) else {
                problems.push(problem("what is built in has no file".to_owned()));
                continue;
            };
            let mut terms = options.escalation.clone();
            if let Some(file) = &source.toml {
                let rules = &mut engine.layers[place];
                let (examples, of_file) =
                    read_file(source.layer, file, &options.escalation, rules, &mut problems);
                engine.examples += examples;
                terms = of_file;
            }
            if engine.rule_count() > MAX_RULES {
                problems.push(problem(format!("there are more than {MAX_RULES} rules")));
                break;
            }
            match source.rego.as_ref().map(|file| RegoRules::load(source.layer, file, terms)) {
                Some(Ok(module)) => {
                    engine.warnings.extend(module.warnings());
                    engine.rego.push(module);
                }
                Some(Err(problem)) => problems.push(problem),
                None => {}
            }
        }
        if problems.is_empty() { Ok(engine) } else { Err(PolicyError { problems }) }
    }

    /// An engine that denies everything, in the place of one whose rules cannot be used.
    pub fn closed(error: &PolicyError) -> Self {
        let why = error.problems.first().map_or_else(String::new, ToString::to_string);
        let reason = format!("the rules cannot be used: {why}");
        Self {
            layers: Default::default(),
            rego: Vec::new(),
            rego_timeout: Duration::ZERO,
            examples: 0,
            warnings: Vec::new(),
            closed: Some(GovernanceRule::built_in("closed", reason)),
        }
    }

    /// How many rules the files have.
    pub fn rule_count(&self) -> usize {
        self.layers.iter().map(LayerRules::count).sum()
    }

    /// How many examples were checked.
    pub fn example_count(&self) -> usize {
        self.examples
    }

    /// What modules of Rego define in vain.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Decides about a request.
    pub fn decide(&self, request: &GovernanceRequest) -> GovernanceVerdict {
        if let Some(rule) = &self.closed {
            return denied(request, Arc::clone(rule));
        }
        if let Some(excess) = request.excess() {
            return denied(request, GovernanceRule::built_in("limits", excess));
        }
        let mut tally = Tally::default();
        let own = self.layers[0].say(request);
        let stands = own.clone().unwrap_or_else(|| unruled(request));
        let mut stands = self.widen(request, own, stands, &mut tally);
        for (layer, rules) in LAYERS.iter().zip(&self.layers).skip(1) {
            if let Some(opinion) = rules.say(request) {
                tally.add(*layer, &opinion);
                stands = stands.narrowed(opinion);
            }
            for module in self.rego.iter().filter(|module| module.layer == *layer) {
                let wish = module.ask(request, &stands.decision, self.rego_timeout);
                for opinion in [wish.decision, wish.floor].into_iter().flatten() {
                    tally.add(*layer, &opinion);
                    stands = stands.narrowed(opinion);
                }
            }
        }
        let reason = match &stands.rule.reason {
            Some(reason) => reason.clone(),
            None => format!("the rule `{}` says so", stands.rule.name),
        };
        let remedy = (!stands.decision.is_allowed()).then(|| tally.remedy(request));
        let Opinion { decision, rule, .. } = stands;
        GovernanceVerdict { decision, rule, reason, request: request.digest(), remedy }
    }

    /// What the user's modules make of what the user's rules say, or of what is built in.
    fn widen(
        &self,
        request: &GovernanceRequest,
        own: Option<Opinion>,
        mut stands: Opinion,
        tally: &mut Tally,
    ) -> Opinion {
        let modules = || self.rego.iter().filter(|module| module.layer == GovernanceLayer::User);
        let wishes: Vec<_> = modules()
            .map(|module| module.ask(request, &stands.decision, self.rego_timeout))
            .collect();
        let covered = request.sensitivity <= DataSensitivity::COVERED;
        let decisions: Vec<Opinion> = wishes
            .iter()
            .filter_map(|wish| wish.decision.clone())
            // What a rule without `max_sensitivity` could not allow, no module does.
            .filter(|wish| covered || !wish.decision.is_allowed())
            .collect();
        if let Some(wish) = strictest(decisions.iter()) {
            // What is built in gives way, what the user's rules say does not.
            stands = match own {
                Some(own) => {
                    tally.add(GovernanceLayer::User, &own);
                    own.narrowed(wish.clone())
                }
                None => wish.clone(),
            };
            tally.add(GovernanceLayer::User, &wish);
        } else {
            tally.add(GovernanceLayer::User, &stands);
        }
        for floor in wishes.into_iter().filter_map(|wish| wish.floor) {
            tally.add(GovernanceLayer::User, &floor);
            stands = stands.narrowed(floor);
        }
        stands
    }

    /// Uses a grant for a request, after deciding about it again. What rules deny by now stays denied, what they allow by now needs no grant, and
    /// where they ask somebody else by now there has to be another grant.
    pub fn redeem(
        &self,
        request: &GovernanceRequest,
        record: &mut EscalationRecord,
        now_ms: u64,
    ) -> Result<GovernanceVerdict, EscalationError> {
        let verdict = self.decide(request);
        let GovernanceDecision::Escalate(terms) = &verdict.decision else {
            return Ok(verdict);
        };
        if terms.ask != record.asked {
            let (now, then) = (terms.ask.clone(), record.asked.clone());
            return Err(EscalationError::AsksAnother { id: record.id.clone(), now, then });
        }
        record.apply(now_ms, EscalationEvent::Use { request: verdict.request })?;
        let reason = record.permission();
        let rule = GovernanceRule::built_in("grant", reason.clone());
        let decision = GovernanceDecision::Allow;
        Ok(GovernanceVerdict { decision, rule, reason, request: verdict.request, remedy: None })
    }
}

/// What holds where the user's layer says nothing.
fn unruled(request: &GovernanceRequest) -> Opinion {
    let reason = if request.sensitivity > DataSensitivity::COVERED {
        format!("no rule allows `{}` with {} data", request.action, request.sensitivity)
    } else {
        format!("no rule allows `{}` here", request.action)
    };
    let rule = GovernanceRule::built_in("default", reason);
    Opinion { decision: GovernanceDecision::Deny, rule, explicit: false }
}

fn denied(request: &GovernanceRequest, rule: Arc<GovernanceRule>) -> GovernanceVerdict {
    GovernanceVerdict {
        decision: GovernanceDecision::Deny,
        reason: rule.reason.clone().unwrap_or_default(),
        request: request.digest(),
        remedy: Some(GovernanceRemedy::Stopped { by: vec![Arc::clone(&rule)] }),
        rule,
    }
}

/// Who keeps a request from being allowed.
#[derive(Default)]
struct Tally {
    rules: Vec<Arc<GovernanceRule>>,
    layers: Vec<GovernanceLayer>,
}

impl Tally {
    fn add(&mut self, layer: GovernanceLayer, opinion: &Opinion) {
        if opinion.decision.is_allowed() {
            return;
        }
        if opinion.explicit {
            self.rules.push(Arc::clone(&opinion.rule));
        } else if !self.layers.contains(&layer) {
            self.layers.push(layer);
        }
    }

    fn remedy(self, request: &GovernanceRequest) -> GovernanceRemedy {
        match self.rules.is_empty() {
            true => GovernanceRemedy::Add { layers: self.layers, rule: allowing(request) },
            false => GovernanceRemedy::Stopped { by: self.rules },
        }
    }
}
