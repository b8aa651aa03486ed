//! Looking at a request before anything is decided about it.

use std::path::{Component, Path, PathBuf};

use super::envelope::ExecutionResult;
use super::request::{CommandLine, ExecutionRequest};
use super::target::target_for;
use crate::error::{Result, ServiceError};

/// Looks at the request; returns where the workspace will be seen.
pub(super) fn validate(
    request: &ExecutionRequest,
    result: &mut ExecutionResult,
    folders: &[PathBuf],
) -> Result<PathBuf> {
    match &request.command {
        CommandLine::Argv(arguments) if arguments.first().is_none_or(|a| a.is_empty()) => {
            return Err(ServiceError::Request("there is no command to run".to_owned()));
        }
        _ => {}
    }
    let bound = folders.first();
    let target = target_for(bound.map(PathBuf::as_path));
    if let Some(bound) = bound.filter(|bound| **bound != target) {
        let (bound, target) = (bound.display(), target.display());
        let warning = format!("{bound} is no folder any more; the workspace is at {target}");
        result.warnings.push(warning);
    }
    result.cwd = Some(working_directory(&target, request.cwd.as_deref())?);
    result.mountpoint = Some(target.clone());
    Ok(target)
}

/// Where a command starts; never outside of the workspace by accident.
fn working_directory(target: &Path, asked: Option<&Path>) -> Result<PathBuf> {
    let Some(asked) = asked else { return Ok(target.to_owned()) };
    if asked.is_absolute() {
        return Ok(asked.to_owned());
    }
    let mut path = target.to_owned();
    for part in asked.components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            _ => {
                let asked = asked.display();
                return Err(ServiceError::Request(format!(
                    "the working directory {asked} leads out of the workspace"
                )));
            }
        }
    }
    Ok(path)
}
