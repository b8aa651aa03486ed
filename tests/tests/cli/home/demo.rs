//! What it is all about: several workspaces and a person change the same project.

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{assert_captured, assert_same, edit, folder, fork, lines, numbered, read};

#[test]
fn two_workspaces_and_a_person_change_one_file() {
    let place = lines();
    fork(&place, "one");
    fork(&place, "two");
    edit(&place, "one", "/lines", numbered(&[(3, "three")]));
    edit(&place, "two", "/lines", numbered(&[(10, "ten")]));
    place.write("lines", numbered(&[(18, "eighteen")]));
    let first = place.json(&["commit", "-w", "one"]);
    assert_eq!(first["committed"], true, "{first}");
    assert_eq!(first["meanwhile"], 1, "{first}");
    place.ok(["commit", "-w", "two"]);
    assert_eq!(read(&place, "lines"), numbered(&[(3, "three"), (10, "ten"), (18, "eighteen")]));
    assert_captured(&place);
}

/// What real commands did: new, changed, moved, deleted and linked files, modes and directories.
#[test]
fn everything_that_a_command_does_comes_home() {
    let place = lines();
    place.write("dir/deep/moved", numbered(&[]));
    place.write("gone/file", "gone");
    place.write("turned", "a file");
    place.write("tool", "#!/bin/sh\n");
    place.ok(["init"]);
    fork(&place, "work");
    let script = "sed -i s/^7$/seven/ lines; mv dir/deep/moved dir/elsewhere; rm -r gone; \
        rm turned; mkdir turned; echo x >turned/x; chmod 755 tool; ln -s tool link; mkfifo pipe; \
        mkdir -p empty/inner; chmod 700 empty; ln tool hard; touch -d 2001-02-03 old";
    place.ok(["exec", "-w", "work", "--", "sh", "-c", script]);
    place.ok(["fs", "export", "/", "../wanted", "-w", "work"]);
    place.ok([
        "commit",
        "-w",
        "work",
        "-m",
        "everything",
        "-c",
        "commit.times=recorded",
        "--take",
        "pipe",
    ]);
    let wanted = offshoot_tests::scan::scan(&place.path().join("wanted")).unwrap();
    assert_same(&wanted, &folder(&place));
    assert_captured(&place);
    assert_eq!(place.json(&["status", "-w", "work"])["changes"], serde_json::json!([]));
}

/// A file whose bytes change in the folder is as new as the commit; a build there would not notice otherwise.
#[test]
fn changed_files_have_the_time_of_the_commit() {
    let place = lines();
    fork(&place, "work");
    let script = "echo changed >lines; echo new >new; touch -d 2001-02-03 lines new";
    place.ok(["exec", "-w", "work", "--", "sh", "-c", script]);
    let modified =
        |path: &str| fs::metadata(place.project().join(path)).unwrap().modified().unwrap();
    let before = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    place.ok(["commit", "-w", "work"]);
    assert!(modified("lines") > before);
    assert!(modified("new") < before, "a new file has the time that it has in the workspace");
    place.ok(["undo", "-w", "work"]);
    place.ok(["commit", "-w", "work", "-c", "commit.times=recorded"]);
    assert!(modified("lines") < before);
}

#[test]
fn a_commit_can_be_followed_by_another() {
    let place = lines();
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(1, "one")]));
    place.ok(["commit", "-w", "work"]);
    let nothing = place.json(&["commit", "-w", "work"]);
    assert_eq!((&nothing["committed"], &nothing["operation"]), (&false.into(), &().into()));
    edit(&place, "work", "/lines", numbered(&[(1, "one"), (2, "two")]));
    edit(&place, "work", "/new", "new");
    place.ok(["commit", "-w", "work"]);
    assert_eq!(read(&place, "lines"), numbered(&[(1, "one"), (2, "two")]));
    assert_eq!(read(&place, "new"), "new");
}

/// A workspace that was forked from another brings that one's changes along, and neither stands in the other's way.
#[test]
fn a_fork_of_a_fork_comes_home() {
    let place = lines();
    place.write(".gitignore", "out\n");
    place.ok(["init"]);
    fork(&place, "first");
    edit(&place, "first", "/lines", numbered(&[(5, "five")]));
    edit(&place, "first", "/out", "built");
    place.ok(["workspace", "create", "second", "--from", "first"]);
    edit(&place, "second", "/lines", numbered(&[(5, "five"), (15, "fifteen")]));
    place.ok(["commit", "-w", "first"]);
    assert_eq!(read(&place, "lines"), numbered(&[(5, "five")]));
    place.ok(["commit", "-w", "second"]);
    assert_eq!(read(&place, "lines"), numbered(&[(5, "five"), (15, "fifteen")]));
    // What stays in a workspace stays, also where it came from the other one.
    assert_eq!(place.ok(["fs", "cat", "/out", "-w", "second"]), "built");
    assert!(!place.project().join("out").exists());
}

