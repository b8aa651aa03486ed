//! Finds out what whoever builds the tests can do on this machine, and writes it down for the macro.

use std::path::Path;
use std::{env, fs};

use offshoot_tests::skip::{FEATURES, Feature, probe, search_path};

/// Another user, or another machine, has others.
const VARIABLES: [&str; 5] = ["HOME", "LOGNAME", "PATH", "TMPDIR", "USER"];

/// As old as the running system: a new kernel can do other things.
const BOOT: &str = "/dev/null";

fn main() {
    for variable in VARIABLES {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    println!("cargo::rerun-if-changed={BOOT}");
    // Programs come and go. Of a file that is missing, cargo would say each time that it changed.
    for dir in env::split_paths(&search_path()).filter(|dir| dir.is_dir()) {
        println!("cargo::rerun-if-changed={}", dir.display());
    }
    let found: Vec<(String, Option<String>)> =
        FEATURES.iter().map(|feature| (name(*feature), probe(*feature).err())).collect();
    let out = env::var_os("OUT_DIR").expect("cargo names a folder");
    fs::write(Path::new(&out).join("found.rs"), format!("&{found:?}"))
        .expect("the folder that cargo names can be written");
}

/// As it stands in `#[needs(..)]`: a word, or the name of a program as a string.
fn name(feature: Feature) -> String {
    match feature {
        Feature::Program(name) => format!("{name:?}"),
        _ => format!("{feature:?}"),
    }
}
