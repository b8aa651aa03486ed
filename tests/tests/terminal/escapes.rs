//! What a terminal obeys reaches none by way of a file, a name or the output of a command.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use offshoot_needs::needs;
use offshoot_tests::product::Place;

use crate::console::{Console, newest, place};

/// Sets the title, writes the clipboard, asks for an answer, clears the screen, goes up a line, and turns text around.
const EVIL: &str = "\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b[6n\x1b[2J\x1b[1A\u{202e}gnp";
/// The same without what no name can have.
const NAME: &str = "evil\x1b]0;owned\x07\x1b[2J\u{202e}gnp\u{200b}";

/// What must not be among what a terminal was sent; the program itself may clear the screen in a review.
#[track_caller]
fn obeys_nothing(console: &Console, what: &str) {
    let screen = console.screen();
    for evil in ["\x1b]", "\x1b[6n", "\x1b[2J", "\x1b[1A", "\u{202e}", "\u{200b}", "\x07"] {
        assert!(!screen.contains(evil), "{what} sends {evil:?}: {screen:?}");
    }
}

fn shown(place: &Place, arguments: &[&str]) -> Console {
    let mut console = Console::run_with(place, arguments, |command| {
        command.env("PAGER", "cat").env("OFFSHOOT_UI__PROGRESS", "never");
    });
    console.end();
    console
}

#[test]
fn a_file_draws_nothing() {
    let place = place();
    let bytes = format!("{EVIL}\nred: \x1b[31mred\x1b[0m\r\n\u{9b}2Jend\n");
    place.ok_with(["fs", "write", "/evil", "-w", "fix"], bytes.as_bytes());
    let console = shown(&place, &["fs", "cat", "/evil", "-w", "fix"]);
    obeys_nothing(&console, "fs cat");
    let screen = console.screen();
    for seen in ["^[]0;owned^G", "^[[2J", "<202e>gnp", "^[[31mred", "<9b>2Jend"] {
        assert!(screen.contains(seen), "{seen}: {screen:?}");
    }
    // As it is where that is asked for, and for programs.
    let raw = shown(&place, &["fs", "cat", "/evil", "-w", "fix", "--raw"]).screen();
    assert!(raw.contains("\x1b]0;owned\x07"), "{raw:?}");
    assert_eq!(place.run(["fs", "cat", "/evil", "-w", "fix"]).stdout, bytes.as_bytes());
}

#[needs(Overlay, UserNamespace)]
#[test]
fn the_output_of_a_command_keeps_its_colours_and_draws_nothing_else() {
    let place = place();
    let print = "printf '\\033]0;owned\\007\\033[2J\\033[31mred\\033[0m 10%%\\r20%%\\n'; \
                 printf '\\033]52;c;x\\007error\\n' >&2; printf '\\033]0;cut'";
    let seen = |console: &Console, what: &str| {
        obeys_nothing(console, what);
        let screen = console.screen();
        for text in ["^[]0;owned^G", "\x1b[31mred\x1b[0m 10%\r20%", "^[]52;c;x^Gerror", "^[]0;cut"]
        {
            assert!(screen.contains(text), "{what} {text:?}: {screen:?}");
        }
    };
    seen(&shown(&place, &["exec", "-w", "fix", "--shell", print]), "exec");
    let exec = newest(&place)["exec"].as_str().unwrap().to_owned();
    seen(&shown(&place, &["logs", &exec]), "logs");
    let raw = shown(&place, &["logs", &exec, "--raw"]).screen();
    assert!(raw.contains("\x1b]0;owned\x07"), "{raw:?}");
    let raw = shown(&place, &["exec", "-w", "fix", "--raw", "--shell", print]).screen();
    assert!(raw.contains("\x1b]0;owned\x07"), "{raw:?}");
    let piped = place.run(["logs", &exec]);
    assert!(piped.stdout.starts_with(b"\x1b]0;owned\x07"), "{piped:?}");
    assert!(piped.stderr.starts_with(b"\x1b]52;c;x\x07"), "{piped:?}");
}

/// Every command that prints names, texts or lines which others chose.
#[needs(Overlay, UserNamespace)]
#[test]
fn no_name_draws_anything() {
    let place = place();
    fs::write(place.project().join(NAME), format!("{EVIL}\n")).unwrap();
    let script = place.project().join("run.sh");
    fs::write(&script, format!("printf '%s' '{EVIL}' > '{NAME}'; echo more >> notes.txt\n"))
        .unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    place.ok(["pull", "-w", "fix"]);
    place.ok(["exec", "-w", "fix", "--", "sh", "run.sh"]);
    place.ok(["exec", "-w", "fix", "--", "touch", &format!("new {NAME}")]);
    place.ok(["exec", "-w", "fix", "--shell", &format!("echo '{EVIL}' > 'a {NAME}'")]);
    let exec = newest(&place)["exec"].as_str().unwrap().to_owned();
    place.ok(["checkpoint", "create", "kept", "-w", "fix"]);
    let path = format!("/{NAME}");
    let missing = format!("/no {NAME}");
    for arguments in [
        &["status", "-w", "fix"][..],
        &["diff", "-w", "fix"],
        &["diff", "-w", "fix", "--stat"],
        &["diff", "-w", "fix", "--name-status"],
        &["diff", "-w", "fix", "--side-by-side"],
        &["diff", "-w", "fix", "--word-diff"],
        &["review", "-w", "fix", "--list"],
        &["fs", "ls", "/", "-w", "fix"],
        &["fs", "tree", "/", "-w", "fix"],
        &["fs", "stat", &path, "-w", "fix"],
        &["fs", "cat", &missing, "-w", "fix"],
        &["fs", "cat", &path, "-w", "fix"],
        &["history", &path, "-w", "fix"],
        &["show", &exec],
        &["show", &exec, "--json"],
        &["execs"],
        &["logs", &exec],
        &["logs", NAME],
        &["ps"],
        &["log", "-w", "fix"],
        &["op", "log"],
        &["conflicts", "-w", "fix"],
        &["workspace", "list"],
        &["workspace", "show", "fix"],
        &["workspace", "create", NAME],
        &["checkpoint", "list", "-w", "fix"],
        &["exec", "-w", "fix", "--", NAME],
        &["exec", "-w", "fix", "--shell", &format!("touch 'b {NAME}'")],
        &["policy", "explain", "--", "cat", NAME],
        &["vault", "import", NAME],
        &["commit", "-w", "fix", "--dry-run"],
        &["commit", "-w", "fix"],
        &["undo", "-w", "fix"],
        &["recover", "list"],
        &["-c", NAME, "status"],
        &[NAME],
    ] {
        obeys_nothing(&shown(&place, arguments), &format!("{arguments:?}"));
    }
}
