//! What git is run with: the user's own program and environment.

use std::ffi::OsStr;
use std::path::PathBuf;

use offshoot_vault::Vault;
use offshoot_workspace::git::{GitAuthor, GitOptions, TrackedPaths};

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Git as the user has it, with an author that was given as `NAME <MAIL>`.
    pub fn git(&self, author: Option<&str>) -> Result<GitOptions> {
        let options = self.options();
        Ok(GitOptions {
            program: program(options.variable("PATH")),
            environment: options.environment.clone(),
            author: author.map(GitAuthor::parse).transpose()?,
            ..GitOptions::default()
        })
    }

    /// What git keeps track of in the folders of a vault.
    pub fn tracked(&self, vault: &Vault) -> Result<TrackedPaths> {
        let folders = vault.bindings()?.iter().map(|b| (b.at(), b.host_path())).collect();
        Ok(TrackedPaths::new(folders, self.git(None)?))
    }
}

/// The first folder of a vault.
pub fn folder(vault: &Vault) -> Result<PathBuf> {
    let bindings = vault.bindings()?;
    let first = bindings.iter().find(|binding| binding.at().is_top());
    let first = first.ok_or_else(|| Error::usage("the vault belongs to no folder"))?;
    Ok(first.host_path())
}

/// The first git in a directory of the path. Relative ones do not count: they may be in a workspace's reach.
fn program(path: Option<&OsStr>) -> PathBuf {
    let directories = path.into_iter().flat_map(std::env::split_paths);
    let mut programs = directories.filter(|dir| dir.is_absolute()).map(|dir| dir.join("git"));
    programs.find(|program| program.is_file()).unwrap_or_else(|| PathBuf::from("/usr/bin/git"))
}
