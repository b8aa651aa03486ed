//! Approvals in front of a person: asked right there, and the inbox.

use std::fs;

use offshoot_needs::needs;
use offshoot_tests::product::Place;

use crate::console::{Console, place};

fn asking() -> Place {
    let place = place();
    let rules = place.path().join(".config/offshoot/policy.toml");
    fs::create_dir_all(rules.parent().unwrap()).unwrap();
    let asks = "version = 1\n[defaults]\ndestructive = \"require_approval\"\n";
    fs::write(rules, asks).unwrap();
    place
}

fn names(place: &Place) -> String {
    place.ok(["diff", "--name-status", "-w", "fix"])
}

fn pending(place: &Place) -> usize {
    place.json(&["approvals", "list"])["approvals"].as_array().unwrap().len()
}

#[needs(UserNamespace)]
#[test]
fn a_person_is_asked_right_there() {
    let place = asking();
    let remove = ["exec", "-w", "fix", "--", "rm", "README.md"];
    let question = "Make this change of rm README.md real? [y/n/always/later/d/?] ";
    for (answer, code, changed, left) in
        [("\r", 123, "", 1), ("n\r", 122, "", 1), ("what\ry\r", 0, "D /README.md\n", 1)]
    {
        let mut console = Console::run(&place, &remove);
        console.wait_for("rm README.md needs your approval");
        console.wait_for("deleted file");
        console.wait_for(question);
        console.keys(answer);
        assert_eq!(console.end().code(), Some(code), "{answer:?}: {}", console.screen());
        assert_eq!((names(&place).as_str(), pending(&place)), (changed, left), "{answer:?}");
    }
    place.ok(["undo", "-w", "fix"]);
    let mut console = Console::run(&place, &remove);
    console.wait_for(question);
    console.keys("always\r");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(console.text().contains("[[rule]]"), "{}", console.text());
    // From now on nobody is asked.
    place.ok(["undo", "-w", "fix"]);
    let mut console = Console::run(&place, &remove);
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(!console.text().contains("needs your approval"), "{}", console.text());
}

/// A directory that would go is a change, and is shown.
#[needs(UserNamespace)]
#[test]
fn a_directory_is_shown_at_the_question() {
    let place = asking();
    place.ok(["exec", "-w", "fix", "--", "mkdir", "-p", "empty/below"]);
    let mut console = Console::run(&place, &["exec", "-w", "fix", "--", "rm", "-r", "empty"]);
    console.wait_for(" /empty/below/");
    console.wait_for(
        "It was tried. Make these 2 changes of rm -r empty real? [y/n/always/later/d/?] ",
    );
    console.keys("y\r");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!((names(&place).as_str(), pending(&place)), ("", 0));
}

/// Who wants to leave can.
#[needs(UserNamespace)]
#[test]
fn the_question_can_be_left() {
    let place = asking();
    let mut console = Console::run(&place, &["exec", "-w", "fix", "--", "rm", "README.md"]);
    console.wait_for("Make this change of rm README.md real? [y/n/always/later/d/?] ");
    console.keys("?\r");
    console.wait_for("drop what it changed");
    console.wait_for("Make this change of rm README.md real? [y/n/always/later/d/?] ");
    console.keys("\x03");
    assert!(!console.end().success(), "{}", console.screen());
    assert_eq!((names(&place).as_str(), pending(&place)), ("", 1));
}

/// What has a terminal of its own is not tried: it runs there when they say so.
#[needs(UserNamespace)]
#[test]
fn a_session_runs_at_its_terminal() {
    let place = asking();
    let mut console = Console::run(&place, &["run", "-w", "fix", "--", "rm", "-i", "README.md"]);
    console.wait_for("It was not tried: it needs a terminal. Run rm -i README.md? [y/n/always/?] ");
    console.keys("y\r");
    console.wait_for("README.md'?");
    console.keys("y\r");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(names(&place), "D /README.md\n");
}

/// A command in a terminal cannot run later: whoever leaves it leaves nothing that nobody could approve.
#[needs(UserNamespace)]
#[test]
fn a_session_that_is_left_does_not_wait() {
    for keys in ["\r", "later\r"] {
        let place = asking();
        let remove = ["run", "-w", "fix", "--", "rm", "-i", "README.md"];
        let mut console = Console::run(&place, &remove);
        console.wait_for("Run rm -i README.md? [y/n/always/?] ");
        console.keys("?\r");
        console.wait_for("it does not run, and cannot be approved later");
        console.keys(keys);
        assert_eq!(console.end().code(), Some(122), "{}", console.screen());
        let text = console.text();
        assert!(text.contains("nobody approved this command while it waited"), "{text}");
        assert!(!text.contains("to allow it, add to"), "{text}");
        assert_eq!(pending(&place), 0);
    }
}

