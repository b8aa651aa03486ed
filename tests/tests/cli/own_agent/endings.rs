//! What a run comes to: what is committed, what is asked, what is told at its end.

use std::fs;

use super::*;

const WRITES: &str = r#"version = 1
[[turn]]
say = [{ call = "write_file", id = "a", arguments = { path = "new", content = "of the agent\n" } }]
[[turn]]
say = [{ text = "It is written." }]
"#;

/// Nothing is called committed that is not in the folder.
#[needs(UserNamespace)]
#[test]
fn a_conflict_is_told_and_nothing_is_committed() {
    let place = place(WRITES);
    let run = |more: &[&str]| place.run([&RUN[..], more].concat());
    let began = ["-w", "fix", "--name", "s", "--max-turns", "1", "write it"];
    assert_eq!(run(&began).status.code(), Some(1));
    place.write("new", "of the folder\n");
    let output = run(&["--resume", "s", "--yes", "--json"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let result = document_of(&output)["result"].clone();
    assert_eq!((&result["ending"], &result["committed"]), (&"done".into(), &false.into()));
    assert_eq!(result["commit"]["conflicts"][0]["path"], "/new", "{result}");
    let output = run(&["--resume", "s", "--yes", "say it again"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "the script has no more to say: {said}");
    let chat = ["agent", "chat", "--provider", "scripted:../script.toml", "--resume", "s"];
    let output = place.run_with(chat, b"/commit\n");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("nothing committed") && said.contains("/new"), "{output:?}");
    assert_eq!(fs::read_to_string(place.project().join("new")).unwrap(), "of the folder\n");
}

#[needs(UserNamespace)]
#[test]
fn what_is_held_back_is_told_and_not_committed() {
    let place = place(&WRITES.replace("\"new\"", "\".envrc\""));
    let output = place.run([&RUN[..], &["-w", "fix", "--yes", "--json", "write it"]].concat());
    let result = document_of(&output)["result"].clone();
    assert_eq!((output.status.code(), &result["committed"]), (Some(0), &false.into()), "{result}");
    assert_eq!(result["commit"]["held"][0]["path"], "/.envrc", "{result}");
    let output = place.run([&RUN[..], &["-w", "two", "--yes", "write it"]].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("nothing to commit") && said.contains("stays"), "{said}");
    assert!(!place.project().join(".envrc").exists());
}

#[needs(UserNamespace)]
#[test]
fn the_last_line_of_a_stream_is_the_result() {
    let place = place(WRITES);
    let text = place.ok([&RUN[..], &["-w", "fix", "--stream", "write it"]].concat());
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, events) = lines.split_last().unwrap();
    assert_eq!((&last["kind"], &last["result"]["ending"]), (&"agent.run".into(), &"done".into()));
    assert!(events.iter().all(|event| event["event"]["kind"].is_string()), "{text}");
}

/// Nothing is left to recover: what a command in the background wrote is there.
#[needs(UserNamespace)]
#[test]
fn commands_in_the_background_end_with_the_agent() {
    let place = place(
        r#"version = 1
[[turn]]
say = [{ call = "run_command", id = "a", arguments = { command = "echo a > written; sleep 600", background = true } }]
[[turn]]
say = [{ text = "It runs." }]
[[turn]]
expect = { messages = 5 }
say = [{ text = "I know." }]
"#,
    );
    let output = place.run([&RUN[..], &["-w", "fix", "--name", "s", "--json", "go"]].concat());
    let document = document_of(&output);
    assert_eq!(document["result"]["changes"][0]["path"], "/written", "{document}");
    let notes = document["notes"].to_string();
    assert!(notes.contains("ended with the agent") && notes.contains("sleep 600"), "{notes}");
    assert!(place.json(&["recover", "list"])["recoverable"].as_array().unwrap().is_empty());
    place.run([&RUN[..], &["--resume", "s", "--json", "and now?"]].concat());
    let page = place.ok(["sessions", "export", "s", "--markdown"]);
    assert!(page.contains("*Note to the model: Ended meanwhile"), "{page}");
    assert_eq!(place.json(&["sessions", "replay", "s"])["difference"], Value::Null);
}

/// What is said of a command that was killed with the agent is what `recover` has.
#[needs(UserNamespace)]
#[test]
fn what_a_killed_command_left_is_told_as_it_is() {
    for (command, has_left) in [("sleep 600", false), ("echo a > a; sleep 600", true)] {
        let place = place(&format!(
            "version = 1\n[[turn]]\nsay = [{{ call = \"run_command\", id = \"a\", arguments = {{ command = \"{command}\" }} }}]\n\
             [[turn]]\nsay = [{{ text = \"Well.\" }}]\n"
        ));
        let mut command = place.command([&RUN[..], &["-w", "fix", "--name", "s", "go"]].concat());
        let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        wait_for_command(&place);
        std::thread::sleep(std::time::Duration::from_millis(500));
        child.kill().unwrap();
        child.wait().unwrap();
        place.ok([&RUN[..], &["--resume", "s"]].concat());
        let left = place.json(&["recover", "list"])["recoverable"].as_array().unwrap().len();
        let page = place.ok(["sessions", "export", "s", "--markdown"]);
        assert!(page.contains("cut short before"), "{page}");
        assert_eq!(left > 0, has_left);
        assert_eq!(page.contains("what it wrote is set aside"), has_left, "{page}");
    }
}

const ASKS: &str = r#"version = 1
[[turn]]
say = [{ call = "ask_user", id = "a", arguments = { question = "Which colour?", choices = ["red", "blue"] } }]
[[turn]]
expect = { result_contains = "blue" }
say = [{ text = "Blue it is." }]
"#;

/// A question that nobody could answer is told, and answered by the next run.
#[needs(UserNamespace)]
#[test]
fn a_question_is_answered_by_the_next_run() {
    let place = place(ASKS);
    let run = |more: &[&str]| place.run([&RUN[..], more].concat());
    let output = run(&["-w", "fix", "--name", "s", "paint it"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(123), "{output:?}");
    assert!(said.contains("Which colour?") && said.contains("2  blue"), "{said}");
    let hint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(hint.contains("put your answer behind offshoot agent run --resume s"), "{hint}");
    let document = document_of(&run(&["--resume", "s", "--json", "2"]));
    assert_eq!(document["result"]["said"], "Blue it is.", "{document}");
}

const REMOVED_BY_ANOTHER: &str = r#"version = 1
[[turn]]
when = { last_contains = "Ask somebody" }
say = [{ call = "delegate", id = "d", arguments = { task = "Remove it" } }]
[[turn]]
when = { last_contains = "Remove it" }
say = [{ call = "run_command", id = "r", arguments = { command = "rm test.sh" } }]
[[turn]]
when = { result_contains = "Its work was merged" }
say = [{ text = "All is done." }]
[[turn]]
say = [{ text = "No turn is here." }]
[[turn]]
say = [{ text = "I did what I could." }]
"#;

/// The approvals of a sub-agent are decided like any other, and so is the reason of a denial.
#[needs(UserNamespace)]
#[test]
fn approvals_are_decided_between_two_runs() {
    for (script, decision) in
        [(REMOVED_BY_ANOTHER, "approve"), (REMOVED_BY_ANOTHER, "deny"), (REMOVES, "deny")]
    {
        let place = place(script);
        let rule = "version = 1\n[[rule]]\nname = \"mine\"\ndecision = \"require_approval\"\nprefix = [\"rm\"]\n";
        place.write("offshoot-policy.toml", rule);
        let run = |more: &[&str]| place.run([&RUN[..], more].concat());
        let output = run(&["-w", "fix", "--name", "s", "Ask somebody"]);
        assert_eq!(output.status.code(), Some(123), "{output:?}");
        let listed = place.json(&["approvals", "list"]);
        let id = listed["approvals"][0]["id"].as_str().unwrap().to_owned();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("offshoot approvals approve {id}")), "{said}");
        let document = document_of(&run(&["--resume", "s", "--json"]));
        assert_eq!(document["result"]["questions"][0]["approvals"][0], *id, "{document}");
        let reason = ["-m", "still in use"];
        let more: &[&str] = if decision == "deny" { &reason } else { &[] };
        place.ok([&["approvals", decision, &id], more].concat());
        let document = document_of(&run(&["--resume", "s", "--json"]));
        assert_eq!(document["result"]["ending"], "done", "{document}");
        let is_gone = place.run(["fs", "cat", "/test.sh", "-w", "fix"]).status.code() != Some(0);
        assert_eq!(is_gone, decision == "approve", "{document}");
        let own = place.ok(["sessions", "export", "s", "--markdown"]);
        let other = place.run(["sessions", "export", "task", "--markdown"]).stdout;
        let told = own + &String::from_utf8(other).unwrap();
        assert_eq!(told.contains("still in use"), decision == "deny", "{told}");
    }
}

