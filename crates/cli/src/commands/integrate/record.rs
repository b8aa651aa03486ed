//! What was put into which file, so that it can be taken back: beside the vaults, and without anything else of the files.

use std::path::{Path, PathBuf};

use offshoot_engine::config_file::{self, ConfigLock};
use offshoot_protocol::{ExitCode, Notation};
use serde::{Deserialize, Serialize};

use super::edit::Piece;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render::host_path;

const FILE: &str = "integrations.json";
const VERSION: u32 = 1;

/// One file that something was put into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) path: PathBuf,
    /// Whether the file was there before.
    pub(super) existed: bool,
    /// The folders that were made for it, outermost first.
    pub(super) folders: Vec<PathBuf>,
    /// How many objects or lists were made around the entry.
    pub(super) made: usize,
    pub(super) pieces: Vec<Piece>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    version: u32,
    files: Vec<Record>,
}

/// All records.
#[derive(Debug)]
pub(super) struct Records {
    path: PathBuf,
    content: Content,
}

impl Records {
    /// Keeps other processes from changing records and what they are about.
    pub(super) fn lock(context: &Context) -> Result<ConfigLock> {
        let path = context.registry().dir().join(FILE);
        config_file::lock(&path).map_err(|error| {
            let message = format!("cannot lock {}: {error}", host_path(&path));
            CliError::new(ExitCode::Storage, message)
        })
    }

    pub(super) fn read(context: &Context) -> Result<Self> {
        let path = context.registry().dir().join(FILE);
        let failed = |error: &dyn std::fmt::Display| {
            let message = format!("cannot read {}: {error}", host_path(&path));
            CliError::new(ExitCode::Storage, message)
        };
        let text = config_file::read(&path).map_err(|error| failed(&error))?;
        let content: Content = match text {
            Some(text) => serde_json::from_str(&text)
                .map_err(|error| failed(&Notation::Json.explain(&error.to_string())))?,
            None => Content { version: VERSION, ..Content::default() },
        };
        if content.version != VERSION {
            return Err(failed(&format!("it has version {}, which is unknown", content.version)));
        }
        Ok(Self { path, content })
    }

    pub(super) fn of(&self, path: &Path) -> Option<&Record> {
        self.content.files.iter().find(|record| record.path == path)
    }

    /// Notes what is put into a file, or that nothing of it is left there.
    pub(super) fn set(&mut self, path: &Path, record: Option<Record>) -> Result<()> {
        self.content.files.retain(|other| other.path != path);
        self.content.files.extend(record);
        let failed = |error: &dyn std::fmt::Display| {
            let message = format!("cannot write {}: {error}", host_path(&self.path));
            CliError::new(ExitCode::Storage, message)
        };
        let text = serde_json::to_string_pretty(&self.content).map_err(|error| failed(&error))?;
        config_file::replace(&self.path, &(text + "\n")).map_err(|error| failed(&error))
    }
}
