//! Keys that stay outside: the network proxy adds them for the host of the preset.

use std::fs;
use std::path::Path;
use std::process::Output;

use offshoot_needs::needs;
use offshoot_tests::product::document_of;
use offshoot_tests::registry::Registry;
use serde_json::Value;

use super::{Agent, LOGIN, everybody};

const HUSH: &str = "hush-4711-hush";
const INSTEAD: &str = "sk-ant-kept-outside";
/// Looks wherever a key could be.
const SEARCH: &str = "env; cat /proc/self/environ /proc/1/environ; \
    grep -rs hush-47[1]1 /run /tmp /etc ~ .; cat ~/.claude/.credentials.json; \
    curl -sS $ANTHROPIC_BASE_URL/hello";

/// A model's server with https, at an address that no variable excepts from the proxy.
struct Scene {
    agent: Agent,
    model: Registry,
}

impl Scene {
    fn of(agent: Agent) -> Self {
        let model = Registry::start_tls("127.0.0.2");
        model.put("/hello", "hello\n");
        let trusted = model.authority().unwrap();
        fs::write(agent.place.path().join("trusted.pem"), trusted).unwrap();
        agent.give_away();
        Self { agent, model }
    }

    /// Runs the agent by a user who has the key.
    fn run(&self, options: &[&str], script: &str) -> Output {
        self.run_with(&[("ANTHROPIC_API_KEY", HUSH)], options, script)
    }

    fn run_with(&self, keys: &[(&str, &str)], options: &[&str], script: &str) -> Output {
        let arguments = [&["exec"], options, &["--", "claude", script]].concat();
        let mut command = self.agent.command(&arguments);
        command.env("SSL_CERT_FILE", self.agent.place.path().join("trusted.pem"));
        command.env("ANTHROPIC_BASE_URL", self.model.address()).env("LC_COPY", HUSH);
        command.envs(keys.iter().copied());
        command.output().unwrap()
    }

    /// What the server was sent under a name.
    fn sent(&self, header: &str) -> Vec<String> {
        let heads = self.model.heads();
        let lines = heads.iter().flat_map(|head| head.lines());
        let named = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(header).then(|| value.trim().to_owned())
        });
        named.collect()
    }
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether a file below a directory holds the key.
fn holds(directory: &Path) -> bool {
    fs::read_dir(directory).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        let has = |bytes: Vec<u8>| bytes.windows(HUSH.len()).any(|part| part == HUSH.as_bytes());
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => holds(&path),
            false => fs::read(path).is_ok_and(has),
        }
    })
}

#[needs(Overlay, UserNamespace, "curl")]
#[test]
fn the_model_gets_the_key_and_the_agent_does_not() {
    for agent in everybody() {
        let scene = Scene::of(agent);
        let on = ["-c", "agents.inject=claude"];
        let output = scene.run(&on, SEARCH);
        let text = printed(&output);
        assert!(text.contains("hello\n"), "{text}");
        assert!(!text.contains(HUSH), "{text}");
        assert!(text.contains(&format!("ANTHROPIC_API_KEY={INSTEAD}\n")), "{text}");
        assert!(!text.contains("{\"token\":1}"), "the login is there: {text}");
        assert!(text.contains("the key of claude stays outside"), "{text}");
        assert_eq!(scene.sent("x-api-key"), [HUSH]);
        // Whatever the agent sends itself, and whoever passes the variable on, changes nothing.
        let given = ["-c", "agents.inject=claude", "-e", "ANTHROPIC_API_KEY", "--json"];
        let output =
            scene.run(&given, "curl -sS -H \"x-api-key: mine\" $ANTHROPIC_BASE_URL/hello; env");
        let document = document_of(&output);
        assert!(!document.to_string().contains(HUSH), "{document:#}");
        assert_eq!(scene.sent("x-api-key"), [HUSH]);
        // A token of the other kind goes in its own header.
        let keys = [("ANTHROPIC_AUTH_TOKEN", HUSH)];
        let text = printed(&scene.run_with(&keys, &on, SEARCH));
        assert!(text.contains("hello\n") && !text.contains(HUSH), "{text}");
        assert_eq!(scene.sent("authorization"), [format!("Bearer {HUSH}")]);
        assert!(!holds(&scene.agent.place.home()), "a vault has it");
        assert_eq!(scene.agent.on_host(LOGIN), "{\"token\":1}");
        // Without, the test can tell.
        let text = printed(&scene.run(&[], SEARCH));
        assert!(text.contains(&format!("ANTHROPIC_API_KEY={HUSH}\n")), "{text}");
        assert!(scene.sent("x-api-key").is_empty());
    }
}

