//! `offshoot policy test`.

use std::path::PathBuf;

use clap::Args;
use offshoot_engine::policy::{PolicyFile, PolicyFileError, PolicyFiles};
use offshoot_engine::wire;
use offshoot_protocol::{PolicyLayer, PolicyTestDoc};

use super::check::places;
use crate::context::Context;
use crate::error::Result;
use crate::render::{self, BAD, GOOD, paint};
use crate::words::words_of;

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Files to check [default: those in force]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Check the files as rules of this layer
    #[arg(long, value_parser = words_of(LAYERS), default_value_t = PolicyLayer::User, requires = "files")]
    layer: PolicyLayer,
}

/// The layers that files of rules can be of.
pub(crate) const LAYERS: &[PolicyLayer] =
    &[PolicyLayer::User, PolicyLayer::Project, PolicyLayer::Request];

pub(crate) fn run(args: &TestArgs, context: &Context) -> Result<()> {
    let files = match args.files.is_empty() {
        true => context.engine.policy(Some(&places(context)?.0), &[]),
        false => {
            let file = |path: &PathBuf| PolicyFile {
                layer: args.layer,
                path: path.clone(),
                required: true,
            };
            context.engine.policy_of(args.files.iter().map(file).collect())
        }
    };
    let document = document(&files)?;
    context.output.data(document, text)
}

fn document(files: &PolicyFiles) -> Result<PolicyTestDoc> {
    let mut document = PolicyTestDoc {
        files: files.present().map(wire::policy_file).collect(),
        rules: 0,
        examples: 0,
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    match files.current() {
        Ok(policy) => {
            document.rules = policy.rule_count() as u64;
            document.examples = policy.example_count() as u64;
            document.warnings = policy.warnings().iter().map(ToString::to_string).collect();
        }
        Err(PolicyFileError::Rules { error, .. }) => {
            document.problems = error.problems.iter().map(ToString::to_string).collect();
        }
        Err(error) => return Err(error.into()),
    }
    Ok(document)
}

fn text(document: &PolicyTestDoc) -> String {
    let mut text = String::new();
    for file in &document.files {
        text.push_str(&format!("{} ({})\n", render::line(&file.path), file.layer));
    }
    for warning in &document.warnings {
        text.push_str(&format!("{} {}\n", paint(BAD, "warning:"), render::line(warning)));
    }
    for problem in &document.problems {
        text.push_str(&format!("{} {}\n", paint(BAD, "error:"), render::line(problem)));
    }
    if document.problems.is_empty() {
        let rules = render::count(document.rules, "rule");
        let examples = render::count(document.examples, "example");
        text.push_str(&format!("{}: {rules}, {examples}\n", paint(GOOD, "in order")));
    }
    text
}
