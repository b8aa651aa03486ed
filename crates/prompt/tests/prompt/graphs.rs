//! Plans of several prompts.

use std::collections::BTreeMap;

use fastrand::Rng;
use offshoot_prompt::{
    GraphError, GraphState, GraphStatus, MAX_ANSWER, PromptEngine, PromptGraph, PromptSource,
    PromptValue,
};

use crate::support::{engine, task, template};

fn library() -> PromptEngine {
    engine(
        &(template(
            "draft",
            "task",
            "Draft {{topic}}. {{remarks}}",
            "topic = { type = \"name\" }\nremarks = { type = \"text\", optional = true }",
        ) + &template("check", "task", "Check {{draft}}", "draft = { type = \"text\" }")
            + &template("count", "task", "Count.", "")
            + &task("t", "")),
    )
}

const PLAN: &str = r#"version = 1
name = "draft-and-check"
start = "draft"
max_steps = 7
[[node]]
name = "draft"
task_type = "write"
task = "draft"
visits = 3
answers = { remarks = "check" }
edges = [{ to = "check" }]
[[node]]
name = "check"
task_type = "review"
task = "check"
visits = 4
answers = { draft = "draft" }
outcome = { from = "field", name = "verdict", type = "enum", values = ["good", "bad"] }
edges = [{ is = "good", to = "end" }, { is = "bad", to = "draft" }]
unclear = "check"
"#;

fn load(text: &str) -> Result<PromptGraph, String> {
    PromptGraph::load(&PromptSource::new("plan.toml", text), &library())
        .map_err(|error| error.to_string())
}

fn plan() -> PromptGraph {
    load(PLAN).unwrap()
}

fn begin(graph: &PromptGraph) -> GraphState {
    graph.begin(BTreeMap::from([("topic".to_owned(), PromptValue::from("rust"))]))
}

fn node(state: &GraphState) -> &str {
    match &state.status {
        GraphStatus::Asking { node } => node,
        GraphStatus::Ended { .. } => "ended",
        GraphStatus::Failed { .. } => "failed",
    }
}

const BAD: &str = "{\"verdict\": \"bad\"}";
const GOOD: &str = "{\"verdict\": \"good\"}";

#[test]
fn a_plan_is_walked_by_answers() {
    let (graph, library) = (plan(), library());
    let text =
        |state: &GraphState| library.build(&graph.prompt(state).unwrap().request).unwrap().text();
    let first = begin(&graph);
    assert_eq!(text(&first), "Draft rust. ");
    let second = graph.advance(&first, "one").unwrap();
    assert_eq!((node(&second), text(&second).as_str()), ("check", "Check one"));
    let unclear = graph.advance(&second, "hm").unwrap();
    assert_eq!(node(&unclear), "check");
    let third = graph.advance(&unclear, BAD).unwrap();
    assert_eq!(text(&third), format!("Draft rust. {BAD}"));
    let fourth = graph.advance(&third, "two").unwrap();
    assert_eq!(text(&fourth), "Check two");
    let end = graph.advance(&fourth, GOOD).unwrap();
    assert_eq!(end.status, GraphStatus::Ended { outcome: "good".to_owned() });
    assert!(matches!(graph.prompt(&end), Err(GraphError::Over { .. })));
    assert!(matches!(graph.advance(&end, "x"), Err(GraphError::Over { .. })));
    // A step changes no state that somebody still has.
    assert_eq!(graph.advance(&first, "one").unwrap(), second);
}

#[test]
fn loops_and_steps_are_bounded() {
    let graph = plan();
    let mut state = begin(&graph);
    for answer in ["a", BAD, "b", BAD, "c"] {
        state = graph.advance(&state, answer).unwrap();
    }
    let out = graph.advance(&state, BAD).unwrap();
    let reason = |state: &GraphState| match &state.status {
        GraphStatus::Failed { reason } => reason.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(&out), "`draft` was visited 3 times, and that is the most");
    let longer =
        load(&PLAN.replace("visits = 3", "visits = 100").replace("visits = 4", "visits = 100"))
            .unwrap();
    let mut state = begin(&longer);
    for answer in ["a", BAD, "b", BAD, "c", BAD, "d"] {
        assert_eq!(state.steps, state.visits.values().sum::<u32>());
        state = longer.advance(&state, answer).unwrap();
    }
    assert_eq!(reason(&state), "the plan has more than 7 steps");
    assert!(matches!(longer.advance(&state, "x"), Err(GraphError::Over { .. })));
    // Without a place for what is unclear it fails.
    let strict = load(&PLAN.replace("unclear = \"check\"\n", "")).unwrap();
    let state = strict.advance(&strict.advance(&begin(&strict), "a").unwrap(), "hm").unwrap();
    assert!(reason(&state).contains("field `verdict` with one of good, bad"), "{}", reason(&state));
}

#[test]
fn answers_are_bounded() {
    let graph = plan();
    let longest = "x".repeat(MAX_ANSWER);
    assert!(graph.advance(&begin(&graph), &longest).is_ok());
    let error = graph.advance(&begin(&graph), &format!("{longest}x"));
    assert!(matches!(error, Err(GraphError::AnswerTooLong { .. })));
}

