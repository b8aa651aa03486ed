//! `offshoot review` in front of a person, and diffs in a pager.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use offshoot_needs::needs;
use offshoot_tests::product::Place;
use rustix::process::Signal;

use crate::console::{Console, place, place_of_user};

/// Two hunks in one file, a new file, and a file that is gone.
fn changed() -> Place {
    let place = place();
    let notes = place.ok(["fs", "cat", "/notes.txt", "-w", "fix"]);
    let notes = notes.replace("line 10\n", "line ten\n").replace("line 150\n", "");
    place.ok_with(["fs", "write", "/notes.txt", "-w", "fix"], notes.as_bytes());
    place.ok_with(["fs", "write", "/new.txt", "-w", "fix"], b"something new\n");
    place.ok(["fs", "rm", "/README.md", "-w", "fix"]);
    place
}

fn names(place: &Place) -> String {
    place.ok(["diff", "--name-status", "-w", "fix"])
}

#[needs(UserNamespace)]
#[test]
fn a_walk_to_the_end() {
    let place = changed();
    let before = Console::run_without_input(&place, &["status"]).modes();
    let mut console = Console::run(&place, &["review", "-w", "fix"]);
    console.wait_for("README.md");
    console.wait_for("last changed by rm");
    console.keys("d");
    console.wait_for("new.txt");
    console.keys("a");
    console.wait_for("ten\x1b[0m");
    console.keys("a");
    console.wait_for("-line 150");
    console.keys("d");
    console.wait_for("2 accepted, 2 dropped, 0 edited, 0 undecided");
    console.keys("y");
    console.wait_for("offshoot undo -w fix");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(console.modes(), before, "the terminal is as it was");
    assert!(console.screen().contains("\x1b[?1049l"), "the screen is as it was");
    assert_eq!(names(&place), "A /new.txt\nM /notes.txt\n");
    let notes = place.ok(["fs", "cat", "/notes.txt", "-w", "fix"]);
    assert!(notes.contains("line ten\n") && notes.contains("line 150\n"), "{notes}");
    place.ok(["undo", "-w", "fix"]);
    assert_eq!(names(&place), "D /README.md\nA /new.txt\nM /notes.txt\n");
}

