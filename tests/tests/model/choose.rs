//! Choosing the next command: mostly one that makes sense, sometimes one that does not.

use offshoot_tests::rng::Rng;

use crate::action::{Action, Edit, Point, Scope};
use crate::state::Model;
use crate::tree::{join, parent};

const NAMES: [&str; 6] = ["a", "b", "one", "two", "new", "src"];
const WORKSPACES: [&str; 5] = ["fix", "try", "main", "agent-1", "agent-2"];
const CHECKPOINTS: [&str; 3] = ["before", "good", "v1"];

/// What to choose from.
pub(crate) struct Choice<'a> {
    pub(crate) rng: &'a mut Rng,
    pub(crate) model: &'a Model,
    /// Whether workspaces that are gone can be undone and redone.
    pub(crate) dead_scopes: bool,
}

impl Choice<'_> {
    pub(crate) fn action(&mut self) -> Action {
        let live: Vec<usize> = self.model.refs.workspaces.keys().copied().collect();
        let Some(&workspace) = self.rng.pick(&live) else {
            return match self.rng.below(4) {
                0 => Action::Import,
                1 => Action::Undo(Scope::Vault),
                _ => Action::Fork { name: self.workspace_name(), from: self.point() },
            };
        };
        match self.rng.below(100) {
            0..8 => Action::Fork { name: self.workspace_name(), from: self.point() },
            8..52 => Action::Edit { workspace, edit: self.edit(workspace) },
            52..58 => Action::Checkpoint { workspace, name: self.checkpoint_name() },
            58..62 => Action::Restore { workspace, to: self.point() },
            62..65 => Action::DeleteCheckpoint { workspace, name: self.checkpoint_name() },
            65..68 => Action::Rename { workspace, name: self.workspace_name() },
            68..70 => Action::Delete { workspace },
            70..74 => Action::Discard { workspace, keep: !self.rng.one_in(4) },
            74..85 => Action::Undo(self.scope(workspace)),
            85..93 => Action::Redo(self.scope(workspace)),
            93..96 => {
                let operation = self.rng.below(self.model.operations() as u64) as usize;
                Action::RestoreOperation { operation, scope: self.scope(workspace) }
            }
            _ => Action::Import,
        }
    }

    fn scope(&mut self, workspace: usize) -> Scope {
        let ever = self.model.workspaces_ever as u64;
        match self.rng.below(10) {
            0..4 => Scope::Vault,
            4 if self.dead_scopes => Scope::Workspace(self.rng.below(ever) as usize),
            _ => Scope::Workspace(workspace),
        }
    }

    fn workspace_name(&mut self) -> String {
        (*self.rng.pick(&WORKSPACES).unwrap()).to_owned()
    }

    fn checkpoint_name(&mut self) -> String {
        (*self.rng.pick(&CHECKPOINTS).unwrap()).to_owned()
    }

    fn point(&mut self) -> Point {
        let refs = &self.model.refs;
        let live: Vec<usize> = refs.workspaces.keys().copied().collect();
        let workspace = self.rng.pick(&live).copied();
        let checkpoints: Vec<_> = refs.checkpoints.values().collect();
        match (self.rng.below(6), workspace) {
            (0 | 1, Some(workspace)) => Point::Workspace(workspace),
            (2, Some(workspace)) => Point::Base(workspace),
            (3 | 4, _) if !checkpoints.is_empty() => {
                let found = self.rng.pick(&checkpoints).unwrap();
                Point::Checkpoint { workspace: found.workspace, name: found.name.clone() }
            }
            (5, _) => Point::Snapshot(self.rng.below(self.model.snapshots.len() as u64) as usize),
            _ => Point::Head,
        }
    }

    fn edit(&mut self, workspace: usize) -> Edit {
        match self.rng.below(20) {
            0..8 => {
                let length = match self.rng.below(12) {
                    0 => 0,
                    1 => 66_000 + self.rng.below(3000),
                    _ => self.rng.below(1000),
                };
                let bytes = self.rng.bytes(length as usize);
                Edit::Write { path: self.path(workspace), bytes, parents: self.rng.one_in(2) }
            }
            8..10 => Edit::Mkdir { path: self.path(workspace), parents: self.rng.one_in(2) },
            10..13 => Edit::Move { from: self.existing(workspace), to: self.path(workspace) },
            13..16 => Edit::Copy {
                from: self.existing(workspace),
                to: self.path(workspace),
                recursive: !self.rng.one_in(3),
            },
            16..18 => {
                let mut paths = vec![self.existing(workspace)];
                match self.rng.below(6) {
                    0 => paths.push(self.path(workspace)),
                    1 => paths.extend(parent(&paths[0]).map(str::to_owned)),
                    _ => {}
                }
                Edit::Remove { paths, recursive: self.rng.one_in(2) }
            }
            _ => {
                let mut paths = vec![self.path(workspace)];
                if self.rng.one_in(4) {
                    paths.push(self.existing(workspace));
                }
                Edit::Revert { paths, at: self.point() }
            }
        }
    }

    /// Something that is there, but for the top.
    fn existing(&mut self, workspace: usize) -> String {
        let tree = self.model.tree_of(workspace);
        let paths: Vec<&String> = tree.0.keys().filter(|path| !path.is_empty()).collect();
        match self.rng.pick(&paths) {
            Some(path) if !self.rng.one_in(12) => (*path).clone(),
            _ => self.made_up(),
        }
    }

    fn path(&mut self, workspace: usize) -> String {
        match self.rng.below(8) {
            0..3 => self.existing(workspace),
            3 => join(&self.existing(workspace), self.name()),
            4 if self.rng.one_in(4) => String::new(),
            _ => self.made_up(),
        }
    }

    fn made_up(&mut self) -> String {
        let mut path = self.name().to_owned();
        for _ in 0..self.rng.below(3) {
            path = join(&path, self.name());
        }
        path
    }

    fn name(&mut self) -> &'static str {
        self.rng.pick(&NAMES).unwrap()
    }
}
