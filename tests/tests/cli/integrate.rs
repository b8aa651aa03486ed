//! Agents that run outside and use Offshoot: their settings, and what their hook is told.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::{Place, binary, document_of};
use offshoot_tests::user::{User, give_away};
use serde_json::{Value, json};

use crate::transcript::Transcript;

const AGENTS: [&str; 3] = ["claude", "codex", "opencode"];
const SCOPES: [&str; 2] = ["user", "project"];

/// Everything in a folder, but for what Offshoot keeps itself.
fn files(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            let path = entry.path();
            match entry.file_type().unwrap().is_dir() {
                true if entry.file_name() == "home" => {}
                true => {
                    folders.push(path.clone());
                    found.insert(path, None);
                }
                false => drop(found.insert(path.clone(), Some(fs::read(path).unwrap()))),
            }
        }
    }
    found
}

fn put(path: impl AsRef<Path>, text: &str) {
    fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn add(place: &Place, agent: &str, scope: &str) -> Value {
    place.json(&["integrate", agent, "--scope", scope, "--yes"])
}

fn remove(place: &Place, agent: &str, scope: &str) -> Value {
    place.json(&["integrate", agent, "--scope", scope, "--remove", "--yes"])
}

fn changed(document: &Value) -> Vec<bool> {
    let files = document["files"].as_array().unwrap();
    files.iter().map(|file| file["changed"].as_bool().unwrap()).collect()
}

/// The files of an agent's settings: of its servers, and of its hooks.
fn settings(place: &Place, agent: &str, scope: &str) -> [PathBuf; 2] {
    let (home, project) = (place.path(), place.project());
    match (agent, scope) {
        ("claude", "user") => [home.join(".claude.json"), home.join(".claude/settings.json")],
        ("claude", _) => [project.join(".mcp.json"), project.join(".claude/settings.json")],
        ("codex", "user") => [home.join(".codex/config.toml"), home.join(".codex/hooks.json")],
        ("codex", _) => [project.join(".codex/config.toml"), project.join(".codex/hooks.json")],
        (_, "user") => {
            let folder = home.join(".config/opencode");
            [folder.join("opencode.json"), folder.join("plugin/offshoot.js")]
        }
        _ => [project.join("opencode.json"), project.join(".opencode/plugin/offshoot.js")],
    }
}

#[test]
fn what_is_printed() {
    let place = Place::new();
    let mut transcript = Transcript::new(&place);
    let project = ["--scope", "project"];
    let with = |words: &[&'static str]| -> Vec<&'static str> {
        ["integrate"].iter().chain(words).chain(&project).copied().collect()
    };
    transcript.run(&with(&["claude"]));
    transcript.run(&with(&["claude", "--yes"]));
    transcript.run(&with(&["claude", "--yes"]));
    transcript.json(&with(&["codex", "--yes"]));
    transcript.run(&with(&["--check"]));
    transcript.run(&["integrate"]);
    transcript.json(&with(&["claude", "--check"]));
    transcript.run(&with(&["claude", "--remove", "--yes"]));
    transcript.run(&with(&["claude", "--remove", "--yes"]));
    transcript.run(&["integrate", "--agents-md"]);
    transcript.json(&["integrate", "--agents-md"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn nothing_is_left_of_what_was_put_where_nothing_was() {
    for scope in SCOPES {
        for agent in AGENTS {
            let place = Place::new();
            let before = files(place.path());
            assert_eq!(changed(&add(&place, agent, scope)), [true, true]);
            for file in settings(&place, agent, scope) {
                assert!(file.is_file(), "{}", file.display());
            }
            let with = files(place.path());
            assert_eq!(changed(&add(&place, agent, scope)), [false, false]);
            assert_eq!(files(place.path()), with);
            let check = ["integrate", agent, "--scope", scope, "--check"];
            place.ok(check);
            assert_eq!(changed(&remove(&place, agent, scope)), [true, true]);
            assert_eq!(files(place.path()), before);
            assert_eq!(place.run(check).status.code(), Some(1));
            assert_eq!(changed(&remove(&place, agent, scope)), [false, false]);
        }
    }
}

#[test]
fn codex_has_one_way_in_or_the_other() {
    let place = Place::new();
    let codex = |options: &[&'static str]| -> Vec<&'static str> {
        ["integrate", "codex"].iter().chain(options).copied().collect()
    };
    let parts = |document: &Value| -> Vec<(String, bool)> {
        let files = document["files"].as_array().unwrap().iter();
        let present = |file: &Value| file["state"] == "present";
        files.map(|file| (file["part"].as_str().unwrap().to_owned(), present(file))).collect()
    };
    let part = |name: &str, present: bool| (name.to_owned(), present);
    let file = place.path().join(".codex/environments.toml");
    let before = files(place.path());
    let written = place.json(&codex(&["--environment", "--yes"]));
    assert_eq!(parts(&written), [part("environment", true), part("environment", true)]);
    let config = fs::read_to_string(place.path().join(".codex/config.toml")).unwrap();
    assert_eq!(
        config,
        "sandbox_mode = \"danger-full-access\"\nfeatures.daemon_auto_start = false\n"
    );
    let settings: toml::Value = toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(settings["default"].as_str(), Some("offshoot"));
    assert_eq!(settings["include_local"].as_bool(), Some(false));
    let environment = &settings["environments"][0];
    assert_eq!(environment["program"].as_str(), binary().to_str());
    // What codex is told to start is something that Offshoot takes: the preset, and so the login, is left out.
    let arguments = environment["args"].as_array().unwrap().iter();
    let arguments: Vec<&str> = arguments.map(|one| one.as_str().unwrap()).collect();
    assert!(arguments.windows(2).any(|pair| pair == ["--preset", "none"]), "{arguments:?}");
    place.ok(codex(&["--check"]));
    place.ok(codex(&["--check", "--environment"]));
    // Not both ways at once.
    let with = files(place.path());
    assert_eq!(place.run(codex(&["--yes"])).status.code(), Some(4));
    assert_eq!(files(place.path()), with);
    place.ok(codex(&["--remove", "--yes"]));
    assert_eq!(files(place.path()), before);
    assert_eq!(place.run(codex(&["--check", "--environment"])).status.code(), Some(1));
    place.ok(codex(&["--yes"]));
    let with = files(place.path());
    assert_eq!(place.run(codex(&["--environment", "--yes"])).status.code(), Some(4));
    assert_eq!(files(place.path()), with);
    place.ok(codex(&["--remove", "--yes"]));
    // What somebody set stays, and then nothing is written.
    let config = place.path().join(".codex/config.toml");
    for (path, text) in [
        (&file, "default = \"mine\"\n"),
        (&config, "sandbox_mode = \"read-only\"\n"),
        (&config, "[features]\ndaemon_auto_start = true\n"),
    ] {
        put(path, text);
        let with = files(place.path());
        assert_eq!(place.run(codex(&["--environment", "--yes"])).status.code(), Some(4), "{text}");
        place.ok(codex(&["--remove", "--yes"]));
        assert_eq!(files(place.path()), with);
        fs::remove_file(path).unwrap();
    }
    // The same settings of the user's own are the user's.
    let own =
        "sandbox_mode = \"danger-full-access\"\n\n[features]\ndaemon_auto_start = false\nx = 1\n";
    put(&config, own);
    place.ok(codex(&["--environment", "--yes"]));
    place.ok(codex(&["--remove", "--yes"]));
    assert_eq!(fs::read_to_string(&config).unwrap(), own);
    fs::remove_dir_all(config.parent().unwrap()).unwrap();
    // It is for Codex, and for the user.
    for other in [
        &["claude", "--environment"][..],
        &["codex", "--environment", "--scope", "project"],
        &["codex", "--environment", "--no-hook"],
        &["--environment"],
    ] {
        let words: Vec<&str> = ["integrate"].iter().chain(other).copied().collect();
        assert_eq!(place.run(words).status.code(), Some(2), "{other:?}");
    }
}

/// A program called codex that serves what it is asked on its standard input, as `codex exec-server` does.
#[needs(UserNamespace)]
#[test]
fn the_tools_of_codex_run_in_a_workspace() {
    let place = Place::new();
    place.write("file", "one\n");
    let programs = place.path().join(".local/bin");
    put(programs.join("codex"), "#!/bin/sh\necho \"$@\"\nsh\n");
    fs::set_permissions(programs.join("codex"), fs::Permissions::from_mode(0o755)).unwrap();
    put(place.path().join(".codex/auth.json"), "{\"OPENAI_API_KEY\": \"secret\"}\n");
    place.ok(["integrate", "codex", "--environment", "--yes"]);
    let file = place.path().join(".codex/environments.toml");
    let settings: toml::Value = toml::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let environment = &settings["environments"][0];
    let arguments = environment["args"].as_array().unwrap().iter();
    let arguments: Vec<&str> = arguments.map(|one| one.as_str().unwrap()).collect();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
    let mut command = place.command(arguments);
    command.env("PATH", path).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let asked = "echo two > file; cat ~/.codex/auth.json; echo \"home: $?\"\n";
    server.stdin.take().unwrap().write_all(asked.as_bytes()).unwrap();
    let output = server.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "exec-server --listen stdio\nhome: 1\n", "{output:?}");
    assert_eq!(fs::read_to_string(place.project().join("file")).unwrap(), "one\n");
    assert_eq!(place.ok(["fs", "cat", "/file", "-w", "codex"]), "two\n");
}

#[test]
fn files_are_again_as_they_were_byte_for_byte() {
    let json = [
        "",
        "{}",
        "{ }\n",
        "{\"model\":\"x\",\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Edit\",\"hooks\":[]}]},\"mcp\":{}}",
        "{\n\t\"mcpServers\": {\n\t\t\"b\": { \"command\": \"b\" }\n\t},\n\t\"mcp\": {},\n\t\"z\": 1\n}\n",
        "{\r\n    \"hooks\": {\r\n        \"PreToolUse\": []\r\n    }\r\n}",
        "// mine\n{\n   \"a\": [1,2], // odd\n   \"b\": \"}\", /* last */\n}\n\n",
    ];
    let toml = [
        "",
        "model = \"x\"",
        "# mine\nmodel = \"x\"   # odd\n\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n\n\n",
        "[mcp_servers.b]\r\ncommand = \"b\"\r\n",
    ];
    for scope in SCOPES {
        for agent in AGENTS {
            for number in 0..json.len() {
                let place = Place::new();
                for file in settings(&place, agent, scope) {
                    match file.extension().unwrap().to_str().unwrap() {
                        "toml" => put(file, toml[number % toml.len()]),
                        "json" => put(file, json[number]),
                        _ => {}
                    }
                }
                let before = files(place.path());
                assert_eq!(changed(&add(&place, agent, scope)), [true, true]);
                assert_eq!(changed(&add(&place, agent, scope)), [false, false]);
                remove(&place, agent, scope);
                assert_eq!(files(place.path()), before, "{agent} {scope} {number}");
            }
        }
    }
}

#[test]
fn what_others_changed_meanwhile_stays() {
    let place = Place::new();
    let [servers, hooks] = settings(&place, "claude", "user");
    put(&servers, "{\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}\n");
    add(&place, "claude", "user");
    // The agent writes its file anew, in another layout; somebody adds a hook beside ours.
    let mut content: Value = serde_json::from_slice(&fs::read(&servers).unwrap()).unwrap();
    content["mcpServers"]["c"] = json!({"command": "c"});
    content["startups"] = json!(7);
    fs::write(&servers, content.to_string()).unwrap();
    let mut content: Value = serde_json::from_slice(&fs::read(&hooks).unwrap()).unwrap();
    content["hooks"]["PreToolUse"].as_array_mut().unwrap().insert(0, json!({"hooks": []}));
    fs::write(&hooks, serde_json::to_string_pretty(&content).unwrap()).unwrap();
    remove(&place, "claude", "user");
    let left: Value = serde_json::from_slice(&fs::read(&servers).unwrap()).unwrap();
    assert_eq!(left, json!({"mcpServers": {"b": {}, "c": {"command": "c"}}, "startups": 7}));
    let left: Value = serde_json::from_slice(&fs::read(&hooks).unwrap()).unwrap();
    assert_eq!(left, json!({"hooks": {"PreToolUse": [{"hooks": []}]}}));

    let [servers, _] = settings(&place, "codex", "user");
    put(&servers, "model = \"x\" # mine\n");
    add(&place, "codex", "user");
    let more =
        "\n[mcp_servers.offshoot.tools.exec]\napproval_mode = \"approve\"\n\n[tui]\nx = 1 # y\n";
    let with = fs::read_to_string(&servers).unwrap().replace("\"x\"", "\"other\"") + more;
    fs::write(&servers, with).unwrap();
    remove(&place, "codex", "user");
    let left = fs::read_to_string(&servers).unwrap();
    assert_eq!(left, "model = \"other\" # mine\n\n[tui]\nx = 1 # y\n");

    // A plugin that somebody rewrote is theirs.
    let [_, plugin] = settings(&place, "opencode", "user");
    add(&place, "opencode", "user");
    fs::write(&plugin, "// mine\n").unwrap();
    let removed = remove(&place, "opencode", "user");
    assert_eq!(removed["files"][1]["state"], "other");
    assert_eq!(fs::read_to_string(&plugin).unwrap(), "// mine\n");
}

#[test]
fn what_stays_is_told_with_what_to_do_about_it() {
    let place = Place::new();
    let [_, plugin] = settings(&place, "opencode", "user");
    add(&place, "opencode", "user");
    let mine = format!("// mine\n{}", fs::read_to_string(&plugin).unwrap());
    fs::write(&plugin, &mine).unwrap();
    let removing = ["integrate", "opencode", "--remove", "--yes"];
    for _ in 0..2 {
        let output = place.run(removing);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(said.contains(&format!("delete {} yourself", plugin.display())), "{said}");
        assert!(!said.contains("any more") && !said.contains("nothing of Offshoot"), "{said}");
        assert_eq!(fs::read_to_string(&plugin).unwrap(), mine);
    }
    fs::remove_file(&plugin).unwrap();
    assert!(place.ok(removing).contains("nothing of Offshoot is in the settings of opencode"));
}

#[test]
fn nothing_stays_written_where_something_cannot_be_written() {
    for agent in ["claude", "opencode"] {
        let (place, user) = (Place::new(), User::new());
        let [servers, hooks] = settings(&place, agent, "user");
        let closed = hooks.parent().unwrap();
        let fails = || {
            let before = files(place.path());
            give_away(place.path());
            fs::set_permissions(closed, fs::Permissions::from_mode(0o500)).unwrap();
            let output = user.command(&place, &["integrate", agent, "--yes", "--json"]).output();
            fs::set_permissions(closed, fs::Permissions::from_mode(0o700)).unwrap();
            let error = document_of(&output.unwrap())["error"].clone();
            assert_eq!(error["exit_code"], 6, "{error}");
            assert!(error["hint"].as_str().unwrap().starts_with("nothing was changed"), "{error}");
            assert_eq!(files(place.path()), before);
        };
        fs::create_dir_all(closed).unwrap();
        fails();
        put(&servers, "{ }");
        fails();
        fs::remove_file(&servers).unwrap();
        // What was recorded is as it was as well.
        let change = |more: &[&str]| {
            let arguments = [&["integrate", agent, "--yes"], more].concat();
            assert!(user.command(&place, &arguments).output().unwrap().status.success());
        };
        change(&[]);
        change(&["--remove"]);
        assert!(!servers.exists() && !hooks.exists());
    }
}

#[test]
fn an_entry_that_somebody_wrote_is_not_touched() {
    let place = Place::new();
    let [servers, _] = settings(&place, "claude", "project");
    let text = "{\"mcpServers\": {\"offshoot\": {\"command\": \"mine\"}}}";
    put(&servers, text);
    assert_eq!(add(&place, "claude", "project")["files"][0]["state"], "other");
    assert_eq!(changed(&remove(&place, "claude", "project")), [false, true]);
    assert_eq!(fs::read_to_string(&servers).unwrap(), text);
}

#[test]
fn a_file_that_cannot_be_read_keeps_everything_as_it_was() {
    for (agent, number, text) in [
        ("claude", 0, "{\"a\": 1,, }"),
        ("claude", 1, "{\"hooks\": []}"),
        ("codex", 0, "model = \n"),
        ("codex", 0, "mcp_servers = { b = { command = \"b\" } }\n"),
        ("opencode", 0, "[1]"),
    ] {
        let place = Place::new();
        let file = &settings(&place, agent, "user")[number];
        put(file, text);
        let before = files(place.path());
        let error = place.json_error(&["integrate", agent, "--yes"], 2);
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(error["message"].as_str().unwrap().contains(name), "{error}");
        assert_eq!(files(place.path()), before);
    }
    let place = Place::new();
    symlink("nowhere", place.path().join(".claude.json")).unwrap();
    place.json_error(&["integrate", "claude", "--no-hook", "--yes"], 6);
    assert!(!place.path().join("nowhere").exists());
}

#[test]
fn nothing_is_written_that_nobody_agreed_to() {
    let place = Place::new();
    let before = files(place.path());
    let output = place.run(["integrate", "claude"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("+  \"mcpServers\""), "{output:?}");
    place.json_error(&["integrate", "claude"], 2);
    let agent = place.command(["integrate", "claude", "--yes"]).env("OFFSHOOT_AGENT", "x").output();
    assert!(!agent.unwrap().status.success());
    assert_eq!(files(place.path()), before);
}

#[test]
fn links_and_modes_stay() {
    let place = Place::new();
    let dotfiles = place.path().join("dotfiles/claude.json");
    put(&dotfiles, "{\"a\": 1}\n");
    fs::set_permissions(&dotfiles, fs::Permissions::from_mode(0o600)).unwrap();
    let link = place.path().join(".claude.json");
    symlink("dotfiles/claude.json", &link).unwrap();
    add(&place, "claude", "user");
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&dotfiles).unwrap().contains("offshoot"));
    assert_eq!(fs::metadata(&dotfiles).unwrap().permissions().mode() & 0o777, 0o600);
    remove(&place, "claude", "user");
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&dotfiles).unwrap(), "{\"a\": 1}\n");
}

#[test]
fn settings_can_be_at_another_place() {
    let place = Place::new();
    let elsewhere = place.path().join("elsewhere");
    for (agent, variable, file) in [
        ("claude", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("claude", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
        ("claude", "HOME", ".claude.json"),
        ("opencode", "HOME", ".config/opencode/opencode.json"),
    ] {
        let run = |more: &[&str]| {
            let all = ["integrate", agent, "--yes"].into_iter().chain(more.iter().copied());
            let output = place.command(all).env(variable, &elsewhere).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        run(&[]);
        assert!(elsewhere.join(file).is_file(), "{variable} {file}");
        run(&["--remove"]);
        assert!(!elsewhere.exists(), "{variable} {file}");
    }
    let jsonc = place.path().join(".config/opencode/opencode.jsonc");
    put(&jsonc, "{ // mine\n}\n");
    add(&place, "opencode", "user");
    assert!(fs::read_to_string(&jsonc).unwrap().contains("offshoot"));
    remove(&place, "opencode", "user");
    assert_eq!(fs::read_to_string(&jsonc).unwrap(), "{ // mine\n}\n");
}

#[test]
fn agents_start_the_program_that_integrated_them() {
    let place = Place::new();
    let command = |place: &Place| {
        let text = fs::read(place.path().join(".claude.json")).unwrap();
        let content: Value = serde_json::from_slice(&text).unwrap();
        content["mcpServers"]["offshoot"]["command"].as_str().unwrap().to_owned()
    };
    place.ok(["integrate", "claude", "--yes"]);
    assert_eq!(command(&place), binary().to_str().unwrap());
    remove(&place, "claude", "user");
    let bin = place.path().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(binary(), bin.join("offshoot")).unwrap();
    let mut found = place.command(["integrate", "claude", "--yes"]);
    assert!(found.env("PATH", &bin).output().unwrap().status.success());
    assert_eq!(command(&place), "offshoot");
    // Once it is not found there any more, the entries are brought up to date, and still go without a trace.
    assert_eq!(changed(&add(&place, "claude", "user")), [true, true]);
    assert_eq!(command(&place), binary().to_str().unwrap());
    let hooks = fs::read_to_string(place.path().join(".claude/settings.json")).unwrap();
    assert_eq!(hooks.matches(" hook claude").count(), 1, "{hooks}");
    remove(&place, "claude", "user");
    assert!(!place.path().join(".claude.json").exists() && !place.path().join(".claude").exists());
}

/// What an agent is told about a command: nothing, or the decision and the reason.
fn told(place: &Place, agent: &str, command: &str) -> Option<(String, String)> {
    let name = if agent == "opencode" { "bash" } else { "Bash" };
    let question = json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": place.project(),
        "tool_name": name, "tool_input": {"command": command},
    });
    answered(&place.ok_with(["hook", agent], question.to_string().as_bytes()))
}

fn answered(text: &str) -> Option<(String, String)> {
    let answer: Value = (!text.is_empty()).then(|| serde_json::from_str(text).unwrap())?;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Some(match answer.get("hookSpecificOutput") {
        Some(output) => {
            assert_eq!(output["hookEventName"], "PreToolUse");
            (text(&output["permissionDecision"]), text(&output["permissionDecisionReason"]))
        }
        None => (text(&answer["decision"]), text(&answer["reason"])),
    })
}

#[test]
fn the_hook_says_what_policy_says() {
    let place = Place::new();
    let rules = "version = 1\n[[rule]]\nname = \"no\"\ndecision = \"deny\"\nreason = \"never here\"\nprefix = [\"make\", \"evil\"]\n[[rule]]\nname = \"yes\"\ndecision = \"allow\"\nprefix = [\"make\", \"fine\"]\n";
    put(place.path().join(".config/offshoot/policy.toml"), rules);
    for agent in AGENTS {
        for reads in ["ls -la", "git status", "make fine"] {
            assert_eq!(told(&place, agent, reads), None, "{agent} {reads}");
        }
        let (decision, reason) = told(&place, agent, "echo a > b").unwrap();
        assert_eq!(decision, "deny");
        assert!(reason.contains("`exec` tool of the MCP server `offshoot`"), "{reason}");
        let (decision, reason) = told(&place, agent, "ls && make evil").unwrap();
        assert_eq!(decision, "deny");
        assert!(reason.contains("never here"), "{reason}");
        let (decision, reason) = told(&place, agent, "git push --force").unwrap();
        assert_eq!(decision, if agent == "claude" { "ask" } else { "deny" });
        assert!(reason.contains("needs an approval"), "{reason}");
    }
}

#[test]
fn the_hook_lets_nothing_run_that_it_cannot_judge() {
    let place = Place::new();
    let ask = |question: &str| answered(&place.ok_with(["hook", "claude"], question.as_bytes()));
    for question in ["", "ls", "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":1}}"] {
        assert_eq!(ask(question).unwrap().0, "deny", "{question}");
    }
    assert_eq!(ask("{\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"a\"}}"), None);
    let words = "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":[\"rm\",\"a b\"]}}";
    assert_eq!(ask(words).unwrap().0, "deny");
    put(place.path().join(".config/offshoot/policy.toml"), "version = 9\n");
    assert_eq!(told(&place, "claude", "ls").unwrap().0, "deny");
}

#[test]
fn the_hook_is_silent_inside_of_a_workspace() {
    let place = Place::new();
    let mut command = place.command(["hook", "claude"]);
    let output = command.env("OFFSHOOT_INSIDE", "fix").output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
}

#[test]
fn several_at_the_same_moment_are_all_recorded() {
    for _ in 0..4 {
        let place = Place::new();
        place.ok(["init"]);
        let before = files(place.path());
        let all =
            || AGENTS.iter().flat_map(|agent| SCOPES.iter().map(move |scope| (*agent, *scope)));
        let at_once = |act: fn(&Place, &str, &str) -> Value| {
            std::thread::scope(|threads| {
                let place = &place;
                let started: Vec<_> = all()
                    .map(|(agent, scope)| threads.spawn(move || act(place, agent, scope)))
                    .collect();
                started.into_iter().for_each(|one| drop(one.join().unwrap()));
            });
        };
        at_once(add);
        at_once(remove);
        // What was not recorded could not be taken back.
        assert_eq!(files(place.path()), before);
    }
}

#[test]
fn a_list_says_what_is_wrong_with_a_file() {
    let place = Place::new();
    put(place.path().join(".claude.json"), "{");
    let output = place.run(["integrate", "--json"]);
    let document = document_of(&output);
    let first = &document["result"]["integrations"][0];
    assert_eq!(first["state"], "unreadable", "{first}");
    assert!(first["problem"].as_str().unwrap().contains("line 1"), "{first}");
}

/// The commands of all hooks of a file, item by item.
fn hooks_in(path: &Path) -> Vec<Vec<String>> {
    let content: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let items = content["hooks"]["PreToolUse"].as_array().cloned().unwrap_or_default();
    let commands = |item: &Value| {
        let hooks = item["hooks"].as_array().unwrap().iter();
        hooks.map(|hook| hook["command"].as_str().unwrap().to_owned()).collect()
    };
    items.iter().map(commands).collect()
}

/// Wherever somebody has a hook of their own, writing again and taking back leave it there.
#[test]
fn hooks_of_the_user_stay_wherever_they_are() {
    let mine = || json!({"type": "command", "command": "mine.sh"});
    for agent in ["claude", "codex"] {
        for scope in SCOPES {
            let place = Place::new();
            let [_, file] = settings(&place, agent, scope);
            let theirs = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [ { \"type\": \"command\", \"command\": \"mine.sh\" } ]\n      }\n    ]\n  }\n}\n";
            // Theirs first, in an item of their own.
            put(&file, theirs);
            add(&place, agent, scope);
            assert_eq!(hooks_in(&file).len(), 2);
            remove(&place, agent, scope);
            assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
            // Theirs added to ours, before and behind it, and in an item behind it; the file is written anew or changed.
            fs::remove_file(&file).unwrap();
            add(&place, agent, scope);
            let content: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
            let change = |change: &dyn Fn(&mut Vec<Value>)| {
                let mut content = content.clone();
                change(content["hooks"]["PreToolUse"].as_array_mut().unwrap());
                serde_json::to_string_pretty(&content).unwrap()
            };
            let in_ours = |at: usize| {
                change(&|items: &mut Vec<Value>| {
                    items[0]["hooks"].as_array_mut().unwrap().insert(at, mine());
                })
            };
            let beside = |at: usize| {
                change(&|items: &mut Vec<Value>| {
                    items.insert(at, json!({"matcher": "Bash", "hooks": [mine()]}));
                })
            };
            for changed_by_them in [in_ours(0), in_ours(1), beside(0), beside(1)] {
                fs::write(&file, &changed_by_them).unwrap();
                assert_eq!(changed(&add(&place, agent, scope)), [false, false]);
                assert_eq!(fs::read_to_string(&file).unwrap(), changed_by_them);
                assert_eq!(changed(&remove(&place, agent, scope)), [true, true]);
                assert_eq!(hooks_in(&file), [["mine.sh"]], "{changed_by_them}");
                assert_eq!(changed(&add(&place, agent, scope)), [true, true]);
                assert_eq!(hooks_in(&file).concat().len(), 2);
                remove(&place, agent, scope);
                assert_eq!(hooks_in(&file), [["mine.sh"]], "{changed_by_them}");
                fs::remove_file(&file).unwrap();
                add(&place, agent, scope);
            }
            // One of theirs that only looks like ours.
            let alike = theirs.replace("mine.sh", &format!("my-offshoot hook {agent}"));
            remove(&place, agent, scope);
            put(&file, &alike);
            add(&place, agent, scope);
            remove(&place, agent, scope);
            assert_eq!(fs::read_to_string(&file).unwrap(), alike);
        }
    }
}

/// Writing again is for a program at another place; what somebody changed in an entry stays, and goes with it when it is taken back.
#[test]
fn an_entry_that_was_changed_is_not_written_over() {
    let place = Place::new();
    for (agent, from, to) in [
        ("claude", "\"mcp\"", "\"mcp\",\"--allow-commit\""),
        ("codex", "[\"mcp\"]", "[\"mcp\", \"--allow-commit\"]"),
        ("opencode", "\"mcp\"", "\"mcp\",\"--allow-commit\""),
    ] {
        let [servers, hooks] = settings(&place, agent, "user");
        add(&place, agent, "user");
        let text = fs::read_to_string(&servers).unwrap();
        let at = text.rfind(from).unwrap();
        let mine = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
        fs::write(&servers, &mine).unwrap();
        let again = add(&place, agent, "user");
        assert_eq!(again["files"][0]["state"], "other", "{agent}: {again:#}");
        assert_eq!(fs::read_to_string(&servers).unwrap(), mine);
        // A hook with more time.
        if agent != "opencode" {
            let text = fs::read_to_string(&hooks).unwrap().replace("30", "60");
            fs::write(&hooks, &text).unwrap();
            assert_eq!(add(&place, agent, "user")["files"][1]["state"], "other");
            assert_eq!(fs::read_to_string(&hooks).unwrap(), text);
        }
        remove(&place, agent, "user");
        assert!(!servers.exists() && !hooks.exists(), "{agent}");
    }
}
