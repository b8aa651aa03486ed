//! A second terminal in a session that runs.

use std::process::Command;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, binary};
use offshoot_tests::registry::Registry;
use offshoot_tests::user::User;
use rustix::process::Signal;

use crate::console::{Console, newest, place, place_of_user};

/// A shell whose prompt is not shown before it is there.
const SHELL: [&str; 7] = ["run", "-w", "fix", "--", "sh", "-c", "echo up; exec sh"];

fn first(place: &Place) -> Console {
    let mut console = Console::run(place, &SHELL);
    console.wait_for("up\r\n");
    console
}

fn second(place: &Place) -> Console {
    let mut console = Console::run(place, &SHELL);
    console.wait_for("joined the running session in fix");
    console.wait_for("up\r\n");
    console
}

fn both_see_the_same(mut one: Console, mut other: Console, place: &Place) {
    one.keys("echo by one > one.txt; echo don'e'\r");
    one.wait_for("done\r\n");
    other.keys("cat one.txt; mkdir -p notes.d && mv notes.d other.d && echo by other > other.txt; echo don'e'\r");
    other.wait_for("by one\r\n");
    other.wait_for("done\r\n");
    one.keys("cat other.txt; ls -d other.d\r");
    one.wait_for("by other\r\n");
    one.wait_for("other.d\r\n");
    other.keys("exit 7\r");
    assert_eq!(other.end().code(), Some(7), "{}", other.screen());
    assert!(other.screen().contains("left the session in fix;"), "{}", other.screen());
    one.keys("exit\r");
    assert_eq!(one.end().code(), Some(0), "{}", one.screen());
    assert!(one.text().contains("workspace fix: 3 added"), "{}", one.screen());
    assert_eq!(newest(place)["changed_files"].as_array().unwrap().len(), 3);
    assert_eq!(place.json(&["execs"])["execs"].as_array().unwrap().len(), 1, "one is recorded");
}

#[needs(UserNamespace)]
#[test]
fn a_second_run_joins_the_first() {
    let place = place();
    let one = first(&place);
    let other = second(&place);
    both_see_the_same(one, other, &place);
}

#[needs(UserNamespace)]
#[test]
fn a_second_run_of_an_ordinary_user_joins_the_first() {
    let (place, user) = place_of_user();
    let begin = |user: &User, text: &str| {
        let mut console = Console::run_as(&place, user, &SHELL);
        if !text.is_empty() {
            console.wait_for(text);
        }
        console.wait_for("up\r\n");
        console
    };
    let one = begin(&user, "");
    let other = begin(&user, "joined the running session in fix");
    both_see_the_same(one, other, &place);
}

/// Who joins is confined as the first is: by the same namespaces and walls, without capabilities, and with the same limits.
#[needs(UserNamespace)]
#[test]
fn who_joins_is_confined_as_the_first_is() {
    let place = place();
    let look = "for n in user mnt pid ipc uts net; do readlink /proc/self/ns/$n; done
        grep -E '^(NoNewPrivs|Seccomp|Seccomp_filters|Groups|Cap...):' /proc/self/status
        setarch -X true 2>/dev/null || echo no such personality; grep -E 'core|open' /proc/self/limits
        cat /proc/self/uid_map; ls -A \"$OFFSHOOT_HOME\" 2>&1; env | grep -v ^_ | cut -d= -f1 | sort
        f=/etc/x; (touch $f) 2>&1; ls /proc | grep -c '^1$'";
    let words = ["run", "-w", "fix", "-c", "exec.max_file_size=1GiB", "--", "sh", "-c"];
    let seen = |console: &Console| {
        let screen = console.screen();
        let (_, seen) = screen.split_once("begin\r\n").unwrap();
        seen.split_once("ended\r\n").unwrap().0.to_owned()
    };
    let script = format!("echo begin; {look}; echo ended; read line");
    let mut one = Console::run(&place, &[&words[..], &[&script]].concat());
    one.wait_for("ended\r\n");
    let mut other = Console::run(&place, &[&words[..], &[&script]].concat());
    other.wait_for("joined the running session");
    other.wait_for("ended\r\n");
    assert_eq!(seen(&one), seen(&other));
    assert!(
        seen(&one).contains("NoNewPrivs:\t1") && seen(&one).contains("Seccomp:\t2"),
        "{}",
        seen(&one)
    );
    assert!(seen(&one).contains("no such personality"), "{}", seen(&one));
    assert!(seen(&one).contains("CapBnd:\t0000000000000000"), "{}", seen(&one));
    other.keys("\r");
    other.end();
    one.keys("\r");
    one.end();
}

