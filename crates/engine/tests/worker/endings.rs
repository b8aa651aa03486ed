//! Whoever ends first: the command, its worker or its host.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use offshoot_engine::Offshoot;
use offshoot_engine::exec::Command;
use offshoot_needs::needs;
use offshoot_tests::host::{kill_when_ready, runs};
use offshoot_tests::product::{binary, hears_hang_ups};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    PATIENCE, changed, on_threads, place, project, wait_for_output, wait_until, workers, zombies,
};

#[needs(UserNamespace)]
#[test]
fn a_cancelled_command_is_recorded() {
    let place = place();
    let project = project(&place);
    let workspace = project.fork("w").unwrap();
    let text = "echo begun > begun; echo ready; sleep 1000; echo over > over";
    let exec = workspace.exec(Command::shell(text)).unwrap();
    wait_for_output(&exec);
    exec.cancel();
    let ended = exec.wait();
    assert!(ended.result.interrupted, "{ended:?}");
    assert_eq!(changed(&workspace), ["/begun"]);
    // It is over: asking once more does nothing.
    exec.cancel();

    // One that does not want to end is killed when it is asked once more, long before its grace is over.
    let text = "trap '' TERM INT; echo two > two; echo ready; while :; do sleep 0.05; done";
    let exec = workspace.exec(Command::shell(text)).unwrap();
    wait_for_output(&exec);
    exec.cancel();
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(exec.outcome().is_none(), "it has its grace");
    exec.cancel();
    let asked = Instant::now();
    let ended = exec.wait();
    assert!(ended.result.interrupted && asked.elapsed().as_secs() < 4, "{ended:?}");
    assert_eq!(changed(&workspace), ["/begun", "/two"]);
    // However soon that is.
    let exec = workspace.exec(Command::shell(text)).unwrap();
    wait_for_output(&exec);
    exec.cancel();
    exec.cancel();
    let asked = Instant::now();
    assert!(exec.wait().result.interrupted && asked.elapsed().as_secs() < 4);
    project.wait_idle();
    assert_eq!(workers(place.path()), [0; 0]);
}

#[needs(UserNamespace)]
#[test]
fn one_of_several_is_killed_by_its_id() {
    let place = place();
    let project = project(&place);
    let execs: Vec<_> = ["a", "b"]
        .map(|name| {
            let workspace = project.fork(name).unwrap();
            workspace.exec(Command::shell("echo on > on; echo ready; sleep 1000")).unwrap()
        })
        .into();
    execs.iter().for_each(wait_for_output);
    assert_eq!(place.json(&["ps"])["running"].as_array().unwrap().len(), 2);
    place.ok(["kill", &execs[0].id().to_string()]);
    let ended = execs[0].wait();
    assert!(ended.result.interrupted, "{ended:?}");
    assert_eq!(changed(&project.workspace("a").unwrap()), ["/on"]);
    assert!(execs[1].outcome().is_none(), "the other goes on");
    execs[1].cancel();
    assert!(execs[1].wait().result.interrupted);
    project.wait_idle();
}

