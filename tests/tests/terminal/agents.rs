//! A conversation with Offshoot's own agent, in front of a person.

use std::fs;
use std::time::{Duration, Instant};

use offshoot_needs::needs;
use offshoot_tests::product::Place;
use rustix::process::Signal;

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

/// The person's own policy wants to know what is removed.
fn asks_about_removals(place: &Place) {
    let rules = place.path().join(".config/offshoot/policy.toml");
    fs::create_dir_all(rules.parent().unwrap()).unwrap();
    let asks = "version = 1\n[defaults]\ndestructive = \"require_approval\"\n";
    fs::write(rules, asks).unwrap();
}

/// How many commands run.
fn running(place: &Place) -> usize {
    place.json(&["ps"])["running"].as_array().map_or(0, Vec::len)
}

fn wait_for_running(place: &Place, count: usize) {
    let limit = Instant::now() + Duration::from_secs(60);
    while running(place) != count {
        assert!(Instant::now() < limit, "{}", place.json(&["ps"]));
        std::thread::sleep(Duration::from_millis(50));
    }
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
when = { last_contains = "stubborn" }
say = [{ call = "run_command", id = "e", arguments = { command = "trap '' TERM INT; echo up; while :; do sleep 1; done" } }]
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
    console.wait_for("fix> ");
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
    asks_about_removals(&place);
    let mut console = chat(&place, &["-w", "fix", "remove", "them"]);
    console.wait_for("[y/n/later/?]");
    console.keys("n, they are mine\r");
    console.wait_for("Then not.");
    console.keys("/quit\r");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(place.ok(["diff", "--name-status", "-w", "fix"]), "");
    let mut console = chat(&place, &["-w", "fix", "remove", "them"]);
    console.wait_for("[y/n/later/?]");
    console.keys("y\r");
    console.wait_for("They are gone.");
    console.keys("\x04");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(place.ok(["diff", "--name-status", "-w", "fix"]), "D /notes.txt\n");
}

/// Whatever is typed at the question, the next answer is an answer to it.
#[needs(UserNamespace)]
#[test]
fn a_question_waits_for_an_answer() {
    let place = with_script(TALKS);
    asks_about_removals(&place);
    let mut console = chat(&place, &["-w", "fix", "remove", "them"]);
    console.wait_for("[y/n/later/?]");
    console.keys("?\r");
    console.wait_for("deny it; the agent is told");
    console.wait_for("[y/n/later/?]");
    console.keys("banana\r");
    console.wait_for("answer y, n or later");
    console.wait_for("[y/n/later/?]");
    console.keys("n, they are mine\r");
    console.wait_for("Then not.");
    console.keys("remove them\r");
    console.wait_for("[y/n/later/?]");
    console.keys("later\r");
    console.wait_for("it waits");
    console.keys("y\r");
    console.wait_for("They are gone.");
    console.keys("/quit\r");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(place.ok(["diff", "--name-status", "-w", "fix"]), "D /notes.txt\n");
}

