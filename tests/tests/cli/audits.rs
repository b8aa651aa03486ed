//! `audit` and `timeline`: everything that was done is in the log, and the log is what was recorded.

#[path = "audits/asked.rs"]
mod asked;
#[path = "audits/complete.rs"]
mod complete;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of, with_json};
use offshoot_tests::schema;
use serde_json::Value;

use crate::transcript::{Transcript, demo_vault};

/// What `audit log --json` prints: a document in each line.
fn log(place: &Place, options: &[&str]) -> Vec<Value> {
    let arguments = [&["audit", "log", "--json"], options].concat();
    let lines = place.ok(arguments);
    let read = |line: &str| {
        let document: Value = serde_json::from_str(line).unwrap();
        assert_eq!(schema::problems(&document), [""; 0], "{line}");
        document["result"].clone()
    };
    lines.lines().map(read).collect()
}

fn kinds(events: &[Value]) -> Vec<String> {
    events.iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect()
}

fn head(place: &Place) -> String {
    place.ok(["audit", "head"]).trim().to_owned()
}

/// A workspace in which somebody ran, wrote, undid and committed something.
fn busy() -> Place {
    let place = demo_vault();
    place.ok([
        "exec",
        "-w",
        "fix",
        "--",
        "sh",
        "-c",
        "echo one > one; mkdir dir; echo two > dir/two",
    ]);
    place.run(["exec", "-w", "fix", "--", "sh", "-c", "rm one; exit 3"]);
    place.run(["exec", "-w", "fix", "--", "sudo", "reboot"]);
    place.ok(["checkpoint", "create", "half", "-w", "fix"]);
    place.ok(["undo", "-w", "fix"]);
    place.ok(["commit", "-w", "fix", "-m", "Work"]);
    place
}

#[needs(UserNamespace)]
#[test]
fn the_log_for_people() {
    let place = busy();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["audit", "log"]);
    transcript.run(&["audit", "log", "-n", "2"]);
    transcript.run(&["audit", "verify"]);
    transcript.run(&["audit", "head"]);
    transcript.run(&["audit", "key"]);
    transcript.run(&["audit", "export", "log.jsonl"]);
    transcript.run(&["audit", "verify", "log.jsonl"]);
    transcript.run(&["audit", "export", "log.jsonl"]);
    transcript.run(&["audit", "verify", "missing"]);
    transcript.run(&["audit", "rotate"]);
    transcript.run(&["audit", "prune", "--before", "0s"]);
    transcript.run(&["audit", "prune", "--before", "2001-01-01"]);
    transcript.run(&["timeline"]);
    transcript.run(&["timeline", "-w", "fix", "-n", "2"]);
    assert_snapshot!(transcript.finish());
}

#[needs(UserNamespace)]
#[test]
fn the_log_for_programs() {
    let place = busy();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["audit", "log", "--kind", "exec", "-n", "1"]);
    transcript.json(&["audit", "verify"]);
    transcript.json(&["audit", "head"]);
    transcript.json(&["audit", "key"]);
    transcript.json(&["audit", "export", "log.jsonl"]);
    transcript.json(&["timeline", "-w", "fix", "-n", "2"]);
    transcript.json(&["audit", "rotate"]);
    transcript.json(&["audit", "prune", "--before", "0s", "--yes"]);
    assert_snapshot!(transcript.finish());
}

