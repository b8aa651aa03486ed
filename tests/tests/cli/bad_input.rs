//! Things that people and programs get wrong: each has an exit code, a sentence, and where possible a way on.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::transcript::{Transcript, demo_vault};

fn candidates(error: &Value) -> Vec<&str> {
    error["candidates"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn mistakes_for_people() {
    let place = demo_vault();
    place.ok(["workspace", "create", "feature-login"]);
    place.ok(["checkpoint", "create", "tests-pass", "-w", "fix"]);
    let mut transcript = Transcript::new(&place);
    for arguments in [
        &["status", "-w", "feature-lgin"][..],
        &["show", "feature-logn"],
        &["diff", "fix@test-pass"],
        &["checkpoint", "show", "test-pass", "-w", "fix"],
        &["log", "nowhere-at-all-to-be-found"],
        &["op", "restore", "zzzzzz", "-w", "fix"],
        &["vault", "info", "projekt"],
        &["status", "--vault", "projekt"],
        &["fs", "mkdir", "/made"],
        &["checkpoint", "create"],
        &["undo"],
        &["workspace", "create", "fix"],
        &["workspace", "create", "a@b"],
        &["workspace", "create", ""],
        &["workspace", "create", "head"],
        &["workspace", "rename", "fix", "head"],
        &["workspace", "create", "t", "--ephemeral=soon"],
        &["vault", "create", "a/b"],
        &["vault", "create", "project"],
        &["init", "--name", "other"],
        &["fs", "cat", "/nowhere"],
        &["fs", "cat", "/src"],
        &["fs", "cat", "/../etc/passwd"],
        &["fs", "write", "/src/../../x", "-w", "fix"],
        &["fs", "mv", "/src", "/src/deeper", "-w", "fix"],
        &["fs", "cp", "/src", "/copy", "-w", "fix"],
        &["fs", "export", "/", ".", "-w", "fix"],
        &["fs", "import", "/no/such/file", "/x", "-w", "fix"],
        &["fs", "write", "/x", "--from", "/no/such/file", "-w", "fix"],
        &["redo", "-w", "fix"],
        &["completions", "tcsh"],
        &["stauts"],
        &["fs", "cat"],
        &["log", "-n", "many"],
        &["diff", "--stat", "--name-only"],
    ] {
        assert_ne!(transcript.run(arguments).status.code(), Some(0), "{arguments:?}");
    }
    assert_snapshot!(transcript.finish());
}

#[test]
fn what_was_meant_is_suggested() {
    let place = demo_vault();
    place.ok(["workspace", "create", "feature-login"]);
    place.ok(["checkpoint", "create", "tests-pass", "-w", "fix"]);
    for arguments in [&["status", "-w", "feature-lgin"][..], &["log", "feature-logn"]] {
        let error = place.json_error(arguments, 3);
        assert_eq!(candidates(&error), ["feature-login"], "{error}");
        assert!(error["hint"].as_str().unwrap().contains("did you mean"), "{error}");
    }
    let error = place.json_error(&["diff", "fix@test-pass"], 3);
    assert_eq!(candidates(&error), ["tests-pass"]);
    let error = place.json_error(&["vault", "info", "projct"], 3);
    assert_eq!(candidates(&error), ["project"]);
}

#[test]
fn a_prefix_that_fits_several_names_them() {
    let place = demo_vault();
    place.ok(["checkpoint", "create", "same", "-w", "fix"]);
    place.ok(["workspace", "create", "other"]);
    place.ok(["checkpoint", "create", "same", "-w", "other"]);
    let id = place.json(&["show", "fix"])["snapshot"]["id"].clone();
    let error = place.json_error(&["show", &id.as_str().unwrap()[..4]], 4);
    assert!(candidates(&error).len() >= 2, "{error}");
    let error = place.json_error(&["op", "restore", &id.as_str().unwrap()[..4], "-w", "fix"], 4);
    assert!(candidates(&error).len() >= 2, "{error}");
    // What fits is a list, not a line that nobody reads.
    let said = place.run(["show", &id.as_str().unwrap()[..4]]);
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.lines().count() > 4 && said.lines().all(|line| line.len() < 200), "{said}");
    assert!(said.contains(" could be any of several\n"), "{said}");
    // A checkpoint of the named workspace is meant first; without one, both are.
    assert_eq!(place.json(&["show", "same", "-w", "other"])["of"], "other@same");
    let error = place.json_error(&["show", "same"], 4);
    assert_eq!(candidates(&error), ["fix@same", "other@same"]);
}

#[test]
fn a_change_without_a_workspace_lists_the_candidates() {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    for arguments in [
        &["fs", "write", "/x"][..],
        &["fs", "mkdir", "/x"],
        &["fs", "rm", "/README.md"],
        &["fs", "mv", "/README.md", "/x"],
        &["fs", "cp", "/README.md", "/x"],
        &["fs", "revert", "/README.md"],
        &["fs", "import", "README.md", "/x"],
        &["checkpoint", "create"],
        &["checkpoint", "restore", "fix@base"],
        &["checkpoint", "delete", "x"],
        &["discard"],
        &["undo"],
        &["redo"],
    ] {
        let error = place.json_error(arguments, 2);
        assert_eq!(candidates(&error), ["fix", "other"], "{arguments:?}");
        assert!(error["message"].as_str().unwrap().contains("-w NAME"), "{error}");
    }
    assert_eq!(place.ok(["diff", "head", "fix", "--name-only", "--metadata"]), "");
}

#[test]
fn names_that_cannot_be_are_refused_everywhere() {
    let place = demo_vault();
    let long = "x".repeat(101);
    for name in ["", "a b", "a/b", "a@b", ".hidden", "a\nb", long.as_str()] {
        place.json_error(&["workspace", "create", "--", name], 2);
        place.json_error(&["workspace", "rename", "fix", name], 2);
        place.json_error(&["checkpoint", "create", "-w", "fix", "--", name], 2);
        place.json_error(&["vault", "create", "--", name], 2);
        place.json_error(&["vault", "rename", "project", "--", name], 2);
    }
    place.json_error(&["workspace", "create", "head"], 2);
    assert_eq!(place.json(&["workspace", "list"])["workspaces"].as_array().unwrap().len(), 1);
    assert_eq!(place.json(&["vault", "list"])["vaults"].as_array().unwrap().len(), 1);
}

#[test]
fn directories_need_a_word_more() {
    let place = demo_vault();
    let error = place.json_error(&["fs", "rm", "/src", "-w", "fix"], 4);
    assert!(error["hint"].as_str().unwrap().contains("-r"), "{error}");
    place.json_error(&["fs", "cp", "/src", "/x", "-w", "fix"], 4);
    place.json_error(&["fs", "cat", "/src"], 4);
    place.json_error(&["fs", "mkdir", "/src", "-w", "fix"], 4);
    assert_eq!(place.json(&["status", "-w", "fix"])["changes"].as_array().unwrap().len(), 0);
}

#[test]
fn no_path_leads_out_of_the_vault() {
    let place = demo_vault();
    std::os::unix::fs::symlink("/etc", place.project().join("etc")).unwrap();
    std::os::unix::fs::symlink("../../..", place.project().join("up")).unwrap();
    place.ok(["init"]);
    place.ok(["workspace", "create", "links"]);
    for path in ["/..", "/../x", "/src/../../x", "../x", "/src/../.."] {
        place.json_error(&["fs", "cat", path, "-w", "links"], 2);
        place.json_error(&["fs", "write", path, "-w", "links"], 2);
    }
    let error = place.json_error(&["fs", "cat", "../../etc/passwd", "-w", "links"], 2);
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("../../etc/passwd is not a path inside a vault"), "{message}");
    // Nobody means everything by a variable of the shell that is not set.
    place.ok_with(["fs", "write", "/mine", "-w", "links"], b"mine\n");
    for arguments in [
        &["fs", "revert", "", "-w", "links"][..],
        &["fs", "rm", "-r", "", "-w", "links"],
        &["fs", "cat", "", "-w", "links"],
        &["commit", "--only", "", "-w", "links"],
    ] {
        let error = place.json_error(arguments, 2);
        assert!(error["message"].as_str().unwrap().contains("empty path"), "{error}");
    }
    assert_eq!(place.ok(["fs", "cat", "/mine", "-w", "links"]), "mine\n");
    // Links to elsewhere are kept as they are and not followed.
    for path in ["/etc/passwd", "/up/etc/passwd"] {
        for verb in ["cat", "write"] {
            let output = place.run(["fs", verb, path, "-w", "links"]);
            assert!([Some(3), Some(4)].contains(&output.status.code()), "{output:?}");
        }
    }
    assert_eq!(place.json(&["fs", "stat", "/etc", "-w", "links"])["target"], "/etc");
}

