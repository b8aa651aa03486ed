//! `offshoot policy init`.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::Args;
use offshoot_engine::policy::project_rule_file;
use offshoot_protocol::{ExitCode, PolicyInitDoc, PolicyLayer};

use crate::context::{Context, current_dir};
use crate::error::{CliError, Result};
use crate::render::host_path;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Write rules of this project, in the current folder, instead of your own
    #[arg(long)]
    project: bool,
}

/// What a file starts with. A test loads both as they are.
const USER: &str = include_str!("user.toml");
const PROJECT: &str = include_str!("project.toml");

pub(crate) fn run(args: &InitArgs, context: &Context) -> Result<()> {
    let (layer, path, text) = match args.project {
        true => (PolicyLayer::Project, Some(project_rule_file(&current_dir()?)), PROJECT),
        false => (PolicyLayer::User, context.engine.user_rule_files().into_iter().next(), USER),
    };
    let path = path.ok_or_else(|| {
        CliError::new(ExitCode::Usage, "there is no place for your rules: HOME is not set")
            .hint("set HOME or XDG_CONFIG_HOME")
    })?;
    if layer == PolicyLayer::User {
        context.engine.actor().require_person("write the user's rules")?;
    }
    write(&path, text)?;
    let document = PolicyInitDoc { path: path.display().to_string(), layer };
    context.output.done(document, |_| {
        format!("rules to start from are in {}; see docs/policy.md\n", host_path(&path))
    })
}

/// Writes a new file; one that is there stays.
fn write(path: &Path, text: &str) -> Result<()> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            let message = format!("{} is there already", host_path(path));
            CliError::new(ExitCode::Conflict, message).hint("it was not touched")
        }
        _ => {
            let message = format!("cannot write {}: {error}", host_path(path));
            CliError::new(ExitCode::Storage, message)
        }
    };
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(failed)?;
    }
    let mut file = fs::File::create_new(path).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
}
