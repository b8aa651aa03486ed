//! Many at once, in threads and in processes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use offshoot_vault::{CheckDepth, Scope};
use offshoot_workspace::{NewCheckpoint, NewWorkspace, Resolver, WorkspaceService};

use crate::support::{Bench, home};

const PROCESSES: usize = 6;
const EACH: usize = 10;
const PLACE: &str = "OFFSHOOT_TEST_PLACE";
const NUMBER: &str = "OFFSHOOT_TEST_NUMBER";

/// Does nothing unless another test started this program for it.
#[test]
fn child() {
    if let (Some(place), Ok(number)) = (std::env::var_os(PLACE), std::env::var(NUMBER)) {
        write_and_fork(&PathBuf::from(place), &number);
    }
}

/// Writes to the shared workspace and makes others, each with a vault of its own opening.
fn write_and_fork(place: &Path, number: &str) {
    for round in 0..EACH {
        let bench = Bench::open(place);
        let shared = bench.resolver().workspace("shared").unwrap();
        bench.write(&shared, &format!("/{number}/{round}"), &format!("{number} {round}"));
        if round % 5 == 0 {
            let from = &bench.point("shared");
            let new = NewWorkspace { name: None, from, lifetime: None };
            let own = bench.workspaces().create(&new).unwrap();
            bench.write(&own, "/own", number);
            let new = NewCheckpoint { name: None, automatic: true, reason: "" };
            bench.checkpoints().create(&own, &new).unwrap();
        }
    }
}

#[test]
fn processes_share_a_workspace() {
    let bench = Bench::new();
    bench.fork("shared");
    let program = std::env::current_exe().unwrap();
    let start = |number: usize| {
        Command::new(&program)
            .args(["--exact", "--nocapture", "crowd::child"])
            .env(PLACE, &bench.place)
            .env(NUMBER, number.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let running: Vec<_> = (0..PROCESSES).map(start).collect();
    for child in running {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
    }
    for number in 0..PROCESSES {
        for round in 0..EACH {
            let found = bench.read("shared", &format!("/{number}/{round}"));
            assert_eq!(found, Some(format!("{number} {round}")));
        }
    }
    assert_eq!(bench.names().len(), 1 + PROCESSES * EACH / 5);
    let report = bench.vault.check(CheckDepth::Content).unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
}

#[test]
fn threads_share_one_open_vault() {
    let bench = Bench::new();
    let shared = bench.fork("shared");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (bench, shared) = (&bench, &shared);
            scope.spawn(move || {
                for round in 0..5 {
                    bench.write(shared, &format!("/{number}-{round}"), "x");
                    let snapshot = Resolver::new(&bench.vault).point("shared", None).unwrap();
                    let service = WorkspaceService::new(&bench.vault, &bench.actor);
                    let new = NewWorkspace { name: None, from: &snapshot, lifetime: None };
                    service.create(&new).unwrap();
                }
            });
        }
    });
    assert_eq!(bench.paths("shared").len(), 40);
    assert_eq!(bench.names().len(), 41);
    // Every edit is an operation of its own and can be taken back one by one.
    for _ in 0..40 {
        bench.history().undo(Scope::Workspace(shared.id)).unwrap();
    }
    assert_eq!(bench.paths("shared"), Vec::<String>::new());
    assert_eq!(home(&bench.place).list().unwrap().len(), 1);
}
