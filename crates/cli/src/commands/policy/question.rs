//! A command that is asked about where nothing is run for it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use offshoot_engine::policy::Context;
use offshoot_protocol::Network;

use crate::context::current_dir;
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
    pub(crate) user_home: Option<PathBuf>,
}

impl Question<'_> {
    /// What surrounds the command in a workspace of this folder, and of further ones.
    pub(crate) fn context(&self, project: &Path, folders: Vec<PathBuf>) -> Result<Context> {
        let cwd = match self.cwd {
            Some(cwd) => project.join(cwd),
            // A command in a vault that is named from elsewhere starts at the top.
            None => match current_dir()? {
                here if folders.iter().any(|folder| here.starts_with(folder)) => here,
                here if here.starts_with(project) => here,
                _ => project.to_owned(),
            },
        };
        let environment = self.env.iter().map(|item| {
            let text = String::from_utf8_lossy(item.as_bytes()).into_owned();
            match text.split_once('=') {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                None => (text, String::new()),
            }
        });
        Ok(Context {
            workspace: project.to_owned(),
            folders,
            cwd,
            home: self.user_home.clone(),
            network: self.net,
            read_only: self.read_only,
            unconfined: self.unconfined,
            terminal: self.terminal,
            stdin: self.stdin,
            environment: environment.collect(),
        })
    }
}
