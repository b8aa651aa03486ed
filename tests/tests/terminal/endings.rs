//! How a command in a terminal ends, and that the terminal is as it was before.

use std::time::{Duration, Instant};

use offshoot_needs::needs;
use rustix::process::Signal;

use crate::console::{Console, newest, place};

/// Ends only when it is killed.
const DEAF: &str =
    "trap '' HUP INT TERM QUIT; echo x > begun; echo on; while :; do sleep 0.1; done";

#[needs(UserNamespace)]
#[test]
fn exit_codes_and_signals() {
    let place = place();
    let cases = [
        ("exit 0", 0),
        ("exit 7", 7),
        ("kill -9 $$", 137),
        ("kill -15 $$", 143),
        ("exec no-such-command", 127),
    ];
    for (script, code) in cases {
        let mut console = Console::run(&place, &["run", "-w", "fix", "--", "sh", "-c", script]);
        let before = console.modes();
        assert_eq!(console.end().code(), Some(code), "{script}: {}", console.screen());
        assert_eq!(console.modes(), before, "{script}");
    }
    let mut console = Console::run(&place, &["run", "-w", "fix", "--", "no-such-command"]);
    let before = console.modes();
    assert_eq!(console.end().code(), Some(127), "{}", console.screen());
    assert!(console.screen().contains("error:"), "{}", console.screen());
    assert_eq!(console.modes(), before);
}

/// The first signal asks, and what the command does then is kept.
#[needs(UserNamespace)]
#[test]
fn a_signal_asks_the_command_to_end() {
    let place = place();
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let script = "trap 'echo bye > bye; exit 4' TERM; echo on; while :; do sleep 0.05; done";
        let mut console = Console::run(&place, &["run", "-w", "fix", "--", "sh", "-c", script]);
        let before = console.modes();
        console.wait_for("on");
        console.signal(signal);
        assert_eq!(console.end().code(), Some(code), "{}", console.screen());
        assert_eq!(console.modes(), before);
        assert_eq!(newest(&place)["exit_code"], 4);
        assert_eq!(newest(&place)["interrupted"], true);
        assert_eq!(place.ok(["fs", "cat", "/bye", "-w", "fix"]), "bye\n");
        place.ok(["undo", "-w", "fix"]);
    }
}

/// The second one does not wait, and neither does SIGQUIT; what was written until then is kept.
#[needs(UserNamespace)]
#[test]
fn the_second_signal_kills_at_once() {
    let place = place();
    for (word, signals, code) in [
        ("run", &[Signal::TERM, Signal::TERM][..], 143),
        ("run", &[Signal::INT, Signal::TERM], 130),
        ("run", &[Signal::QUIT], 137),
        ("exec", &[Signal::TERM, Signal::TERM], 143),
        ("exec", &[Signal::INT, Signal::INT], 130),
        ("exec", &[Signal::QUIT], 137),
    ] {
        let words = [word, "-w", "fix", "-c", "exec.grace=1h", "--", "sh", "-c", DEAF];
        let mut console = Console::run(&place, &words);
        let before = console.modes();
        console.wait_for("on");
        let started = Instant::now();
        for signal in signals {
            console.signal(*signal);
            std::thread::sleep(Duration::from_millis(300));
        }
        assert_eq!(console.end().code(), Some(code), "{word}: {}", console.screen());
        assert!(started.elapsed() < Duration::from_secs(30), "{word}");
        assert_eq!(console.modes(), before, "{word}");
        assert_eq!(newest(&place)["interrupted"], true, "{word}");
        assert_eq!(place.ok(["fs", "cat", "/begun", "-w", "fix"]), "x\n");
        place.ok(["undo", "-w", "fix"]);
    }
}

