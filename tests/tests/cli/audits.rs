//! `audit` and `timeline`: everything that was done is in the log, and the log is what was recorded.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

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

/// Commands that change nothing of a vault. What leaves it is only read.
const READS: &[&str] = &[
    "approvals list",
    "approvals show",
    "approvals wait",
    "audit export",
    "audit head",
    "audit key",
    "audit log",
    "audit verify",
    "binding list",
    "cache list",
    "checkpoint list",
    "checkpoint show",
    "completions",
    "config get",
    "config show",
    "conflicts",
    "diff",
    "doctor",
    "execs",
    "fs cat",
    "fs export",
    "fs ls",
    "fs stat",
    "fs tree",
    "history",
    "log",
    "logs",
    "man",
    "op log",
    "policy check",
    "policy explain",
    "policy init",
    "policy replay",
    "policy test",
    "presets check",
    "presets list",
    "presets show",
    "ps",
    "recover list",
    "recover show",
    "sandbox show",
    "show",
    "status",
    "timeline",
    "vault export",
    "vault info",
    "vault list",
    "version",
    "workspace list",
    "workspace show",
    "workspace tree",
];

/// Those of which nothing is left that could say so, or that only arrange anew what the vault holds.
const WITHOUT_EVENT: &[&str] = &["vault delete", "vault compact"];

/// A command as `--help` lists it, how it is run, and the event that it leaves.
type Change = (&'static str, &'static [&'static str], &'static str);

/// In this order: each finds what the ones before it left.
const CHANGES: &[Change] = &[
    ("workspace create", &["workspace", "create", "a"], "workspace create"),
    ("fs write", &["fs", "write", "/a", "-w", "a"], "fs write"),
    ("fs cp", &["fs", "cp", "/a", "/b", "-w", "a"], "fs cp"),
    ("fs mv", &["fs", "mv", "/b", "/c", "-w", "a"], "fs mv"),
    ("fs mkdir", &["fs", "mkdir", "/d", "-w", "a"], "fs mkdir"),
    ("fs import", &["fs", "import", "src", "/e", "-w", "a"], "fs import"),
    ("fs rm", &["fs", "rm", "/c", "-w", "a"], "fs rm"),
    ("fs revert", &["fs", "revert", "/a", "-w", "a"], "fs revert"),
    ("checkpoint create", &["checkpoint", "create", "one", "-w", "a"], "checkpoint create"),
    ("snapshot create", &["snapshot", "create", "a"], "checkpoint create"),
    ("exec", &["exec", "-w", "a", "--", "sh", "-c", "echo x > x"], "exec"),
    ("checkpoint restore", &["checkpoint", "restore", "one", "-w", "a"], "checkpoint restore"),
    ("checkpoint delete", &["checkpoint", "delete", "one", "-w", "a"], "checkpoint delete"),
    ("undo", &["undo", "-w", "a"], "undo"),
    ("redo", &["redo", "-w", "a"], "redo"),
    ("op restore", &["op", "restore", "OPERATION", "-w", "a"], "op restore"),
    ("merge", &["merge", "fix", "--into", "a"], "merge"),
    ("commit", &["commit", "-w", "a", "-m", "Work"], "commit"),
    ("pull", &["pull", "-w", "behind"], "pull"),
    ("export", &["export", "--git", "branch", "-w", "dirty"], "export"),
    ("workspace rename", &["workspace", "rename", "a", "z"], "workspace rename"),
    ("workspace delete", &["workspace", "delete", "z"], "workspace delete"),
    ("discard", &["discard", "dirty", "--keep"], "discard"),
    ("binding add", &["binding", "add", "../beside"], "binding add"),
    ("binding move", &["binding", "move", "beside", "../moved"], "binding move"),
    ("binding remove", &["binding", "remove", "beside"], "binding remove"),
    ("config set", &["config", "set", "exec.timeout", "5m"], "config set"),
    ("config unset", &["config", "unset", "exec.timeout"], "config unset"),
    ("gc", &["gc", "--keep-operations", "0", "--keep-age", "0s"], "gc"),
    ("vault rename", &["vault", "rename", "project", "other"], "vault rename"),
    ("audit rotate", &["audit", "rotate"], "audit rotate"),
    ("audit prune", &["audit", "prune", "--before", "0s", "--yes"], "audit prune"),
];

/// Those of which it takes more than a command to see that: see the test below. `review` and `run` need a terminal, and record what
/// `fs` and `exec` do by the same way; `vault check --repair`, `vault gc` and `vault pack` are what tests of the vault look at,
/// and `approvals` has tests of its own.
const ELSEWHERE: &[&str] = &[
    "approvals approve",
    "approvals deny",
    "cache clear",
    "init",
    "kill",
    "recover drop",
    "recover keep",
    "resolve",
    "review",
    "run",
    "vault check",
    "vault create",
    "vault gc",
    "vault import",
    "vault pack",
];

/// No command that changes something is without its event, and no new one is forgotten.
#[needs(UserNamespace, "git")]
#[test]
fn whatever_changes_something_leaves_an_event() {
    let known: BTreeSet<&str> = [READS, WITHOUT_EVENT, ELSEWHERE]
        .concat()
        .into_iter()
        .chain(CHANGES.iter().map(|(name, ..)| *name))
        .collect();
    let place = demo_vault();
    let all = crate::help::names(&place);
    let all: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    let forgotten: Vec<&&str> = all.difference(&known).collect();
    assert!(forgotten.is_empty(), "say what these leave in the audit log: {forgotten:?}");
    let gone: Vec<&&str> = known.difference(&all).collect();
    assert!(gone.is_empty(), "there are no such commands: {gone:?}");
    prepare(&place);
    for (name, words, kind) in CHANGES {
        let before = head(&place);
        let seq: u64 = before.split_once(':').unwrap().0.parse().unwrap();
        let words: Vec<String> = words.iter().map(|word| named(&place, word)).collect();
        let output = place.run_with(&words, b"text\n");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let events = log(&place, &["-n", "100"]);
        let new = events.iter().filter(|event| event["seq"].as_u64().unwrap() > seq);
        let new: Vec<&Value> = new.collect();
        assert!(new.iter().any(|event| event["event"] == *kind), "{name}: {new:#?}");
    }
    place.ok(["audit", "verify"]);
    place.ok(["vault", "check"]);
}

/// What the commands of the list find.
fn prepare(place: &Place) {
    for folder in ["beside", "moved"] {
        fs::create_dir(place.path().join(folder)).unwrap();
        fs::write(place.path().join(folder).join("file"), "text\n").unwrap();
    }
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(words).current_dir(place.project()).env_clear();
        command.envs(place.environment());
        assert!(command.output().unwrap().status.success(), "git {words:?}");
    };
    git(&["init", "-q"]);
    git(&["config", "user.email", "a@example.org"]);
    git(&["config", "user.name", "A"]);
    place.ok_with(["fs", "write", "/from-fix", "-w", "fix"], b"fix\n");
    for workspace in ["behind", "dirty"] {
        place.ok(["workspace", "create", workspace]);
    }
    place.ok_with(["fs", "write", "/dirt", "-w", "dirty"], b"dirt\n");
}

