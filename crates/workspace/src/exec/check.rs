//! Looking at a request before anything is decided about it.

use std::path::{Component, Path, PathBuf};

use offshoot_profile::Profile;

use super::envelope::ExecutionResult;
use super::request::{CommandLine, ExecutionRequest};
use super::sight::{Viewer, hidden_places};
use super::target::target_for;
use crate::error::{Result, ServiceError};

/// Where a command sees its workspace, and where it starts.
#[derive(Debug)]
pub(super) struct Start {
    /// Where the workspace is seen.
    pub(super) target: PathBuf,
    /// Where the command starts.
    pub(super) cwd: PathBuf,
}

impl Start {
    /// Of a request in a vault of these folders.
    pub(super) fn of(request: &ExecutionRequest, folders: &[PathBuf]) -> Result<Self> {
        let target = target_for(folders.first().map(PathBuf::as_path));
        let cwd = working_directory(&target, request.cwd.as_deref())?;
        Ok(Self { target, cwd })
    }
}

/// Looks at the request; returns where it starts.
pub(super) fn validate(
    request: &ExecutionRequest,
    result: &mut ExecutionResult,
    folders: &[PathBuf],
) -> Result<Start> {
    match &request.command {
        CommandLine::Argv(arguments) if arguments.first().is_none_or(|a| a.is_empty()) => {
            return Err(ServiceError::Request("there is no command to run".to_owned()));
        }
        _ => {}
    }
    let start = Start::of(request, folders)?;
    if let Some(bound) = folders.first().filter(|bound| **bound != start.target) {
        let (bound, target) = (bound.display(), start.target.display());
        let warning = format!("{bound} is no folder any more; the workspace is at {target}");
        result.warnings.push(warning);
    }
    result.cwd = Some(start.cwd.clone());
    result.mountpoint = Some(start.target.clone());
    Ok(start)
}

/// Whether what is shown and hidden can be: what somebody names is there, and what belongs to the project is not hidden. A cover in the workspace would
/// stay behind where a directory is renamed, so that the next command sees what it covered.
pub(super) fn check_places(
    request: &ExecutionRequest,
    profile: &Profile,
    viewer: &Viewer,
    folders: &[PathBuf],
) -> Result<()> {
    if let Some(path) = request.show.iter().find(|path| path.symlink_metadata().is_err()) {
        let path = path.display();
        return Err(ServiceError::Request(format!("cannot show {path}: there is no such file")));
    }
    for path in hidden_places(profile, viewer) {
        let target = path.canonicalize().unwrap_or_else(|_| path.clone());
        if folders.iter().any(|folder| path.starts_with(folder) || target.starts_with(folder)) {
            let (name, path) = (&profile.name, path.display());
            return Err(ServiceError::Request(format!(
                "profile {name} hides {path}, which belongs to the project: name it in .offshootignore instead, and no workspace has it"
            )));
        }
    }
    Ok(())
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
