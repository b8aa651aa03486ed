//! `diff` and `status`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::Place;
use offshoot_tests::scan::{CompareOptions, compare, scan};

use crate::transcript::{Transcript, demo_vault};

/// A change of every kind, and a checkpoint in the middle.
fn changed() -> Place {
    let place = demo_vault();
    let main = "fn main() {\n    println!(\"good bye\");\n}\n";
    place.ok_with(["fs", "write", "/src/main.rs", "-w", "fix"], main.as_bytes());
    place.ok(["fs", "mv", "/src/lib.rs", "/src/library.rs", "-w", "fix"]);
    place.ok(["checkpoint", "create", "half", "-w", "fix"]);
    place.ok(["fs", "rm", "/run.sh", "-w", "fix"]);
    place.ok_with(["fs", "write", "-p", "/doc/new.txt", "-w", "fix"], b"no newline at the end");
    place.ok_with(["fs", "write", "/data.bin", "-w", "fix"], b"\0\x01\x02binary");
    place
}

#[test]
fn diffs_for_people() {
    let place = changed();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["diff"]);
    transcript.run(&["diff", "--patch", "-w", "fix", "-c", "diff.context=0"]);
    transcript.run(&["diff", "--stat"]);
    transcript.run(&["diff", "--name-status"]);
    transcript.run(&["diff", "--name-only"]);
    transcript.run(&["diff", "--name-status", "-c", "diff.renames=false"]);
    transcript.run(&["diff", "--name-status", "--metadata"]);
    transcript.run(&["diff", "--name-status", "half", "-w", "fix"]);
    transcript.run(&["diff", "--name-status", "fix@half", "head"]);
    transcript.run(&["diff", "--name-status", "fix", "fix"]);
    transcript.run(&["diff", "--name-status", "--", "/src", "/doc"]);
    transcript.run(&["diff", "head", "fix", "--stat", "--", "/src/main.rs"]);
    transcript.run(&["diff", "--exit-code", "--name-only", "--", "/README.md"]);
    transcript.run(&["diff", "--exit-code", "--name-only", "--", "/doc"]);
    transcript.run(&["status"]);
    transcript.run(&["status", "--metadata"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn diffs_for_programs() {
    let place = changed();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["diff"]);
    transcript.json(&["diff", "--stat", "--", "/src"]);
    transcript.json(&["diff", "--patch", "--", "/src/main.rs", "/doc"]);
    transcript.json(&["diff", "--metadata", "fix@half", "fix"]);
    transcript.json(&["diff", "--exit-code", "--name-only", "--", "/doc"]);
    transcript.json(&["status"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn the_exit_code_says_whether_there_are_differences() {
    let place = changed();
    let code = |arguments: &[&str]| place.run(arguments).status.code();
    assert_eq!(code(&["diff"]), Some(0));
    assert_eq!(code(&["diff", "--exit-code"]), Some(1));
    assert_eq!(code(&["diff", "--exit-code", "--json"]), Some(1));
    assert_eq!(code(&["diff", "--exit-code", "fix", "fix@half"]), Some(1));
    assert_eq!(code(&["diff", "--exit-code", "head", "fix@base"]), Some(0));
}

/// What waits for somebody to take it is a difference, and what ignore files leave out is none.
#[test]
fn the_exit_code_counts_what_is_held_back() {
    let place = demo_vault();
    let code = |arguments: &[&str]| place.run(arguments).status.code();
    for json in [&[][..], &["--json"]] {
        let diff =
            |paths: &[&str]| code(&[&["diff", "--exit-code", "-w", "fix"], json, paths].concat());
        assert_eq!(diff(&[]), Some(0));
        place.ok_with(["fs", "write", "/.gitignore", "-w", "fix"], b"out\n");
        place.ok(["commit", "-w", "fix"]);
        place.ok_with(["fs", "write", "/out", "-w", "fix"], b"built");
        assert_eq!(diff(&[]), Some(0), "ignored");
        place.ok_with(["fs", "write", "/.envrc", "-w", "fix"], b"evil");
        assert_eq!(diff(&[]), Some(1), "held back");
        assert_eq!(diff(&["--", "/src"]), Some(0), "elsewhere");
        place.ok(["fs", "rm", "/.envrc", "-w", "fix"]);
    }
}

#[needs("git")]
#[test]
fn git_applies_a_patch_to_the_project() {
    git_applies(&changed());
}

/// Binary files of every kind of change and of odd names, among texts and empty files.
#[needs("git")]
#[test]
fn git_applies_binary_changes_byte_for_byte() {
    let place = Place::new();
    let names: [&[u8]; 4] = [b"plain", b"with space", b"quo\"te", b"\xff\xfe"];
    let path =
        |start: &str, name: &[u8]| OsStr::from_bytes(&[start.as_bytes(), name].concat()).to_owned();
    let every: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for name in names {
        place.write(path("changed-", name), &every);
        place.write(path("deleted-", name), b"\0\n");
        place.write(path("moved-", name), [&every[..], name].concat());
    }
    place.write("empty-deleted", "");
    place.write("text", "one\ntwo");
    place.write("text-to-binary", "one\n");
    place.ok(["init"]);
    place.ok(["workspace", "create", "fix"]);
    let fs = |verb: &str, paths: &[OsString], content: &[u8]| {
        let words = ["fs", verb, "-w", "fix"].map(OsString::from);
        place.ok_with(words.iter().chain(paths), content);
    };
    for name in names {
        fs("write", &[path("/changed-", name)], &every[1..70_000]);
        fs("write", &[path("/new-", name)], b"\0no newline");
        fs("rm", &[path("/deleted-", name)], b"");
        fs("mv", &[path("/moved-", name), path("/to-", name)], b"");
        fs("write", &[path("/to-", name)], &[&every[..], name, b"\0"].concat());
    }
    fs("rm", &["/empty-deleted".into()], b"");
    fs("write", &["/empty-new".into()], b"");
    fs("write", &["/text".into()], b"one\nthree");
    fs("write", &["/text-to-binary".into()], b"one\0");
    git_applies(&place);
}

#[test]
fn people_are_told_of_binary_changes_and_programs_get_them() {
    let place = changed();
    let shown = place.ok(["diff", "-w", "fix", "-c", "ui.color=always", "--no-pager"]);
    assert!(shown.contains("Binary files") && !shown.contains("literal"), "{shown}");
    let words = place.ok(["diff", "-w", "fix", "--word-diff"]);
    assert!(words.contains("Binary files") && !words.contains("literal"), "{words}");
    let patch = place.ok(["diff", "-w", "fix"]);
    assert!(patch.contains("GIT binary patch\nliteral 9\n"), "{patch}");
    assert_eq!(place.json(&["diff", "-w", "fix", "--patch"])["patch"], patch.as_str());
    // What is not compared by lines is as good as binary.
    let patch = place.ok(["diff", "-w", "fix", "-c", "diff.max_text_bytes=10", "--", "/src"]);
    assert!(patch.contains("GIT binary patch"), "{patch}");
}

/// git turns the project into what the workspace has.
fn git_applies(place: &Place) {
    let patch = place.ok(["diff", "-w", "fix"]);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(place.project()).env("HOME", place.path());
        assert!(git.env("GIT_CONFIG_NOSYSTEM", "1").status().unwrap().success(), "{arguments:?}");
    };
    std::fs::write(place.path().join("patch"), patch).unwrap();
    git(&["init", "--quiet"]);
    git(&["apply", "../patch"]);
    std::fs::remove_dir_all(place.project().join(".git")).unwrap();
    let out = place.path().join("out");
    place.ok(["fs", "export", "/", out.to_str().unwrap(), "-w", "fix"]);
    let options = CompareOptions::content();
    let differences = compare(&scan(&place.project()).unwrap(), &scan(&out).unwrap(), &options);
    assert!(differences.is_empty(), "{differences:?}");
}

/// What a commit would leave in the workspace is in no patch, and nobody has to think that it is not there.
#[test]
fn what_stays_is_named() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/.envrc", "-w", "fix"], b"export A=1\n");
    for form in [&[][..], &["--stat"], &["--name-only"], &["--expand"]] {
        let output = place.run([&["diff", "-w", "fix"], form].concat());
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{output:?}");
        assert!(told.contains("stays: 1 file") && told.contains("/.envrc"), "{output:?}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains(".envrc"), "{output:?}");
    }
    let document = place.json(&["diff", "-w", "fix"]);
    assert_eq!(document["changes"].as_array().unwrap().len(), 0, "{document}");
    assert_eq!(document["stays"][0]["path"], "/.envrc", "{document}");
    // By its name it is shown, and needs no words.
    let output = place.run(["diff", "-w", "fix", "--", ".envrc"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("+export A=1"), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("stays:"), "{output:?}");
    let document = place.json(&["diff", "-w", "fix", "--", ".envrc"]);
    assert_eq!(document["changes"][0]["path"], document["stays"][0]["path"], "{document}");
    let elsewhere = place.json(&["diff", "-w", "fix", "--", "src"]);
    assert_eq!(elsewhere["stays"].as_array().unwrap().len(), 0, "{elsewhere}");
}
