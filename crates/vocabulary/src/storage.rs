//! Words about what a vault keeps on disk.

use crate::word::words;

words! {
    /// What a part of a vault's storage is there for.
    pub enum StorageClass {
        /// Layers of the main line.
        Base = "base",
        /// Layers of workspaces.
        Workspaces = "workspaces",
        /// Layers for undo and checkpoints.
        History = "history",
        /// Layers that are superseded and not collected yet.
        Uncollected = "uncollected",
        /// Content of any age.
        Packs = "packs",
        /// The catalog.
        Catalog = "catalog",
        /// Package caches.
        Caches = "caches",
        /// What interrupted commands left.
        Leftovers = "leftovers",
        /// Space that is kept for freeing space.
        Reserve = "reserve",
    }
}

words! {
    /// What garbage was.
    pub enum GarbageKind {
        /// Checkpoints that Offshoot made by itself.
        Checkpoints = "checkpoints",
        /// States of files.
        Roots = "roots",
        /// Directory nodes.
        Nodes = "nodes",
        /// Contents of files.
        Contents = "contents",
        /// Pieces of large files.
        Chunks = "chunks",
        /// Layers.
        Layers = "layers",
        /// Packs.
        Packs = "packs",
        /// What commands printed.
        Outputs = "outputs",
        /// Sessions of agents that were deleted.
        Sessions = "sessions",
        /// Package caches.
        Caches = "caches",
        /// What crashed processes left.
        Leftovers = "leftovers",
    }
}

words! {
    /// How layers are merged.
    pub enum CompactWayDoc {
        /// What changed is copied into one layer.
        Merge = "merge",
        /// One layer describes everything, and large files stay where they are.
        Flatten = "flatten",
    }
}
