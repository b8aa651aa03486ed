//! What is typed, and the size of the terminal.

use offshoot_needs::needs;

use crate::console::{Console, newest, place, place_of_user};

/// A shell without the user's own settings.
const SHELL: [&str; 7] = ["run", "-w", "fix", "--", "bash", "--norc", "--noediting"];

#[needs(UserNamespace)]
#[test]
fn an_interrupt_from_the_keyboard_is_for_the_command() {
    let place = place();
    let script = "trap 'echo caught; exit 3' INT; echo begun; while :; do sleep 0.05; done";
    let mut console = Console::run(&place, &["run", "-w", "fix", "--", "sh", "-c", script]);
    console.wait_for("begun");
    console.keys("\x03");
    console.wait_for("caught");
    assert_eq!(console.end().code(), Some(3), "{}", console.screen());
    let result = newest(&place);
    assert_eq!(result["interrupted"], false, "{result}");
}

#[needs(UserNamespace)]
#[test]
fn a_shell_controls_its_jobs() {
    let place = place();
    controls_jobs(Console::run(&place, &SHELL));
}

#[needs(UserNamespace)]
#[test]
fn a_shell_of_an_ordinary_user_controls_its_jobs() {
    let (place, user) = place_of_user();
    controls_jobs(Console::run_as(&place, &user, &SHELL));
}

fn controls_jobs(mut console: Console) {
    console.wait_for("bash-");
    console.keys("PS1='ready> '\r");
    console.wait_for("\nready> ");
    // What is typed is not what is printed, so that the one cannot be taken for the other.
    console.keys("sh -c 'echo be''gun; exec sleep 1000'\r");
    console.wait_for("\nbegun");
    console.keys("\x03");
    console.wait_for("^C");
    console.wait_for("ready> ");
    console.keys("cat\r");
    console.keys("typed\r");
    console.wait_for("\ntyped\r\ntyped");
    console.keys("\x1a");
    console.wait_for("Stopped");
    console.wait_for("\nready> ");
    console.keys("jobs\r");
    console.wait_for("Stopped");
    console.wait_for("\nready> ");
    console.keys("fg\r");
    console.wait_for("\ncat");
    console.keys("typed again\r");
    console.wait_for("typed again\r\ntyped again");
    console.keys("\x04");
    console.wait_for("ready> ");
    console.keys("exit 5\r");
    assert_eq!(console.end().code(), Some(5), "{}", console.screen());
    assert!(!console.screen().contains("no job control"), "{}", console.screen());
}

#[needs(UserNamespace)]
#[test]
fn the_size_is_followed() {
    let place = place();
    let script = "trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done";
    let mut console = Console::run(&place, &["run", "-w", "fix", "--", "sh", "-c", script]);
    console.wait_for("24 80");
    for (lines, columns) in [(40, 120), (10, 20), (500, 500)] {
        console.resize(lines, columns);
        console.wait_for(&format!("{lines} {columns}"));
    }
    console.keys("\x03");
    assert_eq!(console.end().code(), Some(130), "{}", console.screen());
}

/// The terminal inside starts with the modes of the one outside, and what happens to one leaves the other as it is.
#[needs(UserNamespace)]
#[test]
fn modes_are_copied_and_brought_back() {
    let place = place();
    let script = "stty -a; stty raw -echo intr ^X; echo done; read x";
    let mut console = Console::run(&place, &["run", "-w", "fix", "--", "sh", "-c", script]);
    let before = console.modes();
    console.wait_for("done");
    // Every key is passed on while the command runs, none is taken for Offshoot itself.
    let raw = console.modes();
    for mode in ["ICANON", "ISIG", "IEXTEN"] {
        assert!(before.contains(mode) && !raw.contains(mode), "{mode}: {raw}");
    }
    console.keys("x\n");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert_eq!(console.modes(), before);
    assert!(console.screen().contains("intr = ^C"), "{}", console.screen());
}