/// Who joins a session with a proxy reaches what the session reaches, and nothing else.
#[needs(UserNamespace, "curl")]
#[test]
fn who_joins_reaches_what_the_session_reaches() {
    let registry = Registry::start_elsewhere("127.0.0.2");
    registry.put("/hello", "hello there\n");
    let other_server = Registry::start_elsewhere("127.0.0.3");
    let (address, elsewhere) = (registry.address(), other_server.address());
    let get = format!("curl -sS {address}/hello; curl -sS {elsewhere}/hello; echo don'e'\r");
    let allow = format!("allow={}", registry.host());
    let (theirs, user) = place_of_user();
    for (place, user) in [(place(), None), (theirs, Some(user))] {
        let begin = |net: &str| {
            let words = [&SHELL[..1], &["--net", net], &SHELL[1..]].concat();
            match &user {
                Some(user) => Console::run_as(&place, user, &words),
                None => Console::run(&place, &words),
            }
        };
        let mut one = begin(&allow);
        one.wait_for("up\r\n");
        // What it asks for itself does not count: the network is the session's.
        let mut other = begin(&format!("allow={}", other_server.host()));
        other.wait_for("joined the running session in fix");
        other.wait_for("up\r\n");
        for console in [&mut other, &mut one] {
            console.keys(&get);
            console.wait_for("hello there\r\n");
            console.wait_for("is not allowed");
            console.wait_for("done\r\n");
            assert_eq!((registry.asked(), other_server.asked()), (1, 0));
        }
        for mut console in [other, one] {
            console.keys("exit\r");
            console.end();
        }
    }
}

/// The second has a terminal of its own: its size, its keys and its jobs.
#[needs(UserNamespace, "bash")]
#[test]
fn the_second_terminal_is_a_terminal() {
    let place = place();
    let mut one = first(&place);
    let mut other = Console::run_with(&place, &["run", "-w", "fix"], |command| {
        command.env("SHELL", "/bin/bash").env("PS1", "$ ");
    });
    other.wait_for("joined the running session in fix");
    other.wait_for("(fix) ");
    other.keys("tty; stty size\r");
    other.wait_for("/dev/pts/1\r\n");
    other.wait_for("24 80\r\n");
    other.resize(30, 100);
    other.keys("stty size\r");
    other.wait_for("30 100\r\n");
    one.keys("stty size\r");
    one.wait_for("24 80\r\n");
    other.keys("sleep 60\r");
    std::thread::sleep(std::time::Duration::from_millis(300));
    other.keys("\x1a");
    other.wait_for("Stopped");
    other.keys("jobs; fg\r");
    other.wait_for("Stopped");
    other.keys("\x03");
    other.wait_for("(fix) ");
    other.keys("ps -o tty= -p $$; exit\r");
    other.wait_for("pts/1\r\n");
    assert_eq!(other.end().code(), Some(0), "{}", other.screen());
    one.keys("exit\r");
    one.end();
}

/// Nobody's work is cut off: the first waits for the second.
#[needs(UserNamespace)]
#[test]
fn the_first_waits_for_the_second() {
    let place = place();
    let mut one = first(&place);
    let mut other = second(&place);
    one.keys("exit 3\r");
    one.wait_for("waiting for 1 other terminal in this workspace; Ctrl-C ends it");
    // Longer than what a command leaves running is let be.
    other.keys("trap '' TERM; sleep 1.5; echo late > late.txt; exit\r");
    assert_eq!(other.end().code(), Some(0), "{}", other.screen());
    assert_eq!(one.end().code(), Some(3), "{}", one.screen());
    assert!(one.text().contains("A /late.txt"), "{}", one.screen());
}

#[needs(UserNamespace)]
#[test]
fn who_waits_for_the_second_can_end_it() {
    let place = place();
    let mut one = first(&place);
    let mut other = second(&place);
    other.keys("echo early > early.txt; echo don'e'\r");
    other.wait_for("done\r\n");
    one.keys("exit\r");
    one.wait_for("Ctrl-C ends it");
    one.keys("\x03");
    other.wait_for("the session in fix was ended");
    assert!(!other.end().success());
    assert_eq!(one.end().code(), Some(130), "{}", one.screen());
    assert!(one.text().contains("A /early.txt"), "{}", one.screen());
}