/// Each option of the log takes something away.
#[needs(UserNamespace)]
#[test]
fn every_option_of_the_log_counts() {
    let place = demo_vault();
    let by = |agent: &str, session: &str, user: &str, words: &[&str]| {
        let mut command = place.command(words);
        command.envs([("OFFSHOOT_AGENT", agent), ("OFFSHOOT_SESSION", session)]);
        command.env("USER", user);
        assert!(command.output().unwrap().status.success(), "{words:?}");
    };
    by("one", "s1", "ann", &["exec", "-w", "fix", "--", "sh", "-c", "mkdir d; echo a > d/a"]);
    by("two", "s2", "ann", &["exec", "-w", "other", "--", "sh", "-c", "echo b > b"]);
    by("two", "s1", "ben", &["fs", "mv", "/b", "/c", "-w", "other"]);
    let all = log(&place, &["-n", "1000"]);
    let count = |options: &[&str]| log(&place, &[options, &["-n", "1000"]].concat());
    assert_eq!(log(&place, &["-n", "2"]), all[all.len() - 2..]);
    for (option, value, field) in [("--agent", "two", "agent"), ("--session", "s1", "session")] {
        let found = count(&[option, value]);
        assert!(!found.is_empty() && found.len() < all.len(), "{option}: {found:#?}");
        assert!(found.iter().all(|event| event["actor"][field] == value), "{option}: {found:#?}");
    }
    let users: BTreeSet<&str> =
        all.iter().map(|event| event["actor"]["user"].as_str().unwrap()).collect();
    for user in &users {
        let found = count(&["--user", user]);
        assert!(found.iter().all(|event| event["actor"]["user"] == **user), "{found:#?}");
    }
    assert_eq!(count(&["--user", "nobody at all"]), [Value::Null; 0]);
    let fix = count(&["-w", "fix"]);
    assert!(!fix.is_empty() && fix.iter().all(|event| event["workspace"] == "fix"), "{fix:#?}");
    assert_eq!(kinds(&count(&["--kind", "fs mv"])), ["fs mv"]);
    // A directory means all in it; a file that was moved is found by both names.
    assert_eq!(kinds(&count(&["--path", "/d"])), ["exec"]);
    assert_eq!(kinds(&count(&["--path", "d/a"])), ["exec"]);
    assert_eq!(kinds(&count(&["--path", "/b"])), ["exec", "fs mv"]);
    assert_eq!(kinds(&count(&["--path", "/nothing"])), [""; 0]);
    let exec = count(&["--path", "/d"])[0]["details"]["exec"].as_str().unwrap().to_owned();
    assert_eq!(kinds(&count(&["--exec", &exec[..20]])), ["exec_started", "exec"]);
    let at = all[2]["time"].as_str().unwrap();
    let (since, until) = (count(&["--since", at]), count(&["--until", at]));
    assert!(!until.is_empty() && !since.is_empty());
    assert_eq!([until, since].concat(), all);
}