#[needs(UserNamespace)]
#[test]
fn what_a_command_of_a_killed_worker_wrote_is_set_aside() {
    let place = place();
    let project = project(&place);
    let workspace = project.fork("w").unwrap();
    let word = place.path().file_name().unwrap().to_str().unwrap();
    let text = format!("echo one > one; echo ready; sleep 1000 # {word}");
    let exec = workspace.exec(Command::shell(text)).unwrap();
    wait_for_output(&exec);
    let [worker] = workers(place.path())[..] else { panic!("one worker") };
    kill_process(Pid::from_raw(worker).unwrap(), Signal::KILL).unwrap();
    let ended = exec.wait();
    assert!(!ended.is_success(), "{ended:?}");
    assert_eq!(ended.result.state.to_string(), "failed");
    assert_eq!(ended.result.failed_in.map(|state| state.to_string()).as_deref(), Some("executing"));
    assert_eq!(ended.result.workspace.as_deref(), Some("w"));
    assert!(ended.result.recoverable, "{ended:?}");
    let error = serde_json::to_value(ended.result.error.as_ref().unwrap()).unwrap();
    assert_eq!(error["code"], "exec_failed", "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("worker") && message.contains("signal: 9"), "{message}");
    let short = exec.id().short();
    assert!(error["hint"].as_str().unwrap().contains(&format!("recover keep {short}")), "{error}");
    exec.cancel();

    wait_until("the end of the command", || !runs(word));
    assert_eq!(changed(&workspace), [""; 0], "the workspace is as it was");
    assert_eq!(project.leftovers().unwrap().len(), 1);
    assert_eq!(project.leftovers().unwrap()[0].note.exec, exec.id());
    project.keep_leftover(&exec.id()).unwrap();
    assert_eq!(project.leftovers().unwrap().len(), 0);
    let kept = workspace.exec(["touch", "two"]).unwrap().wait();
    assert!(kept.is_success(), "{kept:?}");
    project.wait_idle();
    wait_until("waiting for what has ended", || zombies().is_empty());
}

/// Whoever ends workers by a signal, as a service manager does, loses nothing.
#[needs(UserNamespace)]
#[test]
fn a_worker_that_is_asked_to_end_records_its_command() {
    let place = place();
    let project = project(&place);
    let signals = [("term", Signal::TERM), ("int", Signal::INT), ("hup", Signal::HUP)];
    // Workers of a host that outlives its terminal do so, too.
    let is_heard = |(_, signal): &(&str, Signal)| *signal != Signal::HUP || hears_hang_ups();
    for (name, signal) in signals.into_iter().filter(is_heard) {
        let workspace = project.fork(name).unwrap();
        let text = "echo one > one; echo ready; sleep 1000; echo two > two";
        let exec = workspace.exec(Command::shell(text)).unwrap();
        wait_for_output(&exec);
        let [worker] = workers(place.path())[..] else { panic!("one worker") };
        kill_process(Pid::from_raw(worker).unwrap(), signal).unwrap();
        let ended = exec.wait();
        assert!(ended.result.interrupted && ended.result.error.is_none(), "{name}: {ended:?}");
        assert_eq!(changed(&workspace), ["/one"], "{name}");
        project.wait_idle();
    }
    assert_eq!(project.leftovers().unwrap().len(), 0);
    assert_eq!(workers(place.path()), [0; 0]);
}

/// How many commands run in a host that is killed: a third each that is over by then, that may be, and that would go on for long.
const IN_HOST: usize = 9;
const HOST: &str = "OFFSHOOT_TEST_WORKER_HOST";
const PROGRAM: &str = "OFFSHOOT_TEST_PROGRAM";

fn work(number: usize, word: &str) -> String {
    let pause = match number % 3 {
        0 => "echo ready".to_owned(),
        1 => format!("echo ready; sleep 0.{number:02}"),
        // It prints all the time, also when nobody listens any more.
        _ => "while echo ready; do sleep 0.02; done".to_owned(),
    };
    format!("echo one > one; {pause}; echo two > two # {word}")
}

/// The host itself, where another test starts it as one.
#[test]
fn a_host() {
    let Some(place) = std::env::var_os(HOST) else { return };
    let environment = std::env::vars_os().filter(|(name, _)| name != HOST && name != PROGRAM);
    let options = on_threads(Path::new(&place), environment.collect());
    let options = options.worker(std::env::var_os(PROGRAM).unwrap());
    let project = Path::new(&place).join("project");
    let project = Offshoot::open(options).unwrap().project(project).unwrap();
    let word = Path::new(&place).file_name().and_then(OsStr::to_str).unwrap();
    let started: Vec<_> = (0..IN_HOST)
        .map(|number| {
            let workspace = project.fork(&format!("w{number}")).unwrap();
            workspace.exec(Command::shell(work(number, word))).unwrap()
        })
        .collect();
    for (number, exec) in started.iter().enumerate() {
        match number % 3 {
            0 => drop(exec.wait()),
            _ => wait_for_output(exec),
        }
    }
    writeln!(std::io::stdout(), "ready").unwrap();
    started.iter().for_each(|exec| drop(exec.wait()));
}

/// As with any command that is interrupted, what it wrote until then is recorded.
#[needs(UserNamespace)]
#[test]
fn the_commands_of_a_killed_host_end_and_are_recorded() {
    let place = place();
    let project = project(&place);
    let word = place.path().file_name().unwrap().to_str().unwrap();
    let other = project.fork("other").unwrap();
    let other = other.exec(Command::shell("echo ready; sleep 1000")).unwrap();
    wait_for_output(&other);
    kill_when_ready("endings::a_host", |host| {
        host.env_clear().envs(place.environment());
        host.env(HOST, place.path()).env(PROGRAM, binary());
    });
    let killed = Instant::now();
    wait_until("the end of the commands", || !runs(word));
    wait_until("the end of the workers", || workers(place.path()).len() == 1);
    assert!(killed.elapsed() < PATIENCE);

    for number in 0..IN_HOST {
        let workspace = project.workspace(&format!("w{number}")).unwrap();
        let changed = changed(&workspace);
        match number % 3 {
            0 => assert_eq!(changed, ["/one", "/two"], "w{number}"),
            1 => assert!(
                changed == ["/one", "/two"] || changed == ["/one"],
                "w{number}: {changed:?}"
            ),
            _ => assert_eq!(changed, ["/one"], "w{number}"),
        }
        // It can be worked in at once.
        let ended = workspace.exec(["touch", "three"]).unwrap().wait();
        assert!(ended.is_success(), "{ended:?}");
    }
    assert_eq!(project.leftovers().unwrap().len(), 0, "all were recorded");
    assert!(other.outcome().is_none(), "a command of another host goes on");
    other.cancel();
    assert!(other.wait().result.interrupted);
    project.wait_idle();
    assert_eq!(workers(place.path()), [0; 0]);
}