/// A window that is closed ends its own shell and nothing else.
#[needs(UserNamespace)]
#[test]
fn a_second_terminal_that_is_closed_leaves_the_first_alone() {
    let place = place();
    let mut one = first(&place);
    for killed in [false, true] {
        let mut other = second(&place);
        match killed {
            true => other.signal(Signal::KILL),
            false => other.close(),
        }
        other.end();
    }
    one.keys("sleep 0.5; ls /dev/pts; echo still there; exit\r");
    one.wait_for("0  ptmx\r\n");
    one.wait_for("still there");
    assert_eq!(one.end().code(), Some(0), "{}", one.screen());
    assert!(!one.screen().contains("waiting for"), "{}", one.screen());
}

#[needs(UserNamespace)]
#[test]
fn both_are_listed_and_ended() {
    let place = place();
    let mut one = first(&place);
    let mut other = second(&place);
    let running = place.json(&["ps"])["running"].clone();
    let running = running.as_array().unwrap();
    assert_eq!(running.len(), 2, "{running:?}");
    let [session, joined] = [0, 1].map(|at| running[at]["exec"].as_str().unwrap().to_owned());
    assert_eq!(
        (&running[0]["joined"], &running[1]["joined"]),
        (&serde_json::Value::Null, &session.as_str().into())
    );
    let said = place.run(["kill", &joined, "--signal", "USR1"]);
    assert!(!said.status.success());
    place.ok(["kill", &joined]);
    assert!(!other.end().success());
    one.keys("echo still ther'e'\r");
    one.wait_for("still there\r\n");
    let mut other = second(&place);
    place.ok(["kill", "--now", &session]);
    other.wait_for("the session in fix was ended");
    other.end();
    one.end();
    assert_eq!(place.json(&["ps"])["running"].as_array().unwrap().len(), 0);
}

/// A session with another network is another session.
#[needs(UserNamespace)]
#[test]
fn nobody_gets_a_network_by_joining() {
    let place = place();
    let mut one = first(&place);
    let words = ["run", "-w", "fix", "--net", "host", "--", "true"];
    let mut other = Console::run(&place, &words);
    other.wait_for("the running session has no network");
    assert_eq!(other.end().code(), Some(125));
    one.keys("exit\r");
    one.end();
}

/// Only sessions of people are joined, and only by people.
#[needs(UserNamespace)]
#[test]
fn commands_of_programs_are_not_joined() {
    let place = place();
    let mut exec =
        Console::run(&place, &["exec", "-w", "fix", "--", "sh", "-c", "echo up; sleep 60"]);
    exec.wait_for("up");
    let mut run = Console::run(&place, &["run", "-w", "fix", "--", "true"]);
    run.wait_for("workspace fix is busy");
    run.end();
    exec.signal(Signal::INT);
    exec.end();
    let mut one = first(&place);
    for words in
        [&["exec", "-w", "fix", "--", "true"][..], &["run", "-w", "fix", "-T", "--", "true"]]
    {
        let mut other = Console::run(&place, words);
        other.wait_for("workspace fix is busy");
        assert_eq!(other.end().code(), Some(125), "{}", other.screen());
    }
    one.keys("exit\r");
    one.end();
}

/// The broker serves everybody in the session: without it, overlayfs refuses.
#[needs(UserNamespace, "perl")]
#[test]
fn who_joins_can_rename_directories() {
    let place = place();
    place.ok([
        "exec",
        "-q",
        "-w",
        "fix",
        "--shell",
        "mkdir one other; echo of one > one/1; echo of other > other/2",
    ]);
    let mut one = first(&place);
    let mut other = second(&place);
    for (console, name) in [(&mut one, "one"), (&mut other, "other")] {
        console
            .keys(&format!("perl -e 'rename \"{name}\", \"{name}.d\" or die $!' && echo don'e'\r"));
        console.wait_for("done\r\n");
    }
    other.keys("exit\r");
    other.end();
    one.keys("exit\r");
    one.end();
    assert!(one.text().contains("R /other.d/2  (from /other/2, 100%)"), "{}", one.text());
}

