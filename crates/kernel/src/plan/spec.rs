//! What a plan is made of, and what makes it one that can be carried out.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most steps of a plan, with those that were added later.
const MOST_STEPS: usize = 1_000;

/// The most dependencies of all steps together.
const MOST_DEPENDENCIES: usize = 10_000;

/// The most retries of one step.
const MOST_RETRIES: u32 = 100;

/// A goal, and the steps to it.
///
/// ```
/// use offshoot_kernel::{PlanSpec, PlanStep};
///
/// let plan = PlanSpec::new("release", "Release version 2")
///     .step(PlanStep::new("build", "Build"))
///     .step(PlanStep::new("publish", "Publish").after(["build"]));
/// assert!(plan.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanSpec {
    /// Names the plan.
    pub id: String,
    /// What it is for.
    pub goal: String,
    /// Its steps.
    pub steps: Vec<PlanStep>,
    /// How many branches run at the same time.
    #[serde(default = "default_parallel")]
    pub parallel: usize,
    /// How often failed branches may be replaced.
    #[serde(default)]
    pub replans: u32,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanStep {
    /// Names it within the plan.
    pub id: String,
    /// What it is, for people.
    pub title: String,
    /// What it is, for whoever runs it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
    /// The steps that come before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// How often it is tried again.
    #[serde(default)]
    pub retries: u32,
    /// Whether its result is judged.
    #[serde(default)]
    pub critique: bool,
    /// The branch that it belongs to; without one it is a branch of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The failed step that it stands for, if it was added by a replan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// Why a plan cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// It has no steps.
    #[error("plan {0} has no steps")]
    Empty(String),
    /// Two steps have one name.
    #[error("step {0} is there twice; give each its own id")]
    Twice(String),
    /// A step comes after one that is not there.
    #[error("step {step} comes after {after}, which is not in the plan")]
    UnknownStep {
        /// The step.
        step: String,
        /// What is not there.
        after: String,
    },
    /// Steps come after one another in a circle.
    #[error("steps come after one another in a circle: {}", .0.join(", "))]
    Cycle(Vec<String>),
    /// Branches come after one another in a circle.
    #[error("branches come after one another in a circle: {}; use other branches", .0.join(", "))]
    BranchCycle(Vec<String>),
    /// There is too much of something.
    #[error("{what} is {given}, the limit is {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How much.
        given: usize,
        /// How much there may be.
        limit: usize,
    },
    /// A step stands for one that did not fail.
    #[error(
        "step {step} cannot replace {replaces}: only steps of the failed branch can be replaced"
    )]
    Replaces {
        /// The step.
        step: String,
        /// What it stands for.
        replaces: String,
    },
    /// A new step belongs to an old branch.
    #[error("step {step} is for branch {branch}, which has begun; use a new branch")]
    OldBranch {
        /// The step.
        step: String,
        /// The branch.
        branch: String,
    },
    /// The plan was loaded already.
    #[error("plan {0} was loaded already with other steps; use another id")]
    Loaded(String),
}

impl PlanSpec {
    /// A plan without steps.
    pub fn new(id: impl Into<String>, goal: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            goal: goal.into(),
            steps: Vec::new(),
            parallel: default_parallel(),
            replans: 0,
        }
    }

    /// With one more step.
    #[must_use]
    pub fn step(mut self, step: PlanStep) -> Self {
        self.steps.push(step);
        self
    }

    /// Whether it can be carried out.
    pub fn check(&self) -> Result<(), PlanError> {
        if self.steps.is_empty() {
            return Err(PlanError::Empty(self.id.clone()));
        }
        bound("the number of branches at the same time", self.parallel, 64)?;
        check_steps(&self.steps, &BTreeMap::new())
    }
}

impl PlanStep {
    /// A step that comes after none.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            body: Value::Null,
            after: Vec::new(),
            retries: 0,
            critique: false,
            branch: None,
            replaces: None,
        }
    }

    /// After other steps.
    #[must_use]
    pub fn after<S: Into<String>>(self, after: impl IntoIterator<Item = S>) -> Self {
        Self { after: after.into_iter().map(Into::into).collect(), ..self }
    }

    /// In a branch.
    #[must_use]
    pub fn branch(self, branch: impl Into<String>) -> Self {
        Self { branch: Some(branch.into()), ..self }
    }

    /// With retries.
    #[must_use]
    pub fn retries(self, retries: u32) -> Self {
        Self { retries, ..self }
    }

    /// Judged.
    #[must_use]
    pub fn judged(self) -> Self {
        Self { critique: true, ..self }
    }

    /// With what whoever runs it gets.
    #[must_use]
    pub fn body(self, body: Value) -> Self {
        Self { body, ..self }
    }

    /// In place of a step that failed.
    #[must_use]
    pub fn replaces(self, step: impl Into<String>) -> Self {
        Self { replaces: Some(step.into()), ..self }
    }

    /// The branch that it belongs to.
    #[must_use]
    pub fn branch_name(&self) -> &str {
        self.branch.as_deref().unwrap_or(&self.id)
    }
}

