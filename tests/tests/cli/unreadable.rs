//! Files and directories that the user may not read are never taken for deleted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away};
use serde_json::Value;

use crate::transcript::demo;

/// A vault of a folder in which `secret/key` and `run.sh` could be read, with a workspace `w`, and the same after they were closed.
struct Closed {
    user: User,
    place: Place,
}

impl Drop for Closed {
    fn drop(&mut self) {
        self.close(0o755, 0o755);
    }
}

impl Closed {
    fn new() -> Self {
        let (user, place) = (User::new(), demo());
        place.write("secret/key", "key\n");
        place.write("secret/deep/er", "er\n");
        give_away(place.path());
        user.ok(&place, &["init"]);
        user.ok(&place, &["workspace", "create", "w"]);
        let closed = Self { user, place };
        closed.close(0o000, 0o000);
        closed
    }

    fn close(&self, directory: u32, file: u32) {
        set_mode(&self.place.project().join("secret"), directory);
        set_mode(&self.place.project().join("run.sh"), file);
    }

    fn ok(&self, arguments: &[&str]) -> String {
        self.user.ok(&self.place, arguments)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [arguments, &["--json"]].concat();
        let output = self.user.run(&self.place, &arguments);
        let document = document_of(&output);
        assert_eq!(document["success"], true, "{arguments:?}: {document}");
        document
    }