#[needs(UserNamespace)]
#[test]
fn a_task_asks_again_until_it_has_an_answer() {
    let place = with_script(TALKS);
    asks_about_removals(&place);
    let run = ["agent", "run", "--provider", "scripted:../script.toml", "-w", "fix", "remove"];
    let mut console = Console::run(&place, &run);
    console.wait_for("[y/n/later/?]");
    console.keys("banana\r");
    console.wait_for("answer y, n or later");
    console.wait_for("[y/n/later/?]");
    console.keys("?\r");
    console.wait_for("deny it; the agent is told");
    console.wait_for("[y/n/later/?]");
    console.keys("n, they are mine\r");
    console.wait_for("Then not.");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

/// A command that was cancelled has ended before anything else begins.
#[needs(UserNamespace)]
#[test]
fn what_is_cancelled_has_ended() {
    let place = with_script(TALKS);
    let mut console = chat(&place, &["-w", "fix", "something", "stubborn"]);
    console.wait_for("sleep 1");
    wait_for_running(&place, 1);
    console.keys("\x03");
    console.wait_for("cancelling: what runs is ended first");
    console.keys("greet me\r");
    console.wait_for("write_file");
    assert_eq!(running(&place), 0, "{}", console.screen());
    console.wait_for("you asked me to do.");
    console.keys("/commit\r");
    console.wait_for("undo: offshoot undo");
    // Before there is a prompt, the terminal itself takes Ctrl-D for the end of what nobody reads.
    console.wait_for("fix> ");
    console.keys("\x04");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(fs::read_to_string(place.project().join("greeting")).unwrap(), "hello\n");
}

/// However a conversation ends, the terminal is as it was.
#[needs(UserNamespace)]
#[test]
fn the_terminal_is_brought_back() {
    let place = with_script(TALKS);
    let mut console = Console::run(&place, &["version"]);
    assert!(console.end().success());
    let before = console.modes();
    let ends = |console: &mut Console, code, how: &str| {
        assert_eq!(console.end().code(), Some(code), "{how}: {}", console.screen());
        assert_eq!(console.modes(), before, "{how}");
    };
    let idle = || {
        let mut console = chat(&place, &["-w", "fix", "greet", "me"]);
        console.wait_for("you asked me to do.");
        console.wait_for("fix> ");
        console
    };
    for (keys, how) in [("/quit\r", "/quit"), ("\x04", "Ctrl-D")] {
        let mut console = idle();
        console.keys(keys);
        ends(&mut console, 0, how);
        assert!(console.screen().ends_with('\n'), "{how}: {:?}", console.screen());
    }
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::QUIT, 131)] {
        let console = &mut idle();
        console.signal(signal);
        ends(console, code, &format!("{signal:?}"));
        // Nothing stands in the line of the prompt.
        assert!(console.screen().contains("\r\x1b[J"), "{:?}", console.screen());
    }
    let console = &mut idle();
    console.close();
    assert_eq!(console.end().code(), Some(129), "the window is closed");
    let busy = || {
        let mut console = chat(&place, &["-w", "fix", "something", "stubborn"]);
        console.wait_for("sleep 1");
        wait_for_running(&place, 1);
        console
    };
    let mut console = busy();
    console.keys("/quit\r");
    ends(&mut console, 0, "/quit while it works");
    let mut console = busy();
    console.signal(Signal::TERM);
    ends(&mut console, 143, "SIGTERM while it works");
    // Who insists does not wait for a command that does not obey.
    let mut console = busy();
    console.keys("/quit\r");
    console.wait_for("The user cancelled");
    console.signal(Signal::TERM);
    console.wait_for("terminated; what it did is kept");
    ends(&mut console, 143, "an error");
    wait_for_running(&place, 0);
}

/// The prompt is gone when the last words come.
#[needs(UserNamespace)]
#[test]
fn no_prompt_stands_in_front_of_the_last_words() {
    let place = with_script(TALKS);
    let mut console = chat(&place, &["-w", "fix", "greet", "me"]);
    console.wait_for("you asked me to do.");
    console.keys("/commit\r");
    console.wait_for("committed");
    console.keys("/quit\r");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    let screen = console.screen();
    let (_, last) = screen.rsplit_once("/quit").unwrap();
    assert!(last.contains("in workspace") && !last.contains("fix> "), "{last:?}");
}

/// What a model writes steers no terminal.
#[needs(UserNamespace)]
#[test]
fn words_and_names_of_a_model_have_no_colours() {
    let place = with_script(COLOURS);
    let mut console = chat(&place, &["-w", "fix", "go"]);
    console.wait_for("^[[32mgreen");
    console.wait_for("^[[31mred^G<202e>");
    console.keys("\x04");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(!console.screen().contains("\x1b[32mgreen"), "{:?}", console.screen());
}

const COLOURS: &str = r#"version = 1
[[turn]]
say = [{ call = "\u001b[32mgreen", id = "a", arguments = { a = "\u0007\u202e" } }]
[[turn]]
say = [{ text = "It is \u001b[31mred\u0007\u202e." }]
"#;

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
