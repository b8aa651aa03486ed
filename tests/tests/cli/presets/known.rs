//! Which commands run by a preset, and what they get by it.

use std::fs;

use offshoot_needs::needs;
use offshoot_tests::product::document_of;
use serde_json::{Value, json};

use super::{Agent, everybody};

#[needs(Overlay, UserNamespace)]
#[test]
fn an_agent_is_known_by_its_program() {
    for agent in everybody() {
        let result = agent.does("echo $IS_SANDBOX; cat ~/.claude/.credentials.json");
        assert_eq!(result["stdout"], "1\n{\"token\":1}");
        assert_eq!(result["preset"]["name"], "claude");
        assert_eq!(result["preset"]["origin"], "built_in");
        assert_eq!(result["sandbox"]["home"], "kept");
        assert_eq!(result["network"]["mode"], "proxy", "{result:#}");
        let none =
            agent.with(&["--preset", "none"], "echo $IS_SANDBOX; cat ~/.claude/.credentials.json");
        assert_ne!(none["exit_code"], 0);
        assert_eq!(none["stdout"], "\n");
        assert_eq!(none["preset"], Value::Null);
        assert_eq!(none["sandbox"]["home"], "throw_away");
        agent.place.write("look", "cat ~/.claude/.credentials.json");
        agent.give_away();
        let named = ["exec", "--json", "--preset", "claude", "--", "sh", "look"];
        let named = document_of(&agent.command(&named).output().unwrap());
        assert_eq!(named["result"]["stdout"], "{\"token\":1}");
    }
}

/// It gets no less than it needs: no limit of time, its own hosts, the caller's variables. What the user says counts more.
#[needs(Overlay, UserNamespace)]
#[test]
fn what_the_user_says_counts_more_than_the_preset() {
    let agent = Agent::new(None);
    let asked = |options: &[&str], variables: &[(&str, &str)]| {
        let arguments = [
            &["exec", "--json"],
            options,
            &["--", "claude", "env | sort | grep -E 'SANDBOX|ANTHROPIC|SECRET'; true"],
        ]
        .concat();
        let mut command = agent.command(&arguments);
        command.envs(variables.iter().copied());
        document_of(&command.output().unwrap())
    };
    let usual = asked(
        &[],
        &[
            ("ANTHROPIC_API_KEY", "k"),
            ("SECRET", "s"),
            ("ANTHROPIC_BASE_URL", "https://proxy.example:8443/x"),
        ],
    );
    let request = &usual["request"];
    assert_eq!(request["timeout_ms"], Value::Null);
    let allow = request["allow"].as_array().unwrap();
    for host in ["api.anthropic.com", "proxy.example:8443"] {
        assert!(allow.contains(&json!(host)), "{allow:?}");
    }
    assert!(!request["allow"].to_string().contains("datadoghq"), "{allow:?}");
    let text = usual["result"]["stdout"].as_str().unwrap();
    assert_eq!(
        text,
        "ANTHROPIC_API_KEY=k\nANTHROPIC_BASE_URL=https://proxy.example:8443/x\nIS_SANDBOX=1\n"
    );
    let other = asked(&["-e", "IS_SANDBOX=0", "--timeout", "60s", "--net", "none"], &[]);
    assert_eq!(other["result"]["stdout"], "IS_SANDBOX=0\n");
    assert_eq!(other["request"]["timeout_ms"], 60_000);
    assert_eq!(other["result"]["network"]["mode"], "none");
    let more = asked(&["--net", "allow=example.org"], &[]);
    let allow = more["request"]["allow"].to_string();
    assert!(allow.contains("example.org") && allow.contains("api.anthropic.com"), "{allow}");
    let trusted = asked(&["--trust-agent"], &[]);
    assert_eq!(trusted["request"]["command"][1], "--dangerously-skip-permissions");
    assert!(
        trusted["request"]["command"].to_string().contains("skipDangerousModePermissionPrompt")
    );
    assert_eq!(usual["request"]["command"].as_array().unwrap().len(), 2);
}

/// Codex obeys the settings of a project that it trusts, so only those who trust it say that it may.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_trusted_agent_is_told_that_the_project_is() {
    let agent = Agent::new(None);
    agent.install("codex");
    let asked = |options: &[&str]| {
        let arguments = [&["exec", "--json"], options, &["--", "codex", "true {project}"]].concat();
        let document = document_of(&agent.command(&arguments).output().unwrap());
        assert_eq!(document["result"]["exit_code"], 0, "{document:#}");
        let project = document["result"]["mountpoint"].as_str().unwrap().to_owned();
        (document["request"]["command"].to_string(), project)
    };
    let (command, project) = asked(&["--trust-agent"]);
    let trusted = format!("projects={{'{project}'={{trust_level='trusted'}}}}");
    assert!(command.contains(&trusted) && command.contains("true {project}"), "{command}");
    let (command, _) = asked(&[]);
    assert!(!command.contains("trust_level"), "{command}");
}