    /// All that could be read before is in this state.
    fn has_all(&self, at: &[&str]) {
        for path in ["/secret/key", "/secret/deep/er", "/run.sh"] {
            self.ok(&[&["fs", "cat", path], at].concat());
        }
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The document says of each what it is about, and names both.
fn names_both(document: &Value) {
    let notes = document["notes"].as_array().unwrap();
    for path in ["secret", "run.sh"] {
        let is_named = |note: &Value| {
            let note = note.as_str().unwrap_or_default();
            note.starts_with(&format!("could not read {path}: ")) && note.contains("keeps")
        };
        assert!(notes.iter().any(is_named), "{path}: {document}");
    }
}

#[test]
fn pull_keeps_what_it_cannot_read() {
    let closed = Closed::new();
    closed.place.write("README.md", "new\n");
    give_away(closed.place.path());
    let pulled = closed.json(&["pull", "-w", "w"]);
    names_both(&pulled);
    let changes = pulled["result"]["captured"].to_string();
    assert!(changes.contains("README.md") && !changes.contains("secret"), "{pulled}");
    closed.has_all(&["-w", "w"]);
    closed.has_all(&["--at", "head"]);
    assert_eq!(closed.ok(&["fs", "cat", "/README.md", "-w", "w"]), "new\n");
    // Nothing changed, so nothing is recorded, and what is opened again has not changed either.
    for modes in [(0o000, 0o000), (0o755, 0o755)] {
        closed.close(modes.0, modes.1);
        let again = closed.json(&["pull", "--head"]);
        assert_eq!(again["result"]["head_moved"], false, "{again}");
    }
    closed.ok(&["vault", "check"]);
}

/// A directory whose names can be read but nothing behind them, and one that can be entered but not listed.
#[test]
fn directories_that_are_closed_by_halves() {
    for mode in [0o400, 0o100] {
        let closed = Closed::new();
        closed.close(mode, 0o755);
        let pulled = closed.json(&["pull", "--head"]);
        assert_eq!(pulled["result"]["head_moved"], false, "{mode:o}: {pulled}");
        assert!(pulled["notes"].to_string().contains("could not read secret"), "{pulled}");
        closed.has_all(&["--at", "head"]);
    }
}

#[test]
fn init_and_commands_keep_what_they_cannot_read() {
    let closed = Closed::new();
    names_both(&closed.json(&["init"]));
    closed.has_all(&["--at", "head"]);
    // A new workspace starts from what is in the folder.
    let output = closed.user.run(&closed.place, &["exec", "--", "cat", "secret/key", "run.sh"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(output.stdout.starts_with(b"key\n"), "{output:?}");
    assert!(said.contains("could not read secret: "), "{said}");
    assert!(said.contains("could not read run.sh: "), "{said}");
    closed.has_all(&["--at", "head"]);
}

/// What is committed goes beside it. Where it would take the place of what nobody can compare, nothing is written.
#[test]
fn commit_does_not_touch_what_it_cannot_read() {
    let closed = Closed::new();
    closed.ok(&["exec", "-w", "w", "--", "sh", "-c", "echo new > new"]);
    let came = closed.json(&["commit", "-w", "w"]);
    names_both(&came);
    assert_eq!(fs::read(closed.place.project().join("new")).unwrap(), b"new\n");
    closed.has_all(&["--at", "head"]);
    closed.ok(&["undo", "-w", "w"]);
    assert!(!closed.place.project().join("new").exists());
    for change in ["echo changed > run.sh", "rm run.sh", "echo x > secret/key", "rm -r secret"] {
        closed.ok(&["exec", "-w", "w", "--", "sh", "-c", change]);
        let output = closed.user.run(&closed.place, &["commit", "-w", "w"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{change}: {said}");
        let path = if change.contains("secret") { "secret" } else { "run.sh" };
        assert!(said.contains(path) && said.contains("ermission denied"), "{change}: {said}");
        closed.ok(&["undo", "-w", "w"]);
    }
    closed.close(0o755, 0o755);
    let now = |path: &str| fs::read_to_string(closed.place.project().join(path)).unwrap();
    assert_eq!(now("secret/key"), "key\n");
    assert_eq!(now("secret/deep/er"), "er\n");
    assert!(now("run.sh").starts_with("#!"), "{}", now("run.sh"));
    assert_eq!(closed.json(&["pull", "--head"])["result"]["head_moved"], false);
}

/// What nobody ever read is not in the vault, and stays where it is.
#[test]
fn what_was_closed_from_the_start_stays_where_it_is() {
    let (user, place) = (User::new(), demo());
    place.write("secret/key", "key\n");
    give_away(place.path());
    let folder = place.project().join("secret");
    set_mode(&folder, 0o000);
    user.ok(&place, &["init"]);
    user.ok(&place, &["workspace", "create", "w"]);
    user.ok(&place, &["exec", "-w", "w", "--", "sh", "-c", "echo new > new"]);
    user.ok(&place, &["commit", "-w", "w"]);
    set_mode(&folder, 0o755);
    assert_eq!(fs::read(folder.join("key")).unwrap(), b"key\n");
    user.ok(&place, &["pull", "-w", "w"]);
    assert_eq!(user.ok(&place, &["fs", "cat", "/secret/key", "-w", "w"]), "key\n");
}

/// What would be closed in the folder could neither be undone nor changed again, so it is not committed.
#[test]
fn modes_that_close_the_folder_do_not_come_home() {
    let (user, place) = (User::new(), demo());
    give_away(place.path());
    user.ok(&place, &["init"]);
    for close in ["chmod 600 src", "chmod 300 src", "mkdir new; chmod 0 new", "chmod 0 run.sh"] {
        let text = format!("echo new > src/new; {close}");
        user.ok(&place, &["exec", "-w", "w", "--", "sh", "-c", &text]);
        let path = ["new", "run.sh"].into_iter().find(|it| close.ends_with(it)).unwrap_or("src");
        let told = user.ok(&place, &["status", "-w", "w"]);
        assert!(told.contains(&format!("/{path} would be closed to you")), "{close}: {told}");
        let output = user.run(&place, &["commit", "-w", "w"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{close}: {told}");
        assert!(told.contains("chmod u+rX"), "{close}: {told}");
        assert!(!place.project().join("src/new").exists(), "{close}");
        // What was said helps, and the commit can be undone.
        let open = format!("chmod u+rX {path}");
        user.ok(&place, &["exec", "-w", "w", "--", "sh", "-c", &open]);
        user.ok(&place, &["commit", "-w", "w"]);
        assert!(place.project().join("src/new").exists(), "{close}");
        user.ok(&place, &["undo", "-w", "w"]);
        assert!(!place.project().join("src/new").exists(), "{close}");
        user.ok(&place, &["workspace", "delete", "w"]);
    }
}

/// Status says what in the folder keeps a commit from changing it.
#[test]
fn status_says_what_a_commit_is_refused_for() {
    let (user, place) = (User::new(), demo());
    place.write("dir/file", "file\n");
    give_away(place.path());
    user.ok(&place, &["init"]);
    user.ok(&place, &["exec", "-w", "w", "--", "sh", "-c", "echo y > dir/new; echo b >> run.sh"]);
    let project = place.project();
    let (dir, file) = (project.join("dir"), project.join("run.sh"));
    let both_say = |path: &str| {
        let output = user.run(&place, &["commit", "-w", "w", "--dry-run"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{path}: {said}");
        assert!(said.contains(path), "{said}");
        let status = user.ok(&place, &["status", "-w", "w"]);
        let refused = status.lines().find(|line| line.contains("commit is refused"));
        assert!(refused.is_some_and(|line| line.contains(path)), "{path}: {status}");
        let document = document_of(&user.run(&place, &["review", "-w", "w", "--list", "--json"]));
        assert!(document["result"]["refused"].to_string().contains(path), "{path}: {document}");
    };
    for mode in [0o555, 0o000, 0o600] {
        set_mode(&dir, mode);
        both_say("dir");
    }
    set_mode(&dir, 0o755);
    set_mode(&file, 0o000);
    both_say("run.sh");
    set_mode(&file, 0o755);
    let kept = place.path().join("kept");
    fs::rename(&dir, &kept).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&dir).unwrap());
    both_say("dir");
    fs::remove_file(&dir).unwrap();
    fs::rename(&kept, &dir).unwrap();
    assert!(!user.ok(&place, &["status", "-w", "w"]).contains("refused"));
    user.ok(&place, &["commit", "-w", "w"]);
}