#[needs(UserNamespace)]
#[test]
fn an_ordinary_user_reviews() {
    let (place, user) = place_of_user();
    let mut write =
        Console::run_as(&place, &user, &["exec", "-w", "fix", "--", "sh", "-c", "echo b > a.txt"]);
    assert_eq!(write.end().code(), Some(0), "{}", write.screen());
    let mut console = Console::run_as(&place, &user, &["review", "-w", "fix"]);
    console.wait_for("a.txt");
    console.wait_for("last changed by exec");
    console.wait_for("echo b > a.txt");
    console.keys("Fy");
    console.wait_for("1 dropped");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

#[needs(UserNamespace)]
#[test]
fn quitting_and_forgetting_changes_nothing() {
    let place = changed();
    let log = place.ok(["op", "log"]);
    for leave in ["qx", "\x03\x03"] {
        let mut console = Console::run(&place, &["review", "-w", "fix"]);
        console.wait_for("README.md");
        console.keys("dd");
        console.wait_for("ten\x1b[0m");
        console.keys(leave);
        console.wait_for("the decisions were forgotten");
        assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    }
    assert_eq!(place.ok(["op", "log"]), log);
}

#[needs(UserNamespace)]
#[test]
fn being_ended_changes_nothing_and_gives_the_terminal_back() {
    let place = changed();
    let log = place.ok(["op", "log"]);
    let before = Console::run_without_input(&place, &["status"]).modes();
    let mut console = Console::run(&place, &["review", "-w", "fix"]);
    console.wait_for("README.md");
    console.keys("d");
    console.wait_for("new.txt");
    console.signal(Signal::TERM);
    console.wait_for("nothing was changed");
    assert_eq!(console.end().code(), Some(1), "{}", console.screen());
    assert_eq!(console.modes(), before);
    assert_eq!(place.ok(["op", "log"]), log);
}

/// A program that does to a file what an editor would.
fn editor(place: &Place, script: &str) -> String {
    let path = place.path().join("editor");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[needs(UserNamespace)]
#[test]
fn hunks_and_files_are_edited() {
    let place = changed();
    let editor = editor(&place, "stty -a | grep -q ' icanon' && sed -i 's/ten/zehn/' \"$1\"");
    let mut console =
        Console::run_with(&place, &["review", "-w", "fix", "/notes.txt"], |command| {
            command.env("EDITOR", &editor);
        });
    console.wait_for("ten\x1b[0m");
    console.keys("e");
    console.wait_for("-line 150");
    console.keys("p");
    console.wait_for("zehn");
    console.keys("e");
    console.wait_for("nothing was changed in the editor");
    console.keys("qy");
    console.wait_for("1 edited");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    let notes = place.ok(["fs", "cat", "/notes.txt", "-w", "fix"]);
    assert!(notes.contains("line zehn\n") && !notes.contains("line 150\n"), "{notes}");
    let failing = self::editor(&place, "exit 1");
    let mut console = Console::run_with(&place, &["review", "-w", "fix"], |command| {
        command.env("VISUAL", &failing);
    });
    console.wait_for("README.md");
    // Folders for temporary files may have long names.
    console.resize(24, 250);
    console.keys("n");
    console.wait_for("new.txt");
    console.keys("E");
    console.wait_for("nothing was taken over");
    console.keys("qx");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

#[needs(UserNamespace)]
#[test]
fn the_size_is_followed() {
    let place = changed();
    let mut console = Console::run(&place, &["review", "-w", "fix", "/notes.txt"]);
    console.wait_for("ten\x1b[0m");
    console.resize(9, 40);
    console.wait_for("lines 1-4 of 9");
    console.resize(24, 100);
    console.wait_for(" line 13");
    console.keys("qx");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

#[needs(UserNamespace)]
#[test]
fn diffs_are_paged_and_a_pager_may_be_left() {
    let place = changed();
    let pager = |value: &'static str| {
        move |command: &mut std::process::Command| {
            command.env("OFFSHOOT_PAGER", value);
        }
    };
    let mut console = Console::run_with(&place, &["diff", "-w", "fix"], pager("sed 's/^/: /'"));
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(console.screen().contains(": \x1b[1mdiff --git"), "{}", console.screen());
    let mut console = Console::run_with(&place, &["diff", "-w", "fix"], pager("head -1"));
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    let mut console = Console::run_with(&place, &["diff", "-w", "fix"], pager("/no/such/pager"));
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(console.screen().contains("+something new"), "{}", console.screen());
    let unpaged = &["diff", "-w", "fix", "--no-pager"];
    let mut console = Console::run_with(&place, unpaged, pager("echo paged"));
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(!console.screen().contains("paged"), "{}", console.screen());
}

/// What a file has in it must not reach the terminal as a command, with colours or without.
#[needs(UserNamespace)]
#[test]
fn a_file_does_not_steer_the_terminal() {
    let place = changed();
    place.ok_with(["fs", "write", "/evil", "-w", "fix"], b"\x1b]0;title\x07\x1b[2J\n");
    for color in ["ui.color=always", "ui.color=never"] {
        for form in ["--patch", "--word-diff", "--side-by-side"] {
            let arguments = ["diff", "-w", "fix", "--no-pager", "-c", color, form];
            let mut console = Console::run(&place, &arguments);
            assert_eq!(console.end().code(), Some(0), "{}", console.screen());
            let screen = console.screen();
            assert!(screen.contains("^[]0;title^G"), "{form} {screen:?}");
            assert!(!screen.contains("\x1b]") && !screen.contains("\x1b[2J"), "{form} {screen:?}");
        }
    }
}

#[needs(UserNamespace)]
#[test]
fn hunks_are_chosen_for_a_commit() {
    let place = changed();
    place.ok_with(["fs", "write", "/binary", "-w", "fix"], b"\0\x01\xff");
    let mut console = Console::run(&place, &["commit", "-p", "-w", "fix"]);
    // What is deleted, or binary, has no lines.
    console.wait_for("README.md");
    console.wait_for("commit this file [y,n,q,a,d,?]?");
    console.keys("n\r");
    console.wait_for("binary");
    console.wait_for("(1/1) commit this file [y,n,q,a,d,?]?");
    console.keys("n\r");
    console.wait_for("new.txt");
    console.wait_for("commit this file [y,n,q,a,d,e,?]?");
    console.keys("y\r");
    console.wait_for("(1/2) commit this hunk [y,n,q,a,d,s,e,?]?");
    console.keys("?\r");
    console.wait_for("leave this in the workspace");
    console.wait_for("(1/2) commit this hunk");
    console.keys("n\r");
    console.wait_for("(2/2) commit this hunk");
    console.keys("y\r");
    console.wait_for("committed");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    let read = |name: &str| fs::read_to_string(place.project().join(name)).unwrap();
    assert_eq!(read("new.txt"), "something new\n");
    assert!(read("README.md").starts_with("# Demo"));
    assert!(read("notes.txt").contains("line 10\n") && !read("notes.txt").contains("line 150\n"));
    assert_eq!(names(&place), "D /README.md\nA /binary\nM /notes.txt\n");
    let mut console = Console::run(&place, &["commit", "-p", "-w", "fix"]);
    console.wait_for("commit this file [");
    console.keys("q\r");
    console.wait_for("nothing chosen");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

/// Where nothing can be chosen, what stays is named.
#[needs(UserNamespace)]
#[test]
fn nothing_to_choose_is_told_with_what_stays() {
    let place = changed();
    place.ok(["commit", "-w", "fix"]);
    place.ok_with(["fs", "write", "/.envrc", "-w", "fix"], b"x\n");
    let mut console = Console::run(&place, &["commit", "-p", "-w", "fix"]);
    console.wait_for("nothing chosen to commit from");
    console.wait_for(" 1 file that something on this machine would run or obey");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

/// At the end of a walk what was accepted is committed, and nothing else.
#[needs(UserNamespace)]
#[test]
fn a_walk_ends_with_a_commit() {
    let place = changed();
    let mut console = Console::run(&place, &["review", "-w", "fix"]);
    console.wait_for("README.md");
    console.keys("d");
    console.wait_for("new.txt");
    console.keys("aq");
    console.wait_for("commit what was accepted");
    console.keys("c");
    console.wait_for("committed");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(place.project().join("new.txt").exists());
    assert_eq!(names(&place), "M /notes.txt\n");
}

/// Build output is one step of a walk, and one question of a commit.
#[needs(UserNamespace)]
#[test]
fn build_output_is_decided_at_once() {
    let place = place();
    for name in ["a", "b", "c"] {
        let path = format!("/target/{name}");
        place.ok_with(["fs", "write", "-p", &path, "-w", "fix"], b"built\n");
    }
    place.ok_with(["fs", "write", "/new.txt", "-w", "fix"], b"something new\n");
    let mut console = Console::run(&place, &["commit", "-p", "-w", "fix"]);
    console.wait_for("new.txt");
    console.wait_for("commit this file [");
    console.keys("y\r");
    console.wait_for("/target/ 3 files");
    console.wait_for("commit all of it [y,n,x,q,?]?");
    console.keys("x\r");
    console.wait_for(" /target/a");
    console.wait_for("commit this file [");
    console.keys("y\r");
    console.wait_for(" /target/b");
    console.wait_for("commit this file [");
    console.keys("q\r");
    console.wait_for("committed");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(names(&place), "A /target/b\nA /target/c\n");
    let mut console = Console::run(&place, &["review", "-w", "fix"]);
    console.wait_for("file 1/1");
    console.wait_for("/target/ 2 files");
    console.keys("d");
    console.wait_for("0 accepted, 1 dropped");
    console.keys("y");
    console.wait_for("offshoot undo -w fix");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(names(&place), "");
}

/// Whoever commits everything, one by one, gets what a plain commit brings: also a branch that both sides went on with.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn yes_to_everything_is_a_plain_commit() {
    const COMMIT: &str = "git -c user.name=Ann -c user.email=ann@example.org commit -qm";
    let place = Place::new();
    place.write("a", "one\n");
    let host = |script: &str| {
        let mut command = std::process::Command::new("sh");
        command.env_clear().envs(place.environment()).current_dir(place.project());
        assert!(command.args(["-ec", script]).status().unwrap().success(), "{script}");
    };
    host(&format!("git init -qb main .; git add a; {COMMIT} first"));
    place.ok(["init"]);
    let script = format!("echo new > n; git add n; {COMMIT} theirs");
    place.ok(["exec", "-q", "-w", "fix", "--shell", &script]);
    host(&format!("echo x > x; git add x; {COMMIT} mine"));
    place.ok(["pull", "--head"]);
    let mut console = Console::run(&place, &["commit", "-p", "-w", "fix"]);
    console.wait_for("commit this file");
    console.keys("y\r");
    console.wait_for("git: 1 commit on offshoot/fix/main, 1 new branch");
    console.wait_for("commit all of it");
    console.keys("y\r");
    console.wait_for("committed");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(!console.screen().contains("stays:"), "{}", console.screen());
    host("test \"$(git log -1 --format=%s offshoot/fix/main)\" = theirs; test -e n");
}

/// What a commit would leave in the workspace is marked before it is decided about.
#[needs(UserNamespace)]
#[test]
fn what_stays_in_the_workspace_is_marked() {
    let place = place();
    place.write(".gitignore", "*.log\n");
    place.ok(["pull", "-w", "fix"]);
    place.ok_with(["fs", "write", "/a.log", "-w", "fix"], b"noise\n");
    let mut console = Console::run(&place, &["review", "-w", "fix"]);
    console.wait_for("a.log");
    console.wait_for("stays in the workspace: ignored");
    console.keys("q");
    console.wait_for("forget the decisions");
    console.keys("x");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

/// What the host would run is taken by somebody who is shown why, and by nobody else.
#[needs(UserNamespace)]
#[test]
fn files_that_the_host_would_run_are_asked_about() {
    for (answer, comes) in [("\r", false), ("n\r", false), ("y\r", true)] {
        let place = place();
        place.ok_with(["fs", "write", "/.envrc", "-w", "fix"], b"evil\n");
        place.ok_with(["fs", "write", "/offshoot-policy.toml", "-w", "fix"], b"version = 1\n");
        place.ok_with(["fs", "write", "/new.txt", "-w", "fix"], b"new\n");
        let mut review = Console::run(&place, &["review", "-w", "fix"]);
        review.wait_for("stays in the workspace: trusted, direnv runs it");
        review.keys("q");
        review.wait_for("forget the decisions");
        review.keys("x");
        assert_eq!(review.end().code(), Some(0), "{}", review.screen());
        let mut console = Console::run(&place, &["commit", "-w", "fix"]);
        console.wait_for("direnv runs it when a shell enters the folder");
        console.wait_for("Offshoot decides by it which commands may run");
        console.wait_for("commit them too?");
        console.keys(answer);
        console.wait_for("committed");
        assert_eq!(console.end().code(), Some(0), "{}", console.screen());
        for path in [".envrc", "offshoot-policy.toml"] {
            assert_eq!(place.project().join(path).exists(), comes, "{answer:?} {path}");
        }
        assert!(place.project().join("new.txt").exists());
    }
}