/// What clap finds wrong is a document too, and says the whole of it.
#[test]
fn usage_errors_for_programs() {
    let place = demo_vault();
    let message = |arguments: &[&str]| {
        let error = place.json_error(arguments, 2);
        assert_eq!(error["code"], "usage");
        error["message"].as_str().unwrap().to_owned()
    };
    assert!(message(&["stauts"]).contains("stauts"));
    assert!(message(&["fs", "cat"]).contains("<PATH>"));
    assert!(message(&["fs", "cp", "/a"]).contains("<TO>"));
    assert!(message(&["log", "-n", "many"]).contains("many"));
    assert!(message(&["diff", "--stat", "--name-only"]).contains("--name-only"));
    assert!(message(&["status", "--no-such-option"]).contains("--no-such-option"));
    assert_eq!(message(&["workspace"]), "the name of a command is missing");
    assert_eq!(message(&[]), "the name of a command is missing");
    // After `--` it is a name, not the wish for a document.
    let output = place.run(["fs", "cat", "--", "--json", "more"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{output:?}");
}

/// Words that only who writes the program knows.
const INTERNAL: &[&str] = &[
    "struct ",
    "enum ",
    "variant",
    " i64",
    " u32",
    " u64",
    "usize",
    "sequence",
    " a map",
    "Some(",
    "None",
    "invalid type",
    "newtype",
    "Raw",
    "untagged",
    " { ",
];

/// What is wrong in a file of the user's is told without the names of types of the program.
#[test]
fn mistakes_in_files_are_told_in_words() {
    let place = demo_vault();
    let folder = place.path().join(".config/offshoot");
    let files: &[(&str, &[&str], &[&str])] = &[
        (
            "mcp.toml",
            &["mcp", "servers"],
            &[
                "server = 3",
                "[[server]]\na = 1",
                "[server.a]\ncommand = \"x\"",
                "[server.a]\ncommand = [3]",
                "[server.a]\ncommand = [\"x\"]\nenv = 3",
                "[server.a]\ncommand = [\"x\"]\ntimeout = []",
                "[server.a]\nurl = 3",
                "server = { a = 3 }",
            ],
        ),
        (
            "presets/mine.toml",
            &["presets", "show", "mine"],
            &[
                "hosts = 3",
                "hosts = [3]",
                "login = 3",
                "acp = 3",
                "inject = 3",
                "[[inject]]\nhost = 3",
                "env = 3",
                "args = 3",
                "home = 3",
                "moves = 3",
                "programs = 3",
                "own_sandbox = 3",
                "[login]\nfiles = [3]",
            ],
        ),
        (
            "sandbox.toml",
            &["sandbox", "show"],
            &[
                "profile = 3",
                "[[profile]]\nname = 3",
                "credential = [3]",
                "tls = 3",
                "default = 3",
                "[profile.a]\nallow = 3",
                "[profile.a]\nwidenable = 3",
                "[profile.a]\nwalls = 3",
            ],
        ),
        (
            "policy.toml",
            &["policy", "check", "--", "ls"],
            &[
                "version = \"x\"",
                "version = 1\nrule = 3",
                "version = 1\nrule = [3]",
                "version = 1\ndefaults = 3",
                "version = 1\n[defaults]\nread_only = 3",
                "version = 1\n[[rule]]\nname = \"a\"\nprefix = 3\ndecision = \"deny\"",
                "version = 1\n[[rule]]\nname = \"a\"\nprefix = [\"a\"]\nexact = 3\ndecision = \"deny\"",
                "version = 1\n[[rule]]\nname = \"a\"\ncategory = 3\ndecision = \"deny\"",
            ],
        ),
        (
            "config.toml",
            &["status"],
            &[
                "exec = 3",
                "[[exec]]\na = 1",
                "[exec]\ntimeout = [1]",
                "[exec]\nmax_memory = true",
                "[approvals]\nexpire = 1",
                "[agents]\ninject = {}",
                "[ui]\ncolor = 1979-05-27",
            ],
        ),
    ];
    for (file, command, texts) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for text in *texts {
            fs::write(&path, text).unwrap();
            let output = place.run(*command);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{file}: {text}");
            assert!(said.contains(file.rsplit('/').next().unwrap()), "{said}");
            for word in INTERNAL {
                assert!(!said.contains(word), "{file}: {text}: {word:?} in {said}");
            }
        }
        fs::remove_file(&path).unwrap();
    }
}
