//! The examples do what they say.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::process::Command;

use offshoot_needs::needs;

/// What an example prints. Cargo builds it with the tests, into the folder beside theirs.
fn printed(name: &str) -> String {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().unwrap().parent().unwrap().join("examples").join(name);
    let home = tempfile::tempdir().unwrap();
    let mut example = Command::new(&built);
    example.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home.path());
    example.envs(std::env::var_os("TMPDIR").map(|dir| ("TMPDIR", dir)));
    let output = example.output().unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo build --workspace --examples` makes it", built.display())
    });
    let (said, complained) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{complained}");
    assert_eq!(complained, "");
    String::from_utf8(said).unwrap()
}

#[needs(UserNamespace)]
#[test]
fn embed() {
    let said = printed("embed");
    let (note, rest) = said.split_once('\n').unwrap();
    assert!(note.starts_with("note: created vault project for "), "{note}");
    let wanted = "exit code Some(0), 1 changed\nstarted\ncancelled: true\n\
        diff --git a/hello.txt b/hello.txt\n--- a/hello.txt\n+++ b/hello.txt\n@@ -1 +1,2 @@\n hello\n+world\n";
    assert_eq!(rest, wanted);
}

#[needs(UserNamespace)]
#[test]
fn parallel() {
    let merged = "exit code Some(0)\nexit code Some(0)\n0 conflicts\nONE\ntwo\nthree\nfour\nFIVE\n";
    assert_eq!(printed("parallel"), format!("{merged}1 conflicts\nYES\n"));
}

#[needs(UserNamespace)]
#[test]
fn review() {
    let decided = "/greet.sh Accepted\n/notes.txt Dropped\n1 committed\n";
    let came = "echo hello\nnotes.txt is there: false\necho helo\n";
    assert_eq!(printed("review"), format!("{decided}{came}"));
}
