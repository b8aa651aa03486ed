//! Stacks: which layers, one above the other, show a root.

use std::path::PathBuf;

use offshoot_store::{Id, LayerRow, StackRow};
use offshoot_tree::links::Links;
use offshoot_tree::{RootId, diff};

use super::compact::cost_of;
use super::stage::{LayerKind, LayerStage};
use crate::error::{Result, VaultError};
use crate::materialize::{Materializer, Purpose};
use crate::operation::Scope;
use crate::refs::{WORKSPACE, WorkspaceRecord};
use crate::vault::Vault;

/// So many operations are lately.
const RECENT: u32 = 32;

/// Layers that show a root when stacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The root.
    pub root: RootId,
    /// The layers, topmost first.
    pub layers: Vec<Id>,
    /// The directories to stack, in the same order.
    pub directories: Vec<PathBuf>,
    /// The directory with all layers.
    pub layers_dir: PathBuf,
    /// The same directories relative to that one: short names for the options of a mount.
    pub names: Vec<String>,
    /// Further directories, relative to the same one, that only hold bytes of files which the lowest of the others
    /// describes, in the order in which they are to be searched. Where there are some, who mounts the stack must know that
    /// the kernel can use them: one that cannot may show zeros.
    pub data: Vec<String>,
}

impl Vault {
    /// The layers that show a root. Where none are recorded a delta layer is made above the first of `near` that has a
    /// stack, or a base layer where none has: time and space go with the changes.
    pub fn stack(&self, root: &RootId, near: &[RootId]) -> Result<Stack> {
        self.stack_that(root, near, |_| true)
    }

    /// The same without layers that only hold bytes, for a kernel that cannot use those.
    pub fn plain_stack(&self, root: &RootId, near: &[RootId]) -> Result<Stack> {
        self.stack_that(root, near, |stack| stack.data.is_empty())
    }

    /// The same of stacks that are `fit`; one that is not is replaced.
    pub(super) fn stack_that(
        &self,
        root: &RootId,
        near: &[RootId],
        fit: impl Fn(&StackRow) -> bool,
    ) -> Result<Stack> {
        let _held = self.hold()?;
        if let Some(stack) = self.recorded_stack(root)?.filter(&fit) {
            return Ok(self.show(&stack));
        }
        let mut below = None;
        for candidate in near.iter().filter(|near| *near != root) {
            below = self.recorded_stack(candidate)?.filter(&fit);
            if below.is_some() {
                break;
            }
        }
        let layer =
            self.build_layer(root, below.as_ref().map(|stack| RootId(stack.root)).as_ref())?;
        let (mut layers, data) = below.map_or_else(Default::default, |row| (row.layers, row.data));
        layers.insert(0, layer.id);
        let links = self.find_links(root, near)?;
        self.record_stack(&layer, StackRow { root: root.0, layers, data }, &links)
    }

    fn record_stack(&self, layer: &LayerRow, stack: StackRow, links: &Links) -> Result<Stack> {
        self.catalog().write(|writer| {
            writer.add_layer(layer)?;
            writer.set_links(&stack.root, &links.encode())?;
            Ok::<(), VaultError>(writer.set_stack(&stack)?)
        })?;
        Ok(self.show(&stack))
    }

    /// The stack of a root. A layer that is gone makes it useless; another is built in its place.
    pub(super) fn recorded_stack(&self, root: &RootId) -> Result<Option<StackRow>> {
        let stack = self.read(|reader| Ok(reader.stack(&root.0)?))?;
        let is_there = |id: &Id| self.layer_dir(id).is_dir();
        Ok(stack.filter(|stack| stack.layers.iter().chain(&stack.data).all(is_there)))
    }

    /// How many layers are stacked to show a root; none where it has no stack yet.
    pub fn stack_depth(&self, root: &RootId) -> Result<usize> {
        let stack = self.read(|reader| Ok(reader.stack(&root.0)?))?;
        Ok(stack.map_or(0, |stack| stack.layers.len()))
    }

    /// What layers of a root are best built upon: the base of its workspace, or what the workspace was at lately. After an
    /// undo of several steps it is what was undone that resembles it most.
    pub fn nearest_root(&self, root: &RootId, workspace: &Id, base: RootId) -> Result<RootId> {
        let mut recent = None;
        for candidate in self.recent_roots(workspace)? {
            if self.recorded_stack(&candidate)?.is_some() {
                recent = Some(candidate);
                break;
            }
        }
        let Some(recent) = recent.filter(|recent| *recent != base) else { return Ok(base) };
        if self.recorded_stack(&base)?.is_none() {
            return Ok(recent);
        }
        let objects = self.objects()?;
        let cost = |from: &RootId| diff::compare(objects, from, root).map(|found| cost_of(&found));
        Ok(if cost(&recent)? < cost(&base)? { recent } else { base })
    }

    /// The roots that a workspace was at lately, newest first.
    fn recent_roots(&self, workspace: &Id) -> Result<Vec<RootId>> {
        let operations = self.operations(Scope::Workspace(*workspace), None, RECENT)?;
        let changes = operations.into_iter().flat_map(|operation| operation.changes);
        let mut roots = Vec::new();
        for change in changes.filter(|change| change.key.kind == WORKSPACE) {
            for row in change.after.into_iter().chain(change.before) {
                let head = WorkspaceRecord::from_row(&change.key, row)?.state.head;
                roots.push(self.snapshot(&head)?.root);
            }
        }
        Ok(roots)
    }

    pub(super) fn show(&self, stack: &StackRow) -> Stack {
        let name = |id: &Id| format!("{id}/fs");
        Stack {
            root: RootId(stack.root),
            layers: stack.layers.iter().chain(&stack.data).copied().collect(),
            directories: stack.layers.iter().map(|id| self.layer_dir(id)).collect(),
            layers_dir: self.layers_dir(),
            names: stack.layers.iter().map(name).collect(),
            data: stack.data.iter().map(name).collect(),
        }
    }

    pub(super) fn layer_dir(&self, id: &Id) -> PathBuf {
        self.layers_dir().join(id.to_string()).join("fs")
    }

    pub(super) fn build_layer(&self, root: &RootId, base: Option<&RootId>) -> Result<LayerRow> {
        self.enter()?;
        let objects = self.objects()?;
        let top = objects.root(root)?;
        let base_top = base.map(|base| objects.root(base)).transpose()?;
        let kind = if base.is_some() { LayerKind::Delta } else { LayerKind::Base };
        let stage = LayerStage::begin(&self.layers_dir(), kind)?;
        let writer = Materializer::new(objects, &stage.fs_dir(), Purpose::Layer(&stage))?;
        writer.difference(base_top.as_ref(), &top)?;
        drop(writer);
        stage.seal(Some(*root))
    }
}