/// Mistakes that leave no doubt are repaired for the agent, too.
#[needs(UserNamespace)]
#[test]
fn arguments_are_repaired() {
    for arguments in [
        r#"'''```json
{"path": "new", "content": "new\n",}
```'''"#,
        r#"'"{\"path\": \"new\", \"content\": \"new\\n\"}"'"#,
        "'''{\"path\": \"new\", \"content\": \"new\n\"}'''",
    ] {
        let place = place(&format!(
            "version = 1\n[[turn]]\nsay = [{{ call = \"write_file\", id = \"a\", arguments = {arguments} }}]\n\
             [[turn]]\nexpect = {{ result_contains = \"repaired\" }}\nsay = [{{ text = \"Done.\" }}]\n"
        ));
        let document = document_of(&place.run([&RUN[..], &["-w", "fix", "--json", "go"]].concat()));
        assert_eq!(document["result"]["changes"][0]["path"], "/new", "{document}");
    }
}

#[needs(UserNamespace)]
#[test]
fn instructions_that_are_left_out_are_told() {
    let place = place("version = 1\n[[turn]]\nsay = [{ text = \"Hello.\" }]\n");
    place.write("AGENTS.md", "x".repeat(70 << 10));
    place.write(".agents/skills/one/SKILL.md", "no head\n");
    fs::create_dir_all(place.project().join("below/AGENTS.md")).unwrap();
    place.ok(["workspace", "create", "fix"]);
    let script = place.path().join("script.toml").display().to_string();
    let arguments = ["agent", "run", "--provider", &format!("scripted:{script}"), "hello"];
    let output = place.command(arguments).current_dir(place.project().join("below")).output();
    let output = output.unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    for part in [
        "AGENTS.md is longer than 64 KiB",
        "below/AGENTS.md is left out",
        ".agents/skills/one/SKILL.md is no skill",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
