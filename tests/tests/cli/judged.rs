//! Commands that policy judges read-only run on a read-only mount: a wrong judgement changes nothing.

use std::process::Output;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away};
use serde_json::{Value, json};

/// Texts that only read, as far as can be told by looking at them, and what has them write: settings of the repository name a program.
const MISJUDGED: &[(&str, &str)] = &[
    ("git config diff.external ./evil", "git diff"),
    ("git config diff.external ./evil", "git diff --stat -p | head"),
    ("git config diff.external ./evil", "git diff HEAD -- a"),
    ("git config diff.told.textconv ./evil; echo 'a diff=told' > .gitattributes", "git diff"),
    ("git config diff.told.textconv ./evil; echo 'a diff=told' > .gitattributes", "git show"),
    ("git config diff.told.textconv ./evil; echo 'a diff=told' > .gitattributes", "git log -p"),
    ("git config diff.told.textconv ./evil; echo 'a diff=told' > .gitattributes", "git blame a"),
    (
        "git config diff.told.textconv ./evil; echo 'a diff=told' > .gitattributes",
        "git stash show -p; git diff",
    ),
    (
        "git config filter.f.process ./evil; git config filter.f.required true; echo 'a filter=f' > .gitattributes",
        "git status",
    ),
    (
        "git config filter.f.clean ./evil; git config filter.f.required true; echo 'a filter=f' > .gitattributes",
        "git diff",
    ),
    (
        "git config filter.f.clean ./evil; git config filter.f.required true; echo 'a filter=f' > .gitattributes",
        "git status",
    ),
    ("git config gpg.program \"$PWD/evil\"; git config log.showSignature true; signed", "git log"),
];

/// Makes a repository with a file that differs from its only commit, and a commit with what looks like a signature.
const REPOSITORY: &str = "
set -e
git init -q .
git config user.name Ann; git config user.email ann@example.org
git add a; git commit -qm first
signed() {
    git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n iQ==\\n -----END PGP SIGNATURE-----' > \"$TMPDIR/c\"
    git update-ref HEAD \"$(git hash-object -t commit -w \"$TMPDIR/c\")\"
}
export TMPDIR=${TMPDIR:-/tmp}
echo two > a
";

/// A project with a vault, in which nothing of a repository was run.
fn project(evil: &str, setup: &str) -> Place {
    let place = Place::new();
    place.write("a", "one\n");
    place.write("evil", format!("#!/bin/sh\n{evil}\n"));
    let text = format!("chmod +x evil; {REPOSITORY}\n{setup}");
    place.ok(["init"]);
    place.ok(["exec", "-w", "fix", "--", "sh", "-c", &text]);
    place
}

/// A program that says what went wrong, and one that does not.
const LOUD: &str = "echo x > surprise || exit 1; cat \"$@\" 2> /dev/null; exit 0";
const SILENT: &str =
    "(echo x > surprise; rm -f a evil) 2> /dev/null; cat \"$@\" 2> /dev/null; exit 0";

fn result_of(output: &Output) -> Value {
    document_of(output)["result"].clone()
}

fn look(text: &str) -> [&str; 6] {
    ["exec", "--json", "-w", "fix", "--shell", text]
}

fn is_told(result: &Value, text: &str) {
    assert_eq!(result["decision"]["category"], "read_only", "{text}: {result}");
    assert_eq!(result["rerun"]["reason"], "wrote_to_read_only", "{text}: {result}");
    assert_eq!(result["readonly"], false, "{text}: {result}");
    let paths = result["changed_files"].as_array().unwrap().iter();
    let paths: Vec<&Value> = paths.map(|change| &change["path"]).collect();
    assert_eq!(paths, ["/surprise"], "{text}: {result}");
    assert!(result["checkpoint"].is_string(), "{text}: {result}");
    assert!(!result["stderr"].to_string().contains("Read-only"), "{text}: {result}");
}

/// As root and as an ordinary user.
#[needs("git")]
#[test]
fn what_says_that_it_writes_is_run_again_with_a_checkpoint() {
    let user = User::new();
    for (setup, text) in MISJUDGED {
        let place = project(LOUD, setup);
        is_told(&result_of(&place.run(look(text))), text);
        place.ok(["undo", "-w", "fix"]);
        give_away(place.path());
        is_told(&result_of(&user.run(&place, &look(text))), text);
    }
}