fn named(place: &Place, word: &str) -> String {
    match word {
        "OPERATION" => {
            let log = place.json(&["op", "log", "-w", "a"]);
            let all = log["operations"].as_array().unwrap();
            all[all.len() - 2]["id"].as_str().unwrap().to_owned()
        }
        other => other.to_owned(),
    }
}

#[needs(UserNamespace)]
#[test]
fn what_takes_more_than_a_command_leaves_an_event_too() {
    let place = demo_vault();
    let has = |kind: &str| {
        let events = log(&place, &["--kind", kind, "-n", "1000"]);
        assert!(!events.is_empty(), "{kind}: {:?}", kinds(&log(&place, &["-n", "1000"])));
        events
    };
    has("vault create");
    // Two who wrote the same file.
    place.ok(["workspace", "create", "other"]);
    for (workspace, text) in [("fix", &b"one\n"[..]), ("other", b"two\n")] {
        place.ok_with(["fs", "write", "/README.md", "-w", workspace], text);
    }
    place.run(["merge", "other", "--into", "fix"]);
    place.ok(["resolve", "/README.md", "--ours", "-w", "fix"]);
    has("resolve");
    // One that is ended, and two that are cut short.
    let start = |script: &str| {
        let mut command = place.command(["exec", "-q", "-w", "fix", "--", "sh", "-c", script]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let running = loop {
            let running = place.json(&["ps"])["running"].clone();
            if let Some(exec) = running[0]["exec"].as_str() {
                break exec.to_owned();
            }
        };
        (child, running)
    };
    let (mut child, exec) = start("sleep 100");
    place.ok(["kill", &exec, "--now"]);
    child.wait().unwrap();
    assert_eq!(has("kill")[0]["details"]["exec"], exec);
    for decision in ["keep", "drop"] {
        let (mut child, exec) = start("echo x > x; sleep 100");
        thread::sleep(Duration::from_millis(500));
        child.kill().unwrap();
        child.wait().unwrap();
        place.ok(["recover", decision, &exec]);
        assert_eq!(has(&format!("recover {decision}"))[0]["details"]["exec"], exec);
        let about = kinds(&log(&place, &["--exec", &exec]));
        assert_eq!(about[0], "exec_started", "{about:?}");
    }
    fs::create_dir(place.path().join(".npm")).unwrap();
    place.write("fetch", "eval \"$1\"\n");
    place.ok(["exec", "-w", "cached", "--", "sh", "fetch", "echo x > ~/.npm/x"]);
    place.ok(["cache", "clear"]);
    has("cache clear");
    // A vault that arrives in another home.
    place.ok(["vault", "export", "../project.vault"]);
    let home = place.path().join("elsewhere");
    let home = home.to_str().unwrap();
    place.ok(["--home", home, "vault", "import", "../project.vault"]);
    let arrived = log(&place, &["--home", home, "--vault", "project", "--kind", "vault import"]);
    assert_eq!(arrived[0]["actor"]["user"], "tester", "{arrived:#?}");
}
