//! What git is run with: the person's own program and environment.

use std::ffi::OsStr;
use std::path::PathBuf;

use offshoot_vault::Vault;
use offshoot_workspace::git::{GitAuthor, GitOptions};

use crate::error::{CliError, Result};

/// Git as the person has it, with an author that was given as `NAME <MAIL>`.
pub(crate) fn options(author: Option<&str>) -> Result<GitOptions> {
    Ok(GitOptions {
        program: program(std::env::var_os("PATH").as_deref()),
        environment: std::env::vars_os().collect(),
        author: author.map(GitAuthor::parse).transpose()?,
        ..GitOptions::default()
    })
}

/// The first folder of a vault.
pub(crate) fn folder(vault: &Vault) -> Result<PathBuf> {
    let bindings = vault.bindings()?;
    let first = bindings.iter().find(|binding| binding.at().is_top());
    let first = first.ok_or_else(|| CliError::usage("the vault belongs to no folder"))?;
    Ok(first.host_path())
}

/// The first git in a directory of the path. Relative ones do not count: they may be in a workspace's reach.
fn program(path: Option<&OsStr>) -> PathBuf {
    let directories = path.into_iter().flat_map(std::env::split_paths);
    let mut programs = directories.filter(|dir| dir.is_absolute()).map(|dir| dir.join("git"));
    programs.find(|program| program.is_file()).unwrap_or_else(|| PathBuf::from("/usr/bin/git"))
}