#[test]
fn plans_are_bounded() {
    let padded = |length: usize| format!("{PLAN}#{}", "x".repeat(length - PLAN.len() - 1));
    assert!(load(&padded(1024 * 1024)).is_ok());
    assert!(load(&padded(1024 * 1024 + 1)).unwrap_err().contains("divide it"));
    let chain = |count: usize| {
        let mut text = "version = 1\nname = \"n\"\nstart = \"0\"\n".to_owned();
        for at in 0..count {
            let next = if at + 1 == count { "end".to_owned() } else { (at + 1).to_string() };
            text += &format!(
                "[[node]]\nname = \"{at}\"\ntask_type = \"x\"\ntask = \"count\"\nedges = [{{ to = \"{next}\" }}]\n"
            );
        }
        text
    };
    assert!(load(&chain(100)).is_ok());
    assert!(load(&chain(1_001)).unwrap_err().contains("more than 1000 nodes"));
}

/// Wherever a walk is stopped, it goes on as if it had not been.
#[test]
fn a_walk_goes_on_from_its_state() {
    let seed = fastrand::u64(..);
    let mut rng = Rng::with_seed(seed);
    for _ in 0..200 {
        let graph =
            load(&PLAN.replace("max_steps = 7", &format!("max_steps = {}", rng.u32(1..12))))
                .unwrap();
        let (mut one, mut other) = (begin(&graph), begin(&graph));
        while matches!(one.status, GraphStatus::Asking { .. }) {
            let answer = [GOOD, BAD, "hm", ""][rng.usize(..4)];
            one = graph.advance(&one, answer).unwrap();
            other = GraphState::from_json(&other.to_json().unwrap()).unwrap();
            assert_eq!(
                graph.prompt(&other).is_ok(),
                matches!(other.status, GraphStatus::Asking { .. })
            );
            other = graph.advance(&other, answer).unwrap();
            assert_eq!(one, other, "seed {seed}");
        }
        assert!(one.steps <= 12, "seed {seed}");
    }
}

#[test]
fn states_of_other_plans_are_refused() {
    let graph = plan();
    let state = begin(&graph);
    let other = load(&PLAN.replace("max_steps = 7", "max_steps = 8")).unwrap();
    assert!(matches!(other.prompt(&state), Err(GraphError::OtherGraph { .. })));
    assert!(matches!(other.advance(&state, "x"), Err(GraphError::OtherGraph { .. })));
    let json = state.to_json().unwrap();
    let version = GraphState::from_json(&json.replace("\"version\":1", "\"version\":2")).unwrap();
    assert_eq!(graph.advance(&version, "x"), Err(GraphError::Version { version: 2 }));
    let gone =
        GraphState::from_json(&json.replace("\"node\":\"draft\"", "\"node\":\"gone\"")).unwrap();
    assert!(matches!(graph.prompt(&gone), Err(GraphError::UnknownNode { .. })));
    assert!(matches!(GraphState::from_json("{"), Err(GraphError::Damaged(_))));
}

#[test]
fn numbers_and_truths_choose_edges() {
    let of = |outcome: &str, edges: &str| {
        format!(
            "version = 1\nname = \"n\"\nstart = \"a\"\n[[node]]\nname = \"a\"\ntask_type = \"x\"\ntask = \"count\"\noutcome = {{ from = \"answer\", {outcome} }}\nedges = [{edges}]\n[[node]]\nname = \"b\"\ntask_type = \"x\"\ntask = \"count\"\nedges = [{{ to = \"end\" }}]\n"
        )
    };
    let goes = |text: &str, answer: &str| {
        let graph = load(text).unwrap();
        node(&graph.advance(&begin(&graph), answer).unwrap()).to_owned()
    };
    let number = of(
        "type = \"integer\"",
        "{ is = 7, to = \"end\" }, { at_least = 3, at_most = 5, to = \"b\" }, { to = \"end\" }",
    );
    for (answer, to) in
        [("7", "ended"), ("3", "b"), ("5", "b"), ("6", "ended"), ("2", "ended"), ("x", "failed")]
    {
        assert_eq!(goes(&number, answer), to, "{answer}");
    }
    let truth = of("type = \"boolean\"", "{ is = true, to = \"b\" }, { is = false, to = \"end\" }");
    assert_eq!((goes(&truth, "true").as_str(), goes(&truth, "false").as_str()), ("b", "ended"));
    for (outcome, edges, message) in [
        (
            "type = \"integer\"",
            "{ is = 1, to = \"b\" }, { is = 2, to = \"end\" }",
            "no edge for other numbers",
        ),
        ("type = \"boolean\"", "{ is = true, to = \"b\" }", "has no edge for false"),
        ("type = \"boolean\"", "{ is = 1, to = \"b\" }, { to = \"end\" }", "`1` is no value"),
        (
            "type = \"boolean\"",
            "{ at_least = 1, to = \"b\" }, { to = \"end\" }",
            "only an integer has a range",
        ),
        (
            "type = \"integer\"",
            "{ at_least = 2, at_most = 1, to = \"b\" }, { to = \"end\" }",
            "`at_least` is above",
        ),
        (
            "type = \"integer\"",
            "{ is = 2, at_most = 1, to = \"b\" }, { to = \"end\" }",
            "`is` or a range",
        ),
        ("type = \"integer\", values = [\"a\"]", "{ to = \"b\" }", "only an enum has"),
        ("type = \"text\"", "{ to = \"b\" }", "`text` is no type"),
        ("type = \"enum\"", "{ to = \"b\" }", "an enum needs `values`"),
        ("type = \"enum\", values = [\"a\", \"A\"]", "{ to = \"b\" }", "not different words"),
        (
            "type = \"enum\", values = [\"a\"]",
            "{ is = \"c\", to = \"b\" }, { to = \"end\" }",
            "`c` is none of a",
        ),
        ("type = \"integer\", name = \"x\"", "{ to = \"b\" }", "the whole answer has no `name`"),
    ] {
        let error = load(&of(outcome, edges)).unwrap_err();
        assert!(error.contains(message), "{outcome} {edges}: {error}");
    }
}

