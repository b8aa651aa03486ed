//! Directories of a lower layer are renamed by the broker, and by nobody without it.

use std::fs;
use std::os::unix::fs::FileTypeExt;

use offshoot_sandbox::Renames;

use crate::support::{Scene, read};

/// Renames `d` to `e` and says how that went.
const RENAME: &str = "python3 -c '
import os
try:
    os.rename(\"d\", \"e\")
    print(\"renamed\")
except OSError as error:
    print(error.strerror)'; ls";

fn scene() -> Scene {
    let mut scene = Scene::new();
    scene.environment = vec![("PATH", "/usr/local/bin:/usr/bin:/bin")];
    fs::create_dir_all(scene.path("lower/d/inner")).unwrap();
    fs::write(scene.path("lower/d/inner/file"), "below\n").unwrap();
    scene
}

#[test]
fn a_directory_of_a_lower_layer_is_renamed() {
    let scene = scene();
    let outcome = scene.shell(RENAME);
    assert_eq!(outcome.stdout, "renamed\ne\nfile\n", "{}", outcome.stderr);
    assert_eq!(outcome.in_force.renames, Renames::Brokered);
    assert!(!outcome.ended.busy, "something is open outside");
    assert_eq!(read(&scene.upper().join("e/inner/file")), "below\n");
    assert_eq!(read(&scene.path("lower/d/inner/file")), "below\n");
}

#[test]
fn without_a_broker_it_is_not() {
    let outcome = Scene { broker: false, ..scene() }.shell(RENAME);
    assert_eq!(outcome.stdout, "Invalid cross-device link\nd\nfile\n", "{}", outcome.stderr);
    assert_eq!(outcome.in_force.renames, Renames::Native);
    let outcome = Scene { read_only: true, ..scene() }.shell(RENAME);
    assert_eq!(outcome.in_force.renames, Renames::Native);
}

/// A command that is ended while its directory moves leaves the workspace free, and the directory in one place.
#[test]
fn nothing_of_the_workspace_stays_open() {
    for delay in ["0.02", "0.06", "0.1", "0.15", "0.3"] {
        let scene = scene();
        for number in 0..499 {
            fs::write(scene.path("lower/d/inner").join(number.to_string()), "x").unwrap();
        }
        let outcome = scene.shell(&format!(
            "python3 -c 'import os; os.rename(\"d\", \"e\")' & sleep {delay}; kill -9 $!"
        ));
        assert!(!outcome.ended.busy, "something is open outside");
        let removed = fs::symlink_metadata(scene.upper().join("d"))
            .is_ok_and(|found| found.file_type().is_char_device());
        let moved = fs::read_dir(scene.upper().join("e/inner")).map(Iterator::count).ok();
        let expected = removed.then_some(500);
        assert_eq!(moved, expected, "after {delay} seconds");
        let names = fs::read_dir(scene.upper()).unwrap().flatten();
        let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        let hidden = names.iter().find(|name| name.to_string_lossy().starts_with(".offshoot"));
        assert_eq!(hidden, None);
    }
}
