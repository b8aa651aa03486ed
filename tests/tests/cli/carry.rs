//! A vault goes to another home and is what it was.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use offshoot_needs::needs;
use offshoot_tests::awkward::{self, AwkwardOptions};
use offshoot_tests::product::Place;
use offshoot_tests::scan::{CompareOptions, compare, scan};
use offshoot_tests::user::{ID, User};
use serde_json::Value;

/// Runs the binary as somebody.
type Run<'a> = &'a dyn Fn(&[&str]) -> Output;

fn ok(run: Run<'_>, arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Exports a vault of an awkward tree, with a history, and looks at what comes in elsewhere.
fn goes_elsewhere(place: &Place, run: Run<'_>) {
    ok(run, &["init"]);
    ok(run, &["workspace", "create", "w"]);
    ok(run, &["checkpoint", "create", "start", "-w", "w"]);
    ok(run, &["fs", "write", "/added", "--from", "../note", "-w", "w"]);
    ok(run, &["undo", "-w", "w"]);
    let listing = |elsewhere: &[&str]| {
        ["op log", "log -w w", "workspace list", "checkpoint list -w w"].map(|command| {
            let words: Vec<&str> = command.split(' ').chain(["--json"]).collect();
            let mut shown: Value =
                serde_json::from_str(&ok(run, &[&words[..], elsewhere].concat())).unwrap();
            // All but where it was bound, which no vault brings along.
            for operation in shown["result"]["operations"].as_array_mut().into_iter().flatten() {
                let refs = operation["refs"].as_array_mut();
                refs.into_iter().for_each(|refs| {
                    refs.retain(|name| !name.as_str().unwrap().starts_with("binding"));
                });
            }
            shown
        })
    };
    let before = listing(&[]);
    ok(run, &["vault", "export", "../file"]);
    let elsewhere = ["--home", "../elsewhere", "--vault", "project"];
    ok(run, &["vault", "import", "../file", "--home", "../elsewhere"]);
    let layers = fs::read_dir(place.path().join("elsewhere/names/project/layers"));
    assert_eq!(layers.unwrap().count(), 0, "it comes without layers");
    assert_eq!(before, listing(&elsewhere), "ids and history stay");
    ok(run, &[&["fs", "export", "/", "../out", "--at", "head"][..], &elsewhere].concat());
    let options = CompareOptions { special: false, ..CompareOptions::default() };
    let (project, out) = (scan(&place.project()), scan(&place.path().join("out")));
    let differences = compare(&project.unwrap(), &out.unwrap(), &options);
    assert!(differences.is_empty(), "{differences:?}");
    // What was undone comes along too, and so does the audit chain.
    ok(run, &[&["redo", "-w", "w"][..], &elsewhere].concat());
    assert_eq!(ok(run, &[&["fs", "cat", "/added", "-w", "w"][..], &elsewhere].concat()), "note\n");
    ok(run, &["vault", "check", "project", "--home", "../elsewhere"]);
    let command = ["exec", "-w", "w", "--", "cat", "added"];
    assert_eq!(ok(run, &[&command[..1], &elsewhere, &command[1..]].concat()), "note\n");
}

fn awkward_place() -> Place {
    let place = Place::new();
    let options = AwkwardOptions { big_bytes: 3 << 20, many: 300, ..AwkwardOptions::default() };
    awkward::build(&place.project(), &options).unwrap();
    fs::write(place.path().join("note"), "note\n").unwrap();
    place
}

fn clear(place: &Place) {
    for name in ["project", "out"] {
        let dir = place.path().join(name);
        if Path::new(&dir).exists() {
            awkward::clear(&dir).unwrap();
        }
    }
}

#[needs(Overlay, UserXattr)]
#[test]
fn an_awkward_tree_goes_elsewhere() {
    let place = awkward_place();
    goes_elsewhere(&place, &|arguments| place.run(arguments));
    clear(&place);
}

#[needs(Root, Overlay, UserXattr)]
#[test]
fn an_awkward_tree_of_an_ordinary_user_goes_elsewhere() {
    let user = User::new();
    let place = awkward_place();
    // What its modes close to its owner does not come in at all.
    fs::remove_dir_all(place.project().join("modes")).unwrap();
    // By a program that no depth of a tree is too deep for.
    let owner = format!("{ID}:{ID}");
    let chown = Command::new("chown").args(["-R", "-h", &owner]).arg(place.path()).status();
    assert!(chown.unwrap().success());
    goes_elsewhere(&place, &|arguments| user.run(&place, arguments));
    clear(&place);
}
