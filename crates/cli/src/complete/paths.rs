//! Paths of a vault, completed from where one stands.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use offshoot_engine::file::{PathContext, RootId};
use offshoot_engine::vault::Vault;

use super::{look, plain, value_of, words};

/// Files and directories of the workspace, or of the main line.
pub(crate) fn paths() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| look(|vault| entries(vault, typed)))
}

/// What is in the directory that was typed so far, as far as its name begins with the rest.
fn entries(vault: &Vault, typed: &OsStr) -> Option<Vec<CompletionCandidate>> {
    let typed = typed.as_bytes();
    let end = typed.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let (directory, start) = typed.split_at(end);
    let here = std::env::current_dir().ok()?.canonicalize().ok()?;
    let from = if directory.is_empty() { b"." } else { directory };
    let path = PathContext::new(vault, &here).ok()?.path(from).ok()?;
    let tree = vault.tree(&root(vault)?).ok()?;
    let (_, directory_entry) = tree.resolve(&path).ok()?;
    let found = tree.list(directory_entry.directory()?).ok()?;
    let found = found.into_iter().filter(|entry| entry.name.starts_with(start));
    let candidates = found.map(|entry| {
        let slash: &[u8] = if entry.directory().is_some() { b"/" } else { b"" };
        plain(std::ffi::OsString::from_vec([directory, &entry.name, slash].concat()))
    });
    Some(candidates.collect())
}

/// The files that are meant: those of the named workspace, of the only one, or of the main line.
fn root(vault: &Vault) -> Option<RootId> {
    let words = words();
    let named = value_of(&words, "-w").or_else(|| value_of(&words, "--workspace"));
    let named = named.or_else(|| std::env::var("OFFSHOOT_WORKSPACE").ok());
    let workspaces = vault.workspaces().ok()?;
    let meant = match named.filter(|name| !name.is_empty()) {
        Some(name) => workspaces.iter().find(|workspace| workspace.name == name),
        None => workspaces.first().filter(|_| workspaces.len() == 1),
    };
    let snapshot = match meant {
        Some(workspace) => vault.snapshot(&workspace.state.head).ok()?,
        None => vault.head().ok()?,
    };
    Some(snapshot.root)
}
