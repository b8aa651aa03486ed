//! What a person means by a REF: a workspace, a checkpoint or a snapshot, by name or by the start of an id.

use offshoot_store::Id;
use offshoot_vault::{Checkpoint, Operation, Snapshot, Vault, Workspace};

use crate::error::{Result, ServiceError};
use crate::suggest::similar;

/// At most so many names are given where nothing is like what was typed.
const MOST_KNOWN: usize = 10;

/// The vault's main line.
pub(crate) const HEAD: &str = "head";
/// What a workspace was forked from.
pub(crate) const BASE: &str = "base";

/// A point in history that a REF names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The REF in full, for people.
    pub label: String,
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The workspace it belongs to, if it was named through one.
    pub workspace: Option<Workspace>,
    /// The checkpoint, if it is one.
    pub checkpoint: Option<Checkpoint>,
}

/// Finds things by what people call them.
#[derive(Clone, Copy, Debug)]
pub struct Resolver<'a> {
    vault: &'a Vault,
}

impl<'a> Resolver<'a> {
    /// Looks in a vault.
    pub fn new(vault: &'a Vault) -> Self {
        Self { vault }
    }

    /// The vault's main line.
    pub fn head(&self) -> Result<Point> {
        let snapshot = self.vault.head()?;
        Ok(Point { label: HEAD.to_owned(), snapshot, workspace: None, checkpoint: None })
    }

    /// The newest state of a workspace.
    pub fn workspace_point(&self, workspace: &Workspace) -> Result<Point> {
        Ok(Point {
            label: workspace.name.clone(),
            snapshot: self.vault.snapshot(&workspace.state.head)?,
            workspace: Some(workspace.clone()),
            checkpoint: None,
        })
    }

    /// What a REF names: `head`; `WORKSPACE`; `WORKSPACE@base`; `WORKSPACE@CHECKPOINT`; the name of a checkpoint, of
    /// `current` first; or the start of an id of any of them or of a snapshot.
    pub fn point(&self, text: &str, current: Option<&Workspace>) -> Result<Point> {
        if text == HEAD {
            return self.head();
        }
        if let Some((workspace, name)) = text.split_once('@') {
            return self.inside(&self.workspace(workspace)?, name);
        }
        if let Some(workspace) = self.vault.workspace_named(text)? {
            return self.workspace_point(&workspace);
        }
        let workspaces = self.vault.workspaces()?;
        let checkpoints = self.vault.checkpoints()?;
        let named: Vec<&Checkpoint> = checkpoints.iter().filter(|c| c.name == text).collect();
        let of_current = current.and_then(|w| named.iter().find(|c| c.workspace == w.id));
        if let Some(checkpoint) = of_current.or(named.first().filter(|_| named.len() == 1)) {
            return self.checkpoint_point(&workspaces, checkpoint);
        }
        if !named.is_empty() {
            let candidates = named.iter().map(|c| checkpoint_label(&workspaces, c)).collect();
            return Err(ServiceError::Ambiguous { text: text.to_owned(), candidates });
        }
        self.by_id(text, &workspaces, &checkpoints)
    }

    fn by_id(
        &self,
        text: &str,
        workspaces: &[Workspace],
        checkpoints: &[Checkpoint],
    ) -> Result<Point> {
        let fits = |id: &Id| starts_with(id, text);
        let mut found: Vec<(String, Point)> = Vec::new();
        for workspace in workspaces.iter().filter(|w| fits(&w.id)) {
            let label = format!("workspace {} ({})", workspace.name, workspace.id);
            found.push((label, self.workspace_point(workspace)?));
        }
        for checkpoint in checkpoints.iter().filter(|c| fits(&c.id)) {
            let label = format!("checkpoint {} ({})", checkpoint.name, checkpoint.id);
            found.push((label, self.checkpoint_point(workspaces, checkpoint)?));
        }
        let snapshots = match is_prefix(text) {
            true => self.vault.snapshots_by_prefix(text)?,
            false => Vec::new(),
        };
        for id in snapshots {
            let snapshot = self.vault.snapshot(&id)?;
            // Refs keep what they name; what only its id leads to may have been collected.
            self.vault.require_files(&snapshot)?;
            let point = Point { label: id.short(), snapshot, workspace: None, checkpoint: None };
            found.push((format!("snapshot {id}"), point));
        }
        if found.len() > 1 {
            let candidates = found.into_iter().map(|(label, _)| label).collect();
            return Err(ServiceError::Ambiguous { text: text.to_owned(), candidates });
        }
        let point = found.pop().map(|(_, point)| point);
        point.ok_or_else(|| {
            let names = workspaces.iter().map(|w| w.name.as_str());
            let names = names.chain(checkpoints.iter().map(|c| c.name.as_str())).chain([HEAD]);
            self.unknown("workspace, checkpoint or snapshot", text, names)
        })
    }

