//! The home of an agent: what stays, what goes, and who sees it.

use std::fs;
use std::os::unix::fs::symlink;

use offshoot_needs::needs;
use offshoot_tests::product::document_of;
use serde_json::{Value, json};

use super::{Agent, everybody, read};

#[needs(Overlay, UserNamespace)]
#[test]
fn what_an_agent_remembers_stays_in_its_vault() {
    for agent in everybody() {
        agent.does("mkdir -p ~/.claude/projects/a ~/.claude/shell-snapshots; echo one > ~/.claude/projects/a/session; echo x > ~/.claude/shell-snapshots/s; echo h > ~/.claude/history.jsonl");
        let after = agent.says("cat ~/.claude/projects/a/session ~/.claude/history.jsonl; ls ~/.claude/shell-snapshots 2>/dev/null; true");
        assert_eq!(after, "one\nh\n");
        // Directories can be renamed, and a database has a directory of its own.
        agent.does("mv ~/.claude/projects/a ~/.claude/projects/b; mkdir ~/.claude/projects/c; mv ~/.claude/projects/c ~/.claude/plans");
        assert_eq!(
            agent.says("ls ~/.claude/projects; ls -d ~/.claude/plans/"),
            format!("b\n{}/.claude/plans/\n", agent.place.path().canonicalize().unwrap().display())
        );
        // Nothing of it is on the host, nor in another vault.
        assert!(!agent.place.path().join(".claude/projects").exists());
        let other = agent.place.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("f"), "").unwrap();
        agent.give_away();
        let mut command = agent.command(&["exec", "--", "claude", "ls ~/.claude/projects"]);
        assert!(!command.current_dir(&other).output().unwrap().status.success());
        let check = agent.command(&["vault", "check", "--vault", "project"]).output().unwrap();
        assert!(check.status.success(), "{check:?}");
        let gc = agent.command(&["gc", "--vault", "project"]).output().unwrap();
        assert!(gc.status.success(), "{gc:?}");
        assert!(
            agent.kept(".claude/projects/b/session").exists()
                || agent.says("cat ~/.claude/projects/b/session") == "one\n"
        );
        let gone = agent.command(&["vault", "delete", "project", "--yes"]).output().unwrap();
        assert!(gone.status.success(), "{gone:?}");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn what_no_row_keeps_is_told_and_gone() {
    for agent in everybody() {
        let result = agent.does("echo work > ~/notes; mkdir -p ~/deep/er ~/.cache/tool; echo 1 > ~/deep/er/x; chmod 0 ~/deep/er; ln -s /etc ~/.link");
        let told = result["discarded"]["paths"].to_string();
        assert!(told.contains("/notes\"") && told.contains("/deep\""), "{result:#}");
        assert!(!told.contains(".cache") && !told.contains("/bin"), "{told}");
        assert_eq!(agent.says("ls -A ~/notes ~/deep ~/.link ~/.cache/tool 2>/dev/null; true"), "");
        let left: Vec<_> =
            fs::read_dir(agent.kept("")).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().contains("notes")), "{left:?}");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn agents_at_the_same_time_share_a_home() {
    for agent in everybody() {
        let first = agent.starts(
            "one",
            "mkdir -p ~/.claude/projects; echo first > ~/.claude/projects/x; echo tmp > ~/scratch",
        );
        assert_eq!(
            agent.says("cat ~/.claude/projects/x ~/scratch; echo second > ~/.claude/projects/y"),
            "first\ntmp\n"
        );
        // The one that is left needs what it has.
        let printed = first.ends("cat ~/.claude/projects/y ~/scratch ~/.claude/.credentials.json");
        assert_eq!(printed, "started\nsecond\ntmp\n{\"token\":1}");
        assert_eq!(agent.says("cat ~/scratch 2>/dev/null; true"), "");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn the_users_settings_are_read_and_not_changed() {
    for agent in everybody() {
        agent.host(".claude/settings.json", "{\"model\":\"m\"}");
        agent.host(".claude/skills/s/SKILL.md", "skill");
        let result = agent.with(&[], "cat ~/.claude/settings.json ~/.claude/skills/s/SKILL.md; echo '{}' > ~/.claude/settings.json; echo x > ~/.claude/skills/s/SKILL.md");
        assert_eq!(result["stdout"], "{\"model\":\"m\"}skill");
        let told = result["discarded"]["paths"].to_string();
        assert!(told.contains(".claude/settings.json"), "{result:#}");
        assert_eq!(agent.on_host(".claude/settings.json"), "{\"model\":\"m\"}");
        assert_eq!(agent.on_host(".claude/skills/s/SKILL.md"), "skill");
        assert_eq!(agent.says("cat ~/.claude/settings.json"), "{\"model\":\"m\"}");
    }
}

/// Settings that the user has not are lost as well; what agents make that says nothing is no loss.
#[needs(Overlay, UserNamespace)]
#[test]
fn settings_that_are_made_anew_are_told() {
    for agent in everybody() {
        let result = agent.does("mkdir -p ~/.claude/skills/s ~/.claude/commands ~/.claude/rules/r; echo skill > ~/.claude/skills/s/SKILL.md; echo '{\"$schema\":1}' > ~/.claude/settings.json; ln -s /etc/passwd ~/.claude/CLAUDE.md");
        let told: Vec<&str> = result["discarded"]["paths"]
            .as_array()
            .unwrap()
            .iter()
            .map(|path| path.as_str().unwrap())
            .collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].ends_with("/.claude/skills"), "{told:?}");
        let result = agent.does("echo '{\"model\":1}' > ~/.claude/settings.json");
        assert!(result["discarded"]["paths"].to_string().contains(".claude/settings.json"));
        assert_eq!(agent.says("ls ~/.claude/skills 2>/dev/null; true"), "");
        assert_eq!(agent.on_host(".claude/settings.json"), "");
    }
}

/// An agent that does not get its login from its settings is not left in the dark.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_login_in_settings_is_left_out_and_told() {
    for agent in everybody() {
        agent.host(
            ".claude/settings.json",
            "{\n  \"model\": \"m\",\n  \"apiToken\": \"sk-ant-api03-abcdefghijklmnopqrstuvwxyz\",\n  \"theme\": \"dark\"\n}\n",
        );
        let result = agent.with(&[], "cat ~/.claude/settings.json");
        let seen = result["stdout"].as_str().unwrap();
        assert!(!seen.contains("sk-ant"), "{seen}");
        let told = result["warnings"].to_string();
        assert!(told.contains(".claude/settings.json") && told.contains("-e NAME"), "{told}");
        assert!(told.contains("line 3"), "{told}");
        // People hear of it while it is not too late.
        let [out, errors] = ["out", "errors"].map(|name| agent.place.path().join(name));
        let mut command = agent.command(&["exec", "-i", "--", "claude", "echo started; read line"]);
        command.stdin(std::process::Stdio::piped()).stdout(fs::File::create(&out).unwrap());
        let mut child = command.stderr(fs::File::create(&errors).unwrap()).spawn().unwrap();
        super::wait_for(|| read(&out).contains("started"));
        assert!(read(&errors).contains("line 3 seems"), "{}", read(&errors));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(read(&errors).matches("line 3 seems").count(), 1, "{}", read(&errors));
    }
}

