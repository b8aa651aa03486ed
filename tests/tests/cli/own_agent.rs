//! Offshoot's own agent, with a model that answers from a script.

#[path = "own_agent/asked.rs"]
mod asked;
#[path = "own_agent/endings.rs"]
mod endings;
#[path = "own_agent/resumed.rs"]
mod resumed;
#[path = "own_agent/shown.rs"]
mod shown;

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use rustix::process::Signal;
use serde_json::Value;

use crate::transcript::Transcript;

const FIX: &str = r#"version = 1
[[turn]]
say = [
  { text = "I look at it first." },
  { call = "read_file", id = "a", arguments = { path = "sum.sh" } },
]
usage = { input = 100, output = 20 }
[[turn]]
say = [{ call = "edit_file", id = "b", arguments = { path = "sum.sh", old_text = "$1 - $2", new_text = "$1 + $2" } }]
usage = { input = 120, output = 20 }
[[turn]]
say = [{ call = "run_command", id = "c", arguments = { command = "sh test.sh && echo passed" } }]
usage = { input = 140, output = 20 }
[[turn]]
expect = { result_contains = "passed" }
say = [{ text = "It adds now; the test passes." }]
usage = { input = 160, output = 20 }
"#;

fn place(script: &str) -> Place {
    let place = Place::new();
    place.write("sum.sh", "echo $(($1 - $2))\n");
    place.write("test.sh", "test \"$(sh sum.sh 2 3)\" = 5\n");
    std::fs::write(place.path().join("script.toml"), script).unwrap();
    place
}

const RUN: [&str; 4] = ["agent", "run", "--provider", "scripted:../script.toml"];

#[needs(UserNamespace)]
#[test]
fn a_task_for_people() {
    let place = place(FIX);
    let mut transcript = Transcript::new(&place);
    transcript.run(&[&RUN[..], &["-w", "fix", "--name", "sum", "fix the test"]].concat());
    transcript.json(&[&RUN[..], &["-w", "again", "--name", "json", "fix the test"]].concat());
    transcript.run(&["sessions", "list"]);
    transcript.run(&["commit", "-w", "fix"]);
    assert_snapshot!(transcript.finish());
    assert_eq!(
        std::fs::read_to_string(place.project().join("sum.sh")).unwrap(),
        "echo $(($1 + $2))\n"
    );
}

#[needs(UserNamespace)]
#[test]
fn a_task_for_programs() {
    let place = place(FIX);
    let run = |more: &[&str]| place.run([&RUN[..], &["--json"], more].concat());
    let document = document_of(&run(&["-w", "fix", "--name", "sum", "fix the test"]));
    let result = &document["result"];
    assert_eq!(result["ending"], "done");
    assert_eq!(result["said"], "It adds now; the test passes.");
    assert_eq!(result["changes"][0]["path"], "/sum.sh");
    assert_eq!((&result["tokens_in"], &result["tokens_out"]), (&520.into(), &80.into()));
    assert_eq!(result["committed"], false);
    // A limit pauses, and the session goes on where it was.
    let output = run(&["-w", "again", "--name", "two", "--max-turns", "2", "fix the test"]);
    assert_eq!(output.status.code(), Some(1));
    let document = document_of(&output);
    assert_eq!(document["result"]["reason"], "the model answered 2 times");
    for (limit, code, reason) in [
        (["--max-time", "1ms"], 124, "it took longer than"),
        (["--max-cost", "1"], 1, "the price of the model is not known"),
    ] {
        let output = run(&[&["-w", limit[0].trim_matches('-')], &limit[..], &["task"]].concat());
        assert_eq!(output.status.code(), Some(code), "{limit:?}");
        let told = document_of(&output)["result"]["reason"].to_string();
        assert!(told.contains(reason), "{limit:?}: {told}");
    }
    let document = document_of(&run(&["--resume", "two", "--yes"]));
    assert_eq!(document["result"]["ending"], "done");
    assert_eq!(document["result"]["committed"], true);
    let text = std::fs::read_to_string(place.project().join("sum.sh")).unwrap();
    assert_eq!(text, "echo $(($1 + $2))\n");
}

const REMOVES: &str = r#"version = 1
[[turn]]
say = [{ call = "run_command", id = "a", arguments = { command = "rm test.sh" } }]
[[turn]]
say = [{ text = "It is gone." }]
"#;

