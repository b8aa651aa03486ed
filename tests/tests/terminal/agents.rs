//! A conversation with Offshoot's own agent, in front of a person.

use std::fs;

use offshoot_needs::needs;
use offshoot_tests::product::Place;

use crate::console::{Console, place};

/// A place with a script in place of a model.
fn with_script(script: &str) -> Place {
    let place = place();
    fs::write(place.path().join("script.toml"), script).unwrap();
    place
}

fn chat(place: &Place, more: &[&str]) -> Console {
    let chat = ["agent", "chat", "--provider", "scripted:../script.toml"];
    Console::run(place, &[&chat[..], more].concat())
}

const TALKS: &str = r#"version = 1
[[turn]]
when = { last_contains = "greet" }
say = [{ call = "write_file", id = "a", arguments = { path = "greeting", content = "hello\n" } }]
[[turn]]
when = { result_contains = "greeting" }
say = [{ text = "I wrote a greeting into the file that is called greeting, since that is what you asked me to do." }]
[[turn]]
when = { last_contains = "long" }
say = [{ call = "run_command", id = "b", arguments = { command = "sleep 600" } }]
[[turn]]
when = { last_contains = "short" }
say = [{ call = "run_command", id = "c", arguments = { command = "sleep 2" } }]
[[turn]]
when = { last_contains = "notes too" }
say = [{ text = "With the notes." }]
[[turn]]
when = { last_contains = "remove" }
say = [{ call = "run_command", id = "d", arguments = { command = "rm notes.txt" } }]
[[turn]]
when = { last_contains = "again" }
say = [{ text = "Still here." }]
[[turn]]
when = { result_contains = "they are mine" }
say = [{ text = "Then not." }]
[[turn]]
when = { result_contains = "exit code 0" }
say = [{ text = "They are gone." }]
"#;

#[needs(UserNamespace)]
#[test]
fn a_person_talks_with_it() {
    let place = with_script(TALKS);
    let mut console = chat(&place, &["-w", "fix"]);
    console.wait_for("/help lists commands");
    console.wait_for("fix> ");
    console.keys("greet me\r");
    console.wait_for("write_file");
    console.wait_for("since that is");
    console.wait_for("you asked me to do.");
    console.keys("/diff\r");
    console.wait_for("+hello");
    console.keys("/commit\r");
    console.wait_for("committed");
    console.keys("/what\r");
    console.wait_for("/what is no command");
    console.keys("\x04");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(fs::read_to_string(place.project().join("greeting")).unwrap(), "hello\n");
}

/// What is typed while a command runs is said before the next step.
#[needs(UserNamespace)]
#[test]
fn a_person_steers_it() {
    let place = with_script(TALKS);
    let mut console = chat(&place, &["-w", "fix", "do", "something", "short"]);
    console.wait_for("sleep 2");
    console.keys("/diff\r");
    console.wait_for("/diff follows");
    console.keys("look at the notes too\r");
    console.wait_for("With the notes.");
    console.wait_for("no changes");
    console.keys("/quit\r");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

/// Cancelled, it still listens; and who leaves in the middle finds it again.
#[needs(UserNamespace)]
#[test]
fn a_person_cancels_it() {
    let place = with_script(TALKS);
    let mut console = chat(&place, &["-w", "fix", "--name", "talk", "something", "long"]);
    console.wait_for("sleep 600");
    console.keys("\x03");
    console.wait_for("The user cancelled");
    console.wait_for("cancelled");
    console.keys("\x03");
    console.wait_for("Ctrl-D leaves");
    console.keys("something long\r");
    console.wait_for("sleep 600");
    console.keys("\x04");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(console.text().contains("offshoot agent chat --resume talk"), "{}", console.text());
    let mut console = chat(&place, &["--resume", "talk", "again"]);
    console.wait_for("Still here.");
    console.keys("\x04");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

#[needs(UserNamespace)]
#[test]
fn a_person_decides_in_it() {
    let place = with_script(TALKS);
    let rules = place.path().join(".config/offshoot/policy.toml");
    fs::create_dir_all(rules.parent().unwrap()).unwrap();
    let asks = "version = 1\n[defaults]\ndestructive = \"require_approval\"\n";
    fs::write(rules, asks).unwrap();
    let mut console = chat(&place, &["-w", "fix", "remove", "them"]);
    console.wait_for("[y/n/later]");
    console.keys("n, they are mine\r");
    console.wait_for("Then not.");
    console.keys("/quit\r");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(place.ok(["diff", "--name-status", "-w", "fix"]), "");
    let mut console = chat(&place, &["-w", "fix", "remove", "them"]);
    console.wait_for("[y/n/later]");
    console.keys("y\r");
    console.wait_for("They are gone.");
    console.keys("\x04");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(place.ok(["diff", "--name-status", "-w", "fix"]), "D /notes.txt\n");
}

/// The first Ctrl-C is a wish.
#[needs(UserNamespace)]
#[test]
fn a_task_is_cancelled_by_a_key() {
    let place = with_script(TALKS);
    let run = ["agent", "run", "--provider", "scripted:../script.toml", "--name", "talk"];
    let mut console = Console::run(&place, &[&run[..], &["-w", "fix", "long"]].concat());
    console.wait_for("sleep 600");
    console.keys("\x03");
    console.wait_for("cancelling");
    assert_eq!(console.end().code(), Some(130), "{}", console.screen());
    assert!(console.text().contains("agent run --resume talk"), "{}", console.text());
}
