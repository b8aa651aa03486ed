//! A plan as it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use crate::error::{PromptProblem, TemplateError};
use crate::graph::outcome::{EdgeTest, Outcome, OutcomeKind, OutcomeSource, OutcomeValue};
use crate::source::PromptSource;
use crate::template::file::{check_length, check_version};
use crate::template::load::is_template_name;

/// Where a plan ends.
pub(crate) const END: &str = "end";

/// How many steps a plan may have, unless it says so itself.
const STEPS: u32 = 64;
/// How many it may ever have.
const MOST_STEPS: u32 = 1_000;
/// How often a node may be visited at most.
const MOST_VISITS: u32 = 100;
/// How many nodes there may be.
const MOST_NODES: usize = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGraph {
    version: Option<Spanned<i64>>,
    name: Spanned<String>,
    start: Spanned<String>,
    max_steps: Option<Spanned<u32>>,
    #[serde(default, rename = "node")]
    nodes: Vec<Spanned<RawNode>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNode {
    name: Spanned<String>,
    task_type: String,
    role: Option<String>,
    task: String,
    visits: Option<Spanned<u32>>,
    #[serde(default)]
    answers: BTreeMap<String, String>,
    outcome: Option<Spanned<RawOutcome>>,
    edges: Vec<Spanned<RawEdge>>,
    unclear: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOutcome {
    from: String,
    name: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    values: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEdge {
    to: Spanned<String>,
    is: Option<toml::Value>,
    at_least: Option<i64>,
    at_most: Option<i64>,
}

/// A node that was read.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) task_type: String,
    pub(crate) role: Option<String>,
    pub(crate) task: String,
    pub(crate) visits: u32,
    /// It says itself how often it may be visited.
    pub(crate) says_visits: bool,
    /// Variables that are answers of nodes.
    pub(crate) answers: BTreeMap<String, String>,
    /// All variables of its templates.
    pub(crate) variables: BTreeSet<String>,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) unclear: Option<String>,
    /// Where it is in the file.
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) to: String,
    pub(crate) test: EdgeTest,
    pub(crate) span: Range<usize>,
}

impl Node {
    /// Where one may go from here.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &str> {
        let edges = self.edges.iter().map(|edge| edge.to.as_str());
        edges.chain(self.unclear.as_deref())
    }
}

/// A plan that was read and not checked yet.
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) start: (String, Range<usize>),
    pub(crate) max_steps: u32,
    pub(crate) nodes: BTreeMap<String, Node>,
}

/// Reads a plan.
pub(crate) fn read(source: &PromptSource) -> Result<Draft, TemplateError> {
    let one = |problem: PromptProblem| TemplateError { problems: vec![problem] };
    check_length(source).map_err(one)?;
    let raw: RawGraph = toml::from_str(&source.text)
        .map_err(|error| one(source.problem(error.span(), error.message(), None)))?;
    check_version(source, raw.version.as_ref()).map_err(one)?;
    let mut problems = Vec::new();
    let mut wrong = |span: Range<usize>, message: String, hint: &str| {
        problems.push(source.problem(Some(span), message, Some(hint.to_owned())));
    };
    if !is_template_name(raw.name.get_ref()) {
        let message = format!("`{}` is no name of a plan", raw.name.get_ref());
        wrong(raw.name.span(), message, "write letters, digits and -_.");
    }
    let max_steps = raw.max_steps.as_ref().map_or(STEPS, |steps| *steps.get_ref());
    if !(1..=MOST_STEPS).contains(&max_steps) {
        let span = raw.max_steps.as_ref().map_or(0..0, Spanned::span);
        let message = format!("a plan cannot have {max_steps} steps");
        wrong(span, message, &format!("write 1 to {MOST_STEPS}"));
    }
    if raw.nodes.len() > MOST_NODES {
        let message = format!("there are more than {MOST_NODES} nodes");
        wrong(0..0, message, "divide the plan");
    }
    let mut nodes = BTreeMap::new();
    for raw in raw.nodes {
        let span = raw.span();
        let raw = raw.into_inner();
        let (name, name_span) = (raw.name.get_ref().clone(), raw.name.span());
        if !is_template_name(&name) || name == END {
            let message = format!("`{name}` is no name of a node");
            wrong(name_span.clone(), message, "write letters, digits and -_.; `end` is taken");
        }
        match node(raw, span) {
            Ok(node) => {
                if nodes.insert(name.clone(), node).is_some() {
                    wrong(name_span, format!("there are two nodes `{name}`"), "call one otherwise");
                }
            }
            Err((span, message, hint)) => wrong(span, message, &hint),
        }
    }
    if !problems.is_empty() {
        return Err(TemplateError { problems });
    }
    let start = (raw.start.get_ref().clone(), raw.start.span());
    Ok(Draft { name: raw.name.into_inner(), start, max_steps, nodes })
}

type Wrong = (Range<usize>, String, String);