#[needs(UserNamespace)]
#[test]
fn what_needs_an_approval_waits_for_it() {
    let place = place(REMOVES);
    let rule = "version = 1\n[[rule]]\nname = \"mine\"\ndecision = \"require_approval\"\nprefix = [\"rm\"]\n";
    place.write("offshoot-policy.toml", rule);
    let run = |more: &[&str]| place.run([&RUN[..], &["--json"], more].concat());
    let output = run(&["-w", "fix", "--name", "rm", "remove it"]);
    assert_eq!(output.status.code(), Some(123));
    let document = document_of(&output);
    assert_eq!(document["result"]["ending"], "waiting");
    assert_eq!(document["result"]["questions"][0]["is_approval"], true);
    let listed = document_of(&place.run(["approvals", "list", "--json"]));
    let id = listed["result"]["approvals"][0]["id"].as_str().unwrap().to_owned();
    place.ok(["approvals", "approve", &id]);
    let document = document_of(&run(&["--resume", "rm"]));
    assert_eq!(document["result"]["ending"], "done", "{document}");
    assert_eq!(document["result"]["changes"][0]["path"], "/test.sh");
}

#[test]
fn mistakes_are_told_before_anything_is_made() {
    let place = place(FIX);
    for (arguments, words) in [
        (&["agent", "run", "task"][..], "no model is named"),
        (&["agent", "run", "--provider", "scripted:none.toml", "task"], "none.toml"),
        (&[&RUN[..], &["--max-cost", "much", "task"]].concat(), "2.50"),
        (&[&RUN[..], &["--max-time", "long", "task"]].concat(), "10m"),
        (&[&RUN[..], &[" "]].concat(), "the task is empty"),
    ] {
        let output = place.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(words), "{arguments:?}: {said}");
    }
    assert!(
        document_of(&place.run(["vault", "list", "--json"]))["result"]["vaults"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

const TALKS: &str = r#"version = 1
[[turn]]
when = { last_contains = "greet" }
say = [{ call = "write_file", id = "a", arguments = { path = "greeting", content = "hello\n" } }]
[[turn]]
when = { result_contains = "greeting" }
say = [{ text = "I wrote a greeting." }]
[[turn]]
when = { last_contains = "who" }
say = [{ text = "I am the script." }]
"#;

/// Each line is said in turn, and commands are taken between them.
#[needs(UserNamespace)]
#[test]
fn a_conversation_by_a_pipe() {
    let place = place(TALKS);
    let chat = ["agent", "chat", "--provider", "scripted:../script.toml"];
    let begin = [&chat[..], &["-w", "fix", "--name", "talk"]].concat();
    let mut transcript = Transcript::new(&place);
    transcript.run_with(&begin, "who are you\n\ngreet me\n/diff\n/commit a greeting\n/nothing\n");
    transcript.run_with(&[&chat[..], &["--resume", "talk", "who"]].concat(), "/cost\n/quit\nwho\n");
    transcript
        .run_with(&["sessions", "resume", "talk", "--provider", "scripted:../script.toml"], "");
    transcript.run_with(&[&chat[..], &["--json"]].concat(), "");
    transcript.json(&["sessions", "resume", "talk"]);
    assert_snapshot!(transcript.finish());
    let greeting = std::fs::read_to_string(place.project().join("greeting")).unwrap();
    assert_eq!(greeting, "hello\n");
}

#[needs(UserNamespace)]
#[test]
fn a_conversation_for_people_to_read() {
    let place = place(FIX);
    place.ok([&RUN[..], &["-w", "fix", "--name", "sum", "fix the test"]].concat());
    let page = place.ok(["sessions", "export", "sum", "--markdown"]);
    let id = place.json(&["sessions", "list"])["sessions"][0]["id"].as_str().unwrap().to_owned();
    assert_snapshot!(page.replace(&id, "[id]"));
    let mut transcript = Transcript::new(&place);
    transcript.run(&["sessions", "export", "sum", "sum.md", "--markdown"]);
    transcript.run(&["sessions", "replay", "sum"]);
    transcript.json(&["sessions", "replay", "sum"]);
    assert_snapshot!("replays", transcript.finish());
    assert_eq!(std::fs::read_to_string(place.project().join("sum.md")).unwrap(), page);
}

/// The agent would decide the same again; and a session of another program is told from its own.
#[needs(UserNamespace)]
#[test]
fn sessions_are_replayed() {
    let place = place(FIX);
    place.ok([&RUN[..], &["-w", "fix", "--name", "sum", "fix the test"]].concat());
    let replayed = place.json(&["sessions", "replay", "sum"]);
    let events = place.json(&["sessions", "list"])["sessions"][0]["events"].clone();
    assert_eq!((&replayed["events"], &replayed["difference"]), (&events, &Value::Null));
    // Nobody says what was not said: an event out of place is found.
    place.ok(["sessions", "create", "forged", "-w", "fix"]);
    let text = place.ok(["sessions", "export", "sum"]);
    let mut lines: Vec<Value> =
        text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    let answered = lines.iter().position(|line| line["kind"] == "answered").unwrap();
    let said = &mut lines[answered]["body"]["event"]["message"]["blocks"][0]["content"]["text"];
    assert!(said.is_string(), "{}", lines[answered]);
    *said = "I do nothing.".into();
    lines[answered]["body"]["event"]["message"]["blocks"].as_array_mut().unwrap().truncate(1);
    let event = |line: &Value| format!("{{\"kind\":{},\"body\":{}}}\n", line["kind"], line["body"]);
    let forged: String = lines.iter().map(event).collect();
    place.ok_with(["sessions", "append", "forged", "--next", "1"], forged.as_bytes());
    let output = place.run(["sessions", "replay", "forged", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let difference = document_of(&output)["result"]["difference"].clone();
    assert_eq!(difference["number"].as_u64(), Some(answered as u64 + 2), "{difference}");
    place.ok(["sessions", "create", "other", "-w", "fix"]);
    place.ok_with(["sessions", "append", "other", "--next", "1"], b"{\"kind\":\"said\"}\n");
    let error = place.json_error(&["sessions", "replay", "other"], 2);
    assert!(error["message"].as_str().unwrap().contains("another program"), "{error}");
}

/// Both go on from there, each with its own files.
#[needs(UserNamespace)]
#[test]
fn a_fork_goes_on_by_itself() {
    let place = place(FIX);
    let run = |more: &[&str]| place.run([&RUN[..], &["--json"], more].concat());
    run(&["-w", "fix", "--name", "sum", "--max-turns", "2", "fix the test"]);
    let fork = place.json(&["sessions", "fork", "sum", "--to", "again"]);
    assert_eq!(fork["session"]["name"], "sum-2");
    let document = document_of(&run(&["--resume", "sum-2"]));
    assert_eq!(document["result"]["ending"], "done", "{document}");
    assert_eq!(document["result"]["workspace"], "again");
    let page = place.ok(["sessions", "export", "sum-2", "--markdown"]);
    assert!(page.contains("*Forked from "), "{page}");
    assert_eq!(place.json(&["sessions", "replay", "sum-2"])["difference"], Value::Null);
    let document = document_of(&run(&["--resume", "sum"]));
    assert_eq!(document["result"]["ending"], "done", "{document}");
    assert_eq!(document["result"]["workspace"], "fix");
}

/// What is secret in the environment of the user is so in what the model reads, too.
#[needs(UserNamespace)]
#[test]
fn secrets_of_the_user_stay_out_of_the_conversation() {
    let place = place(
        r#"version = 1
[[turn]]
say = [{ call = "read_file", id = "a", arguments = { path = "talk.txt" } }]
[[turn]]
expect = { result_contains = "[redacted]" }
say = [{ text = "It has a secret." }]
"#,
    );
    place.write("talk.txt", "he said: plugh xyzzy 42, then left for /somewhere/else\n");
    let mut command = place.command([&RUN[..], &["-w", "fix", "--name", "s", "read it"]].concat());
    command.env("MY_SERVICE_TOKEN", "plugh xyzzy 42").env("TOKEN_DIR", "/somewhere/else");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = place.ok(["sessions", "export", "s"]);
    assert!(!text.contains("xyzzy") && text.contains("/somewhere/else"), "{text}");
}

/// The instructions of the directory in which somebody works count as well as those above it.
#[needs(UserNamespace)]
#[test]
fn instructions_of_the_directory_are_followed() {
    let place = place(
        r#"version = 1
[[turn]]
expect = { system_contains = "speak like a pirate" }
say = [{ text = "Arr." }]
"#,
    );
    place.write("AGENTS.md", "Be brief.\n");
    place.write("deep/below/AGENTS.md", "Here you speak like a pirate.\n");
    let arguments = ["agent", "run", "--provider", "scripted:../../../script.toml", "hello"];
    let mut command = place.command(arguments);
    let output = command.current_dir(place.project().join("deep/below")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let output = place.run([&RUN[..], &["hello"]].concat());
    assert!(!output.status.success(), "{output:?}");
}

/// A signal cancels, and keeps what was done.
#[needs(UserNamespace)]
#[test]
fn a_signal_cancels_the_turn() {
    let place = place(
        r#"version = 1
[[turn]]
when = { last_contains = "begin" }
say = [
  { call = "write_file", id = "a", arguments = { path = "done", content = "one\n" } },
  { call = "run_command", id = "b", arguments = { command = "sleep 600" } },
]
[[turn]]
when = { last_contains = "Go on" }
say = [{ text = "Here I am again." }]
"#,
    );
    for (signal, code, ending) in [
        (Signal::INT, 130, "cancelled"),
        (Signal::TERM, 143, "terminated"),
        (Signal::HUP, 129, "hung_up"),
    ] {
        cancelled_by(&place, signal, code, ending);
    }
}

/// Whether a command runs.
fn runs(place: &Place) -> bool {
    let output = place.run(["ps", "--json"]);
    // There is no vault at first.
    let document = output.status.success().then(|| document_of(&output));
    document.is_some_and(|it| it["result"]["running"].as_array().is_some_and(|it| !it.is_empty()))
}

fn wait_for_command(place: &Place) {
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !runs(place) {
        assert!(std::time::Instant::now() < limit, "no command runs");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn cancelled_by(place: &Place, signal: Signal, code: i32, ending: &str) {
    let arguments = [&RUN[..], &["-w", ending, "--name", ending, "--json", "begin"]].concat();
    let mut command = place.command(arguments);
    let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    wait_for_command(place);
    let pid = rustix::process::Pid::from_child(&child);
    let busy = place.run([&RUN[..], &["--resume", ending]].concat());
    let told = String::from_utf8_lossy(&busy.stderr).into_owned();
    assert!(told.contains(&format!("in use by process {}", child.id())), "{told}");
    rustix::process::kill_process(pid, signal).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let document = document_of(&output);
    assert_eq!(document["result"]["ending"], ending);
    assert_eq!(document["result"]["changes"][0]["path"], "/done");
    assert!(!runs(place));
    let document = document_of(&place.run([&RUN[..], &["--json", "--resume", ending]].concat()));
    assert_eq!(document["result"]["said"], "Here I am again.", "{document}");
}

const COUNTS: &str = r#"version = 1
[[turn]]
say = [{ call = "run_command", id = "a", arguments = { command = "echo a >> count" } }]
[[turn]]
say = [
  { call = "write_file", id = "b", arguments = { path = "b", content = "b\n" } },
  { call = "run_command", id = "c", arguments = { command = "echo c >> count" } },
]
[[turn]]
say = [{ call = "run_command", id = "d", arguments = { command = "echo d >> count; sleep 0.2" } }]
[[turn]]
say = [{ text = "All counted." }]
"#;

/// The whole program is killed behind one event after the other. What is counted outside of it is counted once, and only a command that was cut short may be
/// missing: the model is told so.
#[needs(UserNamespace)]
#[test]
fn killed_anywhere_it_goes_on_and_does_nothing_twice() {
    let place = place(COUNTS);
    // Behind the first event the task is not told yet.
    let mut behind = 2;
    loop {
        let name = format!("w{behind}");
        let arguments = [&RUN[..], &["-w", &name, "--name", &name, "--stream", "count"]].concat();
        let mut command = place.command(arguments);
        let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
        let read = lines.take(behind).filter_map(Result::ok).count();
        child.kill().unwrap();
        child.wait().unwrap();
        if read < behind {
            break;
        }
        let output = place.run([&RUN[..], &["--resume", &name, "--json"]].concat());
        let document = document_of(&output);
        assert_eq!(document["result"]["said"], "All counted.", "behind event {behind}: {document}");
        let count = place.run(["fs", "cat", "/count", "-w", &name]).stdout;
        let count = String::from_utf8(count).unwrap();
        let session = place.ok(["sessions", "export", &name, "--markdown"]);
        for letter in ["a", "c", "d"] {
            let times = count.lines().filter(|line| *line == letter).count();
            let is_told = session.contains("cut short") || session.contains("interrupted");
            let fits = times == 1 || (times == 0 && is_told);
            assert!(fits, "behind event {behind}: {letter} {times} times\n{session}");
        }
        assert_eq!(place.ok(["fs", "cat", "/b", "-w", &name]), "b\n", "behind event {behind}");
        assert_eq!(place.json(&["sessions", "replay", &name])["difference"], Value::Null);
        behind += 2;
    }
    assert!(behind > 15, "{behind}");
}
