//! A process that is killed.

use offshoot_needs::needs;
use offshoot_tests::rng::Rng;
use offshoot_tests::tier::Tier;
use offshoot_tests::trace::Fault;

use crate::points::{points, run_all, seed};
use crate::scene::{Operation, Scene};
use crate::verify::{describe, verify};

/// Whether the kill comes before the call or after it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kill {
    Before(u64),
    After(u64),
}

impl Kill {
    pub(crate) fn fault(self) -> Fault {
        match self {
            Self::Before(n) => Fault::KillAt(n),
            Self::After(n) => Fault::KillAfter(n),
        }
    }

    /// The kills of one scene in this run: at each point both in the long tier, one of the two in the quick one.
    pub(crate) fn all(scene: &Scene, salt: u64) -> Vec<Self> {
        let mut rng = Rng::new(seed());
        let points = points(scene.trace.mutating, salt + scene.operation as u64);
        let both = Tier::from_env() == Tier::Long;
        let mut kills = Vec::new();
        for n in points {
            let before = both || rng.one_in(2);
            kills.extend(before.then_some(Self::Before(n)));
            kills.extend((both || !before).then_some(Self::After(n)));
        }
        kills
    }
}

fn kill_everywhere(operation: Operation) {
    let scene = Scene::new(operation);
    run_all("kills", &Kill::all(&scene, 100), |kill| {
        let home = scene.copy();
        let trace = scene.run(home.path(), kill.fault());
        verify(&scene, home.path(), scene.did(&trace))
            .map_err(|why| format!("{}: {why}", describe(&scene, &format!("{kill:?}"), &trace)))
    });
}

#[needs(Ptrace)]
#[test]
fn init_is_killed() {
    kill_everywhere(Operation::Init);
}

#[needs(Ptrace)]
#[test]
fn second_init_is_killed() {
    kill_everywhere(Operation::InitAgain);
}

#[needs(Ptrace)]
#[test]
fn small_write_is_killed() {
    kill_everywhere(Operation::WriteSmall);
}

#[needs(Ptrace)]
#[test]
fn large_write_is_killed() {
    kill_everywhere(Operation::WriteLarge);
}

#[needs(Ptrace)]
#[test]
fn fork_is_killed() {
    kill_everywhere(Operation::Fork);
}

#[needs(Ptrace)]
#[test]
fn undo_is_killed() {
    kill_everywhere(Operation::Undo);
}

#[needs(Ptrace)]
#[test]
fn append_is_killed() {
    kill_everywhere(Operation::Append);
}

#[needs(Ptrace)]
#[test]
fn session_fork_is_killed() {
    kill_everywhere(Operation::ForkSession);
}

#[needs(Ptrace)]
#[test]
fn checkpoint_is_killed() {
    kill_everywhere(Operation::Checkpoint);
}

#[needs(Ptrace)]
#[test]
fn compaction_is_killed() {
    kill_everywhere(Operation::Compact);
}

#[needs(Ptrace)]
#[test]
fn collection_is_killed() {
    kill_everywhere(Operation::Collect);
}

#[needs(Ptrace)]
#[test]
fn packing_is_killed() {
    kill_everywhere(Operation::Pack);
}

#[needs(Ptrace)]
#[test]
fn export_is_killed() {
    kill_everywhere(Operation::Export);
}

#[needs(Ptrace)]
#[test]
fn import_is_killed() {
    kill_everywhere(Operation::Import);
}

#[needs(Ptrace)]
#[test]
fn delete_is_killed() {
    kill_everywhere(Operation::Delete);
}

#[needs(Ptrace)]
#[test]
fn binding_is_killed() {
    kill_everywhere(Operation::Bind);
}

#[needs(Ptrace)]
#[test]
fn unbinding_is_killed() {
    kill_everywhere(Operation::Unbind);
}

#[needs(Ptrace)]
#[test]
fn moving_a_folder_is_killed() {
    kill_everywhere(Operation::MoveFolder);
}

#[needs(Ptrace)]
#[test]
fn approving_is_killed() {
    kill_everywhere(Operation::Approve);
}

#[needs(Ptrace)]
#[test]
fn refusing_is_killed() {
    kill_everywhere(Operation::Refuse);
}
