//! What `export --git` and `commit --git` say.

use std::process::Command;

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::Place;

use super::{edit, fork};
use crate::transcript::Transcript;

/// Runs git in the project, without anything of whoever runs the tests, and gives what it printed.
fn git(place: &Place, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.env_clear().envs(place.environment()).current_dir(place.project());
    let output = command.args(arguments).output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A repository with one commit, and a workspace that changed something.
fn repository() -> Place {
    let place = Place::new();
    let settings = "[user]\nname = Ann\nemail = ann@example.org\n[init]\ndefaultBranch = main\n";
    std::fs::write(place.path().join(".gitconfig"), settings).expect("settings of git");
    place.write("a", "one\n");
    place.write(".gitignore", "*.o\n");
    git(&place, &["init", "-q", "."]);
    git(&place, &["add", "-A"]);
    git(&place, &["commit", "-qm", "first"]);
    place.ok(["init"]);
    fork(&place, "fix");
    edit(&place, "fix", "/a", "one\ntwo\n");
    edit(&place, "fix", "/x.o", "built\n");
    edit(&place, "fix", "/d/b", "new\n");
    place
}

/// Hides the id of a commit, which depends on the time.
fn hide(transcript: &mut Transcript<'_>, id: &str, name: &str) {
    transcript.hide(id, &format!("[{name}]"));
    transcript.hide(&id[..12], &format!("[{name}]"));
}

#[needs("git")]
#[test]
fn exports_are_told() {
    let place = repository();
    place.ok(["export", "--git", "agent/fix", "-w", "fix"]);
    let mut transcript = Transcript::new(&place);
    // What is exported again is the same commits: they have the dates of their snapshots.
    for (name, of) in [("first", "main"), ("one", "agent/fix~1"), ("two", "agent/fix")] {
        hide(&mut transcript, &git(&place, &["rev-parse", of]), name);
    }
    transcript.run(&["export", "--git", "agent/fix", "-w", "fix", "--force"]);
    transcript.run(&["export", "--git", "agent/fix", "-w", "fix"]);
    transcript.json(&["export", "--git", "agent/fix", "-w", "fix", "--force"]);
    transcript.run(&["export", "--git", "main", "-w", "fix"]);
    transcript.run(&["export", "-w", "fix"]);
    assert_snapshot!(transcript.finish());
}

#[needs("git")]
#[test]
fn git_commits_are_told() {
    let place = repository();
    let said = place.ok(["commit", "-w", "fix", "--git", "-m", "Fix it"]);
    let commit = git(&place, &["rev-parse", "HEAD"]);
    assert_snapshot!(said.replace(&commit[..12], "[commit]"));
    edit(&place, "fix", "/a", "one\ntwo\nthree\n");
    let told = place.json(&["commit", "-w", "fix", "--git", "-m", "More"]);
    assert_eq!(told["git"]["commit"], git(&place, &["rev-parse", "HEAD"]));
    assert_eq!(told["git"]["branch"], "main");
    assert_eq!(told["git"]["files"], 1);
}
