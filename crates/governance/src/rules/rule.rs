//! One rule, checked and ready to be compared with requests.

use std::ops::Range;
use std::sync::Arc;

use offshoot_policy::Problem;
use toml::Spanned;

use crate::decision::{
    EscalationFallback, EscalationTarget, EscalationTerms, GovernanceDecision, LONGEST_ESCALATION_S,
};
use crate::options::GovernanceLayer;
use crate::pattern::Pattern;
use crate::request::{DataSensitivity, GovernanceRequest, GovernedAction};
use crate::rules::file::{OneOrMany, RawRule, RawTerms, Source};
use crate::verdict::GovernanceRule;

/// A rule that has at least one condition.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) info: Arc<GovernanceRule>,
    pub(crate) decision: GovernanceDecision,
    /// Empty where the rule is about all actions.
    pub(crate) actions: Vec<GovernedAction>,
    agent: Vec<Pattern>,
    intent: Vec<Pattern>,
    target: Vec<Pattern>,
    labels: Vec<String>,
    without_labels: Vec<String>,
    min_sensitivity: Option<DataSensitivity>,
    max_sensitivity: Option<DataSensitivity>,
    min_cost: Option<u64>,
    max_cost: Option<u64>,
}

impl Rule {
    /// Whether the rule is about a request.
    pub(crate) fn fits(&self, request: &GovernanceRequest) -> bool {
        let any = |patterns: &[Pattern], text: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| pattern.fits(text))
        };
        (self.actions.is_empty() || self.actions.contains(&request.action))
            && self.fits_sensitivity(request.sensitivity)
            && self.fits_cost(request.cost)
            && any(&self.target, &request.target)
            && any(&self.agent, &request.agent)
            && any(&self.intent, &request.intent)
            && self.labels.iter().all(|label| request.labels.contains(label))
            && !self.without_labels.iter().any(|label| request.labels.contains(label))
    }

    fn fits_sensitivity(&self, sensitivity: DataSensitivity) -> bool {
        // Who allows has to say so where more than usual gets through.
        let covered = self.decision.is_allowed().then_some(DataSensitivity::COVERED);
        self.min_sensitivity.is_none_or(|least| sensitivity >= least)
            && self.max_sensitivity.or(covered).is_none_or(|most| sensitivity <= most)
    }

    fn fits_cost(&self, cost: Option<u64>) -> bool {
        match cost {
            Some(cost) => {
                self.min_cost.is_none_or(|least| cost >= least)
                    && self.max_cost.is_none_or(|most| cost <= most)
            }
            None if self.decision.is_allowed() => {
                self.min_cost.is_none() && self.max_cost.is_none()
            }
            None => true,
        }
    }
}

/// Turns rules of one file into rules that can be compared.
pub(crate) struct RuleReader<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) file: &'a Arc<str>,
    pub(crate) layer: GovernanceLayer,
    /// What escalations say that say nothing.
    pub(crate) terms: EscalationTerms,
}