    fn inside(&self, workspace: &Workspace, name: &str) -> Result<Point> {
        if name == BASE {
            return Ok(Point {
                label: format!("{}@base", workspace.name),
                snapshot: self.vault.snapshot(&workspace.state.base)?,
                workspace: Some(workspace.clone()),
                checkpoint: None,
            });
        }
        let checkpoint = self.checkpoint(workspace, name)?;
        self.checkpoint_point(std::slice::from_ref(workspace), &checkpoint)
    }

    fn checkpoint_point(&self, workspaces: &[Workspace], found: &Checkpoint) -> Result<Point> {
        Ok(Point {
            label: checkpoint_label(workspaces, found),
            snapshot: self.vault.snapshot(&found.state.snapshot)?,
            workspace: workspaces.iter().find(|w| w.id == found.workspace).cloned(),
            checkpoint: Some(found.clone()),
        })
    }

    /// A workspace by its name or the start of its id.
    pub fn workspace(&self, text: &str) -> Result<Workspace> {
        match self.look_up(text)? {
            Some(found) => Ok(found),
            None => Err(self.missing(text)?),
        }
    }

    /// A workspace by its name or the start of its id, where there is one.
    pub(crate) fn look_up(&self, text: &str) -> Result<Option<Workspace>> {
        if let Some(workspace) = self.vault.workspace_named(text)? {
            return Ok(Some(workspace));
        }
        let workspaces = self.vault.workspaces()?;
        let fitting: Vec<&Workspace> =
            workspaces.iter().filter(|w| starts_with(&w.id, text)).collect();
        match fitting.as_slice() {
            [one] => Ok(Some((*one).clone())),
            [] => Ok(None),
            several => Err(ServiceError::Ambiguous {
                text: text.to_owned(),
                candidates: several.iter().map(|w| format!("{} ({})", w.name, w.id)).collect(),
            }),
        }
    }

    /// Whether there is a workspace of this name, or of an id that starts so.
    pub fn has_workspace(&self, text: &str) -> Result<bool> {
        Ok(self.look_up(text)?.is_some())
    }

    /// Why there is no workspace of this name.
    fn missing(&self, text: &str) -> Result<ServiceError> {
        if let Some((operation, id, name)) = self.last_mention(text)?
            && name == text
        {
            return Ok(match self.vault.workspace(&id)? {
                Some(renamed) => ServiceError::Unknown {
                    what: "workspace",
                    text: name,
                    suggestions: vec![renamed.name],
                    known: Vec::new(),
                },
                None => ServiceError::Gone { workspace: name, operation: operation.kind },
            });
        }
        let workspaces = self.vault.workspaces()?;
        Ok(self.unknown("workspace", text, workspaces.iter().map(|w| w.name.as_str())))
    }

    /// The newest operation that names a workspace which is gone since, with its id and name.
    fn last_mention(&self, text: &str) -> Result<Option<(Operation, Id, String)>> {
        let mut before = None;
        loop {
            let page = self.vault.operations(offshoot_vault::Scope::Vault, before, 64)?;
            let Some(last) = page.last() else { return Ok(None) };
            before = Some(last.seq);
            for operation in page {
                if let Some((id, name)) = names_workspace(&operation, text) {
                    return Ok(Some((operation, id, name)));
                }
            }
        }
    }