fn node(raw: RawNode, span: Range<usize>) -> Result<Node, Wrong> {
    let visits = raw.visits.as_ref().map_or(1, |visits| *visits.get_ref());
    if !(1..=MOST_VISITS).contains(&visits) {
        let span = raw.visits.as_ref().map_or(0..0, Spanned::span);
        let message = format!("a node cannot be visited {visits} times");
        return Err((span, message, format!("write 1 to {MOST_VISITS}")));
    }
    let outcome = raw.outcome.map(outcome).transpose()?;
    if let (Some(unclear), None) = (&raw.unclear, &outcome) {
        let hint = "write an `outcome`, or take it away".to_owned();
        return Err((unclear.span(), "nothing can be unclear without an outcome".to_owned(), hint));
    }
    let edges = raw.edges.into_iter().map(|raw| edge(raw, outcome.as_ref()));
    Ok(Node {
        task_type: raw.task_type,
        role: raw.role,
        task: raw.task,
        visits,
        says_visits: raw.visits.is_some(),
        answers: raw.answers,
        variables: BTreeSet::new(),
        edges: edges.collect::<Result<_, _>>()?,
        outcome,
        unclear: raw.unclear.map(Spanned::into_inner),
        span,
    })
}

fn outcome(raw: Spanned<RawOutcome>) -> Result<Outcome, Wrong> {
    let span = raw.span();
    let raw = raw.into_inner();
    let wrong = |message: String, hint: &str| Err((span.clone(), message, hint.to_owned()));
    let name = raw.name.filter(|name| !name.trim().is_empty());
    let from = match (raw.from.as_str(), name) {
        ("field", Some(name)) => OutcomeSource::Field(name),
        ("line", Some(name)) => OutcomeSource::Line(name),
        ("answer", None) => OutcomeSource::Answer,
        ("field" | "line", None) => {
            return wrong(
                format!("`{}` needs a `name`", raw.from),
                "name the field, or how the line begins",
            );
        }
        ("answer", Some(_)) => {
            return wrong("the whole answer has no `name`".to_owned(), "take it away");
        }
        (other, _) => {
            return wrong(
                format!("nothing is read from `{other}`"),
                "write `field`, `line` or `answer`",
            );
        }
    };
    let kind = match (raw.kind.as_str(), raw.values) {
        ("enum", Some(values)) => {
            let words: BTreeSet<String> =
                values.iter().map(|value| value.trim().to_lowercase()).collect();
            if values.is_empty() || words.len() < values.len() || words.contains("") {
                return wrong("the values are not different words".to_owned(), "write each once");
            }
            OutcomeKind::Enum(values)
        }
        ("enum", None) => return wrong("an enum needs `values`".to_owned(), "list them"),
        ("boolean", None) => OutcomeKind::Boolean,
        ("integer", None) => OutcomeKind::Integer,
        ("boolean" | "integer", Some(_)) => {
            return wrong("only an enum has `values`".to_owned(), "take them away");
        }
        (other, _) => {
            return wrong(format!("`{other}` is no type"), "write `enum`, `boolean` or `integer`");
        }
    };
    Ok(Outcome { from, kind })
}

fn edge(raw: Spanned<RawEdge>, outcome: Option<&Outcome>) -> Result<Edge, Wrong> {
    let span = raw.span();
    let raw = raw.into_inner();
    let wrong = |message: String, hint: &str| Err((span.clone(), message, hint.to_owned()));
    let has_range = raw.at_least.is_some() || raw.at_most.is_some();
    let test = match (raw.is, outcome.map(|outcome| &outcome.kind)) {
        (None, _) if !has_range => EdgeTest::Rest,
        (_, None) => {
            return wrong("the node has no outcome to compare".to_owned(), "write an `outcome`");
        }
        (Some(_), _) if has_range => {
            return wrong("an edge has `is` or a range".to_owned(), "take one away");
        }
        (None, Some(OutcomeKind::Integer)) => {
            let (least, most) = (raw.at_least.unwrap_or(i64::MIN), raw.at_most.unwrap_or(i64::MAX));
            if least > most {
                return wrong("`at_least` is above `at_most`".to_owned(), "raise `at_most`");
            }
            EdgeTest::Between(least, most)
        }
        (None, Some(_)) => {
            return wrong("only an integer has a range".to_owned(), "write `is`");
        }
        (Some(toml::Value::String(word)), Some(OutcomeKind::Enum(values))) => {
            match values.iter().find(|value| **value == word) {
                Some(value) => EdgeTest::Is(OutcomeValue::Word(value.clone())),
                None => {
                    let message = format!("`{word}` is none of {}", values.join(", "));
                    return wrong(message, "write one of the values");
                }
            }
        }
        (Some(toml::Value::Boolean(value)), Some(OutcomeKind::Boolean)) => {
            EdgeTest::Is(OutcomeValue::Boolean(value))
        }
        (Some(toml::Value::Integer(number)), Some(OutcomeKind::Integer)) => {
            EdgeTest::Is(OutcomeValue::Integer(number))
        }
        (Some(other), Some(_)) => {
            return wrong(format!("`{other}` is no value of the outcome"), "write one of its type");
        }
    };
    Ok(Edge { to: raw.to.into_inner(), test, span })
}
