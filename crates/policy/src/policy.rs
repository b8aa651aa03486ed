//! From judged commands to a verdict.

mod whole;

use std::sync::Arc;
use std::time::Duration;

use crate::category::Categories;
use crate::classify::classify;
use crate::context::Context;
use crate::error::PolicyError;
use crate::judged::Judged;
use crate::options::PolicyOptions;
use crate::parse::parse_text;
use crate::rego::RegoFile;
use crate::rules::Rules;
use crate::rules::facts::Facts;
use crate::rules::load::load;
use crate::script::{Script, ShellWord};
use crate::verdict::Verdict;
use crate::verdict::appeal::Appeal;
use crate::verdict::part::PartVerdict;
use crate::verdict::rule_info::RuleInfo;
use offshoot_vocabulary::PolicyDecision;
use whole::{Tally, Whole};

/// All rules that hold, those built in among them: it decides whether a command may run. It never changes once it is made, and may be
/// shared between threads.
#[derive(Debug)]
pub struct Policy {
    rules: Arc<Rules>,
    rego: Vec<RegoFile>,
    rego_timeout: Duration,
    digest: [u8; blake3::OUT_LEN],
    warnings: Vec<String>,
}

/// Judges a text for the shell.
type JudgeText = fn(&str, &Context) -> Vec<Judged>;

impl Policy {
    /// A policy of these rules and of what is built in.
    pub fn new(options: &PolicyOptions) -> Result<Self, PolicyError> {
        Self::with_judging(options, judge_text)
    }

    /// Decides about a script.
    pub fn decide(&self, script: &Script, context: &Context) -> Verdict {
        let mut verdict = self.decide_judged(classify(script, context), context);
        if let Some(appeal) = &mut verdict.appeal {
            appeal.alone = script.alone().map(<[ShellWord]>::to_vec);
        }
        verdict
    }

    /// A policy that judges commands in a way of its own.
    fn with_judging(options: &PolicyOptions, judge: JudgeText) -> Result<Self, PolicyError> {
        let mut files = Vec::new();
        let mut rego = Vec::new();
        let mut problems = Vec::new();
        for source in &options.layers {
            let toml = source.toml.as_ref();
            files.extend(toml.map(|file| (source.layer, file.name.as_str(), file.text.as_str())));
            match source.rego.as_ref().map(|file| RegoFile::load(source.layer, file)) {
                Some(Ok(file)) => rego.push(file),
                Some(Err(problem)) => problems.push(problem),
                None => {}
            }
        }
        let rules = load(&files, &judge);
        match rules {
            Ok(rules) if problems.is_empty() => {
                let of_rego = rego.iter().flat_map(RegoFile::warnings);
                Ok(Self {
                    warnings: rules.warnings.iter().cloned().chain(of_rego).collect(),
                    rules: Arc::new(rules),
                    rego,
                    rego_timeout: options.rego_timeout,
                    digest: options.digest(),
                })
            }
            Ok(_) => Err(PolicyError { problems }),
            Err(mut error) => {
                error.problems.extend(problems);
                Err(error)
            }
        }
    }

    /// What these rules are recognised by.
    pub fn digest(&self) -> [u8; blake3::OUT_LEN] {
        self.digest
    }

    /// How many rules the files have.
    pub fn rule_count(&self) -> usize {
        self.rules.count()
    }

    /// How many examples were checked.
    pub fn example_count(&self) -> usize {
        self.rules.examples
    }

    /// Rules that can have no effect, with the reason.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Decides about parts that were judged.
    pub fn decide_judged(&self, judged: Vec<Judged>, context: &Context) -> Verdict {
        let mut tally = Tally::default();
        let mut parts = Vec::with_capacity(judged.len());
        let mut categories = Categories::READ_ONLY;
        for judged in judged {
            let standing = self.rules.stand(&Facts::new(&judged, context));
            let decided = standing.decided();
            tally.add(parts.len(), &standing);
            categories = categories.union(judged.categories);
            let (decision, rule) = (decided.decision, Arc::clone(decided.rule));
            parts.push(PartVerdict { judged, decision, rule });
        }
        let whole = if self.rego.is_empty() {
            tally.whole()
        } else {
            self.ask_rego(&tally, &parts, context)
        };
        Verdict {
            decision: whole.decision,
            categories,
            reason: whole.reason(&parts, context),
            rule: whole.rule,
            part: whole.part,
            parts,
            appeal: (!whole.decision.runs()).then(|| self.appeal(whole.stopped_by, context)),
        }
    }

    /// What is decided about the whole when Rego was asked. The user's takes the place of what is built in, as the user's rules do;
    /// all other only narrows.
    fn ask_rego(&self, tally: &Tally<'_>, parts: &[PartVerdict], context: &Context) -> Whole {
        let ask = |file: &RegoFile, stands: PolicyDecision| {
            file.ask(parts, stands, context, self.rego_timeout)
        };
        let mut whole = tally.widened();
        let unread = parts.iter().any(|part| part.judged.unread);
        for file in self.rego.iter().filter(|file| file.layer().widens()) {
            let wish = ask(file, whole.decision);
            match wish.decision {
                // To do without walls takes a rule that says so, and nothing allows what nobody has read.
                wish if context.unconfined || unread => whole.narrow(wish),
                Some(decision) => whole = tally.replaced(decision),
                None => {}
            }
            whole.narrow(wish.floor);
        }
        whole = tally.narrowed(whole);
        for file in self.rego.iter().filter(|file| !file.layer().widens()) {
            let wish = ask(file, whole.decision);
            whole.narrow(wish.decision);
            whole.narrow(wish.floor);
        }
        whole
    }

    fn appeal(&self, stopped_by: Option<Arc<RuleInfo>>, context: &Context) -> Box<Appeal> {
        let rules = Arc::clone(&self.rules);
        Box::new(Appeal { rules, context: context.clone(), stopped_by, alone: None })
    }
}

fn judge_text(text: &str, context: &Context) -> Vec<Judged> {
    classify(&parse_text(text.as_bytes()), context)
}

#[cfg(test)]
mod tests;