/// There is room for eight beside the first.
#[needs(UserNamespace)]
#[test]
fn eight_can_join_at_a_time() {
    let place = place();
    let mut one = first(&place);
    let mut guests: Vec<Console> = (0..8).map(|_| second(&place)).collect();
    let mut ninth = Console::run(&place, &SHELL);
    assert_eq!(ninth.end().code(), Some(125), "{}", ninth.screen());
    let said = ninth.text();
    assert!(said.contains("workspace fix is busy: 8 terminals have joined its session"), "{said}");
    assert!(said.contains("end one of them, or work in another workspace"), "{said}");
    let leave = |mut guest: Console| {
        guest.keys("exit\r");
        assert_eq!(guest.end().code(), Some(0), "{}", guest.screen());
    };
    guests.drain(..1).for_each(leave);
    guests.push(second(&place));
    guests.into_iter().for_each(leave);
    one.keys("exit\r");
    assert_eq!(one.end().code(), Some(0), "{}", one.screen());
}

/// Its command line has to fit into one message.
#[needs(UserNamespace)]
#[test]
fn who_joins_with_too_long_a_command_is_told() {
    let place = place();
    let mut one = first(&place);
    for (length, code) in [(40_000, 0), (70_000, 125)] {
        let long = format!("LONG={}", "x".repeat(length));
        let mut other =
            Console::run(&place, &["run", "-w", "fix", "-e", &long, "--", "sh", "-c", "true"]);
        assert_eq!(other.end().code(), Some(code), "{}", other.screen());
        let told = "the command line and its variables take more than 64 KiB";
        assert_eq!(other.screen().contains(told), code != 0, "{}", other.screen());
    }
    one.keys("exit\r");
    assert_eq!(one.end().code(), Some(0), "{}", one.screen());
}

/// Who looks around while an agent works has its network, its certificates and what stands for its key.
#[needs(Overlay, UserNamespace)]
#[test]
fn who_joins_an_agent_needs_no_option() {
    let (theirs, user) = place_of_user();
    for (place, user) in [(place(), None), (theirs, Some(user))] {
        let bin = place.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join("claude"), "#!/bin/sh\necho up; read line\n").unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(bin.join("claude"), open).unwrap();
        if user.is_some() {
            offshoot_tests::user::give_away(place.path());
        }
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let begin = |words: &[&str]| {
            let mut program = Command::new("setsid");
            program.arg("--ctty");
            match &user {
                Some(user) => program.args(user.becoming()).arg(user.binary()),
                None => program.arg(binary()),
            };
            Console::start_sized(&place, (24, 80), program, words, |command| {
                command.env("PATH", &path).env("ANTHROPIC_API_KEY", "hush-4711-hush");
            })
        };
        for inject in [false, true] {
            let on = if inject { "agents.inject=claude" } else { "agents.inject=" };
            let mut one = begin(&["run", "-w", "fix", "-c", on, "claude"]);
            one.wait_for("up\r\n");
            let mut other = begin(&["run", "-w", "fix", "--", "sh", "-c", "echo in; exec sh"]);
            other.wait_for("joined the running session in fix");
            other.wait_for("in\r\n");
            other.keys("echo \"<$https_proxy|$NODE_EXTRA_CA_CERTS|$ANTHROPIC_API_KEY>\"; ls $NODE_EXTRA_CA_CERTS $SSL_CERT_FILE > /dev/null && echo don'e'\r");
            other.wait_for("done\r\n");
            let known = match inject {
                true => "<http://127.0.0.1:3128|/run/offshoot/proxy.pem|sk-ant-kept-outside>",
                false => "<http://127.0.0.1:3128||>",
            };
            assert!(other.screen().contains(known), "{}", other.screen());
            other.keys("exit\r");
            assert_eq!(other.end().code(), Some(0), "{}", other.screen());
            one.keys("\r");
            one.end();
            // Who names another network is told which it is.
            let mut one = begin(&["run", "-w", "fix", "-c", on, "claude"]);
            one.wait_for("up\r\n");
            let mut other = begin(&["run", "-w", "fix", "--net", "none", "--", "true"]);
            assert_ne!(other.end().code(), Some(0), "{}", other.screen());
            assert!(
                other.screen().contains("reaches the network by a proxy"),
                "{}",
                other.screen()
            );
            one.keys("\r");
            one.end();
        }
    }
}
