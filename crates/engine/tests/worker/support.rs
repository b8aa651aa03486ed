//! Places with a project, and what processes are left of it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use offshoot_engine::exec::{Event, Exec};
use offshoot_engine::{Offshoot, Options, Project, Workspace};
use offshoot_tests::host::processes;
use offshoot_tests::product::{Place, binary};

/// The variable by which the processes of a test are found.
const MARK: &str = "OFFSHOOT_TEST_MARK";
/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A place with a small project.
pub(crate) fn place() -> Place {
    let place = Place::new();
    place.write("shared", "shared\n");
    place
}

/// What engines of a place are opened with: commands run on threads.
pub(crate) fn on_threads(place: &Path, mut environment: Vec<(OsString, OsString)>) -> Options {
    environment.push((MARK.into(), place.into()));
    Options::new(environment)
}

/// The project of a place, whose commands run in workers.
pub(crate) fn project(place: &Place) -> Project {
    open(place, options(place))
}

/// The project of a place, opened once for threads and once for workers.
pub(crate) fn both(place: &Place) -> [Project; 2] {
    [open(place, on_threads(place.path(), place.environment())), project(place)]
}

/// What engines are opened with whose commands run in workers.
pub(crate) fn options(place: &Place) -> Options {
    on_threads(place.path(), place.environment()).worker(binary())
}

pub(crate) fn open(place: &Place, options: Options) -> Project {
    Offshoot::open(options).unwrap().project(place.project()).unwrap()
}

/// The paths that a workspace changed.
pub(crate) fn changed(workspace: &Workspace) -> Vec<String> {
    workspace.diff().unwrap().iter().map(|change| change.path.to_string()).collect()
}

/// Waits until a command has printed something.
pub(crate) fn wait_for_output(exec: &Exec) {
    assert!(
        exec.events().any(|event| matches!(event, Event::Output { .. })),
        "it prints something"
    );
}

#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what} takes too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The workers of a place that live.
pub(crate) fn workers(place: &Path) -> Vec<i32> {
    let own = |pid: &i32| {
        let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let variable = [MARK.as_bytes(), b"=", place.as_os_str().as_encoded_bytes()].concat();
        let called = read("cmdline");
        called.split(|byte| *byte == 0).nth(1) == Some(b"worker")
            && read("environ").split(|byte| *byte == 0).any(|set| set == variable)
    };
    let found: Vec<i32> = processes().into_iter().filter(own).collect();
    // The init of a command is a copy of its worker.
    let is_copy = |pid: &i32| parent(*pid).is_some_and(|parent| found.contains(&parent));
    found.iter().copied().filter(|pid| !is_copy(pid)).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The processes that this one started and did not wait for, though they have ended.
pub(crate) fn zombies() -> Vec<i32> {
    let own = std::process::id().to_string();
    let is_one = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(own.as_str())
    };
    processes().into_iter().filter(is_one).collect()
}

/// What this process has open, without files: how many connections a catalog has varies.
pub(crate) fn descriptors() -> Vec<PathBuf> {
    let all = fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok);
    let all = all.filter_map(|entry| fs::read_link(entry.path()).ok());
    let mut all: Vec<PathBuf> = all.filter(|to| !to.starts_with("/")).collect();
    all.sort_unstable();
    all
}
