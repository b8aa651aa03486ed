//! Whether a home is in order after something went wrong in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use offshoot_tests::scan::{CompareOptions, compare, scan};
use offshoot_tests::trace::Trace;

use crate::scene::{Operation, Scene, temporary};
use crate::state::State;

/// What was done to the command, for the report.
pub(crate) fn describe(scene: &Scene, fault: &str, trace: &Trace) -> String {
    let last = trace.calls.last().map(ToString::to_string).unwrap_or_default();
    format!("{:?}, {fault} at {last}, which ended with {}", scene.operation, trace.status)
}

/// Looks at the home after the command ended, however it did. `finished` says that it claimed success.
pub(crate) fn verify(scene: &Scene, home: &Path, finished: bool) -> Result<(), String> {
    look_around(scene, home)?;
    let found = State::read(home, &scene.project())?;
    if found == scene.after {
        if scene.operation == Operation::Init {
            compare_layer(scene, home)?;
        }
        if scene.operation == Operation::Export {
            exported(scene, home, finished)?;
        }
        probe(scene, home)?;
    } else if found == scene.before && finished {
        return Err("the command succeeded and what it did is lost".to_owned());
    } else if found == scene.before {
        repeat(scene, home)?;
        let repeated = State::read(home, &scene.project())?;
        if repeated != scene.after {
            return Err(format!("another state after the command again:\n{repeated:#?}"));
        }
    } else {
        let (before, after) = (&scene.before, &scene.after);
        return Err(format!(
            "neither before nor after:\n{found:#?}\nbefore: {before:#?}\nafter: {after:#?}"
        ));
    }
    left_over(home)
}

/// The first commands that somebody would run: they open everything and repair what there is to repair.
fn look_around(scene: &Scene, home: &Path) -> Result<(), String> {
    succeed("vault list", &scene.offshoot(home, &["vault", "list", "--json"]))?;
    if has_vaults(home) {
        let check = scene.offshoot(home, &["vault", "check", "project", "--json"]);
        succeed("vault check", &check)?;
    }
    left_over(home)
}

/// The layer of a new vault shows the project, each of two equal files in it too.
fn compare_layer(scene: &Scene, home: &Path) -> Result<(), String> {
    let name = home.join("names/project");
    let layers = fs::read_dir(name.join("layers")).map_err(|error| error.to_string())?;
    let layers: Vec<PathBuf> = layers.flatten().map(|layer| layer.path().join("fs")).collect();
    let [layer] = layers.as_slice() else { return Err(format!("not one layer: {layers:?}")) };
    let (project, layer) = (scan(&scene.project()), scan(layer));
    let (project, layer) = (project.unwrap(), layer.map_err(|error| error.to_string())?);
    match compare(&project, &layer, &CompareOptions::default()).as_slice() {
        [] => Ok(()),
        differences => Err(format!("the layer is not the project: {differences:?}")),
    }
}

/// An export is there whole or not at all.
fn exported(scene: &Scene, home: &Path, finished: bool) -> Result<(), String> {
    let file = Scene::exported(home);
    match (file.exists(), finished) {
        (false, true) => return Err("the command succeeded and the file is not there".to_owned()),
        (false, false) => repeat(scene, home)?,
        (true, _) => {}
    }
    let elsewhere = temporary();
    let file = file.to_str().expect("temporary folders have plain names");
    succeed("an import", &scene.offshoot(elsewhere.path(), &["vault", "import", file]))
}

/// A vault that was imported belongs to no folder, so it is named.
const NAMED_PROBE: [&str; 5] = ["workspace", "create", "probe", "--vault", "project"];

fn probe(scene: &Scene, home: &Path) -> Result<(), String> {
    let arguments: &[&str] = if has_vaults(home) { &NAMED_PROBE } else { &["init"] };
    succeed("a change afterwards", &scene.offshoot(home, arguments))
}

fn repeat(scene: &Scene, home: &Path) -> Result<(), String> {
    let output = scene.again(home);
    match scene.is_expected(output.status) {
        true => Ok(()),
        false => failed("the command again", &output),
    }
}

fn succeed(what: &str, output: &Output) -> Result<(), String> {
    match output.status.success() {
        true => Ok(()),
        false => failed(what, output),
    }
}

fn failed(what: &str, output: &Output) -> Result<(), String> {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("{what} ended with {}: {}{}", output.status, out.trim(), err.trim()))
}

fn has_vaults(home: &Path) -> bool {
    // What a deletion left is a link to nothing.
    let leads_somewhere =
        |entry: std::io::Result<fs::DirEntry>| entry.is_ok_and(|name| name.path().exists());
    fs::read_dir(home.join("names")).is_ok_and(|mut names| names.any(leads_somewhere))
}

/// Nothing half-made is left, and nobody is marked as writing.
fn left_over(home: &Path) -> Result<(), String> {
    let mut found = Vec::new();
    look_for_left_overs(home, &mut found).map_err(|error| error.to_string())?;
    match found.as_slice() {
        [] => Ok(()),
        _ => Err(format!("left over: {found:?}")),
    }
}

fn look_for_left_overs(dir: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        // An export goes anywhere, so nobody looks for what a kill left of one.
        if name.starts_with(b".offshoot-export-") {
            continue;
        }
        let half_made =
            name.ends_with(b".tmp") || name.ends_with(b".del") || name.starts_with(b".");
        if half_made || dir.ends_with("open") {
            found.push(path);
        } else if path.is_dir() && !path.is_symlink() && !dir.ends_with("layers") {
            look_for_left_overs(&path, found)?;
        }
    }
    Ok(())
}
