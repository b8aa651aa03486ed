//! Sessions that are gone on with: which limits hold, and which session, workspace and model are meant.

use super::*;

const CALLS: &str = r#"version = 1
[[turn]]
say = [{ call = "list_files", id = "a" }]
usage = { input = 1000, output = 1000 }
[[turn]]
say = [{ call = "read_file", id = "b", arguments = { path = "sum.sh" } }]
usage = { input = 1000, output = 1000 }
[[turn]]
say = [{ call = "read_file", id = "c", arguments = { path = "test.sh" } }]
usage = { input = 1000, output = 1000 }
[[turn]]
say = [{ text = "Done." }]
usage = { input = 1000, output = 1000 }
"#;

/// A dollar for a thousand tokens.
const MODELS: &str = "version = 1\n[provider.c]\napi = \"openai_chat\"\nbase = \"http://127.0.0.1:1/v1\"\n\
    [[model]]\nprovider = \"c\"\nid = \"priced\"\ncontext = 90000\noutput = 1000\nprice = { input = \"500\", output = \"500\" }\n";

fn priced() -> Place {
    let place = place(CALLS);
    let file = place.path().join(".config/offshoot/models.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, MODELS).unwrap();
    place
}

/// The limits of a run hold for it, whatever those before it had.
#[needs(UserNamespace)]
#[test]
fn limits_are_those_of_the_run() {
    let place = priced();
    let run = |more: &[&str]| {
        let arguments = [&RUN[..], &["--model", "c/priced", "--json"], more].concat();
        document_of(&place.run(arguments))["result"].clone()
    };
    let reason = |result: &Value| result["reason"].as_str().unwrap_or_default().to_owned();
    let paused = run(&["-w", "one", "--name", "one", "--max-cost", "0.50", "go"]);
    assert_eq!(reason(&paused), "it cost $1.000000, and the limit is $0.500000", "{paused}");
    let paused = run(&["--resume", "one", "--max-cost", "1.50"]);
    assert_eq!(reason(&paused), "it cost $2.000000, and the limit is $1.500000", "{paused}");
    let done = run(&["--resume", "one", "--max-cost", "100", "go on"]);
    assert_eq!((&done["said"], &done["cost"]), (&"Done.".into(), &"4.000000".into()), "{done}");
    // A session that began without limits.
    run(&["-w", "two", "--name", "two", "--max-turns", "1", "go"]);
    let paused = run(&["--resume", "two", "--max-cost", "0.10"]);
    assert_eq!(reason(&paused), "it cost $1.000000, and the limit is $0.100000", "{paused}");
    let paused = run(&["--resume", "two", "--max-turns", "1"]);
    assert_eq!(reason(&paused), "the model answered 1 times", "{paused}");
    let paused = run(&["--resume", "two", "--max-time", "1ms"]);
    assert_eq!(paused["ending"], "timed_out", "{paused}");
    place.ok(["config", "set", "agent.max_cost", "0.20"]);
    let paused = run(&["--resume", "two"]);
    assert_eq!(reason(&paused), "it cost $2.000000, and the limit is $0.200000", "{paused}");
    let chat = ["agent", "chat", "--provider", "scripted:../script.toml", "--model", "c/priced"];
    let chat = [&chat[..], &["--resume", "two", "--max-cost", "100"]].concat();
    let output = place.run_with(chat, b"/go\n");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("Done."), "{output:?}");
    for session in ["one", "two"] {
        assert_eq!(place.json(&["sessions", "replay", session])["difference"], Value::Null);
    }
}

/// Sessions of one name are told apart by their workspaces, and none is looked for in a wrong one.
#[needs(UserNamespace)]
#[test]
fn the_session_that_is_meant_is_found_or_told() {
    let place = place("version = 1\n[[turn]]\nsay = [{ text = \"Hello.\" }]\n");
    let run = |more: &[&str]| place.run([&RUN[..], more].concat());
    for workspace in ["one", "two"] {
        assert!(run(&["-w", workspace, "--name", "same", "hello"]).status.success());
    }
    let told = |more: &[&str]| {
        let output = run(more);
        assert!(!output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let ambiguous = told(&["--resume", "same", "hello"]);
    assert!(ambiguous.contains("one, two") || ambiguous.contains("two, one"), "{ambiguous}");
    assert!(ambiguous.contains("-w WORKSPACE"), "{ambiguous}");
    // Which command goes on with it is told so that it does.
    let again = told(&["--resume", "same", "-w", "two", "hello"]);
    assert!(again.contains("--resume same -w two"), "{again}");
    assert!(run(&["-w", "one", "--name", "own", "hello"]).status.success());
    let elsewhere = told(&["--resume", "own", "-w", "two", "hello"]);
    assert!(elsewhere.contains("session own is in workspace one, not in two"), "{elsewhere}");
    let unnamed = place.run(["agent", "run", "--resume", "own", "hello"]);
    let told = String::from_utf8_lossy(&unnamed.stderr).into_owned();
    assert!(told.contains("a script answered in session own"), "{told}");
}
