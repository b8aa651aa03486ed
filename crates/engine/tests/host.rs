//! A program that runs many commands at once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use offshoot_engine::exec::{Command, Event, Exec};
use offshoot_engine::{Offshoot, Options, Project};
use offshoot_needs::needs;

const ALL: usize = 50;
const CANCELLED: usize = 10;

fn project(scratch: &Path) -> Project {
    let folder = scratch.join("project");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("shared"), "shared\n").unwrap();
    let environment = ["PATH"].map(|name| (name.into(), std::env::var_os(name).unwrap())).to_vec();
    let options = Options::new(environment).registry(scratch.join("vaults"));
    Offshoot::open(options).unwrap().project(&folder).unwrap()
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
