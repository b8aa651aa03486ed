//! A program that runs many commands at once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use offshoot_engine::exec::{Command, Event, Exec};
use offshoot_engine::review::Decision;
use offshoot_engine::{Offshoot, Options, Project};
use offshoot_needs::needs;
use offshoot_tests::host::{kill_when_ready, runs};

const ALL: usize = 50;
const CANCELLED: usize = 10;

fn project(scratch: &Path) -> Project {
    let folder = scratch.join("project");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("shared"), "shared\n").unwrap();
    open(scratch)
}

fn open(scratch: &Path) -> Project {
    let environment = ["PATH"].map(|name| (name.into(), std::env::var_os(name).unwrap())).to_vec();
    let options = Options::new(environment).registry(scratch.join("vaults"));
    Offshoot::open(options).unwrap().project(scratch.join("project")).unwrap()
}

/// The handles are good for all threads.
#[test]
fn handles_can_be_shared() {
    fn shared<T: Clone + Send + Sync>() {}
    shared::<Offshoot>();
    shared::<Project>();
    shared::<offshoot_engine::Workspace>();
    shared::<Exec>();
}

#[needs(UserNamespace)]
#[test]
fn some_of_many_are_cancelled_and_the_others_are_exact() {
    let scratch = tempfile::tempdir().unwrap();
    let project = project(scratch.path());
    let started: Vec<_> = (0..ALL)
        .map(|number| {
            let workspace = project.fork(&format!("w{number}")).unwrap();
            let text = match number < CANCELLED {
                true => "echo begun > begun; echo ready; sleep 1000; echo over > over".to_owned(),
                false => format!("echo {number} > own; echo {number} >> shared"),
            };
            let exec = workspace.exec(Command::shell(text)).unwrap();
            (workspace, exec)
        })
        .collect();
    for (_, exec) in &started[..CANCELLED] {
        let printed = |event: &Event| matches!(event, Event::Output { .. });
        assert!(exec.events().any(|event| printed(&event)), "it says that it is ready");
    }
    let asked = Instant::now();
    for (_, exec) in &started[..CANCELLED] {
        exec.cancel();
    }
    for (number, (workspace, exec)) in started.iter().enumerate() {
        let ended = exec.wait();
        let paths: Vec<String> =
            workspace.diff().unwrap().iter().map(|change| change.path.to_string()).collect();
        if number < CANCELLED {
            assert!(ended.result.interrupted, "{number}: {ended:?}");
            assert_eq!(paths, ["/begun"], "{number}");
            continue;
        }
        assert_eq!(ended.result.exit_code, Some(0), "{number}: {ended:?}");
        assert!(!ended.result.interrupted, "{number}");
        assert_eq!(paths, ["/own", "/shared"], "{number}");
        assert_eq!(workspace.read("/own").unwrap(), format!("{number}\n").as_bytes());
        let shared = format!("shared\n{number}\n");
        assert_eq!(workspace.read("/shared").unwrap(), shared.as_bytes());
    }
    // A shell that sleeps ends when it is asked; none needed all of its grace.
    assert!(asked.elapsed() < Duration::from_secs(60), "{:?}", asked.elapsed());
    assert_eq!(project.leftovers().unwrap().len(), 0);
    let folder = project.folder().unwrap().unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "the folder is as it was");
}

#[test]
fn a_piece_is_decided_about_by_its_id() {
    let scratch = tempfile::tempdir().unwrap();
    let workspace = project(scratch.path()).fork("w").unwrap();
    workspace.write("/shared", b"other\n").unwrap();
    let mut review = workspace.review().unwrap();
    let id = review.items()[0].pieces[0].id.clone();
    review.decide(&id, &Decision::Accepted).unwrap();
    assert!(review.decide("0", &Decision::Accepted).is_err());
    assert_eq!(review.tally().accepted, 1);
    review.commit("Other").unwrap();
    assert_eq!(fs::read_to_string(scratch.path().join("project/shared")).unwrap(), "other\n");
}

/// How many commands run in a host that is killed: a third each that is over by then, that may be, and that would go on for long.
const IN_HOST: usize = 18;
const HOST: &str = "OFFSHOOT_TEST_HOST";

/// What a command of the host would do. Its second word is found in the list of processes.
fn work(number: usize, word: &str) -> String {
    let pause = match number % 3 {
        0 => "0".to_owned(),
        1 => format!("0.{number:02}"),
        _ => "1000".to_owned(),
    };
    format!("echo one > one; sleep {pause}; echo two > two # {word}")
}

/// The host itself, where another test starts it as one.
#[test]
fn a_host() {
    let Some(scratch) = std::env::var_os(HOST) else { return };
    let scratch = Path::new(&scratch);
    let word = scratch.file_name().unwrap().to_str().unwrap();
    let project = open(scratch);
    let workspaces: Vec<_> =
        (0..IN_HOST).map(|number| project.fork(&format!("w{number}")).unwrap()).collect();
    let started: Vec<_> = workspaces
        .iter()
        .enumerate()
        .map(|(number, workspace)| workspace.exec(Command::shell(work(number, word))).unwrap())
        .collect();
    for exec in started.iter().step_by(3) {
        exec.wait();
    }
    writeln!(std::io::stdout(), "ready").unwrap();
    for exec in &started {
        exec.wait();
    }
}

#[needs(UserNamespace)]
#[test]
fn a_killed_host_leaves_every_workspace_before_or_after() {
    let scratch = tempfile::tempdir().unwrap();
    let project = project(scratch.path());
    let word = scratch.path().file_name().unwrap().to_str().unwrap();
    kill_when_ready("a_host", |host| {
        host.env(HOST, scratch.path());
    });
    let deadline = Instant::now() + Duration::from_secs(20);
    while runs(word) {
        assert!(Instant::now() < deadline, "a command outlived its host");
        std::thread::sleep(Duration::from_millis(10));
    }

    let project = project.engine().project(scratch.path().join("project")).unwrap();
    let (mut before, mut after) = (Vec::new(), 0);
    for number in 0..IN_HOST {
        let workspace = project.workspace(&format!("w{number}")).unwrap();
        let changed: Vec<String> =
            workspace.diff().unwrap().iter().map(|change| change.path.to_string()).collect();
        match changed.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => before.push(format!("w{number}")),
            ["/one", "/two"] => after += 1,
            _ => panic!("w{number} is neither: {changed:?}"),
        }
        // It can be worked in at once.
        let ended = workspace.exec(["touch", "three"]).unwrap().wait();
        assert!(ended.is_success(), "{ended:?}");
    }
    assert!(before.len() >= IN_HOST / 3 && after >= IN_HOST / 3, "{before:?} before");
    // What the others wrote, where they had begun, is set aside.
    for left in project.leftovers().unwrap() {
        assert!(before.contains(&left.note.workspace_name), "{left:?}");
        project.drop_leftover(&left.note.exec).unwrap();
    }
    assert_eq!(project.leftovers().unwrap().len(), 0);
}