/// What waits for a person is kept in the vault, without the key.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_request_that_waits_holds_no_key() {
    let scene = Scene::of(Agent::new(None));
    let rules = scene.agent.place.path().join(".config/offshoot/policy.toml");
    fs::create_dir_all(rules.parent().unwrap()).unwrap();
    let ask = "version = 1\n[[rule]]\nname = \"ask\"\ndecision = \"require_approval\"\nprefix = [\"claude\"]\n";
    fs::write(rules, ask).unwrap();
    let waiting = |options: &[&str]| document_of(&scene.run(options, "env"))["result"].clone();
    let result = waiting(&["-c", "agents.inject=claude", "--json"]);
    assert_eq!(result["state"], "pending_approval", "{result:#}");
    assert!(!holds(&scene.agent.place.home()), "a vault has it");
    waiting(&["--json"]);
    assert!(holds(&scene.agent.place.home()), "the test cannot tell");
}

#[needs(UserNamespace)]
#[test]
fn what_cannot_work_is_said() {
    let scene = Scene::of(Agent::new(None));
    let refused = |keys: &[(&str, &str)], options: &[&str], problem: &str| {
        let output = scene.run_with(keys, options, "echo ran");
        let text = printed(&output);
        assert!(!output.status.success() && !text.contains("ran\n"), "{text}");
        assert!(text.contains(problem), "{text}");
    };
    let key = [("ANTHROPIC_API_KEY", HUSH)];
    let on = "agents.inject=claude";
    refused(&[], &["-c", on], "none of these variables is set: ANTHROPIC_API_KEY, ");
    refused(&key, &["-c", on, "--net", "host"], "--net host does without");
    refused(&key, &["-c", "agents.inject=cluade"], "agents.inject: there is no preset \"cluade\"");
    let set = ["config", "set", "agents.inject", "claude,cluade"];
    let set = scene.agent.command(&set).output().unwrap();
    assert_eq!(set.status.code(), Some(2));
    let said = String::from_utf8_lossy(&set.stderr).into_owned();
    assert!(said.contains("agents.inject: there is no preset \"cluade\""), "{said}");
    let generic = ["-c", "agents.inject=generic", "--preset", "generic"];
    refused(&key, &generic, "has no [[inject]]");
    // Nobody on the way reads a key. This machine is on no wire.
    for address in ["http://192.0.2.1", "HTTP://192.0.2.1:8080/v1"] {
        let keys = [key[0], ("ANTHROPIC_BASE_URL", address)];
        refused(&keys, &["-c", on], "ANTHROPIC_BASE_URL is an address with http://");
    }
    let keys = [key[0], ("ANTHROPIC_BASE_URL", "http://127.0.0.3:9")];
    let text = printed(&scene.run_with(&keys, &["-c", on], "echo ran"));
    assert!(text.contains("ran\n"), "{text}");
    // Without a network there is nobody to send it to.
    let text = printed(&scene.run(&["-c", on, "--net", "none"], "env"));
    assert!(text.contains(INSTEAD) && !text.contains(HUSH), "{text}");
    // A project cannot turn it on, nor off.
    let config = scene.agent.place.project().join("offshoot.toml");
    fs::write(
        &config,
        "[agents]\ninject = \"claude\"\ntrusted = \"claude\"\nhost_state = \"claude\"\n",
    )
    .unwrap();
    let text = printed(&scene.run(&[], "env"));
    for name in ["inject", "trusted", "host_state"] {
        assert!(text.contains(&format!("agents.{name} is ignored")), "{text}");
    }
    assert!(text.contains(HUSH), "{text}");
}

/// The user's own rule for the host counts more than the preset's.
#[needs(Overlay, UserNamespace, "curl")]
#[test]
fn a_credential_of_the_user_is_used() {
    let scene = Scene::of(Agent::new(None));
    let file = scene.agent.place.path().join(".config/offshoot/sandbox.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = format!(
        "[tls]\ninspect = [\"{host}\"]\n[[credential]]\nhost = \"{host}\"\nheader = \"X-Api-Key\"\nvalue_from = {{ command = [\"echo\", \"own-key-99\"] }}\n",
        host = scene.model.host()
    );
    fs::write(file, text).unwrap();
    let output = scene.run_with(&[], &["-c", "agents.inject=claude", "--json"], SEARCH);
    let result: Value = document_of(&output)["result"].clone();
    assert!(result["stdout"].as_str().unwrap().contains("hello"), "{result:#}");
    assert!(result["stdout"].as_str().unwrap().contains(INSTEAD), "{result:#}");
    assert_eq!(scene.sent("x-api-key"), ["own-key-99"]);
}
