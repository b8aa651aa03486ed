//! `config`, `doctor` and `completions`.

use std::fs;

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::document_of;

use crate::damage::replace_catalog;
use crate::transcript::{Transcript, demo, demo_vault};

#[test]
fn the_configuration() {
    let place = demo();
    let user = place.path().join(".config/offshoot");
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("config.toml"), "[ui]\ncolor = \"never\"\n[diff]\ncontext = 1\n").unwrap();
    place.write("offshoot.toml", "[diff]\ncontext = 2\nrenames = false\n");
    let mut transcript = Transcript::new(&place);
    transcript.run(&["config", "show"]);
    transcript.run(&["config", "show", "--origin"]);
    transcript.run(&["config", "show", "--origin", "-c", "diff.context=7"]);
    transcript.run(&["config", "show", "-c", "diff.context=many"]);
    transcript.run(&["config", "show", "-c", "diff.contxt=7"]);
    transcript.json(&["config", "show", "-c", "diff.context=7"]);
    transcript.run(&["config", "get", "diff.context"]);
    transcript.run(&["config", "get", "diff.contxt"]);
    transcript.json(&["config", "get", "exec.timeout"]);
    transcript.run(&["config", "set", "exec.timeout", "30m"]);
    transcript.run(&["config", "set", "exec.timeout", "30m"]);
    transcript.run(&["config", "set", "exec.timeout", "soon"]);
    transcript.run(&["config", "set", "--project", "ui.pager", "less"]);
    transcript.run(&["config", "get", "exec.timeout"]);
    transcript.json(&["config", "set", "--project", "diff.context", "9"]);
    transcript.run(&["config", "unset", "--project", "diff.context"]);
    transcript.run(&["config", "unset", "--project", "diff.context"]);
    transcript.json(&["config", "unset", "diff.context"]);
    transcript.json(&["config", "show", "-c", "diff.context=many"]);
    assert_snapshot!(transcript.finish());
    let mut command = place.command(["config", "show", "--origin"]);
    let output = command.env("OFFSHOOT_DIFF__CONTEXT", "9").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("diff.context = 9"), "{text}");
    assert!(text.contains("OFFSHOOT_DIFF__CONTEXT"), "{text}");
}

/// What a machine can do differs; that it is said, and what of it, does not.
#[needs(Overlay, UserNamespace)]
#[test]
fn the_doctor_looks_at_everything() {
    let place = demo_vault();
    let text = place.run(["doctor"]);
    let mut transcript = Transcript::new(&place);
    let document = transcript.json(&["doctor"]);
    let checks = document["result"]["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    let machine = ["kernel", "home", "reflinks", "attributes", "whiteouts", "sandbox"];
    let vaults = ["driver", "merging", "space", "vault project"];
    let (walls, others): (Vec<&str>, Vec<&str>) =
        names.iter().partition(|name| name.starts_with("wall "));
    assert_eq!(others, [&machine[..], &vaults].concat());
    assert!(walls.contains(&"wall seccomp") && walls.len() == 14, "{walls:?}");
    assert_eq!(document["result"]["ok"], text.status.success());
    assert_eq!(checks.last().unwrap()["state"], "ok");
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(names.iter().all(|name| text.contains(&format!("  {name}: "))), "{text}");
    let left = fs::read_dir(place.home()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().contains("doctor")));
}

#[test]
fn the_doctor_names_what_does_not_work() {
    let place = demo_vault();
    replace_catalog(&place);
    let output = place.run(["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let document = document_of(&output);
    assert_eq!(document["result"]["ok"], false);
    let last = document["result"]["checks"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["state"], "problem");
    assert!(last["detail"].as_str().unwrap().contains("catalog.db"), "{last}");
}
