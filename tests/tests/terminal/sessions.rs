//! What a command's terminal is like.

use std::process::{Command, Stdio};

use offshoot_needs::needs;

use crate::console::{Console, newest, place, place_of_user};

/// Whether something is a terminal, and which.
const LOOK: &str =
    "tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all three; stty size; ls /dev/pts;
    readlink /proc/self/fd/0; echo \"$TERM $COLORTERM\"; ps -o pid=,sid=,tty= -p $$";

fn looks_around(mut console: Console) {
    for line in ["/dev/pts/0", "all three", "24 80", "0  ptmx", "/dev/pts/0", "xterm truecolor"] {
        console.wait_for(line);
    }
    console.wait_for("2       2 pts/0");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

#[needs(UserNamespace)]
#[test]
fn a_command_has_a_terminal_of_its_own() {
    let place = place();
    let words = ["run", "-w", "fix", "--", "sh", "-c", LOOK];
    looks_around(Console::run(&place, &words));
}

#[needs(UserNamespace)]
#[test]
fn a_command_of_an_ordinary_user_has_a_terminal_of_its_own() {
    let (place, user) = place_of_user();
    let words = ["run", "-w", "fix", "--", "sh", "-c", LOOK];
    looks_around(Console::run_as(&place, &user, &words));
}

/// Whoever holds a descriptor of a terminal can type into it. No process inside has one of the caller's.
#[needs(UserNamespace)]
#[test]
fn no_descriptor_leads_to_the_callers_terminal() {
    let place = place();
    let script = "for f in /proc/[0-9]*/fd/*; do stat -Lc 'device %d' $f 2>&1; done; echo looked
                  (echo typed > /dev/tty) 2>&1 || echo refused";
    for (word, last) in [("run", "typed"), ("exec", "refused")] {
        let mut console = Console::run(&place, &[word, "-w", "fix", "--", "sh", "-c", script]);
        console.wait_for("looked");
        console.wait_for(last);
        assert_eq!(console.end().code(), Some(0), "{word}: {}", console.screen());
        let screen = console.screen();
        assert!(screen.matches("device ").count() >= 3, "{word}: {screen}");
        assert!(!screen.contains(&format!("device {}\r", console.device())), "{word}: {screen}");
    }
}

/// A program may close its terminal and open it again.
#[needs(UserNamespace)]
#[test]
fn a_terminal_lasts_as_long_as_its_command() {
    let place = place();
    let script =
        "exec <&- >&- 2>&-; sleep 0.3; echo again >/dev/tty; sleep 0.2; cat </dev/tty >/dev/tty";
    let mut console = Console::run(&place, &["run", "-w", "fix", "--", "sh", "-c", script]);
    console.wait_for("again");
    console.keys("typed\r\x04");
    console.wait_for("typed\r\ntyped\r\n");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

#[needs(UserNamespace)]
#[test]
fn all_that_is_printed_is_shown_and_kept() {
    let place = place();
    let words = ["run", "-w", "fix", "-c", "exec.output_limit=16MiB"];
    let command = ["--", "seq", "1", "100000"];
    let mut console = Console::run(&place, &[&words[..], &command].concat());
    assert_eq!(console.end().code(), Some(0));
    let expected: String = (1..=100_000).map(|n| format!("{n}\r\n")).collect();
    let screen = console.screen();
    assert!(screen.starts_with(&expected), "{} bytes", screen.len());
    let result = newest(&place);
    assert_eq!((&result["terminal"], &result["interrupted"]), (&true.into(), &false.into()));
    assert_eq!((&result["stdout"], &result["stderr"]), (&expected.as_str().into(), &"".into()));
    assert_eq!(place.ok(["logs", result["exec"].as_str().unwrap()]), expected);
}

#[needs(UserNamespace)]
#[test]
fn what_is_printed_is_not_kept_where_that_is_asked_for() {
    let place = place();
    let words = ["run", "-w", "fix", "--no-record", "--", "echo", "a secret"];
    let mut console = Console::run(&place, &words);
    console.wait_for("a secret");
    assert_eq!(console.end().code(), Some(0));
    let logs = place.json(&["logs", newest(&place)["exec"].as_str().unwrap()]);
    assert_eq!((&logs["stdout"], &logs["truncated"]["stdout_bytes"]), (&"".into(), &10.into()));
}

/// Without a terminal at one end there is none for the command.
#[needs(UserNamespace)]
#[test]
fn half_a_terminal_is_none() {
    let place = place();
    let script = "[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none; read line; echo got $line >&2";
    let words = ["run", "-w", "fix", "--", "sh", "-c", script];
    let mut console = Console::run_with(&place, &words, |command| {
        command.stdout(Stdio::piped());
    });
    console.keys("typed\r");
    console.wait_for("got typed");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(!console.screen().contains("none"), "standard output is another");
    let mut console = Console::run_without_input(&place, &words);
    console.wait_for("none");
    console.end();
    let words = ["run", "-w", "fix", "-T", "--", "sh", "-c", script];
    let mut console = Console::run(&place, &words);
    console.wait_for("none");
    console.keys("typed\r");
    console.wait_for("got typed");
    console.end();
}

/// Standard output belongs to the document, so there is no terminal; what is typed is read all the same.
#[needs(UserNamespace)]
#[test]
fn a_document_and_a_terminal_exclude_each_other() {
    let place = place();
    let words =
        ["run", "-w", "fix", "--json", "--", "sh", "-c", "[ -t 0 ] || read line; echo $line"];
    let mut console = Console::run(&place, &words);
    console.keys("typed\r");
    console.wait_for("\"terminal\": false");
    console.wait_for("\"stdout\": \"typed\\n\"");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

#[needs(UserNamespace)]
#[test]
fn without_a_command_the_users_shell_runs() {
    let place = place();
    place.ok([
        "exec",
        "-w",
        "fix",
        "--shell",
        "printf '#!/bin/sh\necho my own shell\n' > sh.sh; chmod +x sh.sh",
    ]);
    let shell = place.project().canonicalize().unwrap().join("sh.sh");
    let mut console = Console::run_with(&place, &["run", "-w", "fix"], |command| {
        command.env("SHELL", &shell);
    });
    console.wait_for("my own shell");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    let mut console = Console::run(&place, &["run", "-w", "fix"]);
    console.keys("echo $0\rexit 9\r");
    console.wait_for("/bin/sh\r\n");
    assert_eq!(console.end().code(), Some(9), "{}", console.screen());
}

/// What the documents tell people to try first.
#[needs(UserNamespace, "bash", "git")]
#[test]
fn the_first_thing_to_try() {
    let place = place();
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.env_clear().envs(place.environment()).env("GIT_CONFIG_NOSYSTEM", "1");
        git.args(["-c", "user.name=Tester", "-c", "user.email=tester@localhost"]).args(words);
        let output = git.current_dir(place.project()).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "start"]);
    let mut console = Console::run(&place, &["run", "--", "bash", "--norc"]);
    console.wait_for("bash-");
    console.keys("git mv README.md GUIDE.md; git status --short\r");
    console.wait_for("README.md -> GUIDE.md");
    console.keys("exit\r");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    for text in ["R\u{1b}[0m /GUIDE.md", "(from /README.md, 100%)", "review: offshoot review -w "] {
        assert!(console.screen().contains(text), "{text:?}: {}", console.screen());
    }
    let diff = place.ok(["diff"]);
    assert!(diff.contains("rename from README.md\nrename to GUIDE.md"), "{diff}");
    assert!(place.project().join("README.md").exists());
}
