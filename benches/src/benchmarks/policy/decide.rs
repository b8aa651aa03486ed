//! Parsing a text and deciding about it, in this process.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use offshoot_policy::script::Script;
use offshoot_policy::{Context, Engine, EngineOptions, Layer, LayerSource, NamedText, parse_text};

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

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let rounds = bench.options.scaled(20, 2_000);
    let context = context();
    let scripts: Vec<Script> = TEXTS.iter().map(|text| parse_text(text.as_bytes())).collect();
    let built_in = engine(None, None)?;
    let rules = engine(Some(thousand_rules()), None)?;
    let rego = engine(None, Some(REGO.to_owned()))?;

    let mut report = Report::new(NAME, format!("{} texts, {rounds} times each", TEXTS.len()));
    let parse = times(rounds, &TEXTS, |text| {
        black_box(parse_text(black_box(text.as_bytes())));
    });
    let decide = |engine: &Engine, rounds| {
        times(rounds, &scripts, |script| {
            black_box(engine.decide(black_box(script), &context));
        })
    };
    let stat = times(rounds, &[bench.dir()], |path| {
        black_box(path.symlink_metadata().is_ok());
    });
    let (built_in, rules) = (decide(&built_in, rounds), decide(&rules, rounds));
    let rego = decide(&rego, rounds.div_ceil(20));
    let one = |values: &[f64], share| vec![percentile_of(values, share)];
    report.add("parse, median", Unit::Time, one(&parse, 0.5));
    report.add("parse, p99", Unit::Time, one(&parse, 0.99));
    let goal = Goal::Below(10e-6);
    report.add_with_goal("decide, built-in rules, median", Unit::Time, one(&built_in, 0.5), goal);
    report.add("decide, built-in rules, p99", Unit::Time, one(&built_in, 0.99));
    report.add("decide, 1,000 rules, median", Unit::Time, one(&rules, 0.5));
    let goal = Goal::AtMost(20e-6);
    report.add_with_goal("decide, 1,000 rules, p99", Unit::Time, one(&rules, 0.99), goal);
    report.add("decide, Rego, median", Unit::Time, one(&rego, 0.5));
    report.add("decide, Rego, p99", Unit::Time, one(&rego, 0.99));
    report.add("lstat of a directory, median", Unit::Time, one(&stat, 0.5));
    let ratio = |values: &[f64]| vec![percentile_of(values, 0.5) / percentile_of(&stat, 0.5)];
    report.add("parse / lstat", Unit::Ratio, ratio(&parse));
    report.add("decide / lstat", Unit::Ratio, ratio(&built_in));
    report.add("decide with 1,000 rules / lstat", Unit::Ratio, ratio(&rules));
    report.add("decide with Rego / lstat", Unit::Ratio, ratio(&rego));
    Ok(report)
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

fn engine(toml: Option<String>, rego: Option<String>) -> Result<Engine> {
    let named = |text: String| NamedText { name: "bench".to_owned(), text };
    let (toml, rego) = (toml.map(named), rego.map(named));
    let layers = vec![LayerSource { layer: Layer::User, toml, rego }];
    Ok(Engine::new(&EngineOptions { layers, ..EngineOptions::default() })?)
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
