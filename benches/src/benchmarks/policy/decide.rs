//! Parsing a text and deciding about it, in this process.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use offshoot_policy::script::Script;
use offshoot_policy::{
    Context, LayerSource, NamedText, Policy, PolicyLayer, PolicyOptions, parse_text,
};

use crate::Result;
use crate::bench::Bench;
use crate::report::{Goal, Report, Unit};
use crate::sample::percentile_of;

pub(in crate::benchmarks) const NAME: &str = "policy-decide";

/// What agents ask for all day.
const TEXTS: [&str; 10] = [
    "ls -la src",
    "git log --oneline -20 -- src/main.rs",
    "rg -n 'fn main' --type rust | head -20",
    "sed -n '1,120p' src/lib.rs",
    "cargo test --workspace 2>&1 | tail -40",
    "find . -name '*.rs' -not -path './target/*' -exec wc -l {} +",
    "cd crates/cli && git diff --stat && cat Cargo.toml",
    "for f in src/*.rs; do grep -c TODO \"$f\"; done",
    "cat > notes.md <<'EOF'\nsome text\nEOF",
    "sudo env DEBUG=1 sh -c 'rm -rf build && make install'",
];

/// A policy that looks at every command.
const REGO: &str = "package offshoot\n\nimport rego.v1\n\n\
    deny contains \"no\" if {\n    some command in input.commands\n    command.program == \"never\"\n}\n";

/// What is measured, each with the seconds of all its calls in each pass.
#[derive(Default)]
struct Passes {
    parse: Vec<Vec<f64>>,
    built_in: Vec<Vec<f64>>,
    rules: Vec<Vec<f64>>,
    rego: Vec<Vec<f64>>,
    stat: Vec<Vec<f64>>,
}

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let (rounds, passes) = (bench.options.scaled(20, 400), bench.options.pairs());
    let found = measure(bench, rounds, passes)?;
    let what = format!("{} texts, {rounds} times each in a pass", TEXTS.len());
    let mut report = Report::new(NAME, what);
    // A machine that does something else for a moment spoils the percentiles of one pass, and not those of most.
    let of = |passes: &[Vec<f64>], share| -> Vec<f64> {
        passes.iter().map(|pass| percentile_of(pass, share)).collect()
    };
    let goal = Goal::Below(10e-6);
    report.add("parse, median", Unit::Time, of(&found.parse, 0.5));
    report.add("parse, p99", Unit::Time, of(&found.parse, 0.99));
    let label = "decide, built-in rules, median";
    report.add_with_goal(label, Unit::Time, of(&found.built_in, 0.5), goal);
    report.add("decide, built-in rules, p99", Unit::Time, of(&found.built_in, 0.99));
    report.add("decide, 1,000 rules, median", Unit::Time, of(&found.rules, 0.5));
    let goal = Goal::AtMost(20e-6);
    report.add_with_goal("decide, 1,000 rules, p99", Unit::Time, of(&found.rules, 0.99), goal);
    report.add("decide, Rego, median", Unit::Time, of(&found.rego, 0.5));
    report.add("decide, Rego, p99", Unit::Time, of(&found.rego, 0.99));
    report.add("lstat of a directory, median", Unit::Time, of(&found.stat, 0.5));
    let stat = of(&found.stat, 0.5);
    let ratio = |passes: &[Vec<f64>]| -> Vec<f64> {
        of(passes, 0.5).iter().zip(&stat).map(|(time, stat)| time / stat).collect()
    };
    report.add("parse / lstat", Unit::Ratio, ratio(&found.parse));
    report.add("decide / lstat", Unit::Ratio, ratio(&found.built_in));
    report.add("decide with 1,000 rules / lstat", Unit::Ratio, ratio(&found.rules));
    report.add("decide with Rego / lstat", Unit::Ratio, ratio(&found.rego));
    Ok(report)
}

/// All that is compared, one after the other in each pass.
fn measure(bench: &Bench, rounds: usize, passes: usize) -> Result<Passes> {
    let context = context();
    let scripts: Vec<Script> = TEXTS.iter().map(|text| parse_text(text.as_bytes())).collect();
    let built_in = policy(None, None)?;
    let rules = policy(Some(thousand_rules()), None)?;
    let rego = policy(None, Some(REGO.to_owned()))?;
    let decide = |policy: &Policy, rounds| {
        times(rounds, &scripts, |script| {
            black_box(policy.decide(black_box(script), &context));
        })
    };
    let mut found = Passes::default();
    for _ in 0..passes {
        found.parse.push(times(rounds, &TEXTS, |text| {
            black_box(parse_text(black_box(text.as_bytes())));
        }));
        found.built_in.push(decide(&built_in, rounds));
        found.rules.push(decide(&rules, rounds));
        found.rego.push(decide(&rego, rounds.div_ceil(20)));
        found.stat.push(times(rounds, &[bench.dir()], |path| {
            black_box(path.symlink_metadata().is_ok());
        }));
    }
    Ok(found)
}

/// Seconds of each call, after one round that does not count.
fn times<T>(rounds: usize, items: &[T], mut call: impl FnMut(&T)) -> Vec<f64> {
    let mut seconds = Vec::with_capacity(rounds * items.len());
    for round in 0..=rounds {
        for item in items {
            let start = Instant::now();
            call(item);
            let took = start.elapsed();
            if round > 0 {
                seconds.push(took.as_secs_f64());
            }
        }
    }
    seconds
}

fn policy(toml: Option<String>, rego: Option<String>) -> Result<Policy> {
    let named = |text: String| NamedText { name: "bench".to_owned(), text };
    let (toml, rego) = (toml.map(named), rego.map(named));
    let layers = vec![LayerSource { layer: PolicyLayer::User, toml, rego }];
    Ok(Policy::new(&PolicyOptions { layers, ..PolicyOptions::default() })?)
}

/// Rules of all kinds: by words, by globs, by paths and by category, a few of which fit.
fn thousand_rules() -> String {
    let rule = |number: usize| {
        let matcher = match number % 10 {
            0 => format!("glob = \"tool{number} *--flag*\""),
            1 => format!("path = \"secret{number}/**\"\naccess = \"write\""),
            2 => format!("category = [\"networked\"]\nprefix = [\"curl\", \"--x{number}\"]"),
            3 => format!("prefix = [\"git\", \"sub{number}\"]"),
            4 => format!("prefix = [\"cargo\", \"xtask\", \"job{number}\"]"),
            _ => format!("prefix = [\"tool{number}\", \"run\"]"),
        };
        format!("[[rule]]\nname = \"rule-{number}\"\ndecision = \"require_approval\"\n{matcher}\n")
    };
    format!("version = 1\n{}", (0..1_000).map(rule).collect::<String>())
}

fn context() -> Context {
    let project = PathBuf::from("/srv/project");
    Context { workspace: project.clone(), cwd: project, ..Context::default() }
}
