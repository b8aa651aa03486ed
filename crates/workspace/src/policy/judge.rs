//! What a request looks like to policy.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use offshoot_policy::script::Script;
use offshoot_policy::{Context, Policy, Verdict, parse_argv, parse_text};

use crate::exec::request::{CommandLine, ExecutionRequest};

/// The variable that says where programs are looked for.
const PATH: &str = "PATH";

/// Decides about a command.
pub fn judge(policy: &Policy, command: &CommandLine, context: &Context) -> Verdict {
    policy.decide(&script(command), context)
}

fn script(command: &CommandLine) -> Script {
    match command {
        CommandLine::Shell(text) => parse_text(text.as_bytes()),
        CommandLine::Argv(arguments) => {
            let bytes: Vec<&[u8]> = arguments.iter().map(|word| word.as_bytes()).collect();
            parse_argv(&bytes)
        }
    }
}

/// Where things are for a request.
#[derive(Debug)]
pub(crate) struct CommandPaths<'a> {
    /// Where the workspace is seen.
    pub(crate) workspace: &'a Path,
    /// Where further folders of it are seen.
    pub(crate) folders: &'a [PathBuf],
    /// Where the command starts.
    pub(crate) cwd: &'a Path,
    /// The user's home.
    pub(crate) user_home: Option<&'a Path>,
    /// It runs without walls.
    pub(crate) unconfined: bool,
}

/// What surrounds a request.
pub(crate) fn context_of(request: &ExecutionRequest, paths: &CommandPaths<'_>) -> Context {
    Context {
        workspace: paths.workspace.to_owned(),
        folders: paths.folders.to_vec(),
        cwd: paths.cwd.to_owned(),
        home: paths.user_home.map(Path::to_owned),
        network: request.reach(),
        read_only: request.read_only,
        unconfined: paths.unconfined,
        terminal: request.terminal.is_some(),
        stdin: request.has_stdin,
        environment: seen_variables(request, paths.workspace, paths.folders),
    }
}

/// The variables of a request that policy looks at: those that came with it, and `PATH` where it leads into the workspace.
pub fn seen_variables(
    request: &ExecutionRequest,
    workspace: &Path,
    folders: &[PathBuf],
) -> Vec<(String, String)> {
    let value = |name: &OsStr| {
        let found = request.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let set = request.set_by_caller.iter().map(OsString::as_os_str);
    let path = searches_inside(request, workspace, folders).then_some(OsStr::new(PATH));
    let set = set.filter(|name| *name != PATH || path.is_none()).chain(path);
    set.map(|name| (name.to_string_lossy().into_owned(), value(name))).collect()
}

/// Whether programs are looked for in the workspace, where commands may have brought them, whoever set it so.
fn searches_inside(request: &ExecutionRequest, workspace: &Path, folders: &[PathBuf]) -> bool {
    let leads_inside = |directory: PathBuf| {
        let mut folders = folders.iter().map(PathBuf::as_path).chain([workspace]);
        directory.is_relative() || folders.any(|folder| directory.starts_with(folder))
    };
    let path = request.environment.iter().find(|(name, _)| name == PATH);
    path.is_some_and(|(_, value)| std::env::split_paths(value).any(leads_inside))
}