/// An agent has the login of another only where a person said so.
#[needs(Overlay, UserNamespace)]
#[test]
fn an_agent_asks_for_no_preset() {
    let agent = Agent::new(None);
    let by_agent = |arguments: &[&str]| {
        let mut command = agent.command(arguments);
        command.env("OFFSHOOT_AGENT", "helper").output().unwrap()
    };
    let script = "cat ~/.claude/.credentials.json; true";
    let itself = document_of(&by_agent(&["exec", "--json", "--", "claude", script]));
    assert_eq!(itself["result"]["stdout"], "");
    assert_eq!(itself["result"]["preset"], Value::Null);
    let asked = by_agent(&["exec", "--preset", "claude", "--", "sh", "-c", script]);
    let said = String::from_utf8(asked.stderr).unwrap();
    assert!(
        !asked.status.success() && said.contains("an agent cannot ask for preset claude"),
        "{said}"
    );
    // A file of the project can be called as anybody likes.
    fs::copy(agent.place.path().join("bin/claude"), agent.place.project().join("claude")).unwrap();
    let own = agent.command(&["exec", "--json", "--", "./claude", script]).output().unwrap();
    assert_eq!(document_of(&own)["result"]["stdout"], "");
}

/// What lies in the project, or would be looked for there first, gets no login by being called like an agent.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_program_of_the_project_gets_no_preset() {
    let agent = Agent::new(None);
    let script = "cat ~/.claude/.credentials.json; true";
    let project = agent.place.project();
    let said = |path: Option<&str>, words: &[&str]| {
        let mut command = agent.command(&[&["exec", "--json", "-w", "p", "--"], words].concat());
        if let Some(first) = path {
            let usual = std::env::var("PATH").unwrap();
            let installed = agent.place.path().join("bin");
            command.env("PATH", format!("{first}:{}:{usual}", installed.display()));
        }
        document_of(&command.output().unwrap())
    };
    let program = agent.place.path().join("bin/claude");
    let own = project.join("node_modules/.bin/claude");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::copy(&program, &own).unwrap();
    assert_ne!(said(None, &["claude", script])["result"]["preset"], Value::Null);
    let absolute = own.display().to_string();
    let beside = project.join("tools").display().to_string();
    for (path, words) in [
        (None, vec![absolute.as_str(), script]),
        (None, vec!["npx", "claude", script]),
        (Some("node_modules/.bin"), vec!["claude", script]),
        (Some(own.parent().unwrap().to_str().unwrap()), vec!["claude", script]),
        // There is none, but a command before may have put one into the workspace.
        (Some(beside.as_str()), vec!["claude", script]),
    ] {
        let document = said(path, &words);
        assert_eq!(document["result"]["preset"], Value::Null, "{path:?} {words:?}: {document:#}");
        assert!(!document["result"]["stdout"].to_string().contains("token"), "{document:#}");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn the_user_writes_presets_and_a_project_does_not() {
    let agent = Agent::new(None);
    agent.install("my-agent");
    let text = "summary = \"Mine\"\nprograms = [\"my-agent\"]\n[env]\nset = { MINE = \"yes\" }\n";
    agent.place.write("presets/mine.toml", text);
    agent.place.write(".offshoot/presets/mine.toml", text);
    let said = |agent: &Agent| {
        let arguments = ["exec", "--json", "--", "my-agent", "echo $MINE"];
        document_of(&agent.command(&arguments).output().unwrap())["result"]["stdout"].clone()
    };
    assert_eq!(said(&agent), "\n");
    agent.host(".config/offshoot/presets/mine.toml", text);
    assert_eq!(said(&agent), "yes\n");
    // One that cannot be used is told of to whoever runs its agent, and no check lets it pass.
    for (wrong, problem) in [
        ("home = 1", ": line 3: "),
        ("home = [", ": line 3: "),
        ("[hosts]\nneed = [\"https://a.b/c\"]", ": [hosts]: "),
        ("[hosts]\nneed = [\"localhost:notaport\"]", ": [hosts]: "),
        (
            "[[inject]]\nvariable = \"A\"\nhost = \"a.b\"\nheader = \"A B:\"\nplaceholder = \"x\"",
            ": [[inject]]: ",
        ),
    ] {
        let text = format!("summary = \"Mine\"\nprograms = [\"my-agent\"]\n{wrong}\n");
        agent.host(".config/offshoot/presets/mine.toml", &text);
        let refused = agent.command(&["exec", "--", "my-agent", "true"]).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains(&format!("presets/mine.toml{problem}")), "{wrong}: {said}");
        assert_eq!(refused.status.code(), Some(125));
        let checked = agent.command(&["presets", "check", "mine"]).output().unwrap();
        assert_eq!(checked.status.code(), Some(1), "{wrong}");
    }
    agent.host(".config/offshoot/presets/mine.toml", "summary = \"Mine\"\nhome = 1\n");
    let refused = agent.command(&["exec", "--preset", "mine", "--", "true"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("presets/mine.toml: line 2: "), "{said}");
    let checked = agent.command(&["presets", "check"]).output().unwrap();
    assert_eq!(checked.status.code(), Some(1));
    // The others are listed, and which one cannot be used.
    agent.host(".config/offshoot/presets/latin.toml", "summary = 'x'\nprograms = ['a");
    let listed = agent.command(&["presets", "list"]).output().unwrap();
    let said = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.status.success() && said.contains("Claude Code"), "{said}");
    let line = |name: &str| said.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("mine").contains("presets/mine.toml: line 2: "), "{said}");
    assert!(line("latin").contains("presets/latin.toml: line 2: "), "{said}");
    let list = document_of(&agent.command(&["presets", "list", "--json"]).output().unwrap());
    let problems = list["result"]["presets"].as_array().unwrap().iter();
    assert_eq!(problems.filter(|preset| preset.get("problem").is_some()).count(), 2, "{list:#}");
}

