//! What other tests start this very program for. Each does nothing unless it was asked to.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, thread};

use offshoot_tests::awkward::{self, AwkwardOptions};
use offshoot_tests::product::Place;
use offshoot_tests::scan::scan;

const DIRECTORY: &str = "OFFSHOOT_TEST_CHILD_DIRECTORY";

/// The arguments that make this program run one of the tests below.
pub(crate) fn arguments(name: &str) -> [String; 3] {
    let name = format!("children::{name}");
    ["--exact".to_owned(), "--nocapture".to_owned(), name]
}

/// The environment that makes it do so in `directory`.
pub(crate) fn environment(directory: &Path) -> (String, PathBuf) {
    (DIRECTORY.to_owned(), directory.to_owned())
}

/// Runs one of the tests below as a user other than root, with `directory` as its own.
pub(crate) fn run_as_ordinary_user(name: &str, directory: &Path) {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
    let this = env::current_exe().unwrap();
    let mut command = if rustix::process::geteuid().is_root() {
        // Copied by a process of its own: a program that this one has open for writing may be inherited by what another
        // thread starts meanwhile, and cannot be run until that closed it.
        let program = directory.join("program");
        assert!(Command::new("cp").arg(&this).arg(&program).status().unwrap().success());
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
        command
    } else {
        Command::new(&this)
    };
    let (variable, value) = environment(directory);
    command.args(arguments(name)).env(variable, value).current_dir(directory);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
}

fn directory() -> Option<PathBuf> {
    env::var_os(DIRECTORY).map(PathBuf::from)
}

// Run by trees::ordinary_user_gets_error_nodes.
#[test]
fn unreadable() {
    let Some(directory) = directory() else { return };
    let tree = directory.join("tree");
    fs::create_dir(&tree).unwrap();
    awkward::build(&tree, &AwkwardOptions::default()).unwrap();
    let all = scan(&tree).unwrap();
    assert!(all.0.values().all(|node| node.error.is_none()));

    fs::set_permissions(tree.join("contents/same-1"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(tree.join("names"), fs::Permissions::from_mode(0o000)).unwrap();
    let less = scan(&tree).unwrap();
    let file = &less.0[&b"contents/same-1"[..]];
    assert!(file.error.is_some() && file.hash.is_none());
    assert!(less.0[&b"names"[..]].error.is_some());
    assert!(!less.0.keys().any(|path| path.starts_with(b"names/")));
    awkward::clear(&tree).unwrap();
    assert_eq!(fs::read_dir(&tree).unwrap().count(), 0);
}

// Run by trees::a_place_of_an_ordinary_user_is_gone_when_dropped.
#[test]
fn closed_places() {
    if directory().is_none() {
        return;
    }
    let place = Place::new();
    awkward::build(&place.project(), &AwkwardOptions::default()).unwrap();
    fs::set_permissions(place.project().join("names"), fs::Permissions::from_mode(0o000)).unwrap();
    let path = place.path().to_owned();
    drop(place);
    assert!(!path.exists());
}

// Run by traces::threads_are_followed.
#[test]
fn threads() {
    let Some(directory) = directory() else { return };
    let write = |name: usize| fs::write(directory.join(name.to_string()), "from a thread").unwrap();
    thread::scope(|scope| {
        for name in 0..8 {
            scope.spawn(move || write(name));
        }
    });
}