#[needs(UserNamespace)]
#[test]
fn new_events_are_followed() {
    let place = demo_vault();
    let mut command = place.command(["audit", "log", "--json", "--follow", "--kind", "fs write"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    place.ok_with(["fs", "write", "/new", "-w", "fix"], b"new\n");
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let event: Value = serde_json::from_str(&line).unwrap();
    let files = event["result"]["details"]["files"]["changed"].as_array().unwrap();
    assert!(files.iter().any(|file| file["path"] == "/new"), "{line}");
}

/// What was asked for, decided, done and left behind by a command, whatever became of it.
#[needs(UserNamespace)]
#[test]
fn a_command_is_recorded_before_it_starts_and_when_it_ends() {
    let place = demo_vault();
    let about = |words: &[&str]| {
        let arguments = [&["exec", "--json", "-w", "fix"], words].concat();
        let envelope: Value = serde_json::from_slice(&place.run(arguments).stdout).unwrap();
        let exec = envelope["result"]["exec"].as_str().unwrap_or_else(|| panic!("{envelope:#}"));
        log(&place, &["--exec", exec])
    };
    let done = about(&["--", "sh", "-c", "echo 1 > new; rm README.md"]);
    assert_eq!(kinds(&done), ["exec_started", "exec"]);
    for event in &done {
        let details = &event["details"];
        assert_eq!(details["rules"].as_str().unwrap().len(), 64, "{details:#}");
        assert!(details["decision"].as_str().unwrap().starts_with("allow"), "{details:#}");
    }
    let files = &done[1]["details"]["files"];
    assert_eq!(files["count"], 2, "{files:#}");
    assert_eq!(files["changed"][0]["before"]["size"], 25, "{files:#}");
    assert_eq!(files["changed"][0]["after"], Value::Null, "{files:#}");
    let sum = blake3::hash(b"1\n").to_string();
    assert_eq!(files["changed"][1]["after"]["checksum"], sum, "{files:#}");
    let slow = about(&["--timeout", "1s", "--", "sleep", "100"]);
    assert_eq!(slow[1]["details"]["timed_out"], true, "{slow:#?}");
    let denied = about(&["--", "sudo", "reboot"]);
    assert_eq!(kinds(&denied), ["exec"]);
    assert_ne!(denied[0]["details"]["decision"], "allow", "{denied:#?}");
    let absent = about(&["--", "no-such-program-at-all"]);
    assert_eq!(kinds(&absent), ["exec_started", "exec"]);
    assert!(absent[1]["details"]["error"].is_string(), "{absent:#?}");
}

/// Other rules are an event, and every decision says by which rules it was made.
#[needs(UserNamespace)]
#[test]
fn other_rules_and_settings_are_recorded() {
    let place = demo_vault();
    let run = || place.ok(["exec", "-w", "fix", "--", "true"]);
    run();
    run();
    let changes = || kinds(&log(&place, &["--kind", "policy_changed"])).len();
    let settings = || kinds(&log(&place, &["--kind", "settings_changed"])).len();
    let (rules_before, settings_before) = (changes(), settings());
    assert_eq!(rules_before, 1, "those that were in force first");
    place.write(
        "offshoot-policy.toml",
        "version = 1\n[[rule]]\nname = \"no-dd\"\nprefix = [\"dd\"]\ndecision = \"deny\"\n",
    );
    run();
    run();
    assert_eq!(changes(), rules_before + 1);
    assert_eq!(settings(), settings_before);
    place.ok(["config", "set", "exec.max_file_size", "1GiB"]);
    run();
    run();
    assert_eq!(settings(), settings_before + 1);
    let set = log(&place, &["--kind", "config set"]);
    assert_eq!(set[0]["details"]["key"], "exec.max_file_size", "{set:#?}");
    let used: BTreeSet<String> = log(&place, &["--kind", "exec_started", "-n", "1000"])
        .iter()
        .map(|event| event["details"]["rules"].to_string())
        .collect();
    assert_eq!(used.len(), 2, "{used:?}");
}

/// All of them, however many.
#[needs(UserNamespace)]
#[test]
fn every_changed_file_is_listed() {
    let place = demo_vault();
    let script =
        "mkdir many; cd many; i=0; while [ $i -lt 2500 ]; do echo $i > $i; i=$((i+1)); done";
    place.ok(["exec", "-w", "fix", "--", "sh", "-c", script]);
    let event = log(&place, &["--kind", "exec"]).pop().unwrap();
    let files = event["details"]["files"]["changed"].as_array().unwrap();
    assert_eq!(files.len(), 2501);
    assert_eq!(event["details"]["files"]["count"], 2501);
    place.ok(["audit", "verify"]);
}

#[needs(UserNamespace)]
#[test]
fn whoever_has_the_key_can_verify_elsewhere() {
    let place = busy();
    let (key, early) = (place.ok(["audit", "key"]), head(&place));
    let key = key.trim();
    place.ok(["audit", "export", "early.jsonl"]);
    place.ok_with(["fs", "write", "/more", "-w", "fix"], b"more\n");
    place.ok(["audit", "rotate"]);
    let late = head(&place);
    let whole = place.ok(["audit", "export"]);
    assert_eq!(place.ok(["audit", "export", "-"]), whole);
    assert!(!place.project().join("-").exists());
    fs::write(place.project().join("late.jsonl"), &whole).unwrap();
    // Far from every vault, with nothing but the key and the file.
    let elsewhere = Place::new();
    let verify = |words: &[&str]| {
        let mut command = elsewhere.command([&["audit", "verify", "--json"], words].concat());
        let output = command.current_dir(place.project()).output().unwrap();
        document_of(&output)
    };
    assert_eq!(verify(&["late.jsonl", "--key", key, "--head", &early])["success"], true);
    assert_eq!(verify(&["early.jsonl", "--key", key])["success"], true);
    let cut = verify(&["early.jsonl", "--key", key, "--head", &late]);
    assert!(cut["result"]["problem"].as_str().unwrap().contains("it went on to"), "{cut}");
    let other = verify(&["late.jsonl", "--key", &"ab".repeat(32)]);
    assert!(other["result"]["problem"].as_str().unwrap().contains("signed by"), "{other}");
    let altered = whole.replacen("fix", "fax", 1);
    assert_ne!(altered, whole);
    fs::write(place.project().join("altered.jsonl"), altered).unwrap();
    let altered = verify(&["altered.jsonl", "--key", key]);
    assert_eq!((&altered["success"], &altered["result"]["events"]), (&false.into(), &0.into()));
    // The vault itself: by the key of this machine, or the one that is named.
    let own = |words: &[&str]| {
        document_of(&place.run(with_json(&[&["audit", "verify"], words].concat())))
    };
    assert_eq!(own(&["--key", key, "--head", &early, "--head", &late])["success"], true);
    assert_eq!(own(&["--key", &"ab".repeat(32)])["success"], false);
    assert_eq!(own(&["--head", &format!("1:{}", "00".repeat(32))])["success"], false);
    place.json_error(&["audit", "verify", "--head", "nonsense"], 2);
    place.json_error(&["audit", "verify", "--key", "nonsense"], 2);
}

#[needs(UserNamespace)]
#[test]
fn old_events_are_removed_only_when_somebody_says_so() {
    let place = busy();
    let before = log(&place, &["-n", "1000"]).len();
    place.json_error(&["audit", "prune", "--before", "0s"], 2);
    assert_eq!(log(&place, &["-n", "1000"]).len(), before);
    let none = place.json(&["audit", "prune", "--before", "2001-01-01", "--yes"]);
    assert_eq!(none["events"], 0);
    assert_eq!(log(&place, &["-n", "1000"]).len(), before);
    let removed = place.json(&["audit", "prune", "--before", "0s", "--yes"]);
    assert_eq!(removed["events"], before - 1);
    let verified = place.json(&["audit", "verify"]);
    assert_eq!((&verified["events"], &verified["pruned"]), (&2.into(), &(before - 1).into()));
    place.ok(["vault", "check"]);
}

#[needs(UserNamespace)]
/// Of a head from before the removal nothing can be said, and who trusts a key from then still can.
#[test]
fn what_was_removed_is_not_taken_for_verified() {
    let place = busy();
    let (early, key) = (head(&place), place.ok(["audit", "key"]).trim().to_owned());
    place.ok(["checkpoint", "create", "-w", "fix"]);
    place.ok(["audit", "rotate"]);
    place.ok(["audit", "rotate"]);
    let last = head(&place);
    place.ok(["audit", "prune", "--before", "0s", "--yes"]);
    let verify = |options: &[&str], code: i32| {
        let output = place.run([&["audit", "verify", "--json"], options].concat());
        assert_eq!(output.status.code(), Some(code), "{options:?} {output:?}");
        document_of(&output)["result"].clone()
    };
    verify(&["--key", &key], 0);
    let wrong = format!("{}:{}", last.split_once(':').unwrap().0, "0".repeat(64));
    let other = "ab".repeat(32);
    verify(&["--key", &other], 5);
    verify(&["--head", &last], 0);
    verify(&["--head", &wrong], 5);
    // It says that it cannot compare.
    for head in [early.as_str(), &format!("1:{}", "0".repeat(64))] {
        let verified = verify(&["--head", head], 3);
        let seq: u64 = head.split_once(':').unwrap().0.parse().unwrap();
        assert_eq!(verified["uncompared"][0], seq, "{verified}");
    }
    // Another removal keeps the word of the first key.
    place.ok(["audit", "prune", "--before", "0s", "--yes"]);
    verify(&["--key", &key], 0);
    let file = place.path().join("audit.jsonl");
    place.ok(["audit", "export", file.to_str().unwrap()]);
    verify(&[file.to_str().unwrap(), "--key", &key], 0);
    verify(&[file.to_str().unwrap(), "--key", &key, "--head", &early], 3);
}

#[test]
fn a_timeline_tells_how_commands_ended() {
    let place = busy();
    place.ok(["workspace", "create", "other"]);
    let story = place.json(&["timeline", "-w", "fix"]);
    let entries = story["entries"].as_array().unwrap();
    let ended: Vec<&str> = entries.iter().filter_map(|entry| entry["ended"].as_str()).collect();
    assert_eq!(&ended[..2], ["exit 0", "exit 3"], "{story:#}");
    let first = entries.iter().find(|entry| entry["event"] == "exec").unwrap();
    let paths: Vec<&str> = first["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/dir", "/dir/two", "/one"]);
    assert!(entries.iter().all(|entry| entry["event"] != "exec_started"), "{story:#}");
    assert!(entries.iter().any(|entry| entry["event"] == "undo"), "{story:#}");
    let few = place.json(&["timeline", "-w", "fix", "-n", "1"]);
    assert_eq!((few["entries"].as_array().unwrap().len(), &few["more"]), (1, &true.into()));
    let all = place.json(&["timeline", "--all"]);
    assert!(all["entries"].as_array().unwrap().len() > entries.len(), "{all:#}");
}
