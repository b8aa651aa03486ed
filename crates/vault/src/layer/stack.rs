//! Stacks: which layers, one above the other, show a root.

use std::path::PathBuf;

use offshoot_store::{Id, LayerRow, StackRow};

use super::stage::{LayerKind, LayerStage};
use crate::error::{Result, VaultError};
use crate::hash::RootId;
use crate::links::Links;
use crate::materialize::{Materializer, Purpose};
use crate::vault::Vault;

/// Layers that show a root when stacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The root.
    pub root: RootId,
    /// The directories to stack, topmost first.
    pub directories: Vec<PathBuf>,
    /// The directory with all layers.
    pub layers_dir: PathBuf,
    /// The same directories relative to that one: short names for the options of a mount.
    pub names: Vec<String>,
}

impl Vault {
    /// The layers that show a root. Where none are recorded a delta layer is made above the first of `near` that has a
    /// stack, or a base layer where none has: time and space go with the changes.
    pub fn stack(&self, root: &RootId, near: &[RootId]) -> Result<Stack> {
        let _held = self.hold()?;
        if let Some(layers) = self.recorded_stack(root)? {
            return Ok(self.show(root, &layers));
        }
        let mut below: Option<(RootId, Vec<Id>)> = None;
        for candidate in near {
            if let Some(layers) = self.recorded_stack(candidate)? {
                below = Some((*candidate, layers));
                break;
            }
        }
        let (base, mut layers) = match below {
            Some((base, layers)) => (Some(base), layers),
            None => (None, Vec::new()),
        };
        let layer = self.build_layer(root, base.as_ref())?;
        layers.insert(0, layer.id);
        let links = self.find_links(root, near)?;
        self.record_stack(root, &layer, layers, &links)
    }

    fn record_stack(
        &self,
        root: &RootId,
        layer: &LayerRow,
        layers: Vec<Id>,
        links: &Links,
    ) -> Result<Stack> {
        let stack = StackRow { root: root.0, layers };
        self.catalog().write(|writer| {
            writer.add_layer(layer)?;
            writer.set_links(&root.0, &links.encode())?;
            Ok::<(), VaultError>(writer.set_stack(&stack)?)
        })?;
        Ok(self.show(root, &stack.layers))
    }

    pub(super) fn recorded_stack(&self, root: &RootId) -> Result<Option<Vec<Id>>> {
        let stack = self.read(|reader| Ok(reader.stack(&root.0)?))?;
        let layers = stack.map(|stack| stack.layers);
        // A layer that is gone makes the stack useless; another is built in its place.
        Ok(layers.filter(|layers| layers.iter().all(|id| self.layer_dir(id).is_dir())))
    }

    fn show(&self, root: &RootId, layers: &[Id]) -> Stack {
        let (directories, names) =
            layers.iter().map(|id| (self.layer_dir(id), format!("{id}/fs"))).unzip();
        Stack { root: *root, directories, layers_dir: self.layers_dir(), names }
    }

    fn layer_dir(&self, id: &Id) -> PathBuf {
        self.layers_dir().join(id.to_string()).join("fs")
    }

    fn build_layer(&self, root: &RootId, base: Option<&RootId>) -> Result<LayerRow> {
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
