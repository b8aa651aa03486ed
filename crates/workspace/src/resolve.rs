//! What a person means by a REF: a workspace, a checkpoint or a snapshot, by name or by the start of an id.

use offshoot_store::Id;
use offshoot_vault::{Checkpoint, Operation, Scope, Snapshot, Vault, WorkspaceRecord};

use crate::error::{Result, ServiceError};
use crate::id_lookup::Asked;

/// So many operations are looked through for an id that was mistyped.
const RECENT: u32 = 64;

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
    pub workspace: Option<WorkspaceRecord>,
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
    pub fn workspace_point(&self, workspace: &WorkspaceRecord) -> Result<Point> {
        Ok(Point {
            label: workspace.name.clone(),
            snapshot: self.vault.snapshot(&workspace.state.head)?,
            workspace: Some(workspace.clone()),
            checkpoint: None,
        })
    }

    /// What a REF names: `head`; `WORKSPACE`; `WORKSPACE@base`; `WORKSPACE@CHECKPOINT`; the name of a checkpoint, of
    /// `current` first; or the start of an id of any of them or of a snapshot.
    pub fn point(&self, text: &str, current: Option<&WorkspaceRecord>) -> Result<Point> {
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

    /// What a workspace is to go back to. The mere name of a checkpoint is never that of another workspace, which has to be named then.
    pub fn point_to_restore(&self, text: &str, workspace: &WorkspaceRecord) -> Result<Point> {
        let point = self.point(text, Some(workspace))?;
        match (&point.checkpoint, &point.workspace) {
            (Some(checkpoint), Some(owner))
                if checkpoint.name == text && owner.id != workspace.id =>
            {
                Err(ServiceError::OthersCheckpoint {
                    checkpoint: text.to_owned(),
                    owner: owner.name.clone(),
                    workspace: workspace.name.clone(),
                })
            }
            _ => Ok(point),
        }
    }

    fn by_id(
        &self,
        text: &str,
        workspaces: &[WorkspaceRecord],
        checkpoints: &[Checkpoint],
    ) -> Result<Point> {
        let asked = Asked::new(text);
        let mut fitting: Vec<Named<'_>> = Vec::new();
        fitting.extend(workspaces.iter().filter(|w| asked.fits(&w.id)).map(Named::Workspace));
        fitting.extend(checkpoints.iter().filter(|c| asked.fits(&c.id)).map(Named::Checkpoint));
        if let Some(prefix) = asked.prefix() {
            let snapshots = self.vault.snapshots_by_prefix(prefix)?;
            fitting.extend(snapshots.into_iter().map(Named::Snapshot));
        }
        match asked.only(fitting, Named::label)? {
            Some(Named::Workspace(workspace)) => self.workspace_point(workspace),
            Some(Named::Checkpoint(checkpoint)) => self.checkpoint_point(workspaces, checkpoint),
            Some(Named::Snapshot(id)) => {
                let snapshot = self.vault.snapshot(&id)?;
                // Refs keep what they name; what only its id leads to may have been collected.
                self.vault.require_files(&snapshot)?;
                Ok(Point { label: id.short(), snapshot, workspace: None, checkpoint: None })
            }
            None => {
                let names = workspaces.iter().map(|w| w.name.as_str());
                let names = names.chain(checkpoints.iter().map(|c| c.name.as_str())).chain([HEAD]);
                let what = "workspace, checkpoint or snapshot";
                Err(asked.unknown_name(self.vault, what, names))
            }
        }
    }

    fn inside(&self, workspace: &WorkspaceRecord, name: &str) -> Result<Point> {
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

    fn checkpoint_point(
        &self,
        workspaces: &[WorkspaceRecord],
        found: &Checkpoint,
    ) -> Result<Point> {
        Ok(Point {
            label: checkpoint_label(workspaces, found),
            snapshot: self.vault.snapshot(&found.state.snapshot)?,
            workspace: workspaces.iter().find(|w| w.id == found.workspace).cloned(),
            checkpoint: Some(found.clone()),
        })
    }

    /// A workspace by its name or the start of its id.
    pub fn workspace(&self, text: &str) -> Result<WorkspaceRecord> {
        match self.look_up(text)? {
            Some(found) => Ok(found),
            None => Err(self.missing(text)?),
        }
    }

    /// A workspace by its name or the start of its id, where there is one.
    pub(crate) fn look_up(&self, text: &str) -> Result<Option<WorkspaceRecord>> {
        if let Some(workspace) = self.vault.workspace_named(text)? {
            return Ok(Some(workspace));
        }
        let asked = Asked::new(text);
        let mut fitting = self.vault.workspaces()?;
        fitting.retain(|workspace| asked.fits(&workspace.id));
        asked.only(fitting, |workspace| format!("{} ({})", workspace.name, workspace.id))
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
        let names = workspaces.iter().map(|w| w.name.as_str());
        Ok(Asked::new(text).unknown_name(self.vault, "workspace", names))
    }

    /// The newest operation that names a workspace which is gone since, with its id and name. One that a command had and left nothing in stands
    /// back behind an earlier one of the same name, which may have somebody's work.
    fn last_mention(&self, text: &str) -> Result<Option<(Operation, Id, String)>> {
        let mut before = None;
        let mut unused: Vec<(Operation, Id, String)> = Vec::new();
        loop {
            let page = self.vault.operations(Scope::Vault, before, 64)?;
            let Some(last) = page.last() else { return Ok(unused.into_iter().next()) };
            before = Some(last.seq);
            for operation in page {
                let Some((id, name)) = names_workspace(&operation, text) else { continue };
                if unused.iter().any(|(_, known, _)| *known == id) {
                    continue;
                }
                let found = (operation, id, name);
                match found.0.kind == "exec" && self.vault.workspace(&id)?.is_none() {
                    true => unused.push(found),
                    false => return Ok(Some(found)),
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
    pub fn checkpoint(&self, workspace: &WorkspaceRecord, text: &str) -> Result<Checkpoint> {
        let mut own = self.vault.checkpoints()?;
        own.retain(|checkpoint| checkpoint.workspace == workspace.id);
        if let Some(named) = own.iter().find(|checkpoint| checkpoint.name == text) {
            return Ok(named.clone());
        }
        let asked = Asked::new(text);
        let fitting = own.iter().filter(|checkpoint| asked.fits(&checkpoint.id)).collect();
        let found: Option<&Checkpoint> =
            asked.only(fitting, |c| format!("{} ({})", c.name, c.id))?;
        found.cloned().ok_or_else(|| {
            let names = own.iter().map(|checkpoint| checkpoint.name.as_str());
            asked.unknown_name(self.vault, "checkpoint", names)
        })
    }

    /// An operation by the start of its id.
    pub fn operation(&self, text: &str) -> Result<Operation> {
        let asked = Asked::new(text);
        let fitting = match asked.prefix() {
            Some(prefix) => self.vault.operations_by_prefix(prefix)?,
            None => Vec::new(),
        };
        match asked.only(fitting, Id::to_string)? {
            Some(id) => Ok(self.vault.operation(&id)?),
            None => {
                let recent = self.vault.operations(Scope::Vault, None, RECENT).unwrap_or_default();
                let ids = recent.into_iter().map(|operation| operation.id);
                Err(asked.unknown(self.vault, "operation", ids))
            }
        }
    }
}

/// What the start of an id can name where a REF is asked for.
enum Named<'r> {
    Workspace(&'r WorkspaceRecord),
    Checkpoint(&'r Checkpoint),
    Snapshot(Id),
}

impl Named<'_> {
    /// What it is called where several fit.
    fn label(&self) -> String {
        match self {
            Self::Workspace(workspace) => {
                format!("workspace {} ({})", workspace.name, workspace.id)
            }
            Self::Checkpoint(checkpoint) => {
                format!("checkpoint {} ({})", checkpoint.name, checkpoint.id)
            }
            Self::Snapshot(id) => format!("snapshot {id}"),
        }
    }
}

/// The workspace of this name, or of an id that starts so, that an operation made, changed or removed; with its name.
fn names_workspace(operation: &Operation, text: &str) -> Option<(Id, String)> {
    let asked = Asked::new(text);
    operation.changes.iter().filter(|change| change.key.kind == "workspace").find_map(|change| {
        let id: Id = change.key.id.parse().ok()?;
        let rows = [&change.before, &change.after];
        let mut names = rows.into_iter().flatten().filter_map(|row| row.name.as_deref());
        let name = names.clone().find(|name| *name == text);
        let name = name.or_else(|| names.next().filter(|_| asked.fits(&id)))?;
        Some((id, name.to_owned()))
    })
}

fn checkpoint_label(workspaces: &[WorkspaceRecord], checkpoint: &Checkpoint) -> String {
    match workspaces.iter().find(|w| w.id == checkpoint.workspace) {
        Some(workspace) => format!("{}@{}", workspace.name, checkpoint.name),
        None => checkpoint.name.clone(),
    }
}