#[test]
fn plans_are_checked_when_they_are_loaded() {
    for (from, to, place, message) in [
        (
            "start = \"draft\"",
            "start = \"draff\"",
            "3:9",
            "no node `draff` to start at; did you mean `draft`?",
        ),
        (
            "edges = [{ to = \"check\" }]",
            "edges = [{ to = \"chekc\" }]",
            "11:10",
            "no node `chekc`; did you mean `check`?",
        ),
        ("unclear = \"check\"", "unclear = \"chck\"", "12:1", "no node `chck`"),
        ("remarks = \"check\"", "remarks = \"chck\"", "5:1", "no node `chck` with an answer"),
        (
            "remarks = \"check\"",
            "remark = \"check\"",
            "5:1",
            "has the variable `remark`; did you mean `remarks`?",
        ),
        ("remarks = \"check\"", "topic = \"check\"", "5:1", "is no text"),
        (
            "answers = { draft = \"draft\" }",
            "answers = { draft = \"check\" }",
            "12:1",
            "make `draft` optional",
        ),
        ("visits = 3\n", "", "5:1", "`draft` can come back to itself"),
        ("visits = 3", "visits = 0", "9:10", "cannot be visited 0 times"),
        ("visits = 3", "visits = 101", "9:10", "cannot be visited 101 times"),
        ("max_steps = 7", "max_steps = 0", "4:13", "cannot have 0 steps"),
        ("max_steps = 7", "max_steps = 1001", "4:13", "cannot have 1001 steps"),
        (
            "is = \"good\", to = \"end\"",
            "is = \"good\", to = \"draft\"",
            "5:1",
            "nothing leads from `draft` to the end",
        ),
        ("{ is = \"bad\", to = \"draft\" }", "", "12:1", "`check` has no edge for bad"),
        ("{ is = \"bad\", to", "{ to = \"end\" }, { is = \"bad\", to", "19:39", "behind"),
        (
            "edges = [{ to = \"check\" }]",
            "edges = [{ to = \"end\" }]",
            "12:1",
            "nothing leads to `check`",
        ),
        ("edges = [{ to = \"check\" }]", "edges = []", "5:1", "`draft` has no edge"),
        (
            "edges = [{ to = \"check\" }]",
            "edges = [{ is = 1, to = \"check\" }]",
            "11:10",
            "no outcome to compare",
        ),
        (
            "edges = [{ to = \"check\" }]",
            "edges = [{ to = \"check\" }]\nunclear = \"check\"",
            "12:11",
            "without an outcome",
        ),
        (
            "task = \"draft\"",
            "task = \"draff\"",
            "5:1",
            "there is no template `draff`; did you mean `draft`?",
        ),
        (
            "task_type = \"write\"",
            "task_type = \"write\"\nrole = \"draft\"",
            "5:1",
            "one of `role` is needed",
        ),
        ("name = \"draft\"", "name = \"end\"", "6:8", "`end` is taken"),
        ("name = \"check\"", "name = \"draft\"", "13:8", "two nodes `draft`"),
        ("name = \"draft-and-check\"", "name = \"a b\"", "2:8", "no name of a plan"),
        (
            "from = \"field\", name = \"verdict\"",
            "from = \"field\"",
            "18:11",
            "`field` needs a `name`",
        ),
        (
            "from = \"field\", name = \"verdict\"",
            "from = \"page\"",
            "18:11",
            "nothing is read from `page`",
        ),
        ("version = 1", "version = 2", "1:11", "version 2 is not known"),
        ("start =", "begin =", "3:1", "unknown field `begin`"),
    ] {
        assert!(PLAN.contains(from), "{from}");
        let error = load(&PLAN.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(&format!("plan.toml:{place}")), "{to}: {error}");
        assert!(error.contains(message), "{to}: {error}");
    }
}
