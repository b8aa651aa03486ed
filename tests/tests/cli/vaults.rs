//! `init` and `vault`.

use std::fs;

use insta::assert_snapshot;

use crate::transcript::{Transcript, demo, settle};

#[test]
fn vaults_for_people() {
    let place = demo();
    place.write(".offshootignore", "*.log\n");
    place.write("noise.log", "noise\n");
    let _socket = std::os::unix::net::UnixListener::bind(place.project().join("socket")).unwrap();
    settle_without_socket(&place.project());
    let mut transcript = Transcript::new(&place);
    transcript.run(&["init"]);
    transcript.run(&["init"]);
    place.write("README.md", "# Demo\n\nIt grew.\n");
    fs::remove_file(place.project().join("run.sh")).unwrap();
    transcript.run(&["init"]);
    transcript.run(&["vault", "create", "scratch"]);
    transcript.run(&["vault", "list"]);
    transcript.run(&["vault", "info"]);
    transcript.run(&["vault", "info", "scratch"]);
    transcript.run(&["vault", "rename", "scratch", "paper"]);
    transcript.run(&["vault", "check"]);
    transcript.run(&["vault", "check", "paper", "--quick"]);
    transcript.run(&["vault", "delete", "paper"]);
    transcript.run(&["vault", "delete", "paper", "--yes"]);
    transcript.run(&["vault", "list"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn vaults_for_programs() {
    let place = demo();
    let other = place.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("note.txt"), "one\n").unwrap();
    settle(&other);
    let other = other.to_str().unwrap();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["vault", "list"]);
    transcript.json(&["init", "--name", "demo"]);
    transcript.json(&["init"]);
    transcript.json(&["vault", "create", "scratch", "--from", other]);
    transcript.json(&["vault", "list"]);
    transcript.json(&["vault", "info"]);
    transcript.json(&["vault", "rename", "scratch", "paper"]);
    transcript.json(&["vault", "check"]);
    transcript.json(&["vault", "check", "paper", "--quick"]);
    transcript.json(&["vault", "delete", "paper"]);
    transcript.json(&["vault", "delete", "paper", "--yes"]);
    assert_snapshot!(transcript.finish());
}

/// A socket has no time or mode of its own that would matter, and cannot be opened.
fn settle_without_socket(project: &std::path::Path) {
    for entry in fs::read_dir(project).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name != "socket") {
            settle(&path);
        }
    }
}
