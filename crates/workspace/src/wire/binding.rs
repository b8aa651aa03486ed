//! The folders of a vault as programs see them.

use std::path::Path;

use offshoot_protocol::{
    BindingAddedDoc, BindingDoc, BindingListDoc, BindingMovedDoc, BindingRemovedDoc,
    GitDirectoryDoc, Text,
};
use offshoot_store::Id;
use offshoot_vault::Binding;

use super::import::import;
use super::time::time;
use crate::binding::{Bound, GitDirectory, Rebound, shown_name};

/// A folder that a vault is bound to.
pub fn binding(binding: &Binding) -> BindingDoc {
    BindingDoc {
        name: shown_name(binding).to_owned(),
        at: Text::new(&binding.at().to_bytes()),
        directory: Text::new(&binding.path),
        present: !binding.is_gone(),
        created: time(binding.created_ms),
        git: binding.git,
    }
}

/// The folders that are gone.
pub fn missing_folders(bindings: &[Binding]) -> Vec<Text> {
    let gone = bindings.iter().filter(|binding| binding.is_gone());
    gone.map(|binding| Text::new(&binding.path)).collect()
}

/// The git directory of a vault's first folder, where it lies outside of that.
pub fn git_directory(git: &GitDirectory) -> Option<GitDirectoryDoc> {
    let text = |path: &Path| Text::new(path.as_os_str().as_encoded_bytes());
    Some(match git {
        GitDirectory::Inside => return None,
        GitDirectory::Bound { binding, bytes, new: _ } => GitDirectoryDoc {
            directory: Text::new(&binding.path),
            bound: true,
            name: Some(binding.name.clone()),
            bytes: Some(*bytes),
            reason: None,
            hint: None,
        },
        GitDirectory::Left(left) => GitDirectoryDoc {
            directory: text(&left.directory),
            bound: false,
            name: None,
            bytes: None,
            reason: Some(left.why.to_string()),
            hint: Some(left.way_out().to_string()),
        },
    })
}

/// The folders of a vault.
pub fn bindings(vault: &str, bindings: &[Binding]) -> BindingListDoc {
    let bindings = bindings.iter().map(binding).collect();
    BindingListDoc { vault: vault.to_owned(), bindings }
}

/// A folder that was bound.
pub fn bound(bound: &Bound) -> BindingAddedDoc {
    BindingAddedDoc {
        binding: binding(&bound.binding),
        operation: bound.operation.as_ref().map(Id::to_string),
        import: import(&bound.report),
    }
}

/// A folder that was let go of.
pub fn unbound(rebound: &Rebound) -> BindingRemovedDoc {
    let operation = rebound.operation.as_ref().map(Id::to_string);
    BindingRemovedDoc { binding: binding(&rebound.before), operation }
}

/// A folder that lies elsewhere now.
pub fn moved(rebound: &Rebound) -> BindingMovedDoc {
    BindingMovedDoc {
        from: Text::new(&rebound.before.path),
        binding: binding(rebound.after.as_ref().unwrap_or(&rebound.before)),
        operation: rebound.operation.as_ref().map(Id::to_string),
    }
}