    /// A workspace that is there or that was deleted: what undo and redo can act on. One that is there has no name but its own.
    pub fn workspace_ever(&self, text: &str) -> Result<(Id, String)> {
        if let Some(workspace) = self.look_up(text)? {
            return Ok((workspace.id, workspace.name));
        }
        match self.last_mention(text)? {
            Some((_, id, name)) if self.vault.workspace(&id)?.is_none() => Ok((id, name)),
            _ => Err(self.missing(text)?),
        }
    }

    /// A checkpoint of a workspace by its name or the start of its id.
    pub fn checkpoint(&self, workspace: &Workspace, text: &str) -> Result<Checkpoint> {
        let mut own = self.vault.checkpoints()?;
        own.retain(|checkpoint| checkpoint.workspace == workspace.id);
        if let Some(named) = own.iter().find(|checkpoint| checkpoint.name == text) {
            return Ok(named.clone());
        }
        let fitting: Vec<&Checkpoint> = own.iter().filter(|c| starts_with(&c.id, text)).collect();
        match fitting.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(self.unknown("checkpoint", text, own.iter().map(|c| c.name.as_str()))),
            several => Err(ServiceError::Ambiguous {
                text: text.to_owned(),
                candidates: several.iter().map(|c| format!("{} ({})", c.name, c.id)).collect(),
            }),
        }
    }

    /// Why nothing has this name: it may be among what the catalog lost.
    fn unknown<'n>(
        &self,
        what: &'static str,
        text: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> ServiceError {
        match self.vault.cut_short() {
            Some(lost) => ServiceError::Lost { what, text: text.to_owned(), lost },
            None => {
                let names: Vec<&str> = names.into_iter().collect();
                let suggestions = similar(text, names.iter().copied());
                let known = names.into_iter().take(MOST_KNOWN).map(str::to_owned).collect();
                ServiceError::Unknown { what, text: text.to_owned(), suggestions, known }
            }
        }
    }

    /// An operation by the start of its id.
    pub fn operation(&self, text: &str) -> Result<Operation> {
        let fitting = match is_prefix(text) {
            true => self.vault.operations_by_prefix(text)?,
            false => Vec::new(),
        };
        match fitting.as_slice() {
            [one] => Ok(self.vault.operation(one)?),
            [] => Err(self.unknown("operation", text, [])),
            several => Err(ServiceError::Ambiguous {
                text: text.to_owned(),
                candidates: several.iter().map(Id::to_string).collect(),
            }),
        }
    }
}

/// The workspace of this name, or of an id that starts so, that an operation made, changed or removed; with its name.
fn names_workspace(operation: &Operation, text: &str) -> Option<(Id, String)> {
    operation.changes.iter().filter(|change| change.key.kind == "workspace").find_map(|change| {
        let id: Id = change.key.id.parse().ok()?;
        let rows = [&change.before, &change.after];
        let mut names = rows.into_iter().flatten().filter_map(|row| row.name.as_deref());
        let name = names.clone().find(|name| *name == text);
        let name = name.or_else(|| names.next().filter(|_| starts_with(&id, text)))?;
        Some((id, name.to_owned()))
    })
}

fn checkpoint_label(workspaces: &[Workspace], checkpoint: &Checkpoint) -> String {
    match workspaces.iter().find(|w| w.id == checkpoint.workspace) {
        Some(workspace) => format!("{}@{}", workspace.name, checkpoint.name),
        None => checkpoint.name.clone(),
    }
}

/// An id prefix has at least four characters, so that a mistyped short name is not taken for an id.
fn is_prefix(text: &str) -> bool {
    text.len() >= 4
}

fn starts_with(id: &Id, text: &str) -> bool {
    is_prefix(text) && id.to_string().starts_with(&text.to_ascii_lowercase())
}