impl RuleReader<'_> {
    /// Checks a rule.
    pub(crate) fn read(&self, raw: &Spanned<RawRule>) -> Result<Rule, Problem> {
        let span = raw.span();
        let raw = raw.get_ref();
        let missing = |field: &str, hint: &str| {
            self.source.problem(Some(span.clone()), format!("missing field `{field}`"), Some(hint))
        };
        let name = raw.name.as_ref();
        let name = name.ok_or_else(|| missing("name", "write `name = \"what-it-is-for\"`"))?;
        if name.get_ref().trim().is_empty() {
            return Err(self.wrong(name.span(), "a rule needs a name", "write what it is for"));
        }
        let word = raw.decision.as_ref();
        let word =
            word.ok_or_else(|| missing("decision", "write `allow`, `escalate` or `deny`"))?;
        if raw.matches.is_empty() {
            let hint = "write a request that it fits: `matches = [{ action = \"use_tool\" }]`";
            return Err(missing("matches", hint));
        }
        let terms = self.terms(&raw.terms(), &self.terms)?;
        let decision = self.decision(word, terms)?;
        let is_escalation = matches!(decision, GovernanceDecision::Escalate(_));
        if let Some(span) = raw.terms().span().filter(|_| !is_escalation) {
            let hint = "write `decision = \"escalate\"`, or take it away";
            return Err(self.wrong(span, "these are terms of an escalation", hint));
        }
        let rule = Rule {
            info: Arc::new(GovernanceRule {
                layer: self.layer,
                name: name.get_ref().clone(),
                file: Some(Arc::clone(self.file)),
                reason: raw.reason.clone(),
            }),
            decision,
            actions: self.actions(raw.action.as_ref())?,
            agent: self.patterns(raw.agent.as_ref())?,
            intent: self.patterns(raw.intent.as_ref())?,
            target: self.patterns(raw.target.as_ref())?,
            labels: self.labels(raw.labels.as_ref())?,
            without_labels: self.labels(raw.without_labels.as_ref())?,
            min_sensitivity: self.sensitivity(raw.min_sensitivity.as_ref())?,
            max_sensitivity: self.sensitivity(raw.max_sensitivity.as_ref())?,
            min_cost: self.cost(raw.min_cost.as_ref())?,
            max_cost: self.cost(raw.max_cost.as_ref())?,
        };
        self.check(&rule, raw, span)?;
        Ok(rule)
    }

    /// A rule that fits everything was forgotten, and one that fits nothing is a mistake.
    fn check(&self, rule: &Rule, raw: &RawRule, span: Range<usize>) -> Result<(), Problem> {
        let name = &rule.info.name;
        let conditions = [
            raw.action.is_some(),
            raw.agent.is_some(),
            raw.intent.is_some(),
            raw.target.is_some(),
            raw.labels.is_some(),
            raw.without_labels.is_some(),
            raw.min_sensitivity.is_some(),
            raw.max_sensitivity.is_some(),
            raw.min_cost.is_some(),
            raw.max_cost.is_some(),
        ];
        if !conditions.contains(&true) {
            let message = format!("the rule `{name}` has no condition");
            let hint = "write `action`, `target` or another one; `target = \"*\"` is for all";
            return Err(self.wrong(span, message, hint));
        }
        let covered = rule.decision.is_allowed().then_some(DataSensitivity::COVERED);
        let most = rule.max_sensitivity.or(covered);
        let never = |why: &str, hint: &str| {
            let message = format!("the rule `{name}` can never fit: {why}");
            Err(self.wrong(span.clone(), message, hint))
        };
        if rule.min_sensitivity.zip(most).is_some_and(|(least, most)| least > most) {
            let hint = match rule.max_sensitivity {
                Some(_) => "raise `max_sensitivity`",
                None => {
                    "a rule that allows covers more than `internal` only with `max_sensitivity`"
                }
            };
            return never("`min_sensitivity` is above what it covers", hint);
        }
        if rule.min_cost.zip(rule.max_cost).is_some_and(|(least, most)| least > most) {
            return never("`min_cost` is above `max_cost`", "raise `max_cost`");
        }
        if rule.labels.iter().any(|label| rule.without_labels.contains(label)) {
            return never("a label is to be there and not to be there", "take one away");
        }
        Ok(())
    }

    /// The decision that a word stands for.
    pub(crate) fn decision(
        &self,
        word: &Spanned<String>,
        terms: EscalationTerms,
    ) -> Result<GovernanceDecision, Problem> {
        match word.get_ref().as_str() {
            "allow" => Ok(GovernanceDecision::Allow),
            "escalate" => Ok(GovernanceDecision::Escalate(terms)),
            "deny" => Ok(GovernanceDecision::Deny),
            other => {
                let message = format!("`{other}` is no decision");
                Err(self.wrong(word.span(), message, "write `allow`, `escalate` or `deny`"))
            }
        }
    }

    /// Terms of an escalation, where they say nothing those that are usual.
    pub(crate) fn terms(
        &self,
        raw: &TermsOf<'_>,
        usual: &EscalationTerms,
    ) -> Result<EscalationTerms, Problem> {
        let mut terms = usual.clone();
        if let Some(ask) = raw.ask {
            terms.ask = EscalationTarget::parse(ask.get_ref()).ok_or_else(|| {
                let message = format!("`{}` is nobody who can be asked", ask.get_ref());
                self.wrong(ask.span(), message, "write `person:NAME` or `agent:NAME`")
            })?;
        }
        if let Some(within) = raw.within_s {
            let seconds = u64::try_from(*within.get_ref()).ok();
            let seconds = seconds.filter(|seconds| (1..=LONGEST_ESCALATION_S).contains(seconds));
            terms.within_s = seconds.ok_or_else(|| {
                let message = format!("{} seconds are no time to answer in", within.get_ref());
                let hint = format!("write 1 to {LONGEST_ESCALATION_S}");
                self.wrong(within.span(), message, &hint)
            })?;
        }
        if let Some(fallback) = raw.fallback {
            terms.fallback = EscalationFallback::parse(fallback.get_ref()).ok_or_else(|| {
                let message = format!("`{}` is no fallback", fallback.get_ref());
                self.wrong(fallback.span(), message, "write `allow` or `deny`")
            })?;
        }
        Ok(terms)
    }

    fn actions(
        &self,
        actions: Option<&Spanned<OneOrMany>>,
    ) -> Result<Vec<GovernedAction>, Problem> {
        let Some(actions) = actions else { return Ok(Vec::new()) };
        self.check_list(actions)?;
        let words = actions.get_ref().0.iter();
        let known = words.map(|word| {
            GovernedAction::parse(word).ok_or_else(|| {
                let hint = format!("write one of {}", GovernedAction::names());
                self.wrong(actions.span(), format!("`{word}` is no action"), &hint)
            })
        });
        known.collect()
    }

    fn patterns(&self, patterns: Option<&Spanned<OneOrMany>>) -> Result<Vec<Pattern>, Problem> {
        let Some(patterns) = patterns else { return Ok(Vec::new()) };
        self.check_list(patterns)?;
        let parse = |text: &String| {
            let hint = "`*` is any text, `?` one character, a backslash takes that away";
            Pattern::parse(text).map_err(|why| self.wrong(patterns.span(), why, hint))
        };
        patterns.get_ref().0.iter().map(parse).collect()
    }

    fn labels(&self, labels: Option<&Spanned<OneOrMany>>) -> Result<Vec<String>, Problem> {
        let Some(labels) = labels else { return Ok(Vec::new()) };
        self.check_list(labels)?;
        Ok(labels.get_ref().0.clone())
    }

    fn check_list(&self, list: &Spanned<OneOrMany>) -> Result<(), Problem> {
        match list.get_ref().0.is_empty() {
            true => Err(self.wrong(list.span(), "an empty list fits nothing", "take it away")),
            false => Ok(()),
        }
    }

    fn sensitivity(
        &self,
        word: Option<&Spanned<String>>,
    ) -> Result<Option<DataSensitivity>, Problem> {
        let Some(word) = word else { return Ok(None) };
        let known = DataSensitivity::parse(word.get_ref());
        known.map(Some).ok_or_else(|| {
            let message = format!("`{}` is no sensitivity", word.get_ref());
            let hint = format!("write one of {}", DataSensitivity::names());
            self.wrong(word.span(), message, &hint)
        })
    }

    fn cost(&self, cost: Option<&Spanned<i64>>) -> Result<Option<u64>, Problem> {
        let Some(cost) = cost else { return Ok(None) };
        u64::try_from(*cost.get_ref()).map(Some).map_err(|_| {
            let hint = "costs are millionths of a dollar, from 0";
            self.wrong(cost.span(), "a cost is not below 0", hint)
        })
    }

    pub(crate) fn wrong(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        hint: &str,
    ) -> Problem {
        self.source.problem(Some(span), message, Some(hint))
    }
}

/// What is said of an escalation.
pub(crate) struct TermsOf<'a> {
    ask: Option<&'a Spanned<String>>,
    within_s: Option<&'a Spanned<i64>>,
    fallback: Option<&'a Spanned<String>>,
}

impl TermsOf<'_> {
    /// Where something is said.
    fn span(&self) -> Option<Range<usize>> {
        let ask = self.ask.map(Spanned::span);
        ask.or(self.within_s.map(Spanned::span)).or(self.fallback.map(Spanned::span))
    }
}

impl RawRule {
    fn terms(&self) -> TermsOf<'_> {
        let Self { ask, within_s, fallback, .. } = self;
        TermsOf { ask: ask.as_ref(), within_s: within_s.as_ref(), fallback: fallback.as_ref() }
    }
}

impl RawTerms {
    /// The same of a whole file.
    pub(crate) fn terms(&self) -> TermsOf<'_> {
        let Self { ask, within_s, fallback } = self;
        TermsOf { ask: ask.as_ref(), within_s: within_s.as_ref(), fallback: fallback.as_ref() }
    }
}
