//! A shell says which workspace it is in, and the question about the network.

use std::fs;

use offshoot_machine::search_path;
use offshoot_needs::needs;
use offshoot_tests::product::Place;

use crate::console::{Console, newest, place, place_of_user};

const WELCOME: &str = "workspace fix of project: only changes in this project are kept, in the workspace; `exit` to leave";

/// A place whose user has this file in their home.
fn place_with(file: &str, text: &str) -> Place {
    let place = place();
    fs::write(place.path().join(file), text).unwrap();
    place
}

/// Runs the user's shell without a command.
fn shell(place: &Place, shell: &str) -> Console {
    let folders = search_path();
    let mut paths = std::env::split_paths(&folders).map(|folder| folder.join(shell));
    let path = paths.find(|path| path.exists()).unwrap();
    Console::run_with(place, &["run", "-w", "fix"], |command| {
        command.env("SHELL", path);
    })
}

fn leave(mut console: Console, place: &Place) {
    console.keys("exit 0\r");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    // What is recorded is the shell, and not how it was told.
    let command = newest(place)["command"].as_str().unwrap().to_owned();
    assert!(!command.contains("offshoot") && !command.contains(' '), "{command}");
}

#[needs(UserNamespace, "bash")]
#[needs(UserNamespace)]
#[test]
fn bash_shows_the_workspace_before_the_users_own_prompt() {
    for text in [
        "PS1='mine> '; alias own='echo of-the-user'\n",
        "PROMPT_COMMAND=again; again() { PS1='mine> '; }; alias own='echo of-the-user'\n",
        "PROMPT_COMMAND=(true again); again() { PS1='mine> '; }; alias own='echo of-the-user'\n",
    ] {
        let place = place_with(".bashrc", text);
        let mut console = shell(&place, "bash");
        console.wait_for(WELCOME);
        console.wait_for("(fix) mine> ");
        console.keys("own; (exit 7)\r");
        console.wait_for("of-the-user");
        console.wait_for("(fix) mine> ");
        console.keys("echo status $?\r");
        console.wait_for("status 7");
        leave(console, &place);
        assert_eq!(fs::read_to_string(place.path().join(".bashrc")).unwrap(), text);
    }
}

#[needs(UserNamespace, "zsh")]
#[needs(UserNamespace)]
#[test]
fn zsh_shows_the_workspace_before_the_users_own_prompt() {
    let text = "PROMPT='mine> '; alias own='echo of-the-user in $ZDOTDIR'\n";
    let place = place_with(".zshrc", text);
    fs::write(place.path().join(".zshenv"), "FROM=environment\n").unwrap();
    let mut console = shell(&place, "zsh");
    console.wait_for(WELCOME);
    console.wait_for("(fix) mine> ");
    console.keys("own; echo from $FROM\r");
    console.wait_for(&format!("of-the-user in {}\r\n", place.path().display()));
    console.wait_for("from environment");
    console.wait_for("(fix) mine> ");
    leave(console, &place);
}

#[needs(UserNamespace, "fish")]
#[needs(UserNamespace)]
#[test]
fn fish_shows_the_workspace_before_the_users_own_prompt() {
    let place = place();
    let config = place.path().join(".config/fish");
    fs::create_dir_all(&config).unwrap();
    let text = "set -g fish_greeting\nfunction fish_prompt; echo -n \"mine $status> \"; end\n";
    fs::write(config.join("config.fish"), text).unwrap();
    let mut console = shell(&place, "fish");
    console.wait_for(WELCOME);
    console.wait_for("(fix) mine 0> ");
    console.keys("false\r");
    console.wait_for("(fix) mine 1> ");
    leave(console, &place);
}

#[needs(UserNamespace)]
#[test]
fn a_command_and_another_shell_are_left_as_they_are() {
    let (place, user) = place_of_user();
    let mut console =
        Console::run_as(&place, &user, &["run", "-w", "fix", "--", "sh", "-c", "echo $0"]);
    console.wait_for("sh\r\n");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
    assert!(!console.screen().contains("only changes in this project"), "{}", console.screen());
    // No SHELL is /bin/sh.
    let mut console = Console::run_as(&place, &user, &["run", "-w", "fix"]);
    console.wait_for(WELCOME);
    console.keys("echo $PS1 $OFFSHOOT; exit 0\r");
    console.wait_for("1\r\n");
    assert_eq!(console.end().code(), Some(0), "{}", console.screen());
}

const QUESTION: &str = "git fetch needs the network. Allow it all of the network? (--net allow=HOST allows less) [y/N/always] ";

