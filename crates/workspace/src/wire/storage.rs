//! What a vault keeps on disk as documents.

use offshoot_protocol::{
    CompactWayDoc, CompactedDoc, GarbageKind, StorageClass, StorageDoc, TakenDoc,
};
use offshoot_vault::{CompactWay, GcReport, StorageUsage, Taken};

use crate::CompactedStack;

/// What a vault takes on disk, by what that is there for.
pub fn storage(usage: &StorageUsage) -> Vec<StorageDoc> {
    let one = |bytes: u64| Taken { count: u64::from(bytes > 0), bytes };
    let classes = StorageClass::ALL.iter().map(|&kind| {
        let Taken { count, bytes } = match kind {
            StorageClass::Base => usage.base,
            StorageClass::Workspaces => usage.workspaces,
            StorageClass::History => usage.history,
            StorageClass::Uncollected => usage.uncollected,
            StorageClass::Packs => usage.packs,
            StorageClass::Catalog => one(usage.catalog),
            StorageClass::Caches => usage.caches,
            StorageClass::Leftovers => usage.left,
            StorageClass::Reserve => one(usage.reserve),
        };
        StorageDoc { kind, count, bytes }
    });
    classes.collect()
}

/// What a collection of garbage took, by kind; kinds of which there was nothing are left out.
pub fn taken(report: &GcReport) -> Vec<TakenDoc> {
    let kinds = GarbageKind::ALL.iter().map(|&kind| {
        let Taken { count, bytes } = match kind {
            GarbageKind::Checkpoints => report.checkpoints,
            GarbageKind::Roots => report.roots,
            GarbageKind::Nodes => report.nodes,
            GarbageKind::Contents => report.contents,
            GarbageKind::Chunks => report.chunks,
            GarbageKind::Layers => report.layers,
            GarbageKind::Packs => report.packs,
            GarbageKind::Outputs => report.outputs,
            GarbageKind::Sessions => report.sessions,
            GarbageKind::Caches => report.caches,
            GarbageKind::Leftovers => report.leftovers,
        };
        TakenDoc { kind, count, bytes }
    });
    kinds.filter(|taken| taken.count > 0).collect()
}

/// A stack of layers that was merged.
pub fn compacted(stack: &CompactedStack) -> CompactedDoc {
    let done = &stack.compacted;
    CompactedDoc {
        root: done.root.to_string(),
        workspaces: stack.workspaces.clone(),
        way: match done.way {
            CompactWay::Merge => CompactWayDoc::Merge,
            CompactWay::Flatten => CompactWayDoc::Flatten,
        },
        layers_before: done.layers_before,
        layers_after: done.layers_after,
        data_layers: done.data_layers,
        bytes_copied: done.bytes_copied,
        elapsed_ms: u64::try_from(done.elapsed.as_millis()).unwrap_or(u64::MAX),
    }
}
