//! A plan as plain data, for people to look at.

use serde::{Deserialize, Serialize};

use super::spec::PlanStep;
use super::state::{PlanEnd, PlanState, StepPhase};

/// A plan as a tree: each step is below the first step that it comes after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanTree {
    /// Names the plan.
    pub id: String,
    /// What it is for.
    pub goal: String,
    /// How it ended, if it did.
    pub end: Option<PlanEnd>,
    /// Steps that come after none.
    pub steps: Vec<PlanNode>,
}

/// A step of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanNode {
    /// Names it.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Its branch.
    pub branch: String,
    /// What it does.
    pub phase: StepPhase,
    /// The attempt that runs or ran last.
    pub attempt: u32,
    /// What was said of earlier attempts.
    pub notes: Vec<String>,
    /// Other steps that it comes after, besides the one above it.
    pub also_after: Vec<String>,
    /// Steps below it.
    pub steps: Vec<Self>,
}

impl PlanState {
    /// The plan as a tree, if it was loaded.
    #[must_use]
    pub fn tree(&self) -> Option<PlanTree> {
        let spec = self.spec.as_ref()?;
        // Bounded work for deep plans: nodes are made from the last level up, without recursion.
        let mut order: Vec<&PlanStep> = Vec::new();
        let mut level: Vec<&PlanStep> = self.below(None);
        while !level.is_empty() && order.len() <= spec.steps.len() {
            order.extend(&level);
            level = level.iter().flat_map(|step| self.below(Some(&step.id))).collect();
        }
        let mut made: std::collections::BTreeMap<&str, PlanNode> =
            order.iter().map(|step| (step.id.as_str(), self.node(step))).collect();
        for step in order.iter().rev() {
            let Some(above) = self.before(step).next() else { continue };
            let Some(node) = made.remove(step.id.as_str()) else { continue };
            if let Some(above) = made.get_mut(above) {
                above.steps.insert(0, node);
            }
        }
        let roots = self.below(None);
        let steps = roots.iter().filter_map(|step| made.remove(step.id.as_str())).collect();
        Some(PlanTree { id: spec.id.clone(), goal: spec.goal.clone(), end: self.end, steps })
    }

    fn below(&self, above: Option<&str>) -> Vec<&PlanStep> {
        let steps = self.spec.iter().flat_map(|spec| &spec.steps);
        steps.filter(|step| self.before(step).next() == above).collect()
    }

    fn node(&self, step: &PlanStep) -> PlanNode {
        let state = self.steps.get(&step.id).cloned().unwrap_or_default();
        PlanNode {
            id: step.id.clone(),
            title: step.title.clone(),
            branch: step.branch_name().to_owned(),
            phase: state.phase,
            attempt: state.attempt,
            notes: state.notes,
            also_after: self.before(step).skip(1).map(str::to_owned).collect(),
            steps: Vec::new(),
        }
    }
}
