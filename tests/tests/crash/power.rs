//! A machine that loses power.

use std::fs;
use std::path::Path;

use offshoot_needs::needs;
use offshoot_tests::image::LoopImage;
use offshoot_tests::trace::{Fault, Trace};

use crate::kills::Kill;
use crate::points::run_all;
use crate::scene::{Operation, Scene, copy_home};
use crate::verify::{describe, verify};

const SIZE: u64 = 24 << 20;

/// A disk with the home of a scene on it, to be copied for each case.
pub(crate) struct Disk {
    image: LoopImage,
}

impl Disk {
    pub(crate) fn new(scene: &Scene) -> Self {
        let image = LoopImage::create(SIZE).unwrap();
        let mount = image.mount().unwrap();
        copy_home(&scene.template(), mount.path());
        // Made by `mkfs`, and no leftover of ours.
        fs::remove_dir(mount.path().join("lost+found")).unwrap();
        mount.unmount().unwrap();
        Self { image }
    }

    /// Runs the command on a copy of the disk, cuts the power when it ends, and looks at what is left.
    pub(crate) fn cut(&self, scene: &Scene, fault: Fault) -> (Trace, Result<(), String>) {
        let disk = self.image.power_cut_copy().unwrap();
        let mount = disk.mount().unwrap();
        let trace = scene.run(mount.path(), fault);
        let left = disk.power_cut_copy().unwrap();
        let after = match left.mount() {
            Ok(after) => after,
            Err(error) => return (trace, Err(error.to_string())),
        };
        boot(after.path());
        let verdict = verify(scene, after.path(), scene.did(&trace));
        (trace, verdict)
    }
}

/// Nothing of the last boot counts after a power cut; here the machine itself went on.
fn boot(home: &Path) {
    for vault in fs::read_dir(home.join("vaults")).into_iter().flatten() {
        let checked = vault.unwrap().path().join("checked");
        if checked.exists() {
            fs::write(checked, "an earlier boot").unwrap();
        }
    }
}

fn cut_everywhere(operation: Operation) {
    let scene = Scene::new(operation);
    let disk = Disk::new(&scene);
    let mut kills: Vec<Option<Kill>> = Kill::all(&scene, 400).into_iter().map(Some).collect();
    // Nothing happens to the command itself: what it reported as done must be there after the cut.
    kills.push(None);
    run_all("power", &kills, |kill| {
        let fault = kill.map_or(Fault::None, Kill::fault);
        let (trace, verdict) = disk.cut(&scene, fault);
        if kill.is_none() && !scene.did(&trace) {
            return Err(format!("ended with {}", trace.status));
        }
        verdict.map_err(|why| format!("{}: {why}", describe(&scene, &format!("{kill:?}"), &trace)))
    });
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_init() {
    cut_everywhere(Operation::Init);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_a_second_init() {
    cut_everywhere(Operation::InitAgain);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_a_small_write() {
    cut_everywhere(Operation::WriteSmall);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_a_large_write() {
    cut_everywhere(Operation::WriteLarge);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_a_fork() {
    cut_everywhere(Operation::Fork);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_an_undo() {
    cut_everywhere(Operation::Undo);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_a_checkpoint() {
    cut_everywhere(Operation::Checkpoint);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_a_compaction() {
    cut_everywhere(Operation::Compact);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_a_collection() {
    cut_everywhere(Operation::Collect);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_while_packing() {
    cut_everywhere(Operation::Pack);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_an_export() {
    cut_everywhere(Operation::Export);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_an_import() {
    cut_everywhere(Operation::Import);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_in_a_delete() {
    cut_everywhere(Operation::Delete);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_while_approving() {
    cut_everywhere(Operation::Approve);
}

#[needs(LoopMount, Ptrace)]
#[test]
fn power_is_cut_while_refusing() {
    cut_everywhere(Operation::Refuse);
}
