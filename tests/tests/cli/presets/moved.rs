//! Variables by which a user moves an agent's directories.

use std::fs;

use offshoot_needs::needs;
use offshoot_tests::product::document_of;
use serde_json::Value;

use super::{Agent, LOGIN, everybody};

impl Agent {
    /// Has the agent do something for a user with a variable; the envelope's result.
    fn moved(&self, variable: (&str, &str), options: &[&str], script: &str) -> Value {
        let arguments = [&["exec", "--json"], options, &["--", "claude", script]].concat();
        let mut command = self.command(&arguments);
        command.env(variable.0, variable.1);
        document_of(&command.output().unwrap())["result"].clone()
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn an_agents_directories_are_where_the_user_has_them() {
    for agent in everybody() {
        let home = agent.place.path().canonicalize().unwrap();
        let directory = home.join("tools/claude-work");
        let variable = ("CLAUDE_CONFIG_DIR", directory.to_str().unwrap());
        agent.host("tools/claude-work/.credentials.json", "{\"token\":8}");
        agent.host("tools/claude-work/settings.json", "{\"model\":\"w\"}");
        agent.host("tools/claude-work/skills/s/SKILL.md", "skill");
        agent.host(
            "tools/claude-work/.claude.json",
            "{\"oauthAccount\":{\"mail\":\"w@x\"},\"mcpServers\":{}}",
        );
        agent.host("tools/other", "hidden");
        let script = "cd $CLAUDE_CONFIG_DIR; cat .credentials.json settings.json skills/s/SKILL.md; cat .claude.json ~/.claude/.credentials.json ../other; \
            mkdir projects; echo one > projects/a; echo '{\"token\":9}' > new; mv new .credentials.json; echo x > settings.json";
        let result = agent.moved(variable, &[], script);
        let said = result["stdout"].as_str().unwrap();
        assert!(said.starts_with("{\"token\":8}{\"model\":\"w\"}skill{"), "{result:#}");
        assert!(said.contains("w@x") && !said.contains("mcpServers"), "{result:#}");
        assert!(!said.contains("hidden") && !said.contains("\"token\":1"), "{result:#}");
        assert!(result["discarded"]["paths"].to_string().contains("claude-work/settings.json"));
        assert_eq!(agent.on_host("tools/claude-work/.credentials.json"), "{\"token\":9}\n");
        assert_eq!(agent.on_host("tools/claude-work/settings.json"), "{\"model\":\"w\"}");
        assert_eq!(agent.on_host(LOGIN), "{\"token\":1}");
        assert!(!directory.join("projects").exists());
        let after = agent.moved(variable, &[], "cat $CLAUDE_CONFIG_DIR/projects/a");
        assert_eq!(after["stdout"], "one\n", "{after:#}");
        // What is there without the variable is another agent's, so to speak.
        assert_eq!(
            agent.says("echo \"$CLAUDE_CONFIG_DIR\"; cat ~/.claude/.credentials.json"),
            "\n{\"token\":1}"
        );
        // A command cannot choose what it sees by a variable that it is given.
        let given = format!("{}={}", variable.0, variable.1);
        let given = agent.with(&["-e", &given], "cat $CLAUDE_CONFIG_DIR/.credentials.json");
        assert_eq!(given["stdout"], "", "{given:#}");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn what_is_not_below_the_home_is_not_followed() {
    let agent = Agent::new(None);
    let home = agent.place.path().canonicalize().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join(".credentials.json"), "{\"token\":7}").unwrap();
    for value in [elsewhere.path(), "relative".as_ref(), &home, "/".as_ref(), &home.join("a/../b")]
    {
        let variable = ("CLAUDE_CONFIG_DIR", value.to_str().unwrap());
        let script = "echo \"$CLAUDE_CONFIG_DIR\"; cat ~/.claude/.credentials.json";
        let result = agent.moved(variable, &[], script);
        assert_eq!(result["stdout"], "\n{\"token\":1}", "{result:#}");
        let told = result["warnings"].to_string();
        assert!(told.contains("CLAUDE_CONFIG_DIR is ") && told.contains("~/.claude"), "{told}");
    }
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}

#[test]
fn a_login_is_found_where_it_was_moved() {
    let agent = Agent::new(None);
    fs::remove_file(agent.place.path().join(LOGIN)).unwrap();
    agent.host("work/.credentials.json", "{}");
    let checked = |value: &str| {
        let mut command = agent.command(&["presets", "check", "claude", "--json"]);
        command.env("CLAUDE_CONFIG_DIR", agent.place.path().join(value));
        document_of(&command.output().unwrap())["result"]["presets"][0]["logged_in"].clone()
    };
    assert_eq!(checked("work"), true);
    assert_eq!(checked("other"), false);
}
