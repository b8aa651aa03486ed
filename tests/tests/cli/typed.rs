//! What people type: words of other tools, slips, and options that are not there.

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::document_of;

use crate::transcript::{Transcript, demo, demo_vault};

#[test]
fn words_of_other_tools_are_answered() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    for words in [
        &["switch", "fix"][..],
        &["restore", "README.md"],
        &["prune"],
        &["rm", "fix"],
        &["list"],
        &["cat", "README.md"],
        &["push"],
        &["frobnicate"],
        &["statsu"],
        &["ls", "src"],
        &["workspace", "lst"],
        &["status", "--shrt"],
        &["exec", "--bogus", "ls"],
        &["status", "fix", "-w", "other"],
        &["workspace", "remove", "fix"],
        &["help", "discard", "fix"],
        &["add", "."],
        &["co", "fix"],
        &["commit", "-am", "Fix it"],
        &["commit", "Fix it"],
    ] {
        transcript.run(words);
    }
    transcript.json(&["switch", "fix"]);
    transcript.json(&["statsu"]);
    assert_snapshot!(transcript.finish());
}

/// An option in front of a command counts like one behind it: no other workspace is changed than the one that is named.
#[test]
fn options_in_front_of_a_command_exclude_what_they_exclude_behind_it() {
    let place = demo();
    place.ok(["init"]);
    place.ok(["new", "one"]);
    place.ok(["new", "two"]);
    for words in [&["-w", "one", "discard", "two"][..], &["-w", "one", "undo", "two"]] {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
    // So does one that names something else than the argument.
    for (words, contradiction) in [
        (&["-w", "one", "workspace", "delete", "two"][..], "`-w one` and `two`"),
        (&["workspace", "rename", "two", "three", "-w", "one"], "`-w one` and `two`"),
        (&["merge", "head", "--into", "two", "-w", "one"], "`-w one` and `--into two`"),
        (
            &["--vault", "other", "vault", "delete", "project", "--yes"],
            "`--vault other` and `project`",
        ),
        (&["undo", "--vault-wide", "two"], "--vault-wide"),
        (&["-w", "one", "undo", "--vault-wide"], "--vault-wide"),
    ] {
        let message = place.json_error(words, 2)["message"].clone();
        assert!(message.as_str().unwrap().contains(contradiction), "{words:?}: {message}");
    }
    // The variables are defaults, which whatever is typed takes the place of.
    place.ok(["new", "three"]);
    let mut delete = place.command(["workspace", "delete", "three"]);
    let deleted = delete.env("OFFSHOOT_WORKSPACE", "one").output().unwrap();
    assert!(deleted.status.success(), "{deleted:?}");
    place.ok(["workspace", "show", "one", "-w", "one"]);
    let listed = place.ok(["ls", "-q"]);
    assert!(listed.contains("one") && listed.contains("two"), "{listed}");
    place.ok(["-w", "one", "discard"]);
    assert!(!place.ok(["ls", "-q"]).contains("one"));
    let output = place.run(["--json", "vault"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(document_of(&output)["error"]["message"], "the name of a command is missing");
}

#[test]
fn short_words_do_what_the_long_ones_do() {
    let place = demo();
    place.ok(["init"]);
    place.ok(["new", "one"]);
    place.ok(["fork", "two", "--from", "one"]);
    place.ok(["workspace", "new", "three"]);
    for (short, long) in [
        (&["ls"][..], &["workspace", "list"][..]),
        (&["workspace", "ls"], &["workspace", "list"]),
        (&["st", "one"], &["status", "-w", "one"]),
        (&["apply", "one", "--dry-run"], &["commit", "-w", "one", "--dry-run"]),
        (&["ci", "one", "--dry-run"], &["commit", "-w", "one", "--dry-run"]),
        (&["sh", "--help"], &["run", "--help"]),
    ] {
        assert_eq!(place.ok(short.iter()), place.ok(long.iter()), "{short:?}");
    }
    place.ok(["workspace", "rm", "three"]);
    place.ok(["undo", "three"]);
    assert_eq!(place.ok(["ls"]).lines().count(), 1 + 3);
}

/// A command line starts at the first word that is no option, and all behind it is the command's.
#[test]
fn commands_need_no_dashes() {
    let place = demo_vault();
    let arguments = |line: &[&str]| {
        let output = place.run([&["policy", "explain", "--json"], line].concat());
        document_of(&output)["result"]["command"].clone()
    };
    assert_eq!(arguments(&["ls", "-la"]), arguments(&["--", "ls", "-la"]));
    assert_eq!(
        arguments(&["ls", "-w", "fix", "--json"]),
        arguments(&["--", "ls", "-w", "fix", "--json"])
    );
    assert_eq!(
        arguments(&["--read-only", "ls", "--", "x"]),
        arguments(&["--read-only", "--", "ls", "--", "x"])
    );
}

/// A line of shell that is given as one word is no program.
#[needs(UserNamespace)]
#[test]
fn a_whole_line_as_one_word_gets_a_hint() {
    let place = demo_vault();
    let output = place.run(["exec", "-w", "fix", "--", "ls -la 'x'"]);
    assert_eq!(output.status.code(), Some(127), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(r"--shell 'ls -la '\''x'\'''"), "{said}");
    let output = place.run(["exec", "-w", "fix", "--", "nothing-of-that-name"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("--shell"), "{output:?}");
}