fn mode(place: &Place) -> String {
    newest(place)["network"]["mode"].as_str().unwrap().to_owned()
}

#[needs(UserNamespace)]
#[test]
fn somebody_at_a_terminal_is_asked_about_the_network() {
    let place = place();
    let fetch = ["exec", "-w", "fix", "--", "git", "fetch"];
    let projects = place.path().join(".config/offshoot/projects.toml");
    for (answer, expected) in [("\r", "none"), ("n\r", "none"), ("y\r", "host")] {
        let mut console = Console::run(&place, &fetch);
        console.wait_for(QUESTION);
        console.keys(answer);
        console.end();
        assert_eq!(mode(&place), expected, "{answer:?}: {}", console.screen());
        assert!(!projects.exists());
    }
    let mut console = Console::run(&place, &fetch);
    console.wait_for(QUESTION);
    console.keys("always\r");
    console.wait_for("every command of this project reaches all of the network from now on");
    console.end();
    assert_eq!(mode(&place), "host");
    let remembered = fs::read_to_string(&projects).unwrap();
    assert!(remembered.contains("net = \"host\""), "{remembered}");
    // From now on nobody is asked.
    let mut console = Console::run(&place, &fetch);
    console.end();
    assert!(!console.screen().contains("Allow it"), "{}", console.screen());
    assert_eq!(mode(&place), "host");
}

#[needs(UserNamespace)]
#[test]
fn the_question_is_about_the_hosts_of_the_command() {
    let place = place();
    let question = "curl needs the network. Allow it to reach localhost:1? [y/N/always/all] ";
    let curl = ["exec", "-w", "fix", "--", "curl", "localhost:1"];
    let ask = |answer: &str| {
        let mut console = Console::run(&place, &curl);
        console.wait_for(question);
        console.keys(answer);
        console.end();
        console.screen()
    };
    for (answer, expected) in [("n\r", "none"), ("y\r", "proxy"), ("all\r", "host")] {
        let screen = ask(answer);
        assert_eq!(mode(&place), expected, "{answer:?}: {screen}");
    }
    let screen = ask("always\r").replace("\r\n", "");
    assert!(
        screen.contains("every command of this project reaches localhost:1 from now on"),
        "{screen}"
    );
    assert!(
        screen.contains("`offshoot config unset --remembered exec.net` takes it back"),
        "{screen}"
    );
    // It holds, is shown, and can be taken back.
    Console::run(&place, &["exec", "-w", "fix", "--", "true"]).end();
    assert_eq!(mode(&place), "proxy");
    assert_eq!(place.ok(["config", "get", "exec.net"]), "proxy\n");
    assert_eq!(place.ok(["config", "get", "exec.allow"]), "localhost:1\n");
    let shown = place.ok(["config", "show", "--origin"]);
    assert!(shown.contains("# answered `always` for this project: "), "{shown}");
    let shown = place.ok(["sandbox", "show"]);
    let line = "by the network proxy: localhost:1 (exec.net, answered `always` for this project: ";
    assert!(shown.contains(line), "{shown}");
    place.ok(["config", "unset", "--remembered", "exec.net"]);
    assert_eq!(place.ok(["config", "get", "exec.net"]), "none\n");
    assert!(place.ok(["sandbox", "show"]).contains("loopback interface (profile)"));
    // Who talks to a socket in the file system, or to a server of their own, is not asked.
    for words in [&["psql", "-h", "/tmp"][..], &["sh", "-c", "true & curl -s localhost:1"]] {
        let mut console = Console::run(&place, &[&["exec", "-w", "fix", "--"], words].concat());
        console.end();
        assert!(!console.screen().contains("Allow it"), "{words:?}: {}", console.screen());
    }
}

#[needs(UserNamespace)]
#[test]
fn nobody_is_asked_who_cannot_answer_or_has_decided() {
    let place = place();
    let fetch = ["exec", "-w", "fix", "--", "git", "fetch"];
    let ask = |console: &mut Console| {
        console.end();
        assert!(!console.screen().contains("Allow it"), "{}", console.screen());
    };
    ask(&mut Console::run_with(&place, &fetch, |command| {
        command.env("CI", "true");
    }));
    ask(&mut Console::run_without_input(&place, &fetch));
    for options in [&["--json"][..], &["-q"], &["--net", "none"]] {
        let words = [&["exec", "-w", "fix"], options, &["--", "git", "fetch"]].concat();
        ask(&mut Console::run(&place, &words));
    }
    // It is about the network alone.
    ask(&mut Console::run(&place, &["exec", "-w", "fix", "--", "git", "status"]));
    assert_eq!(mode(&place), "none");
}
