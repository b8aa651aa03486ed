//! Whether a plan can be walked.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::engine::PromptEngine;
use crate::error::PromptProblem;
use crate::graph::file::{Draft, END, Node};
use crate::graph::outcome::{EdgeTest, OutcomeKind, OutcomeValue};
use crate::source::{PromptSource, did_you_mean};
use crate::template::variable::VariableKind;

/// Everything that is wrong with a plan. Its nodes learn which variables their templates have.
pub(crate) fn check(
    draft: &mut Draft,
    source: &PromptSource,
    engine: &PromptEngine,
) -> Vec<PromptProblem> {
    let mut check = Check { source, problems: Vec::new() };
    check.names(draft);
    if check.problems.is_empty() {
        check.ways(draft);
        check.edges(draft);
        check.templates(draft, engine);
    }
    check.problems
}

struct Check<'a> {
    source: &'a PromptSource,
    problems: Vec<PromptProblem>,
}

impl Check<'_> {
    fn wrong(&mut self, span: &Range<usize>, message: String, hint: Option<String>) {
        self.problems.push(self.source.problem(Some(span.clone()), message, hint));
    }

    /// Every node that is named exists.
    fn names(&mut self, draft: &Draft) {
        let known = || draft.nodes.keys().map(String::as_str);
        let (start, span) = &draft.start;
        if !draft.nodes.contains_key(start) {
            let hint = did_you_mean(start, known());
            self.wrong(span, format!("there is no node `{start}` to start at"), hint);
        }
        for node in draft.nodes.values() {
            let edges = node.edges.iter().map(|edge| (&edge.to, &edge.span));
            let answers = node.answers.values().map(|of| (of, &node.span));
            let others = node.unclear.iter().map(|to| (to, &node.span));
            for (to, span) in edges.chain(others) {
                if to != END && !draft.nodes.contains_key(to) {
                    let hint = did_you_mean(to, known().chain([END]));
                    self.wrong(span, format!("there is no node `{to}`"), hint);
                }
            }
            for (of, span) in answers.filter(|(of, _)| !draft.nodes.contains_key(*of)) {
                let hint = did_you_mean(of, known());
                self.wrong(span, format!("there is no node `{of}` with an answer"), hint);
            }
        }
    }

    /// Every node can be reached and can reach the end, and circles are bounded.
    fn ways(&mut self, draft: &Draft) {
        let reached = reached_from(draft, &draft.start.0, None);
        for (name, node) in &draft.nodes {
            if !reached.contains(name.as_str()) {
                let hint = Some("add an edge to it, or take it away".to_owned());
                self.wrong(&node.span, format!("nothing leads to `{name}`"), hint);
                continue;
            }
            let behind = behind(draft, name);
            if !behind.contains(END) {
                let hint = Some("add an edge to `end`".to_owned());
                self.wrong(&node.span, format!("nothing leads from `{name}` to the end"), hint);
            }
            if behind.contains(name.as_str()) && !node.says_visits {
                let hint = Some("say how often: `visits = 3`".to_owned());
                self.wrong(&node.span, format!("`{name}` can come back to itself"), hint);
            }
        }
    }

    /// Whatever comes of a node, there is an edge for it.
    fn edges(&mut self, draft: &Draft) {
        for (name, node) in &draft.nodes {
            if let Some(last) =
                node.edges.iter().rev().skip(1).find(|edge| edge.test == EdgeTest::Rest)
            {
                let hint = Some("put it last".to_owned());
                self.wrong(&last.span, "no edge behind this one is ever taken".to_owned(), hint);
            }
            let missing: Vec<String> = possible(node)
                .into_iter()
                .filter(|value| !node.edges.iter().any(|edge| edge.test.fits(value)))
                .map(|value| value.to_string())
                .collect();
            let has_rest = node.edges.iter().any(|edge| edge.test == EdgeTest::Rest);
            let is_integer =
                node.outcome.as_ref().is_some_and(|outcome| outcome.kind == OutcomeKind::Integer);
            if node.edges.is_empty() || (!missing.is_empty() && !has_rest) {
                let what = match missing.as_slice() {
                    [] => String::new(),
                    [only] if only.is_empty() => String::new(),
                    missing => format!(" for {}", missing.join(", ")),
                };
                let hint = Some("add one, or one without a condition as the last".to_owned());
                self.wrong(&node.span, format!("`{name}` has no edge{what}"), hint);
            } else if is_integer && !has_rest {
                let hint = Some("end with an edge without a condition".to_owned());
                self.wrong(&node.span, format!("`{name}` has no edge for other numbers"), hint);
            }
        }
    }

    /// Templates and variables fit.
    fn templates(&mut self, draft: &mut Draft, engine: &PromptEngine) {
        let mut variables: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, node) in &draft.nodes {
            let known = match engine.variables_of(&node.task_type, node.role.as_deref(), &node.task)
            {
                Ok(known) => known,
                Err(error) => {
                    self.wrong(&node.span, error.to_string(), None);
                    continue;
                }
            };
            for (variable, of) in &node.answers {
                let Some(rules) = known.get(variable) else {
                    let hint = did_you_mean(variable, known.keys().map(String::as_str));
                    let message = format!("no template of `{name}` has the variable `{variable}`");
                    self.wrong(&node.span, message, hint);
                    continue;
                };
                if rules.iter().any(|rule| !matches!(rule.kind, VariableKind::Text { .. })) {
                    let message = format!("`{variable}` of `{name}` is no text, as an answer is");
                    self.wrong(&node.span, message, None);
                }
                let is_late = *of == *name
                    || reached_from(draft, &draft.start.0, Some(of)).contains(name.as_str());
                if is_late && !rules.iter().all(|rule| rule.may_be_missing()) {
                    let message = format!("`{name}` can come before the answer of `{of}`");
                    let hint = Some(format!("make `{variable}` optional, or give it a default"));
                    self.wrong(&node.span, message, hint);
                }
            }
            variables.insert(name.clone(), known.into_keys().collect());
        }
        for (name, node) in &mut draft.nodes {
            node.variables = variables.remove(name).unwrap_or_default();
        }
    }
}

/// All values that a node may read; of numbers none.
fn possible(node: &Node) -> Vec<OutcomeValue> {
    match node.outcome.as_ref().map(|outcome| &outcome.kind) {
        None => vec![OutcomeValue::None],
        Some(OutcomeKind::Enum(values)) => values.iter().cloned().map(OutcomeValue::Word).collect(),
        Some(OutcomeKind::Boolean) => [true, false].map(OutcomeValue::Boolean).to_vec(),
        Some(OutcomeKind::Integer) => Vec::new(),
    }
}

/// All nodes that can be reached from one, itself among them, without going through another.
fn reached_from<'a>(draft: &'a Draft, from: &'a str, without: Option<&str>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut pending = vec![from];
    while let Some(next) = pending.pop() {
        if Some(next) != without && reached.insert(next) {
            pending.extend(draft.nodes.get(next).into_iter().flat_map(Node::targets));
        }
    }
    reached
}

/// All that can be reached from a node in a step or more.
fn behind<'a>(draft: &'a Draft, name: &str) -> BTreeSet<&'a str> {
    let targets = draft.nodes.get(name).into_iter().flat_map(Node::targets);
    targets.flat_map(|target| reached_from(draft, target, None)).collect()
}
