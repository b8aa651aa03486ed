//! How many decisions a second there are with 1,000 rules, and how many events a queue takes.

use std::io::{Write, stdout};
use std::sync::Arc;
use std::time::Instant;

use offshoot_governance::{
    GovernanceEngine, GovernanceEvent, GovernanceLayer, GovernanceObserver, GovernanceOptions,
    GovernanceRequest, GovernanceSource, GovernedAction, MemoryOutbox, ObserverError,
    ObserverQueue, QueueLimits,
};

const RULES: usize = 1_000;
const ROUNDS: usize = 20_000;

/// Takes everything and keeps nothing.
struct Nobody;

impl GovernanceObserver for Nobody {
    fn name(&self) -> &str {
        "nobody"
    }

    fn observe(&self, _: &GovernanceEvent) -> Result<(), ObserverError> {
        Ok(())
    }
}

fn rules(kind: &str) -> String {
    let mut text = "version = 1\n".to_owned();
    for at in 0..RULES {
        let target = match kind {
            "exact" => format!("tool-{at}"),
            "prefix" => format!("tool-{at}-*"),
            _ => format!("*-{at}-?x*"),
        };
        let example = target.replace("-*", "-").replace("-?x*", "-ax").replace('*', "");
        text += &format!(
            "[[rule]]\nname = \"r{at}\"\ndecision = \"allow\"\naction = \"use_tool\"\ntarget = \"{target}\"\nmatches = [{{ action = \"use_tool\", target = \"{example}\" }}]\n"
        );
    }
    text
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = stdout();
    for kind in ["exact", "prefix", "glob"] {
        let source = GovernanceSource::toml(GovernanceLayer::User, "rules.toml", &rules(kind));
        let started = Instant::now();
        let engine = GovernanceEngine::new(&GovernanceOptions::of(vec![source]))?;
        let loaded = started.elapsed();
        for (what, target) in [("allowed", "tool-500-ax"), ("denied", "other")] {
            let target = if kind == "exact" { target.trim_end_matches("-ax") } else { target };
            let request = GovernanceRequest::new("helper", GovernedAction::UseTool, target);
            assert_eq!(engine.decide(&request).decision.is_allowed(), what == "allowed");
            let started = Instant::now();
            for _ in 0..ROUNDS {
                std::hint::black_box(engine.decide(std::hint::black_box(&request)));
            }
            let second = ROUNDS as f64 / started.elapsed().as_secs_f64();
            writeln!(
                out,
                "{RULES} rules, {kind:6} {what:7} {second:>9.0} decisions/s, loaded in {loaded:?}"
            )?;
        }
    }
    let engine = GovernanceEngine::new(&GovernanceOptions::of(Vec::new()))?;
    let request = GovernanceRequest::new("helper", GovernedAction::UseTool, "x");
    let event = GovernanceEvent::decided(&request, &engine.decide(&request), 0);
    let limits = QueueLimits::default();
    let queue = ObserverQueue::new(Arc::new(Nobody), Arc::new(MemoryOutbox::default()), limits);
    let started = Instant::now();
    for _ in 0..ROUNDS {
        queue.observe(&event)?;
    }
    let taken = ROUNDS as f64 / started.elapsed().as_secs_f64();
    let started = Instant::now();
    queue.pump(0, ROUNDS)?;
    let delivered = ROUNDS as f64 / started.elapsed().as_secs_f64();
    writeln!(out, "queue over memory: {taken:.0} denials/s taken, {delivered:.0}/s delivered")?;
    Ok(())
}
