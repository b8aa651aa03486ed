//! A system call that fails.

use std::path::Path;

use offshoot_needs::needs;
use offshoot_tests::tier::Tier;
use offshoot_tests::trace::{Fault, Trace};

use crate::points::{points, run_all};
use crate::scene::{Operation, Scene};
use crate::state::State;
use crate::verify::{describe, verify};

pub(crate) const EIO: i32 = 5;
pub(crate) const ENOSPC: i32 = 28;
/// The exit code of storage that fails.
const STORAGE: i32 = 6;
/// What `exec` exits with where Offshoot fails.
const EXEC_FAILED: i32 = 125;

fn fail_everywhere(operation: Operation) {
    let scene = Scene::new(operation);
    let mut faults = Vec::new();
    for (errno, salt) in [(EIO, 200), (ENOSPC, 300)] {
        let points = points(scene.trace.mutating, salt + operation as u64);
        faults.extend(points.into_iter().map(|n| (n, errno)));
    }
    if Tier::from_env() == Tier::Quick {
        // Half of the points with either error.
        faults =
            faults.into_iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, f)| f).collect();
    }
    run_all("errors", &faults, |&(n, errno)| {
        let home = scene.copy();
        let trace = scene.run(home.path(), Fault::FailAt { n, errno });
        let named = |why| format!("{}: {why}", describe_failure(&scene, n, errno, &trace));
        reported(&scene, &trace).map_err(named)?;
        not_done(&scene, home.path(), &trace).map_err(named)?;
        verify(&scene, home.path(), scene.did(&trace)).map_err(named)
    });
}

fn describe_failure(scene: &Scene, n: u64, errno: i32, trace: &Trace) -> String {
    let call = trace.calls.get(n as usize - 1).map(ToString::to_string).unwrap_or_default();
    let error = String::from_utf8_lossy(&trace.stderr);
    format!("{} ({n}: errno {errno} at {call}; {})", describe(scene, "", trace), error.trim())
}

/// An error is said to be one of storage, and is never a panic.
fn reported(scene: &Scene, trace: &Trace) -> Result<(), String> {
    let error = String::from_utf8_lossy(&trace.stderr);
    if error.contains("panicked") {
        return Err("a panic".to_owned());
    }
    match trace.status.code() {
        // What failed was not needed, such as a cache.
        _ if scene.is_expected(trace.status) => Ok(()),
        Some(STORAGE) if error.contains("error") => Ok(()),
        // Exit codes of `exec` are the command's; what fails in Offshoot has one of its own.
        Some(EXEC_FAILED) if scene.operation == Operation::Refuse && error.contains("error:") => {
            Ok(())
        }
        _ => Err("not reported as an error of storage".to_owned()),
    }
}

/// What failed is not done all the same. Vaults that are made or deleted have a point of no return: what fails after it is done by
/// whoever comes next. A refusal stands, whether or not its record reached the disk.
fn not_done(scene: &Scene, home: &Path, trace: &Trace) -> Result<(), String> {
    let may_be = [Operation::Init, Operation::Import, Operation::Delete, Operation::Refuse];
    let operation = scene.operation;
    if trace.status.success() || operation.is_upkeep() || may_be.contains(&operation) {
        return Ok(());
    }
    match State::read(home, &scene.project())? == scene.after {
        true => Err("it failed and is done all the same".to_owned()),
        false => Ok(()),
    }
}

#[needs(Ptrace)]
#[test]
fn init_fails() {
    fail_everywhere(Operation::Init);
}

#[needs(Ptrace)]
#[test]
fn second_init_fails() {
    fail_everywhere(Operation::InitAgain);
}

#[needs(Ptrace)]
#[test]
fn small_write_fails() {
    fail_everywhere(Operation::WriteSmall);
}

#[needs(Ptrace)]
#[test]
fn large_write_fails() {
    fail_everywhere(Operation::WriteLarge);
}

#[needs(Ptrace)]
#[test]
fn fork_fails() {
    fail_everywhere(Operation::Fork);
}

#[needs(Ptrace)]
#[test]
fn undo_fails() {
    fail_everywhere(Operation::Undo);
}

#[needs(Ptrace)]
#[test]
fn checkpoint_fails() {
    fail_everywhere(Operation::Checkpoint);
}

#[needs(Ptrace)]
#[test]
fn compaction_fails() {
    fail_everywhere(Operation::Compact);
}

#[needs(Ptrace)]
#[test]
fn collection_fails() {
    fail_everywhere(Operation::Collect);
}

#[needs(Ptrace)]
#[test]
fn packing_fails() {
    fail_everywhere(Operation::Pack);
}

#[needs(Ptrace)]
#[test]
fn export_fails() {
    fail_everywhere(Operation::Export);
}

#[needs(Ptrace)]
#[test]
fn import_fails() {
    fail_everywhere(Operation::Import);
}

#[needs(Ptrace)]
#[test]
fn delete_fails() {
    fail_everywhere(Operation::Delete);
}

#[needs(Ptrace)]
#[test]
fn approving_fails() {
    fail_everywhere(Operation::Approve);
}

#[needs(Ptrace)]
#[test]
fn refusing_fails() {
    fail_everywhere(Operation::Refuse);
}
