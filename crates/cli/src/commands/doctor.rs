//! `offshoot doctor`: whether this machine is fit for Offshoot, and why not.

use std::path::PathBuf;

use clap::Args;
use offshoot_engine::machine;
use offshoot_protocol::{DoctorCheckDoc, DoctorDoc, DoctorState, Text};

use super::sandbox;
use crate::context::Context;
use crate::error::{Result, hint};
use crate::render::{BAD, DIM, GOOD, WARN, paint};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot doctor\n  offshoot doctor --json\n  offshoot doctor --explain ~/.ssh    whether commands see a path, and why\n\nExits with 1 if something does not work."
)]
pub(crate) struct DoctorArgs {
    /// Say whether commands see this path, and why
    #[arg(long, value_name = "PATH")]
    explain: Option<PathBuf>,
}

pub(crate) fn run(args: &DoctorArgs, context: &Context) -> Result<()> {
    if let Some(path) = &args.explain {
        return sandbox::explain(path, context);
    }
    let mut checks = machine::examine(context.registry().dir());
    checks.extend(sandbox::problems(context));
    checks.extend(vaults(context));
    let ok = checks.iter().all(|check| check.state != DoctorState::Problem);
    let document = DoctorDoc {
        ok,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        home: Text::new(context.registry().dir().as_os_str().as_encoded_bytes()),
        checks,
    };
    context.output.data(document, |document| document.checks.iter().map(line).collect())
}

fn line(check: &DoctorCheckDoc) -> String {
    let state = match check.state {
        DoctorState::Ok => paint(GOOD, "ok     "),
        DoctorState::Warning => paint(WARN, "warning"),
        DoctorState::Problem => paint(BAD, "problem"),
    };
    let hint = check.hint.as_ref().map(|hint| format!("         {} {hint}\n", paint(DIM, "hint:")));
    format!("{state}  {}: {}\n{}", check.name, check.detail, hint.unwrap_or_default())
}

fn vaults(context: &Context) -> Vec<DoctorCheckDoc> {
    let mut checks = Vec::new();
    let listed = match context.registry().list() {
        Ok(listed) => listed,
        Err(error) => {
            let error = context.engine.registry_error(error);
            let hint = hint(&error).map(|hint| hint.to_string());
            return vec![machine::check(
                "vaults",
                DoctorState::Problem,
                &error.message,
                hint.as_deref(),
            )];
        }
    };
    for listed in listed {
        let name = format!("vault {}", listed.name);
        checks.push(match context.open_listed(&listed) {
            Ok(opened) if opened.vault.is_read_only() => {
                machine::check(&name, DoctorState::Warning, "can only be read from here", None)
            }
            Ok(_) => machine::check(&name, DoctorState::Ok, "opens", None),
            Err(error) => {
                let hint = hint(&error).map(|hint| hint.to_string());
                machine::check(&name, DoctorState::Problem, &error.message, hint.as_deref())
            }
        });
    }
    checks
}
