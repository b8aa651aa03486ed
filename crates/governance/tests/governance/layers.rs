//! Layers: a narrower one never allows more.

use fastrand::Rng;
use offshoot_governance::{
    DataSensitivity, GovernanceDecision, GovernanceLayer, GovernanceRequest, GovernanceSource,
    GovernedAction,
};

use crate::support::{agent, engine, project, rule, source, tool, user, word};

fn pick<'a>(rng: &mut Rng, all: &[&'a str]) -> &'a str {
    all[rng.usize(..all.len())]
}

const DECISIONS: &[&str] = &["allow", "escalate", "deny"];
const TARGETS: &[&str] = &["a", "b", "ab"];
const LABELS: &[&str] = &["x", "y"];

/// Random rules, each with an example that it fits.
fn random_rules(rng: &mut Rng, layer: GovernanceLayer) -> GovernanceSource {
    let mut text = String::new();
    if rng.bool() {
        text += &format!("[defaults]\nuse_tool = \"{}\"\n", pick(rng, DECISIONS));
    }
    if rng.bool() {
        let (ask, fallback) = (pick(rng, &["person:p", "agent:g"]), pick(rng, &["allow", "deny"]));
        let within = rng.u32(1..100);
        text += &format!(
            "[escalation]\nask = \"{ask}\"\nwithin_s = {within}\nfallback = \"{fallback}\"\n"
        );
    }
    for at in 0..rng.usize(..4) {
        let decision = pick(rng, DECISIONS);
        let target = pick(rng, TARGETS);
        let pattern = pick(rng, &["*", target]);
        let (mut conditions, mut labels) = (format!("target = \"{pattern}\"\n"), "");
        if rng.bool() {
            labels = pick(rng, LABELS);
            conditions += &format!("labels = \"{labels}\"\n");
        }
        if rng.bool() {
            conditions += &format!(
                "max_sensitivity = \"{}\"\n",
                pick(rng, &["public", "internal", "secret"])
            );
        }
        if rng.bool() {
            conditions += &format!("max_cost = {}\n", rng.u32(..3));
        }
        text += &format!(
            "[[rule]]\nname = \"r{at}\"\ndecision = \"{decision}\"\n{conditions}matches = [{{ action = \"use_tool\", target = \"{target}\", labels = [\"{labels}\"] }}]\n"
        );
    }
    source(layer, &text)
}

fn random_request(rng: &mut Rng) -> GovernanceRequest {
    let sensitivity = DataSensitivity::ALL[rng.usize(..DataSensitivity::ALL.len())];
    let mut request = tool(pick(rng, TARGETS)).with_sensitivity(sensitivity);
    request.cost = rng.bool().then(|| rng.u64(..3));
    if rng.bool() { request.with_label(pick(rng, LABELS)) } else { request }
}

/// What stands between two decisions: the second is at least as strict, and asks nobody else.
fn is_narrower(wide: &GovernanceDecision, narrow: &GovernanceDecision) -> bool {
    match (wide, narrow) {
        (GovernanceDecision::Escalate(wide), GovernanceDecision::Escalate(narrow)) => {
            narrow.ask == wide.ask
                && narrow.within_s <= wide.within_s
                && narrow.fallback >= wide.fallback
        }
        (wide, narrow) => narrow.strictness() >= wide.strictness(),
    }
}

#[test]
fn a_further_layer_never_allows_more() {
    let seed = fastrand::u64(..);
    let mut rng = Rng::with_seed(seed);
    for _ in 0..300 {
        let mut sources = vec![random_rules(&mut rng, GovernanceLayer::User)];
        let mut before = engine(sources.clone());
        for layer in [GovernanceLayer::Project, GovernanceLayer::Agent, GovernanceLayer::Project] {
            sources.push(random_rules(&mut rng, layer));
            let after = engine(sources.clone());
            for _ in 0..10 {
                let request = random_request(&mut rng);
                let (wide, narrow) = (before.decide(&request), after.decide(&request));
                // Two files of one layer are one layer, in which a rule takes the place of a default.
                let is_second_file = sources.len() == 4;
                assert!(
                    is_second_file || is_narrower(&wide.decision, &narrow.decision),
                    "seed {seed}: {request:?}\n{wide:?}\n{narrow:?}\n{sources:#?}"
                );
                let user_only = engine(sources[..1].to_vec()).decide(&request);
                assert!(is_narrower(&user_only.decision, &narrow.decision), "seed {seed}");
            }
            before = after;
        }
    }
}

#[test]
fn the_order_of_files_means_nothing() {
    let seed = fastrand::u64(..);
    let mut rng = Rng::with_seed(seed);
    for _ in 0..100 {
        let mut sources: Vec<GovernanceSource> = Vec::new();
        for at in 0..4 {
            let layer = GovernanceLayer::ALL[1 + at % 3];
            let mut source = random_rules(&mut rng, layer);
            source.toml.as_mut().unwrap().name = format!("{at}.toml");
            sources.push(source);
        }
        let one = engine(sources.clone());
        rng.shuffle(&mut sources);
        let other = engine(sources);
        for _ in 0..20 {
            let request = random_request(&mut rng);
            let (one, other) = (one.decide(&request), other.decide(&request));
            assert_eq!((&one.decision, &one.rule), (&other.decision, &other.rule), "seed {seed}");
        }
    }
}

#[test]
fn narrower_layers_allow_nothing_and_need_say_nothing() {
    let allow = "[defaults]\nuse_tool = \"allow\"\n";
    assert_eq!(word(&engine(vec![project(allow), agent(allow)]), &tool("x")), "deny");
    assert_eq!(word(&engine(vec![user(allow)]), &tool("x")), "allow");
    assert_eq!(word(&engine(vec![user(allow), project("")]), &tool("x")), "allow");
    for narrow in [project, agent] {
        let deny = narrow("[defaults]\nuse_tool = \"deny\"\n");
        assert_eq!(word(&engine(vec![user(allow), deny]), &tool("x")), "deny");
    }
}

#[test]
fn the_widest_layer_keeps_its_say_in_who_is_asked() {
    let escalate = |ask: &str, within: u64, fallback: &str| {
        let conditions = format!(
            "target = \"*\"\nask = \"{ask}\"\nwithin_s = {within}\nfallback = \"{fallback}\""
        );
        rule("escalate", &conditions, "{ action = \"use_tool\" }")
    };
    let sources = vec![
        agent(&escalate("agent:helper", 10, "deny")),
        project(&escalate("person:team", 500, "allow")),
        user(&escalate("person:owner", 100, "allow")),
    ];
    let GovernanceDecision::Escalate(terms) = engine(sources).decide(&tool("x")).decision else {
        panic!("it is not asked");
    };
    assert_eq!((terms.ask.to_string().as_str(), terms.within_s), ("person:owner", 10));
    assert_eq!(terms.fallback.as_str(), "deny");
}

#[test]
fn actions_without_rules_stay_apart() {
    let only = rule("allow", "action = \"run_step\"", "{ action = \"run_step\" }");
    let engine = engine(vec![user(&only)]);
    for action in GovernedAction::ALL {
        let decided = word(&engine, &GovernanceRequest::new("a", *action, "x"));
        assert_eq!(decided == "allow", *action == GovernedAction::RunStep);
    }
}