/// Whoever can open nothing is told which, and how: not of what the agent does without.
#[needs(Overlay, UserNamespace, "curl")]
#[test]
fn refused_hosts_are_those_that_somebody_may_miss() {
    let agent = Agent::new(None);
    let script = "for host in https://statsig.anthropic.com https://nowhere.test http://127.0.0.1:1; do curl -sm 5 $host; done; true";
    let envelope = agent.with(&[], script);
    let network = &envelope["network"];
    let told: Vec<String> = network["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{}:{}", it["host"].as_str().unwrap(), it["port"]))
        .collect();
    assert_eq!(told, ["nowhere.test:443"], "{network:#}");
    let tried = network["connections"].as_array().unwrap();
    assert!(tried.iter().any(|it| it["host"] == "statsig.anthropic.com"), "{network:#}");
    let request =
        document_of(&agent.command(&["exec", "--json", "--", "claude", "true"]).output().unwrap())
            ["request"]
            .clone();
    let allow: Vec<&str> =
        request["allow"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(allow.contains(&"api.anthropic.com") && allow.contains(&"claude.ai"), "{allow:?}");
}

/// A reader of the envelope knows whose walls were in force.
#[needs(Overlay, UserNamespace)]
#[test]
fn the_envelope_says_what_became_of_the_agents_own_sandbox() {
    let agent = Agent::new(None);
    let own = |options: &[&str]| agent.with(options, "true")["sandbox"]["own_sandbox"].clone();
    assert_eq!(own(&[]), "kept");
    assert_eq!(own(&["--preset", "codex"]), "off");
    assert_eq!(own(&["--preset", "none"]), Value::Null);
    let shown = agent.command(&["presets", "show", "codex"]).output().unwrap();
    let said = String::from_utf8(shown.stdout).unwrap();
    assert!(said.contains("own sandbox     off: the walls of Offshoot are in force"), "{said}");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn one_line_says_the_preset() {
    let agent = Agent::new(None);
    let ran = agent.command(&["run", "claude", "true"]).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(said.contains("preset claude: it reaches api.anthropic.com"), "{said}");
    assert!(!said.contains("logged in"), "{said}");
    fs::remove_file(agent.place.path().join(super::LOGIN)).unwrap();
    let ran = agent.command(&["run", "claude", "true"]).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(said.contains("Claude Code does not seem to be logged in"), "{said}");
    let lost =
        agent.command(&["run", "--preset", "codex", "--", "true", "--worktree"]).output().unwrap();
    let said = String::from_utf8(lost.stderr).unwrap();
    assert!(said.contains("--worktree loses work here"), "{said}");
}
