//! Completions, asked for by real shells.

use std::fs;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, binary};

use crate::transcript::{demo, demo_vault};

/// A shell in the project, with the binary in its path.
fn shell(place: &Place, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.env_clear().envs(place.environment()).current_dir(place.project());
    let folder = binary().parent().unwrap().to_str().unwrap();
    command.env("PATH", format!("{folder}:{}", std::env::var("PATH").unwrap()));
    command.args(arguments).output().unwrap()
}

fn lines(output: &Output) -> Vec<String> {
    assert!(output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().map(str::to_owned).collect()
}

/// What bash offers for the last of these words.
fn bash(place: &Place, words: &[&str]) -> Vec<String> {
    let script = r#"source <(offshoot completions bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9;
        _clap_complete_offshoot offshoot "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"; echo "${COMPREPLY[@]}""#;
    lines(&shell(place, "bash", &[&["-c", script, "bash"], words].concat()))
}

fn named() -> (Place, String) {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    place.ok(["checkpoint", "create", "greeted", "-w", "fix"]);
    assert_eq!(place.json(&["execs"])["execs"], serde_json::json!([]));
    place.ok(["exec", "-w", "fix", "true"]);
    let exec = place.json(&["execs"])["execs"][0]["exec"].as_str().unwrap()[..12].to_owned();
    (place, exec)
}

#[needs("bash", "zsh", "fish")]
#[test]
fn every_shell_can_be_registered() {
    let place = demo();
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.ok(["completions", name]);
        assert!(script.contains("OFFSHOOT_COMPLETE"), "{name}: {script}");
    }
    assert_eq!(place.run(["completions", "tcsh"]).status.code(), Some(2));
    for name in ["bash", "zsh", "fish"] {
        let script = place.path().join("script");
        fs::write(&script, place.ok(["completions", name])).unwrap();
        let checked = Command::new(name).arg("-n").arg(&script).output().unwrap();
        assert!(checked.status.success() && checked.stderr.is_empty(), "{name}: {checked:?}");
    }
}

#[needs("bash")]
#[needs(UserNamespace)]
#[test]
fn bash_offers_the_names_that_there_are() {
    let (place, exec) = named();
    assert_eq!(bash(&place, &["offshoot", "wor"]), ["workspace"]);
    assert_eq!(bash(&place, &["offshoot", "exec", "-w", ""]), ["fix", "other"]);
    assert_eq!(bash(&place, &["offshoot", "exec", "-w", "o"]), ["other"]);
    assert_eq!(bash(&place, &["offshoot", "commit", "f"]), ["fix"]);
    assert_eq!(bash(&place, &["offshoot", "checkpoint", "show", "gr"]), ["greeted"]);
    assert_eq!(bash(&place, &["offshoot", "new", "x", "--from", "fix@g"]), ["fix@greeted"]);
    assert_eq!(bash(&place, &["offshoot", "--vault", ""]), ["project"]);
    assert_eq!(bash(&place, &["offshoot", "config", "set", "exec.tim"]), ["exec.timeout"]);
    if !exec.is_empty() {
        assert_eq!(bash(&place, &["offshoot", "logs", &exec[..6]]), [exec]);
    }
    // Also where there is nothing to offer, or something is wrong, nothing is printed.
    assert_eq!(bash(&place, &["offshoot", "--vault", "nowhere", "diff", "-w", "f"]), [""; 0]);
    assert_eq!(bash(&place, &["offshoot", "--home", "/nowhere", "exec", "-w", ""]), [""; 0]);
    fs::write(place.home().join("names/broken"), "x").unwrap();
    assert_eq!(bash(&place, &["offshoot", "exec", "-w", "o"]), ["other"]);
}

#[needs("bash")]
#[test]
fn bash_offers_paths_of_the_vault() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/src/new.rs", "-w", "fix"], b"new\n");
    let paths = |words: &[&str]| bash(&place, &[&["offshoot"], words].concat());
    assert_eq!(paths(&["fs", "cat", "R"]), ["README.md"]);
    assert_eq!(paths(&["fs", "ls", "s"]), ["src/"]);
    assert_eq!(paths(&["history", "src/"]), ["src/lib.rs", "src/main.rs", "src/new.rs"]);
    assert_eq!(paths(&["fs", "rm", "/src/n"]), ["/src/new.rs"]);
    assert_eq!(paths(&["commit", "--only", "src/n"]), ["src/new.rs"]);
    assert_eq!(paths(&["review", "run"]), ["run.sh"]);
    assert_eq!(paths(&["diff", "he"]), ["head"]);
    assert_eq!(paths(&["merge", "head", "--into", ""]), ["fix"]);
    assert_eq!(paths(&["fs", "cat", "nowhere/"]), [""; 0]);
    let operation = &place.json(&["op", "log"])["operations"][0]["id"];
    let operation = &operation.as_str().unwrap()[..12];
    assert_eq!(paths(&["op", "restore", &operation[..11]]), [operation]);
}

#[needs(UserNamespace, "fish", "zsh")]
#[test]
fn fish_and_zsh_offer_them_too() {
    let (place, _) = named();
    let script = "offshoot completions fish | source; complete -C 'offshoot exec -w '";
    assert_eq!(lines(&shell(&place, "fish", &["-c", script])), ["fix", "other"]);
    // Without a line to edit, what would be offered is printed instead.
    let script = r#"autoload -U compinit; compinit -u -d "$HOME/.zcompdump"; source <(offshoot completions zsh)
        compadd() { print -rl -- "${(@)@}" }; _describe() { print -rl -- "${(@P)3}" }
        words=(offshoot exec -w ""); CURRENT=4; _clap_dynamic_completer_offshoot"#;
    let offered = lines(&shell(&place, "zsh", &["-f", "-c", script]));
    for name in ["fix", "other"] {
        assert!(offered.iter().any(|word| word == name), "{name}: {offered:?}");
    }
}

/// Nothing is written, however the vault was left, and nobody is waited for.
#[test]
fn completions_change_nothing_and_wait_for_nobody() {
    let place = demo_vault();
    let vault = fs::canonicalize(place.home().join("names/project")).unwrap();
    let seen = || {
        let mut all: Vec<_> = fs::read_dir(&vault).unwrap().map(|entry| entry.unwrap()).collect();
        all.sort_by_key(fs::DirEntry::file_name);
        let told = all.iter().map(|entry| {
            let meta = entry.metadata().unwrap();
            // The index of the log is what every reader shares.
            let size = if entry.file_name() == "catalog.db-shm" { 0 } else { meta.len() };
            (entry.file_name(), size)
        });
        told.collect::<Vec<_>>()
    };
    let before = seen();
    let ask = || {
        let mut command = place.command(["--", "offshoot", "exec", "-w", ""]);
        command.env("OFFSHOOT_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "3");
        command.output().unwrap()
    };
    assert_eq!(lines(&ask()), ["fix"]);
    assert_eq!(seen(), before);
    let started = Instant::now();
    for _ in 0..5 {
        ask();
    }
    // Unoptimised and beside other tests; optimised it takes a few milliseconds.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
