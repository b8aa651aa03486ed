//! What the model is compared with: something that does commands and shows what it has.

use std::collections::BTreeMap;
use std::path::Path;

use crate::action::{Action, Point};
use crate::state::Model;
use crate::tree::{Kind, Tree};

/// How a command ended that did not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It was refused, as nonsense is.
    Refused(String),
    /// Something is broken.
    Broken(String),
}

/// The ids behind the model's numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    pub(crate) snapshots: Vec<String>,
    pub(crate) workspaces: Vec<String>,
    pub(crate) operations: Vec<String>,
}

/// Refs as they really are, sorted, by ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) head: String,
    /// Id, name, head, base.
    pub(crate) workspaces: Vec<(String, String, String, String)>,
    /// Workspace, name, snapshot.
    pub(crate) checkpoints: Vec<(String, String, String)>,
    pub(crate) last_operation: String,
    pub(crate) operations: usize,
}

/// A tree as it really is: by path, what is there, and its mode.
pub(crate) type SeenTree = BTreeMap<String, (Kind, u32)>;

/// The real thing.
pub(crate) trait Driver: Sized {
    fn act(&mut self, action: &Action, ids: &Ids) -> Result<(), Trouble>;
    fn see(&mut self) -> Result<Seen, String>;
    fn tree(&mut self, snapshot: &str) -> Result<SeenTree, String>;
    /// Closes it and opens it again.
    fn reopen(&mut self) -> Result<(), String>;
    /// Checks everything that is stored.
    fn check(&mut self) -> Result<(), String>;
    fn export(&mut self, snapshot: &str, to: &Path) -> Result<(), String>;
    fn project(&self) -> &Path;
}

impl Ids {
    /// A point in the words of a command.
    pub(crate) fn reference(&self, point: &Point) -> String {
        match point {
            Point::Head => "head".to_owned(),
            Point::Workspace(id) => self.workspaces[*id].clone(),
            Point::Base(id) => format!("{}@base", self.workspaces[*id]),
            Point::Checkpoint { workspace, name } => {
                format!("{}@{name}", self.workspaces[*workspace])
            }
            Point::Snapshot(number) => self.snapshots[*number].clone(),
        }
    }

    /// Takes in the ids of what the last command made.
    pub(crate) fn learn(&mut self, model: &Model, seen: &Seen) -> Result<(), String> {
        if self.operations.len() + 1 == model.operations() {
            self.operations.push(seen.last_operation.clone());
        }
        if self.workspaces.len() + 1 == model.workspaces_ever {
            let name = &model.refs.workspaces[&self.workspaces.len()].name;
            let found = seen.workspaces.iter().find(|(_, found, ..)| found == name);
            self.workspaces.push(found.ok_or(format!("no workspace {name}"))?.0.clone());
        }
        if self.snapshots.len() + 1 == model.snapshots.len() {
            let new = self.snapshots.len();
            let of = model.refs.workspaces.iter().find(|(_, workspace)| workspace.head == new);
            let id = match of {
                None => seen.head.clone(),
                Some((workspace, _)) => {
                    let id = &self.workspaces[*workspace];
                    let found = seen.workspaces.iter().find(|(found, ..)| found == id);
                    found.ok_or(format!("no workspace {id}"))?.2.clone()
                }
            };
            self.snapshots.push(id);
        }
        Ok(())
    }

    /// What should be seen.
    pub(crate) fn expected(&self, model: &Model) -> Seen {
        let snapshot = |number: usize| self.snapshots[number].clone();
        let mut workspaces: Vec<_> = model
            .refs
            .workspaces
            .iter()
            .map(|(id, found)| {
                let (head, base) = (snapshot(found.head), snapshot(found.base));
                (self.workspaces[*id].clone(), found.name.clone(), head, base)
            })
            .collect();
        workspaces.sort();
        let checkpoints = model.refs.checkpoints.values();
        let mut checkpoints: Vec<_> = checkpoints
            .map(|found| {
                let workspace = self.workspaces[found.workspace].clone();
                (workspace, found.name.clone(), snapshot(found.snapshot))
            })
            .collect();
        checkpoints.sort();
        Seen {
            head: snapshot(model.refs.head),
            workspaces,
            checkpoints,
            last_operation: self.operations.last().cloned().unwrap_or_default(),
            operations: model.operations(),
        }
    }
}

/// A tree of the model as it should be seen.
pub(crate) fn expected_tree(tree: &Tree) -> SeenTree {
    let nodes = tree.0.iter().filter(|(path, _)| !path.is_empty());
    nodes.map(|(path, node)| (path.clone(), (node.kind.clone(), mode_of(node)))).collect()
}

/// Links have no mode of their own.
fn mode_of(node: &crate::tree::Node) -> u32 {
    if matches!(node.kind, Kind::Symlink(_)) { 0o777 } else { node.mode }
}
