//! Finds out what whoever runs the tests can do on this machine, and writes it down for the macro.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use offshoot_machine::{FEATURES, Feature, probe, search_path};

/// Another user, or another machine, has others.
const VARIABLES: [&str; 5] = ["HOME", "LOGNAME", "PATH", "TMPDIR", "USER"];

/// The user who will run the tests, by number, where root builds them for somebody else.
const OTHER_USER: &str = "OFFSHOOT_TEST_USER";

/// The argument with which this program only says what it finds.
const SAY: &str = "say";

/// As old as the running system: a new kernel can do other things.
const BOOT: &str = "/dev/null";

fn main() {
    if env::args().nth(1).as_deref() == Some(SAY) {
        print!("{}", found());
        return;
    }
    for variable in VARIABLES.into_iter().chain([OTHER_USER]) {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    println!("cargo::rerun-if-changed={BOOT}");
    // Programs come and go. Of a file that is missing, cargo would say each time that it changed.
    for dir in env::split_paths(&search_path()).filter(|dir| dir.is_dir()) {
        println!("cargo::rerun-if-changed={}", dir.display());
    }
    let found = match env::var_os(OTHER_USER) {
        Some(user) => found_by(&user),
        None => found(),
    };
    let out = env::var_os("OUT_DIR").expect("cargo names a folder");
    fs::write(Path::new(&out).join("found.rs"), found)
        .expect("the folder that cargo names can be written");
}

/// All features with the reasons of those that are not there, in the words of a constant.
fn found() -> String {
    let found: Vec<(String, Option<String>)> =
        FEATURES.iter().map(|feature| (name(*feature), probe(*feature).err())).collect();
    format!("&{found:?}")
}

/// The same of another user, who may not reach this program where it lies.
fn found_by(user: &OsStr) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))
        .expect("a folder of one's own");
    let copy = folder.path().join("say");
    fs::copy(env::current_exe().expect("a program knows its path"), &copy).expect("a copy");
    let mut command = Command::new("setpriv");
    command.arg("--reuid").arg(user).arg("--regid").arg(user).arg("--clear-groups");
    let output = command.arg(copy).arg(SAY).output().expect("setpriv can be run");
    assert!(output.status.success(), "{user:?} cannot look around: {output:?}");
    String::from_utf8(output.stdout).expect("it is printed by this program")
}

/// As it stands in `#[needs(..)]`: a word, or the name of a program as a string.
fn name(feature: Feature) -> String {
    match feature {
        Feature::Program(name) => format!("{name:?}"),
        _ => format!("{feature:?}"),
    }
}
