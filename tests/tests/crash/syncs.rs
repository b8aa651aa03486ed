//! The proof that the power cuts can fail: with syncs left out they must.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use offshoot_needs::needs;
use offshoot_tests::trace::{Call, Fault};

use crate::points::run_all;
use crate::power::Disk;
use crate::scene::{Operation, Scene};

/// The kernel may write back on its own, or somebody call `sync`; then a case proves nothing.
const TRIES: usize = 3;

/// The file of a path, by what would be lost with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    LayerFile,
    LayerDirectory,
    Log,
    Catalog,
    Other,
}

fn place(path: &Path) -> Place {
    let is = |name: &str| path.file_name().is_some_and(|last| last == name);
    let in_layer = path.components().any(|part| part.as_os_str() == "layers");
    // A layer of more than a few files is synced with its file system, by the directory that it is written in.
    let staged = in_layer && path.extension().is_some_and(|end| end == "tmp");
    if is("catalog.db-wal") {
        Place::Log
    } else if is("catalog.db") {
        Place::Catalog
    } else if staged
        || (in_layer && path.components().any(|part| part.as_os_str() == "fs") && !is("fs"))
    {
        // Directories of a layer are counted as its files: both are what it holds.
        Place::LayerFile
    } else if in_layer {
        Place::LayerDirectory
    } else {
        Place::Other
    }
}

/// What the harness finds when these syncs are left out, if anything, with the calls of the last try.
fn cut_without(
    scene: &Scene,
    disk: &Disk,
    fault: impl Fn() -> Fault,
) -> (Vec<Call>, Option<String>) {
    let mut calls = Vec::new();
    for _ in 0..TRIES {
        let (trace, verdict) = disk.cut(scene, fault());
        assert!(scene.did(&trace), "{trace:?}");
        calls = trace.calls;
        if let Err(lost) = verdict {
            return (calls, Some(lost));
        }
    }
    (calls, None)
}

fn is_found(scene: &Scene, disk: &Disk, fault: impl Fn() -> Fault) -> Option<String> {
    cut_without(scene, disk, fault).1
}

#[needs(LoopMount, Ptrace)]
#[test]
fn without_any_sync_every_change_is_lost() {
    let all: Vec<Operation> = Operation::ALL.into_iter().chain([Operation::Refuse]).collect();
    run_all("without_any_sync", &all, |operation| {
        let scene = Scene::new(*operation);
        let found = is_found(&scene, &Disk::new(&scene), || Fault::SkipAllSyncs);
        found.map(drop).ok_or_else(|| format!("{operation:?} without syncs went unnoticed"))
    });
}

#[needs(LoopMount, Ptrace)]
#[test]
fn without_syncs_of_the_log_every_change_is_lost() {
    let all = Operation::ALL.map(Some).map(|it| it.filter(|it| *it != Operation::Delete));
    let all: Vec<Operation> = all.into_iter().flatten().collect();
    run_all("without_syncs_of_the_log", &all, |operation| {
        let scene = Scene::new(*operation);
        let of_log = || Fault::SkipSyncsOf(Box::new(|path| place(path) == Place::Log));
        let found = is_found(&scene, &Disk::new(&scene), of_log);
        found.map(drop).ok_or_else(|| format!("{operation:?} without syncs went unnoticed"))
    });
}

#[needs(LoopMount, Ptrace)]
#[test]
fn without_syncs_of_layers_their_bytes_are_lost() {
    let all = [Operation::Init, Operation::InitAgain, Operation::WriteLarge, Operation::Compact];
    run_all("without_syncs_of_layers", &all, |operation| {
        let scene = Scene::new(*operation);
        let of_files = || Fault::SkipSyncsOf(Box::new(|path| place(path) == Place::LayerFile));
        let found = is_found(&scene, &Disk::new(&scene), of_files);
        found.map(drop).ok_or_else(|| format!("{operation:?} without syncs went unnoticed"))
    });
}

#[needs(LoopMount, Ptrace)]
#[test]
fn without_syncs_of_packs_their_bytes_are_lost() {
    run_all("without_syncs_of_packs", &[Operation::Collect, Operation::Import], |operation| {
        let scene = Scene::new(*operation);
        let is_pack = |path: &Path| path.components().any(|part| part.as_os_str() == "packs");
        let of_packs = || Fault::SkipSyncsOf(Box::new(is_pack));
        let found = is_found(&scene, &Disk::new(&scene), of_packs);
        found.map(drop).ok_or_else(|| format!("{operation:?} without syncs went unnoticed"))
    });
}

/// Leaves out each sync alone. On this file system some are covered by the next: a sync of any file also commits every
/// change of names before it. Those of bytes are covered by nothing.
fn each_alone(operation: Operation) {
    let scene = Scene::new(operation);
    let disk = Disk::new(&scene);
    let syncs: Vec<u64> = (1..=scene.trace.syncs).collect();
    let found = Mutex::new(Vec::new());
    run_all("each_sync_alone", &syncs, |&nth_sync| {
        let (calls, lost) = cut_without(&scene, &disk, || Fault::SkipSync { nth_sync });
        // Named by this run: the order of names in a directory is another on each file system.
        let call = calls.into_iter().filter(|call| call.sync).nth(nth_sync as usize - 1);
        let path = call.and_then(|call| call.path).unwrap_or_default();
        found.lock().unwrap().push((nth_sync, place(&path), path, lost));
        Ok(())
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    for (number, place, path, lost) in &found {
        let word = lost.as_deref().map_or("covered by another", |_| "FOUND");
        let name = path.file_name().unwrap_or_default().display();
        println!("{operation:?}, sync {number} ({place:?}, {name}): {word}");
    }
    let any = |wanted| found.iter().any(|(_, place, _, lost)| *place == wanted && lost.is_some());
    assert!(any(Place::LayerFile), "no sync of a file in a layer is needed");
    // How many syncs a layer takes depends on how much the machine has yet to write, so that one of the log may have another number
    // in each run. Counted by themselves they have not.
    let of_log = |call: &&Call| call.sync && call.path.as_deref().map(place) == Some(Place::Log);
    let logs = scene.trace.calls.iter().filter(of_log).count();
    let needed = |nth: usize| {
        let fault = || {
            let seen = AtomicUsize::new(0);
            Fault::SkipSyncsOf(Box::new(move |path| {
                place(path) == Place::Log && seen.fetch_add(1, Ordering::SeqCst) + 1 == nth
            }))
        };
        is_found(&scene, &disk, fault).is_some()
    };
    assert!(any(Place::Log) || (1..=logs).rev().any(needed), "no sync of the log is needed");
}

#[needs(LoopMount, Ptrace)]
#[test]
fn each_sync_of_init_alone() {
    each_alone(Operation::Init);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn each_sync_of_a_large_write_alone() {
    each_alone(Operation::WriteLarge);
}
