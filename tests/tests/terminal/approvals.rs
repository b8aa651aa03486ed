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
    let question = "Make these changes real? [y/n/always/later/?] ";
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

/// Who wants to leave can.
#[needs(UserNamespace)]
#[test]
fn the_question_can_be_left() {
    let place = asking();
    let mut console = Console::run(&place, &["exec", "-w", "fix", "--", "rm", "README.md"]);
    console.wait_for("Make these changes real? [y/n/always/later/?] ");
    console.keys("?\r");
    console.wait_for("drop what it changed");
    console.wait_for("Make these changes real? [y/n/always/later/?] ");
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
    console.wait_for("It was not tried: it needs a terminal. Run it? [y/n/always/later/?] ");
    console.keys("y\r");
    console.wait_for("README.md'?");
    console.keys("y\r");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(names(&place), "D /README.md\n");
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