/// A setting that says where a credential is has none in it.
#[needs(Overlay, UserNamespace)]
#[test]
fn settings_that_refer_to_a_key_are_seen_as_they_are() {
    for agent in everybody() {
        let text = "{\"provider\": {\"a\": {\"options\": {\"apiKey\": \"{env:ANTHROPIC_API_KEY}\"}},\n\"b\": {\"apiKey\": \"{file:~/.keys/b}\"}, \"c\": {\"apiKey\": \"${B_KEY}\"}}}\n";
        agent.host(".config/opencode/opencode.json", text);
        agent.install("opencode");
        let arguments =
            ["exec", "--json", "--", "opencode", "cat ~/.config/opencode/opencode.json"];
        let result = document_of(&agent.command(&arguments).output().unwrap())["result"].clone();
        assert_eq!(result["stdout"], text, "{result:#}");
        assert_eq!(result["warnings"], json!([]), "{result:#}");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn values_go_both_ways_and_nothing_else_does() {
    for agent in everybody() {
        agent.host(".claude.json", "{\"oauthAccount\":{\"mail\":\"a@b\"},\"hasCompletedOnboarding\":true,\"mcpServers\":{\"own\":{\"command\":\"x\"}}}");
        let seen: Value = serde_json::from_str(&agent.says("cat ~/.claude.json")).unwrap();
        assert_eq!(seen, json!({"oauthAccount": {"mail": "a@b"}, "hasCompletedOnboarding": true}));
        agent.does("echo '{\"oauthAccount\":{\"mail\":\"c@d\"},\"mcpServers\":{\"evil\":{\"command\":\"sh\"}},\"projects\":{}}' > ~/.claude.json.tmp; mv ~/.claude.json.tmp ~/.claude.json");
        let host: Value = serde_json::from_str(&agent.on_host(".claude.json")).unwrap();
        assert_eq!(host["oauthAccount"]["mail"], "c@d");
        assert_eq!(host["mcpServers"], json!({"own": {"command": "x"}}));
        assert_eq!(host["hasCompletedOnboarding"], true);
        let again: Value = serde_json::from_str(&agent.says("cat ~/.claude.json")).unwrap();
        assert_eq!(again["mcpServers"]["evil"]["command"], "sh", "it is the home's own");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn caches_stay_until_there_is_too_much_of_them() {
    let agent = Agent::new(None);
    agent.does("mkdir -p ~/.claude/cache; head -c 100000 /dev/zero > ~/.claude/cache/big");
    assert_eq!(agent.says("ls ~/.claude/cache"), "big\n");
    agent.with(&["-c", "agents.max_cache=1MiB"], "true");
    assert_eq!(agent.says("ls ~/.claude/cache"), "big\n");
    agent.with(&["-c", "agents.max_cache=10KiB"], "true");
    assert_eq!(agent.says("ls ~/.claude/cache 2>/dev/null; true"), "");
}

/// Whatever an agent leaves in its home leads nobody out of it.
#[needs(Overlay, UserNamespace)]
#[test]
fn links_in_the_home_lead_nowhere() {
    for agent in everybody() {
        let outside = agent.place.path().join("precious");
        fs::create_dir_all(outside.join("bin")).unwrap();
        fs::write(outside.join("bin/file"), "safe").unwrap();
        agent.give_away();
        agent.does("true");
        // As if a command had left them that was cut short.
        let tree = |path: &str| agent.kept(path);
        fs::create_dir_all(tree(".claude")).unwrap();
        symlink(&outside, tree(".claude/projects")).unwrap();
        symlink(&outside, tree(".cache")).unwrap();
        symlink(&outside, tree("bin")).unwrap();
        agent.give_away();
        agent.with(&[], "rm -rf ~/.claude/projects; rm -rf ~/.claude; ln -s ../precious ~/.claude");
        agent.does("true");
        assert_eq!(read(&outside.join("bin/file")), "safe");
        let names: Vec<_> =
            fs::read_dir(&outside).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(names, ["bin"]);
        assert_eq!(fs::read_dir(outside.join("bin")).unwrap().count(), 1);
        assert_eq!(agent.on_host(super::LOGIN), "{\"token\":1}");
    }
}

/// Directories of the user's that are shown can be renamed like any other, whatever home it is.
#[needs(Overlay, UserNamespace, "perl")]
#[test]
fn directories_that_are_shown_can_be_renamed() {
    for agent in everybody() {
        agent.host("data/a/b/file", "text");
        let shown = agent.place.path().join("data");
        for preset in ["none", "claude"] {
            let options = ["--preset", preset, "--show", shown.to_str().unwrap()];
            let script = "perl -e 'rename \"$ENV{HOME}/data/a\", \"$ENV{HOME}/data/c\" or die $!'; cat ~/data/c/b/file; ls ~/data";
            let result = agent.with(&options, script);
            assert_eq!(result["stdout"], "textc\n", "{preset}: {result:#}");
            assert_eq!(agent.on_host("data/a/b/file"), "text");
        }
    }
}

/// Nor does what it leaves there while another run begins.
#[needs(Overlay, UserNamespace)]
#[test]
fn links_that_appear_while_another_runs_lead_nowhere() {
    for agent in everybody() {
        let outside = agent.place.path().join("precious");
        fs::create_dir_all(outside.join("sub")).unwrap();
        agent.host(".config/git/config", "[user]\n  name = Someone\n");
        agent.give_away();
        let first = agent.starts("one", "mkdir -p ~/.claude/projects");
        for name in ["bin", ".config"] {
            drop(fs::remove_dir_all(agent.kept(name)));
            drop(fs::remove_file(agent.kept(name)));
            symlink(&outside, agent.kept(name)).unwrap();
        }
        let script = "ls ~/.claude; echo ok";
        let second = ["exec", "--json", "--preset", "claude", "--", "sh", "-c", script];
        let second = document_of(&agent.command(&second).output().unwrap());
        assert_eq!(second["result"]["stdout"], "projects\nok\n", "{second:#}");
        let names: Vec<_> =
            fs::read_dir(&outside).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(names, ["sub"], "something was made outside");
        first.ends("true");
    }
}

/// Whatever finds a file that is lost, it is one.
#[needs(Overlay, UserNamespace)]
#[test]
fn what_is_lost_is_counted_once() {
    for agent in everybody() {
        agent.host("cfg/settings.json", "{\"model\":\"m\"}");
        let script = "echo x > ~/cfg/settings.json; echo x > ~/cfg/CLAUDE.md; mkdir -p ~/cfg/skills/s ~/own; \
            echo 1 > ~/cfg/skills/s/a; echo 2 > ~/cfg/skills/s/b; echo 1 > ~/own/a";
        let mut command = agent.command(&["exec", "--json", "--", "claude", script]);
        command.env("CLAUDE_CONFIG_DIR", agent.place.path().canonicalize().unwrap().join("cfg"));
        let result = document_of(&command.output().unwrap())["result"].clone();
        assert_eq!(result["discarded"]["count"], 5, "{result:#}");
        let paths = result["discarded"]["paths"].as_array().unwrap();
        let mut once: Vec<&str> = paths.iter().map(|path| path.as_str().unwrap()).collect();
        once.sort_unstable();
        once.dedup();
        assert_eq!((once.len(), paths.len()), (4, 4), "{result:#}");
    }
}