/// The command stays in sight, however much it would change.
#[needs(UserNamespace)]
#[test]
fn a_long_diff_is_shortened_at_the_question() {
    let place = asking();
    let lines: String = (0..3000).map(|line| format!("line {line}\n")).collect();
    place.write("long.txt", &lines);
    let remove = ["exec", "-w", "long", "--", "rm", "long.txt"];
    let mut console = Console::run_with(&place, &remove, |command| {
        command.env("OFFSHOOT_PAGER", "tail -1");
    });
    console.wait_for("this is a trial, without the network");
    console.wait_for("more lines of rm long.txt: d shows all");
    console.wait_for("Make this change of rm long.txt real? [y/n/always/later/d/?] ");
    assert!(!console.text().contains("line 100"), "{}", console.text());
    console.keys("d\r");
    console.wait_for("line 2999");
    console.wait_for("Make this change of rm long.txt real?");
    console.keys("n\r");
    assert_eq!(console.end().code(), Some(122), "{}", console.screen());
    assert!(!console.text().contains("to allow it, add to"), "{}", console.text());
}

/// One that failed when it was tried says so.
#[needs(UserNamespace)]
#[test]
fn a_trial_that_failed_says_so_at_the_question() {
    let place = asking();
    let mut console = Console::run(&place, &["exec", "-w", "fix", "--", "rm", "absent"]);
    console.wait_for("It was tried, failed (exit code 1) and changed nothing. Approve rm absent?");
    console.keys("n\r");
    assert_eq!(console.end().code(), Some(122), "{}", console.screen());
}

/// A line that the terminal breaks itself would push others off the screen, where no key reaches them.
#[needs(UserNamespace)]
#[test]
fn the_inbox_scrolls_through_a_long_command() {
    let place = asking();
    let long = "x".repeat(4000);
    let remove = ["exec", "-w", "fix", "--quiet", "--", "rm", "-f", "README.md", &long];
    assert_eq!(place.run(remove).status.code(), Some(123));
    let mut console = Console::run(&place, &["approvals"]);
    console.wait_for("more lines");
    console.keys("q");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

#[needs(UserNamespace)]
#[test]
fn the_inbox_goes_one_by_one() {
    let place = asking();
    for command in [["rm", "README.md"], ["rm", "notes.txt"], ["rm", "-f"]] {
        let all = [&["exec", "-w", "fix", "--quiet", "--"], &command[..]].concat();
        assert_eq!(place.run(all).status.code(), Some(123));
    }
    let before = Console::run_without_input(&place, &["status"]).modes();
    let mut console = Console::run(&place, &["approvals"]);
    console.wait_for("1 of 3");
    console.wait_for("rm README.md");
    console.keys("?");
    console.wait_for("makes a trial real");
    console.keys("n");
    console.wait_for("2 of 3");
    console.keys("p");
    console.wait_for("1 of 3");
    console.keys("a");
    console.wait_for("1 of 2");
    console.wait_for("rm notes.txt");
    console.keys("d");
    console.wait_for("deny, because:");
    console.keys("keep them\r");
    console.wait_for("1 of 1");
    console.keys("q");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(console.modes(), before, "the terminal is as it was");
    assert!(console.screen().contains("\x1b[?1049l"), "the screen is as it was");
    assert_eq!((names(&place).as_str(), pending(&place)), ("D /README.md\n", 1));
    let all = place.ok(["approvals", "list", "--all", "--json"]);
    assert!(all.contains("keep them"), "{all}");
    let mut console = Console::run(&place, &["approvals"]);
    console.wait_for("1 of 1");
    console.keys("a");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    let mut console = Console::run(&place, &["approvals"]);
    console.wait_for("nothing waits for an approval");
    assert_eq!(console.end().code(), Some(0));
}

/// What has changed since it was shown is shown again, and can be approved then.
#[needs(UserNamespace, "curl")]
#[test]
fn the_inbox_shows_what_has_changed() {
    let place = asking();
    let remote = ["exec", "-w", "fix", "--net", "host", "--quiet", "--"];
    let remote = [&remote[..], &["curl", "-s", "-X", "DELETE", "http://127.0.0.1:9/"]].concat();
    assert_eq!(place.run(remote).status.code(), Some(123));
    let mut console = Console::run(&place, &["approvals"]);
    console.wait_for("1 of 1");
    place.ok(["exec", "-q", "-w", "fix", "--", "touch", "meanwhile"]);
    console.keys("a");
    console.wait_for("look again");
    console.keys("s");
    console.wait_for("it can be approved once");
    console.keys("a");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(pending(&place), 0, "{}", console.screen());
}

/// Somebody else was first: there is one answer, and it is theirs.
#[needs(UserNamespace)]
#[test]
fn a_question_that_was_decided_elsewhere_has_one_answer() {
    let place = asking();
    for key in ["y\r", "n\r", "always\r"] {
        let mut console = Console::run(&place, &["exec", "-w", "fix", "--", "rm", "README.md"]);
        console.wait_for("[y/n/always/later/d/?] ");
        place.ok(["approvals", "deny", "--all", "-m", "keep it"]);
        console.keys(key);
        assert_eq!(console.end().code(), Some(122), "{}", console.screen());
        let text = console.text();
        assert!(text.contains("denied this command: keep it"), "{text}");
        assert!(!text.contains("is not pending"), "{text}");
    }
}