#[needs("git")]
#[test]
fn what_writes_and_says_nothing_changes_nothing() {
    let user = User::new();
    for (setup, text) in MISJUDGED {
        let place = project(SILENT, setup);
        let before = place.ok(["diff", "-w", "fix"]);
        let check = |result: Value| {
            assert_eq!(result["decision"]["category"], "read_only", "{text}: {result}");
            assert_eq!(result["changed_files"], json!([]), "{text}: {result}");
            assert_eq!((&result["rerun"], &result["readonly"]), (&Value::Null, &json!(true)));
            assert_eq!(result["sandbox"]["writable"], json!([]), "{result}");
        };
        check(result_of(&place.run(look(text))));
        assert_eq!(place.ok(["diff", "-w", "fix"]), before, "{text}");
        give_away(place.path());
        check(result_of(&user.run(&place, &look(text))));
        assert_eq!(user.ok(&place, &["diff", "-w", "fix"]), before, "{text}");
        // The test can tell: with a way to write, it does.
        let mut writes = vec!["exec", "--json", "-w", "fix", "--checkpoint", "always"];
        writes.extend(["--shell", text]);
        let result = result_of(&user.run(&place, &writes));
        assert_ne!(result["changed_files"], json!([]), "{text}: {result}");
    }
}

/// What people and pipes see: everything once, and a line that says so.
#[needs("git")]
#[test]
fn output_of_both_runs_is_printed_once() {
    let place = project(LOUD, MISJUDGED[0].0);
    // The first part works in both runs.
    let text = "echo begin; cat a; git diff; echo end";
    let output = place.run(["exec", "-w", "fix", "--shell", text]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.starts_with("begin\ntwo\n"), "{printed}");
    assert_eq!(printed.matches("begin\n").count(), 1, "{printed}");
    assert!(printed.ends_with("end\n"), "{printed}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.matches("judged this command read-only").count(), 1, "{said}");
    assert!(said.contains("run again with a checkpoint"), "{said}");
    let execs = place.json(&["execs", "-w", "fix"]);
    let recorded = place.ok(["logs", execs["execs"][0]["exec"].as_str().unwrap()]);
    assert_eq!(recorded.matches("begin\n").count(), 1, "{recorded}");
}

/// A second run that others would notice is not made: such a command can write from the start, with a checkpoint.
#[needs("git")]
#[test]
fn what_cannot_be_repeated_runs_once() {
    let place = project(LOUD, MISJUDGED[0].0);
    for options in [&["--checkpoint", "always"][..], &["--net", "host"], &["-i"]] {
        let start = ["exec", "--json", "-w", "fix"];
        let arguments = [&start[..], options, &["--", "git", "diff"]].concat();
        let result = result_of(&place.run(arguments));
        assert_eq!(result["rerun"], Value::Null, "{options:?}: {result}");
        assert!(result["checkpoint"].is_string(), "{options:?}: {result}");
        place.ok(["undo", "-w", "fix"]);
    }
}

/// It takes all its time only once.
#[needs("git")]
#[test]
fn both_runs_share_one_time() {
    let place = project("sleep 2; echo x > surprise || exit 1; sleep 30", MISJUDGED[0].0);
    let start = ["exec", "--json", "-w", "fix", "--timeout", "3s", "--", "git", "diff"];
    let result = result_of(&place.run(start));
    assert_eq!((&result["timed_out"], &result["rerun"]["exit_code"]), (&json!(true), &json!(128)));
    assert!(result["duration_ms"].as_u64().unwrap() < 2500, "{result}");
}

/// What every day is full of does not notice.
#[needs("git", "python3")]
#[test]
fn what_only_reads_works_as_ever() {
    let place = project("exit 0", ":");
    place.write("tool/__init__.py", "print('imported')\n");
    for text in [
        "git status",
        "git diff",
        "git log --oneline",
        "git stash list",
        "ls -la",
        "cat a",
        "sort a | uniq -c",
        "find . -name a",
        "grep -r one .",
        "cd /tmp && ls",
        "test -r a",
        "python3 --version",
        "wc -l < a",
    ] {
        let result = result_of(&place.run(look(text)));
        let category = &result["decision"]["category"];
        assert_eq!(
            (category, &result["exit_code"]),
            (&json!("read_only"), &json!(0)),
            "{text}: {result}"
        );
        assert_eq!((&result["rerun"], &result["readonly"]), (&Value::Null, &json!(true)), "{text}");
        assert_eq!(result["warnings"], json!([]), "{text}");
    }
}
