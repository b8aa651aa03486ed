//! A sync of the catalog's log that fails: the transaction is in the log whole, and yet the command failed. What failed must not show
//! up later, and where nobody can tell whether it does, the command says so and folder and vault agree in the end.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use offshoot_needs::needs;
use offshoot_tests::trace::{Call, Fault, Trace};

use crate::errors::{EIO, ENOSPC};
use crate::home::{Site, Told, Verb, expected, verify as verify_home};
use crate::points::run_all;
use crate::scene::{Operation, Scene};
use crate::state::State;
use crate::verify::verify;

/// How the error begins of a change that may have been recorded.
const UNDECIDED: &str = "nobody can tell yet whether the change was recorded";

/// How a sync fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Once(i32),
    /// It does, and so does every later one.
    FromThenOn,
}

impl How {
    const ALL: [Self; 3] = [Self::Once(EIO), Self::Once(ENOSPC), Self::FromThenOn];

    fn fault(self, n: u64) -> Fault {
        match self {
            Self::Once(errno) => Fault::FailAt { n, errno },
            Self::FromThenOn => Fault::FailSyncsOf { from: n, errno: EIO, which: Box::new(is_log) },
        }
    }
}

fn is_log(path: &Path) -> bool {
    path.ends_with("catalog.db-wal")
}

/// Every sync of the log in each way: by its number among the calls, or among these syncs for those that fail from then on.
fn cases(calls: &[Call]) -> Vec<(u64, How)> {
    let of_log = |call: &Call| call.sync && call.path.as_deref().is_some_and(is_log);
    let numbered = (1..).zip(calls).filter(|(_, call)| of_log(call));
    let cases = (1..).zip(numbered).flat_map(|(nth, (n, _)): (u64, (u64, _))| {
        How::ALL.map(|how| (if how == How::FromThenOn { nth } else { n }, how))
    });
    let cases: Vec<_> = cases.collect();
    assert!(!cases.is_empty(), "the log is never synced: {calls:?}");
    cases
}

/// What the command said. As long as the disk works again it must know what became of it.
fn told(trace: &Trace, how: How) -> Result<Told, String> {
    let undecided = String::from_utf8_lossy(&trace.stderr).contains(UNDECIDED);
    match trace.status.success() {
        // The sync was one that nothing depends on, such as of a log that is moved into the database file.
        true => Ok(Told::Done),
        false if undecided && how != How::FromThenOn => Err("it gave up too early".to_owned()),
        false => Ok(if undecided { Told::Nothing } else { Told::Failed }),
    }
}

fn break_home(verb: Verb) {
    let (expected, gave_up) = (expected(verb), AtomicBool::new(false));
    run_all("log_syncs", &cases(&expected.calls), |&(n, how)| {
        let site = Site::new(verb);
        let trace = site.run(how.fault(n));
        let check = || {
            let told = told(&trace, how)?;
            gave_up.fetch_or(told == Told::Nothing, Ordering::SeqCst);
            verify_home(&site, &expected, told)
        };
        let said = String::from_utf8_lossy(&trace.stderr);
        check().map_err(|why| format!("{verb:?}, {how:?} at {n}: {why}; it said: {said}"))
    });
    assert!(gave_up.into_inner(), "{verb:?} knew its outcome though no sync worked");
}

fn break_vault(operation: Operation) {
    let scene = Scene::new(operation);
    run_all("log_syncs", &cases(&scene.trace.calls), |&(n, how)| {
        let home = scene.copy();
        let trace = scene.run(home.path(), how.fault(n));
        let check = || {
            let told = told(&trace, how)?;
            let found = State::read(home.path(), &scene.project())?;
            if told == Told::Failed && found != scene.before {
                return Err("it failed and is done all the same".to_owned());
            }
            verify(&scene, home.path(), told == Told::Done)
        };
        let said = String::from_utf8_lossy(&trace.stderr);
        check().map_err(|why| format!("{operation:?}, {how:?} at {n}: {why}; it said: {said}"))
    });
}

#[needs(Ptrace)]
#[test]
fn of_a_commit() {
    break_home(Verb::Commit);
}

#[needs(Ptrace)]
#[test]
fn of_the_undo_of_a_commit() {
    break_home(Verb::Undo);
}

#[needs(Ptrace)]
#[test]
fn of_the_redo_of_a_commit() {
    break_home(Verb::Redo);
}

#[needs(Ptrace)]
#[test]
fn of_other_changes() {
    for operation in [
        Operation::InitAgain,
        Operation::WriteSmall,
        Operation::WriteLarge,
        Operation::Fork,
        Operation::Undo,
        Operation::Checkpoint,
        Operation::Bind,
        Operation::Unbind,
    ] {
        break_vault(operation);
    }
}
