//! A command that is asked about where nothing is run for it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use offshoot_engine::exec::Command;
use offshoot_engine::policy::Context as Surroundings;
use offshoot_engine::preset::Preset;
use offshoot_protocol::Network;

use crate::context::{Context, current_dir};
use crate::error::Result;

/// What is known about a command beside itself.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) cwd: Option<&'a Path>,
    pub(crate) net: Network,
    pub(crate) read_only: bool,
    pub(crate) unconfined: bool,
    pub(crate) terminal: bool,
    pub(crate) stdin: bool,
    pub(crate) env: &'a [OsString],
    pub(crate) preset: Option<&'a Preset>,
}

impl Question<'_> {
    /// What surrounds the command in a workspace of this folder, and of further ones.
    pub(crate) fn surroundings(
        &self,
        context: &Context,
        project: &Path,
        folders: Vec<PathBuf>,
    ) -> Result<Surroundings> {
        let cwd = match self.cwd {
            Some(cwd) => project.join(cwd),
            // A command in a vault that is named from elsewhere starts at the top.
            None => match current_dir()? {
                here if folders.iter().any(|folder| here.starts_with(folder)) => here,
                here if here.starts_with(project) => here,
                _ => project.to_owned(),
            },
        };
        // Of the command itself the variables do not depend.
        let mut command = self.env.iter().fold(Command::new(["true"]), Command::variable);
        if let Some(preset) = self.preset {
            command = command.preset(preset, &context.engine.viewer());
        }
        let environment = context.engine.seen_variables(command, project, &folders);
        Ok(Surroundings {
            workspace: project.to_owned(),
            folders,
            cwd,
            home: context.engine.options().user_home(),
            network: self.net,
            read_only: self.read_only,
            unconfined: self.unconfined,
            terminal: self.terminal,
            stdin: self.stdin,
            environment,
        })
    }
}