/// Checks steps, of which some stand for others.
pub(super) fn check_steps(
    steps: &[PlanStep],
    replaced: &BTreeMap<String, String>,
) -> Result<(), PlanError> {
    bound("the number of steps", steps.len(), MOST_STEPS)?;
    let dependencies = steps.iter().map(|step| step.after.len()).sum();
    bound("the number of dependencies", dependencies, MOST_DEPENDENCIES)?;
    let mut branches = BTreeMap::new();
    for step in steps {
        bound("the number of retries", step.retries as usize, MOST_RETRIES as usize)?;
        if branches.insert(step.id.as_str(), step.branch_name()).is_some() {
            return Err(PlanError::Twice(step.id.clone()));
        }
    }
    let mut edges = Vec::new();
    let mut branch_edges = BTreeSet::new();
    for step in steps {
        for after in &step.after {
            let before = resolve(after, replaced);
            let Some(branch) = branches.get(before) else {
                let (step, after) = (step.id.clone(), after.clone());
                return Err(PlanError::UnknownStep { step, after });
            };
            edges.push((before, step.id.as_str()));
            if *branch != step.branch_name() {
                branch_edges.insert((*branch, step.branch_name()));
            }
        }
    }
    circle(branches.keys().copied(), &edges)
        .map_or(Ok(()), |names| Err(PlanError::Cycle(names)))?;
    let branch_edges: Vec<_> = branch_edges.into_iter().collect();
    let names: BTreeSet<&str> = branches.values().copied().collect();
    circle(names.into_iter(), &branch_edges)
        .map_or(Ok(()), |names| Err(PlanError::BranchCycle(names)))
}

/// The step that stands for another one now.
pub(super) fn resolve<'s>(step: &'s str, replaced: &'s BTreeMap<String, String>) -> &'s str {
    let mut step = step;
    // A step is replaced by one that is new, so this ends; the count guards against a damaged journal.
    for _ in 0..=replaced.len() {
        match replaced.get(step) {
            Some(next) => step = next,
            None => break,
        }
    }
    step
}

/// What is left when all that depends on nothing is taken away, again and again.
fn circle<'n>(names: impl Iterator<Item = &'n str>, edges: &[(&str, &str)]) -> Option<Vec<String>> {
    let mut before: BTreeMap<&str, usize> = names.map(|name| (name, 0)).collect();
    let mut behind: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (first, second) in edges {
        if let Some((name, count)) =
            before.get_key_value(second).map(|(name, count)| (*name, *count))
        {
            before.insert(name, count + 1);
            behind.entry(first).or_default().push(name);
        }
    }
    let mut free: Vec<&str> =
        before.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
    while let Some(name) = free.pop() {
        before.remove(name);
        for next in behind.remove(name).unwrap_or_default() {
            let Some(count) = before.get_mut(next) else { continue };
            *count -= 1;
            if *count == 0 {
                free.push(next);
            }
        }
    }
    let left: Vec<String> = before.into_keys().map(str::to_owned).collect();
    (!left.is_empty()).then_some(left)
}

fn bound(what: &'static str, given: usize, limit: usize) -> Result<(), PlanError> {
    if given > limit {
        return Err(PlanError::TooMany { what, given, limit });
    }
    Ok(())
}

fn default_parallel() -> usize {
    4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(steps: impl IntoIterator<Item = PlanStep>) -> Result<(), PlanError> {
        steps.into_iter().fold(PlanSpec::new("p", "goal"), PlanSpec::step).check()
    }

    #[test]
    fn what_cannot_be_carried_out_is_refused() {
        let step = |id: &str| PlanStep::new(id, id);
        assert_eq!(plan([]), Err(PlanError::Empty("p".to_owned())));
        assert_eq!(plan([step("a"), step("a")]), Err(PlanError::Twice("a".to_owned())));
        let unknown = plan([step("a").after(["b"])]).unwrap_err().to_string();
        assert!(unknown.contains("after b"), "{unknown}");
        let circle = plan([step("a").after(["b"]), step("b").after(["a"]), step("c")]);
        assert_eq!(circle, Err(PlanError::Cycle(vec!["a".to_owned(), "b".to_owned()])));
        let itself = plan([step("a").after(["a"])]);
        assert!(matches!(itself, Err(PlanError::Cycle(_))));
        let branches = plan([
            step("a").branch("x"),
            step("b").branch("y").after(["a"]),
            step("c").branch("x").after(["b"]),
        ]);
        assert!(matches!(branches, Err(PlanError::BranchCycle(_))));
        let many = plan((0..1_001).map(|number| step(&number.to_string())));
        assert!(matches!(many, Err(PlanError::TooMany { given: 1_001, .. })));
        assert!(matches!(plan([step("a").retries(101)]), Err(PlanError::TooMany { .. })));
    }
}