/// Signals that come together, as from `timeout` and its like, are one request: the command gets its time.
#[needs(UserNamespace)]
#[test]
fn two_signals_at_once_are_one_request() {
    let place = place();
    let script =
        "trap 'sleep 0.5; echo bye > bye; exit 4' TERM; echo on; while :; do sleep 0.05; done";
    let words = ["exec", "-w", "fix", "-c", "exec.grace=1h", "--", "sh", "-c", script];
    let mut console = Console::run(&place, &words);
    console.wait_for("on");
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        console.signal(signal);
    }
    std::thread::sleep(Duration::from_millis(300));
    // Whoever closes a session says so too; that is no second request.
    console.signal(Signal::HUP);
    let code = console.end().code();
    assert!([Some(130), Some(143)].contains(&code), "{code:?}: {}", console.screen());
    assert_eq!(newest(&place)["exit_code"], 4);
    assert_eq!(place.ok(["fs", "cat", "/bye", "-w", "fix"]), "bye\n");
}

#[needs(UserNamespace)]
#[test]
fn a_window_that_is_closed_hangs_up() {
    let place = place();
    let script = "trap 'echo gone > gone; exit 6' HUP; echo x > begun; echo on; while :; do sleep 0.05; done";
    let words = ["run", "-w", "fix", "-c", "exec.grace=1h", "--", "sh", "-c", script];
    let mut console = Console::run(&place, &words);
    console.wait_for("on");
    console.close();
    assert_eq!(console.end().code(), Some(6));
    let result = newest(&place);
    assert_eq!(
        (&result["interrupted"], &result["exit_code"]),
        (&true.into(), &6.into()),
        "{result}"
    );
    assert_eq!(place.ok(["fs", "cat", "/begun", "-w", "fix"]), "x\n");
    assert_eq!(place.ok(["fs", "cat", "/gone", "-w", "fix"]), "gone\n");
}

/// Who does not care about a hang-up is asked to end, and killed at last.
#[needs(UserNamespace)]
#[test]
fn a_window_that_is_closed_ends_the_deaf_too() {
    let place = place();
    let words = ["run", "-w", "fix", "-c", "exec.grace=300ms", "--", "sh", "-c", DEAF];
    let mut console = Console::run(&place, &words);
    console.wait_for("on");
    console.close();
    assert_eq!(console.end().code(), Some(137));
    assert_eq!(place.ok(["fs", "cat", "/begun", "-w", "fix"]), "x\n");
}

#[needs(UserNamespace)]
#[test]
fn a_time_can_be_set() {
    let place = place();
    for options in [&["--timeout", "300ms"][..], &["-c", "run.timeout=300ms"]] {
        let words = [&["run", "-w", "fix"][..], options, &["--", "sleep", "1000"]].concat();
        let mut console = Console::run(&place, &words);
        let before = console.modes();
        assert_eq!(console.end().code(), Some(124), "{}", console.screen());
        assert!(console.screen().contains("timed out after 300ms"), "{}", console.screen());
        assert_eq!(console.modes(), before);
    }
    // The time of `exec` is none of its business.
    let words = ["run", "-w", "fix", "-c", "exec.timeout=100ms", "--", "sleep", "0.5"];
    assert_eq!(Console::run(&place, &words).end().code(), Some(0));
}

/// A prompt or a last line without an end does not run into what Offshoot says.
#[needs(UserNamespace)]
#[test]
fn the_summary_starts_on_a_line_of_its_own() {
    let place = place();
    let script = "rm notes.txt; echo hi > f; printf half";
    let mut console = Console::run(&place, &["run", "-w", "fix", "--", "sh", "-c", script]);
    assert_eq!(console.end().code(), Some(0));
    let screen = console.screen();
    let plain = plain(&screen);
    let expected = "half\r\nworkspace fix: 1 added, 1 deleted\r\n  A /f\r\n  D /notes.txt\r\nreview: offshoot review   \
                    commit: offshoot commit   undo: offshoot undo   discard: offshoot discard\r\n";
    assert_eq!(plain, expected, "{screen:?}");
    assert!(screen.contains('\x1b'), "a terminal gets colours: {screen:?}");
    let mut console =
        Console::run_with(&place, &["run", "-w", "fix", "--", "sh", "-c", "echo > g"], |command| {
            command.env("NO_COLOR", "1");
        });
    console.end();
    assert!(!console.screen().contains('\x1b'), "{:?}", console.screen());
    let mut console =
        Console::run(&place, &["run", "-w", "fix", "-q", "--", "sh", "-c", "echo > h"]);
    console.end();
    assert_eq!(console.screen(), "");
}

/// Text without colours.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}
