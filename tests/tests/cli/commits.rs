//! What `commit`, `pull` and their undo say.

use std::fs;

use insta::assert_snapshot;

use crate::transcript::{Transcript, demo_vault};

#[test]
fn commits_for_people() {
    let place = demo_vault();
    place.write(".gitignore", "target\n");
    place.ok(["init"]);
    let mut transcript = Transcript::new(&place);
    transcript.run(&["commit", "-w", "fix"]);
    let script = "sed -i 's/small/little/' README.md; mkdir -p target docs; echo o >target/o; \
        echo new >docs/new; mv run.sh start.sh; mkdir -p .git/hooks; echo x >.git/hooks/post-commit; \
        cp /bin/true tool; chmod 4755 tool";
    place.ok(["exec", "-w", "fix", "--", "sh", "-c", script]);
    transcript.run(&["commit", "-w", "fix", "--dry-run"]);
    place.write("src/lib.rs", "pub fn one() -> u16 {\n    1\n}\n");
    transcript.run(&["commit", "-w", "fix", "-m", "Say little\n\nAnd more."]);
    transcript.run(&["op", "log", "-w", "fix", "-n", "1"]);
    transcript.run(&["show", "head"]);
    transcript.run(&["undo", "-w", "fix"]);
    transcript.run(&["redo", "-w", "fix"]);
    transcript.run(&["commit", "-w", "fix", "--quiet"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn conflicts_for_people() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    transcript
        .run_with(&["fs", "write", "/README.md", "-w", "fix"], "# Demo\n\nAn agent's project.\n");
    place.write("README.md", "# Demo\n\nA person's project.\n");
    transcript.run(&["commit", "-w", "fix"]);
    transcript.run(&["pull", "-w", "fix"]);
    transcript.run(&["commit", "-w", "fix"]);
    transcript.run(&["fs", "cat", "/README.md", "-w", "fix"]);
    transcript.run_with(&["fs", "write", "/README.md", "-w", "fix"], "# Demo\n\nEverybody's.\n");
    transcript.run(&["commit", "-w", "fix"]);
    transcript.run(&["pull", "-w", "fix"]);
    place.write("README.md", "changed since\n");
    transcript.run(&["undo", "-w", "fix"]);
    transcript.run(&["pull", "--head"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn commits_for_programs() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    place.ok_with(["fs", "write", "/README.md", "-w", "fix"], b"# Demo\n\nAn agent's project.\n");
    place.ok_with(["fs", "write", "/new", "-w", "fix"], b"new\n");
    transcript.json(&["commit", "-w", "fix", "--only", "/new", "-m", "new"]);
    place.write("README.md", "# Demo\n\nA person's project.\n");
    transcript.json(&["commit", "-w", "fix"]);
    transcript.json(&["pull", "-w", "fix"]);
    transcript.json(&["commit", "-w", "fix"]);
    transcript.json(&["commit", "--settle", "back"]);
    assert_snapshot!(transcript.finish());
}

/// A name that fits nothing is a slip: nothing is committed without what it was to name.
#[test]
fn a_name_to_take_that_fits_nothing_is_an_error() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/new", "-w", "fix"], b"new\n");
    let output = place.run(["commit", "-w", "fix", "--take", "nosuch", "-m", "new"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("nothing that changed fits --take nosuch"), "{output:?}");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!place.project().join("new").exists());
    place.ok(["commit", "-w", "fix", "--take", "new"]);
    assert!(place.project().join("new").exists());
}

/// Each reason is on a line of its own.
#[test]
fn several_reasons_are_listed() {
    let place = demo_vault();
    for name in ["first", "second"] {
        place.write(name, "1\n");
    }
    place.ok(["init"]);
    place.ok(["workspace", "create", "w"]);
    let mut open = Vec::new();
    for name in ["first", "second"] {
        place.ok_with(["fs", "write", name, "-w", "w"], b"2\n");
        let path = place.project().join(name);
        open.push(fs::File::options().append(true).open(path).unwrap());
    }
    let output = place.run(["commit", "-w", "w"]);
    let told = String::from_utf8(output.stderr).unwrap();
    let reasons = told.lines().filter(|line| line.contains("is open for writing")).count();
    assert_eq!((reasons, told.contains("^J")), (2, false), "{told}");
    drop(open);
}