#[test]
fn what_does_not_fit_is_not_touched() {
    let place = lines();
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(3, "three")]));
    edit(&place, "work", "/other", "other\n and more\n");
    place.write("lines", numbered(&[(3, "drei")]));
    let before = folder(&place);
    let output = place.run(["commit", "-w", "work", "--json"]);
    assert_eq!(output.status.code(), Some(4));
    let document = offshoot_tests::product::document_of(&output);
    assert_eq!(document["result"]["committed"], false);
    assert_eq!(document["result"]["conflicts"][0]["path"], "/lines");
    assert_same(&before, &folder(&place));
    // The next: the workspace gets the conflict, somebody decides it there, and it is committed.
    assert_eq!(place.run(["pull", "-w", "work"]).status.code(), Some(4));
    let error = place.json_error(&["commit", "-w", "work"], 4);
    assert!(error["message"].as_str().unwrap().contains("/lines"), "{error}");
    edit(&place, "work", "/lines", numbered(&[(3, "both")]));
    place.ok(["commit", "-w", "work"]);
    assert_eq!(read(&place, "lines"), numbered(&[(3, "both")]));
    assert_eq!(read(&place, "other"), "other\n and more\n");
}

/// The person goes on working while nothing of theirs is lost, whoever comes first.
#[test]
fn many_commit_at_the_same_time() {
    let place = lines();
    let names: Vec<String> = (1..=6).map(|number| format!("w{number}")).collect();
    for (at, name) in names.iter().enumerate() {
        fork(&place, name);
        edit(&place, name, "/lines", numbered(&[(3 * at + 1, name)]));
        edit(&place, name, &format!("/new/{name}"), name);
    }
    let start = |name: &String| {
        let mut command = place.command(["commit", "-w", name]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = names.iter().map(start).collect();
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let all: Vec<(usize, &str)> =
        names.iter().enumerate().map(|(at, name)| (3 * at + 1, name.as_str())).collect();
    assert_eq!(read(&place, "lines"), numbered(&all));
    for name in &names {
        assert_eq!(read(&place, &format!("new/{name}")), *name);
    }
    assert_captured(&place);
}

/// Every line that a person appends while files are replaced is in the folder afterwards, whatever else is committed.
#[test]
fn a_person_writes_meanwhile() {
    let place = lines();
    let path = place.project().join("lines");
    let (done, written) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                let number = written.fetch_add(1, Ordering::SeqCst);
                let mut file = fs::File::options().append(true).open(&path).unwrap();
                file.write_all(format!("person {number}\n").as_bytes()).unwrap();
                drop(file);
                std::thread::sleep(std::time::Duration::from_millis(3));
            }
        });
        for round in 1..=4 {
            let name = format!("w{round}");
            fork(&place, &name);
            place.ok([
                "exec",
                "-w",
                &name,
                "--",
                "sed",
                "-i",
                &format!("{round}s/.*/{name}/"),
                "lines",
            ]);
            let output = place.run(["commit", "-w", &name]);
            assert!(matches!(output.status.code(), Some(0 | 4 | 8)), "{output:?}");
        }
        done.store(true, Ordering::SeqCst);
    });
    let everything: String = folder(&place)
        .0
        .iter()
        .filter(|(_, node)| node.hash.is_some())
        .map(|(path, _)| read(&place, std::str::from_utf8(path).unwrap()))
        .collect();
    for number in 0..written.load(Ordering::SeqCst) {
        assert!(everything.contains(&format!("person {number}\n")), "line {number} is lost");
    }
}

#[test]
fn pulling_brings_the_folder_into_a_workspace() {
    let place = lines();
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(3, "three")]));
    place.write("lines", numbered(&[(18, "eighteen")]));
    place.write("added", "by a person");
    let before = folder(&place);
    let document = place.json(&["pull", "-w", "work"]);
    assert_eq!(document["head_moved"], true);
    assert_eq!(document["conflicts"], serde_json::json!([]));
    assert_eq!(
        place.ok(["fs", "cat", "/lines", "-w", "work"]),
        numbered(&[(3, "three"), (18, "eighteen")])
    );
    assert_eq!(place.ok(["fs", "cat", "/added", "-w", "work"]), "by a person");
    let again = place.json(&["pull", "-w", "work"]);
    assert_eq!((&again["head_moved"], &again["operation"]), (&false.into(), &().into()));
    place.ok(["undo", "-w", "work"]);
    assert_eq!(place.ok(["fs", "cat", "/lines", "-w", "work"]), numbered(&[(3, "three")]));
    assert_same(&before, &folder(&place));
    place.ok(["pull", "--head"]);
}

/// Who pulls many files gets as short an answer as who commits them.
#[test]
fn a_pull_of_many_files_is_short() {
    let place = lines();
    fork(&place, "work");
    for number in 0..40 {
        place.write(format!("many/{number}.c"), number.to_string());
    }
    let said = place.ok(["pull", "-w", "work"]);
    assert!(said.lines().count() < 40 && said.contains("more"), "{said}");
    let said = place.ok(["undo", "-w", "work"]) + &place.ok(["pull", "-w", "work", "--expand"]);
    assert!(said.contains("many/39.c"), "{said}");
}
