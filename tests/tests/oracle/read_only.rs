//! A workspace that is mounted read-only: every way to change something is refused with the same error.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::scan::{CompareOptions, compare, scan};
use offshoot_tests::user::give_away;
use rustix::fs::{XattrFlags, setxattr};
use serde_json::Value;

use crate::user::{ORDINARY, ROOT, Tools, User};

/// Every step that changes something, on files that are there. `one` and `two` are names of the same file.
const CHANGES: &[&str] = &[
    "create new 10 1",
    "write file 10 1 644",
    "write new 10 1 644",
    "append file 10 1",
    "append one 10 1",
    "append below/deep 10 1",
    "patch file 0 10 1",
    "patch two 0 10 1",
    "open file",
    "open one",
    "truncate file 0",
    "truncate two 0",
    "punch file 0 1",
    "tmpfile . new 100 1",
    "mkdir new 755",
    "unlink file",
    "unlink one",
    "unlink below/deep",
    "rmdir empty",
    "rename file new plain",
    "rename one new plain",
    "rename file two plain",
    "rename file one exchange",
    "rename empty new plain",
    "link file new",
    "link one new",
    "symlink target new",
    "fifo new 644",
    "socket new",
    "chmod file 600",
    "chmod one 600",
    "chmod below 700",
    "chmod . 700",
    "chown file",
    "chown one",
    "times file 1 1",
    "times two 1 1",
    "times below 1 1",
    "times . 1 1",
    "times pointer 1 1",
    "setxattr file user.new 1",
    "setxattr one user.new 1",
    "setxattr below user.new 1",
    "removexattr file user.old",
];

/// What can still be done.
const LOOKS: &[&str] =
    &["read file", "read one", "stat two", "list below", "getxattr file user.old"];

fn place(user: User) -> Place {
    let place = Place::new();
    let project = place.project();
    place.write("file", "file");
    place.write("one", "linked");
    place.write("below/deep", "deep");
    fs::create_dir(project.join("empty")).unwrap();
    fs::hard_link(project.join("one"), project.join("two")).unwrap();
    symlink("file", project.join("pointer")).unwrap();
    setxattr(project.join("file"), "user.old", b"1", XattrFlags::empty()).unwrap();
    if user != ROOT {
        give_away(place.path());
    }
    place
}

fn command(tools: &Tools, place: &Place, user: User, words: &[&str]) -> Command {
    let mut command = user.command(&tools.offshoot);
    command.env_clear().envs(place.environment()).current_dir(place.project()).args(words);
    command
}

fn succeed(tools: &Tools, place: &Place, user: User, words: &[&str]) {
    let output = command(tools, place, user, words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
}

/// Runs steps in the workspace with these options, and gives the envelope's result.
fn run(tools: &Tools, place: &Place, user: User, options: &[&str], steps: &[&str]) -> Value {
    let text = steps.join("\n");
    let program = tools.program.to_str().unwrap();
    let start = ["exec", "--json", "-w", "w", "--show", program];
    let program = ["--", program, "run", &text];
    let words = [&start[..], options, &program].concat();
    let output = command(tools, place, user, &words).output().unwrap();
    document_of(&output)["result"].clone()
}

/// What became of each step.
fn outcomes(result: &Value) -> Vec<String> {
    let text = result["stdout"].as_str().unwrap();
    let lines = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    lines.map(|line| line.split_once(": ").unwrap().1.to_owned()).collect()
}

fn refused_everywhere(user: User, driver: &str) {
    let tools = Tools::new();
    let place = place(user);
    for words in [&["init"][..], &["workspace", "create", "w"]] {
        succeed(&tools, &place, user, words);
    }
    // Once on the layer that was imported, and once with another above it.
    for layers in 1..=2 {
        if layers == 2 {
            let result =
                run(&tools, &place, user, &[], &["create below/other 5 1", "unlink empty"]);
            assert_eq!(outcomes(&result), ["done", "error 21"], "{result}");
        }
        let before = place.path().join(format!("before-{layers}"));
        let after = place.path().join(format!("after-{layers}"));
        let export = |to: &std::path::Path| {
            let words = ["fs", "export", "-w", "w", "/", to.to_str().unwrap()];
            succeed(&tools, &place, user, &words);
            scan(to).unwrap()
        };
        let was = export(&before);
        let steps = [CHANGES, LOOKS].concat();
        let options = ["--read-only", "--driver", driver];
        let result = run(&tools, &place, user, &options, &steps);
        let found = outcomes(&result);
        assert_eq!(found.len(), steps.len(), "{result}");
        let read_only = format!("error {}", rustix::io::Errno::ROFS.raw_os_error());
        for (step, outcome) in CHANGES.iter().zip(&found) {
            assert_eq!(*outcome, read_only, "{} with {driver}: {step}", user.name);
        }
        for (step, outcome) in LOOKS.iter().zip(&found[CHANGES.len()..]) {
            assert!(!outcome.starts_with("error"), "{} with {driver}: {step}", user.name);
        }
        assert_eq!(result["driver"], driver, "{result}");
        assert_eq!(result["changed_files"], Value::Array(Vec::new()), "{result}");
        assert_eq!(result["snapshot_before"], result["snapshot_after"], "{result}");
        assert_eq!(result["usage"]["kept_bytes"], 0, "{result}");
        let differences = compare(&was, &export(&after), &CompareOptions::default());
        assert!(differences.is_empty(), "{differences:?}");
    }
}

#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn the_kernel_refuses_root() {
    refused_everywhere(ROOT, "overlay");
}

#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn the_kernel_refuses_an_ordinary_user() {
    refused_everywhere(ORDINARY, "overlay");
}

#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn a_copy_refuses_root() {
    refused_everywhere(ROOT, "copy");
}

#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn a_copy_refuses_an_ordinary_user() {
    refused_everywhere(ORDINARY, "copy");
}

/// The table tests nothing where the same steps do nothing in a workspace that can be written.
#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn the_same_steps_are_done_where_they_may_be() {
    let tools = Tools::new();
    let place = place(ORDINARY);
    succeed(&tools, &place, ORDINARY, &["init"]);
    for step in CHANGES {
        succeed(&tools, &place, ORDINARY, &["workspace", "create", "w"]);
        let result = run(&tools, &place, ORDINARY, &[], &[step]);
        // Whether a directory of a lower layer can be renamed is another matter.
        let of_directory = *step == "rename empty new plain";
        let [outcome] = &outcomes(&result)[..] else { panic!("{result}") };
        assert!(outcome == "done" || of_directory && outcome == "error 18", "{step}: {outcome}");
        succeed(&tools, &place, ORDINARY, &["workspace", "delete", "w"]);
    }
}
