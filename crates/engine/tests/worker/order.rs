//! Commands of one host take a workspace in the order of their calls, on threads and in workers.

use std::time::Duration;

use offshoot_engine::exec::{Command, Event};
use offshoot_needs::needs;
use offshoot_protocol::{ExecEnvelopeDoc, ExitCode};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{PATIENCE, both, open, options, place, wait_for_output, workers};

fn is_busy(ended: &ExecEnvelopeDoc) -> bool {
    ended.result.error.as_ref().is_some_and(|error| error.code() == ExitCode::Busy)
}

#[needs(UserNamespace)]
#[test]
fn those_that_wait_run_in_the_order_of_their_calls() {
    let place = place();
    for (project, name) in both(&place).iter().zip(["threads", "workers"]) {
        let workspace = project.fork(name).unwrap();
        let line = |number| Command::shell(format!("echo {number} >> log")).wait(PATIENCE);
        let execs: Vec<_> = (0..12).map(|number| workspace.exec(line(number)).unwrap()).collect();
        for exec in execs {
            assert!(exec.wait().is_success(), "{:?}", exec.wait());
        }
        let expected: String = (0..12).map(|number| format!("{number}\n")).collect();
        assert_eq!(String::from_utf8(workspace.read("/log").unwrap()).unwrap(), expected, "{name}");
    }
}

#[needs(UserNamespace)]
#[test]
fn the_first_call_has_the_workspace() {
    let place = place();
    for (project, name) in both(&place).iter().zip(["threads", "workers"]) {
        let workspace = project.fork(name).unwrap();
        for turn in 0..10 {
            let first = workspace.exec(["sleep", "1000"]).unwrap();
            let second = workspace.exec(["true"]).unwrap();
            assert!(
                is_busy(&second.wait()),
                "{name} {turn} {:?} {:?}",
                first.outcome(),
                second.wait()
            );
            first.cancel();
            assert!(!is_busy(&first.wait()), "{name} {turn} {:?}", first.wait());
        }
    }
}

#[needs(UserNamespace)]
#[test]
fn a_place_in_the_line_binds_nobody_else() {
    let place = place();
    let holder = open(&place, options(&place));
    for (project, name) in both(&place).iter().zip(["threads", "workers"]) {
        let workspace = project.fork(name).unwrap();
        let held = holder.exec_in(name, Command::shell("echo on; exec sleep 1000")).unwrap();
        wait_for_output(&held);
        let patient = workspace.exec(Command::shell("touch patient").wait(PATIENCE)).unwrap();
        let waiting = patient.events().find_map(|event| match event {
            Event::Waiting { holder } => Some(holder),
            _ => None,
        });
        assert!(waiting.is_some_and(|holder| holder.contains("sleep 1000")), "{name}");
        // One that may not wait, or not for long, is told so, and one that is cancelled ends, while the other keeps its place.
        assert!(is_busy(&workspace.exec(["true"]).unwrap().wait()), "{name}");
        let short = Command::new(["true"]).wait(Duration::from_millis(200));
        assert!(is_busy(&workspace.exec(short).unwrap().wait()), "{name}");
        let unwanted = workspace.exec(Command::new(["true"]).wait(PATIENCE)).unwrap();
        unwanted.cancel();
        assert!(unwanted.wait().result.interrupted, "{name} {:?}", unwanted.wait());
        if name == "workers" {
            let others = workers(place.path());
            let ended = workspace.exec(Command::new(["true"]).wait(PATIENCE)).unwrap();
            let mut its = workers(place.path());
            its.retain(|pid| !others.contains(pid));
            assert_eq!(its.len(), 1, "{its:?}");
            kill_process(Pid::from_raw(its[0]).unwrap(), Signal::TERM).unwrap();
            assert!(ended.wait().result.interrupted, "{:?}", ended.wait());
        }
        // Who only reads, or works elsewhere, does not even wait for that.
        let reads = workspace.exec(Command::new(["true"]).read_only(true)).unwrap().wait();
        assert!(reads.is_success(), "{name} {reads:?}");
        assert!(project.exec(["true"]).unwrap().wait().is_success(), "{name}");
        assert!(patient.outcome().is_none(), "{name}");
        held.cancel();
        held.wait();
        assert!(patient.wait().is_success(), "{name} {:?}", patient.wait());
    }
}
