//! `offshoot policy test`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use offshoot_policy::Layer;
use offshoot_protocol::{ExitCode, PolicyTestDoc};
use offshoot_workspace::{PolicyFile, PolicyFileError, PolicyFiles, wire};

use crate::context::Context;
use crate::error::Result;
use crate::render::{self, BAD, GOOD, paint};

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Files to check [default: those in force]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Check the files as rules of this layer
    #[arg(long, value_enum, default_value_t = LayerName::User, requires = "files")]
    layer: LayerName,
}

/// Whose rules they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayerName {
    /// Your own rules
    User,
    /// The project's rules
    Project,
    /// Rules of one request
    Request,
}

impl LayerName {
    pub(crate) fn layer(self) -> Layer {
        match self {
            Self::User => Layer::User,
            Self::Project => Layer::Project,
            Self::Request => Layer::Request,
        }
    }
}

pub(crate) fn run(args: &TestArgs, context: &Context) -> Result<ExitCode> {
    let files = match args.files.is_empty() {
        true => context.engine.policy(&[]),
        false => {
            let file = |path: &PathBuf| PolicyFile {
                layer: args.layer.layer(),
                path: path.clone(),
                required: true,
            };
            context.engine.policy_of(args.files.iter().map(file).collect())
        }
    };
    let document = document(&files)?;
    let wrong = !document.problems.is_empty();
    context.output.data(document, text)?;
    Ok(if wrong { ExitCode::Failure } else { ExitCode::Success })
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
        Err(PolicyFileError::Rules(error)) => {
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
