//! An agent that shares the sessions of the user's own.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use offshoot_needs::needs;

use super::{LOGIN, everybody, wait_for};

const ON: [&str; 2] = ["-c", "agents.host_state=claude"];
const SESSION: &str = ".claude/projects/p/session.jsonl";

#[needs(Overlay, UserNamespace)]
#[test]
fn sessions_are_the_users_own_and_settings_are_not_writable() {
    for agent in everybody() {
        agent.host(SESSION, "one\n");
        agent.host(".claude/settings.json", "{\"model\":\"m\"}");
        agent.host(".claude/skills/s/SKILL.md", "skill");
        let before = fs::read_dir(agent.place.path().join(".claude")).unwrap().count();
        let script = "cd ~/.claude; cat projects/p/session.jsonl; echo two >> projects/p/session.jsonl; mkdir projects/q; echo new > projects/q/n; mv projects/q projects/r; \
            echo '{}' > settings.json; rm -f settings.local.json; echo '{\"hooks\":1}' > settings.local.json; mkdir -p hooks; echo x > hooks/h; echo x > skills/s/SKILL.md; echo x > CLAUDE.md; echo h > history.jsonl";
        let result = agent.with(&ON, script);
        assert_eq!(result["stdout"], "one\n", "{result:#}");
        let home = agent.place.path().canonicalize().unwrap();
        let shared = home.join(".claude/projects");
        assert_eq!(result["preset"]["host_state"][0], shared.to_str().unwrap(), "{result:#}");
        assert_eq!(agent.on_host(SESSION), "one\ntwo\n");
        assert_eq!(agent.on_host(".claude/projects/r/n"), "new\n");
        let owner = |path: &str| fs::metadata(home.join(path)).unwrap().uid();
        assert_eq!(owner(".claude/projects/r/n"), owner(SESSION));
        assert_eq!(agent.on_host(".claude/settings.json"), "{\"model\":\"m\"}");
        assert_eq!(agent.on_host(".claude/skills/s/SKILL.md"), "skill");
        assert_eq!(agent.on_host(LOGIN), "{\"token\":1}");
        let after = fs::read_dir(agent.place.path().join(".claude")).unwrap().count();
        assert_eq!(after, before, "something is new beside the sessions");
        // A run that does not share sees none of it, and what is no directory stays in the vault.
        let own = "ls ~/.claude/projects 2>/dev/null; cat ~/.claude/history.jsonl";
        assert_eq!(agent.says(own), "h\n");
        assert!(agent.says("true").is_empty());
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn nothing_is_shared_by_a_link_and_nothing_is_made() {
    for agent in everybody() {
        fs::create_dir_all(agent.place.path().join("precious")).unwrap();
        symlink("../precious", agent.place.path().join(".claude/projects")).unwrap();
        agent.give_away();
        let result = agent.with(
            &ON,
            "mkdir -p ~/.claude/todos; echo x > ~/.claude/todos/t; echo x > ~/.claude/projects/t",
        );
        let told = result["warnings"].to_string();
        assert!(told.contains("projects is not shared with the agent"), "{result:#}");
        assert_eq!(fs::read_dir(agent.place.path().join("precious")).unwrap().count(), 0);
        assert!(!agent.place.path().join(".claude/todos").exists());
    }
}

/// A command that runs meanwhile cannot lead the next one to something else.
#[needs(Overlay, UserNamespace)]
#[test]
fn what_another_run_puts_in_the_way_is_not_shared() {
    for agent in everybody() {
        agent.host(SESSION, "one\n");
        agent.host("precious/file", "safe");
        let first = agent.starts("one", "true");
        drop(fs::remove_dir_all(agent.kept(".claude/projects")));
        fs::create_dir_all(agent.kept(".claude")).unwrap();
        symlink(agent.place.path().join("precious"), agent.kept(".claude/projects")).unwrap();
        agent.give_away();
        agent.with(
            &[&ON[..], &["-w", "two"]].concat(),
            "rm -rf ~/.claude/projects/*; echo x > ~/.claude/projects/x",
        );
        assert_eq!(agent.on_host("precious/file"), "safe");
        assert_eq!(fs::read_dir(agent.place.path().join("precious")).unwrap().count(), 1);
        first.ends("true");
    }
}

/// What has other rights than the agent, or waits for somebody, is not left to the user.
#[needs(Overlay, UserNamespace)]
#[test]
fn nothing_but_files_and_directories_is_left_there() {
    for agent in everybody() {
        agent.host(SESSION, "one\n");
        let shared = agent.place.path().join(".claude/projects");
        let mode = fs::metadata(&shared).unwrap().mode();
        let script = "w=$PWD; cd ~/.claude/projects; ln -s /etc/passwd link; mkfifo pipe; cp /bin/true tool; chmod 4755 tool; chmod 2755 p; ./tool; echo $?; \
            ln tool second; chmod 777 .; ln -s a ~/b; echo $?; cd \"$w\"; ln -s a b && mkfifo c; echo $?; rm b c";
        let result = agent.with(&ON, script);
        let said = result["stdout"].as_str().unwrap();
        // No program is run from there, and the agent's home has no links meanwhile, since names in it can be moved; the project has.
        assert_eq!(said, "126\n1\n0\n", "{result:#}");
        let mut names: Vec<_> =
            fs::read_dir(&shared).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["p", "second", "tool"], "{result:#}");
        assert_eq!(fs::metadata(shared.join("tool")).unwrap().mode() & 0o7000, 0);
        assert_eq!(fs::metadata(shared.join("p")).unwrap().mode() & 0o2000, 0);
        assert_eq!(fs::metadata(&shared).unwrap().mode(), mode);
        let told = result["warnings"].to_string();
        assert!(told.contains("the agent changed the mode of"), "{result:#}");
    }
}

/// A command that is killed gives nothing back; the next one does, and so does who looks at what was left.
#[needs(Overlay, UserNamespace)]
#[test]
fn the_mode_comes_back_after_a_command_that_was_killed() {
    for agent in everybody() {
        for (given, next) in [
            ("777", &["recover", "list"][..]),
            ("000", &["status"]),
            ("755", &["exec", "-w", "next", "--", "claude", "true"]),
        ] {
            agent.host(SESSION, "one\n");
            let shared = agent.place.path().join(".claude/projects");
            let mode = || fs::metadata(&shared).unwrap().mode() & 0o7777;
            fs::set_permissions(&shared, fs::Permissions::from_mode(0o700)).unwrap();
            let name = format!("killed-{given}");
            let mut running =
                agent.starts_with(&ON, &name, &format!("chmod {given} ~/.claude/projects"));
            assert_eq!(format!("{:03o}", mode()), given);
            // One that starts meanwhile gives back what the user had.
            if given == "755" {
                agent.with(&[&ON[..], &["-w", "meanwhile"]].concat(), "true");
                assert_eq!(mode(), 0o700);
                fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
            }
            running.child.kill().unwrap();
            running.child.wait().unwrap();
            // Whoever keeps the lock of the home is a child of it, and goes too.
            wait_for(|| {
                assert!(agent.command(next).output().unwrap().status.success());
                mode() == 0o700
            });
            assert!(!agent.kept("../shared.json").exists());
        }
    }
}

/// Where nothing keeps links and pipes out, nothing runs; and no profile takes the walls away.
#[needs(Overlay, UserNamespace)]
#[test]
fn without_the_walls_nothing_is_shared() {
    let agent = super::Agent::new(None);
    agent.host(SESSION, "one\n");
    let profiles = "[profile.nests]\nabout = \"nests\"\nnested_namespaces = true\n\
        [profile.open]\nabout = \"open\"\nio_uring = true\nwalls = { seccomp = \"off\", landlock = \"off\" }\n";
    agent.host(".config/offshoot/sandbox.toml", profiles);
    let result = agent.with(&[&ON[..], &["--sandbox", "nests"]].concat(), "echo ran");
    assert_eq!(result["state"], "failed", "{result:#}");
    let said = result["error"].to_string();
    assert!(said.contains("nested_namespaces") && said.contains("agents.host_state="), "{said}");
    let script = "cd ~/.claude/projects; ln -s /etc/passwd link; cp /bin/true tool; chmod 4755 tool; echo ran";
    let result = agent.with(&[&ON[..], &["--sandbox", "open"]].concat(), script);
    assert_eq!(result["stdout"], "ran\n", "{result:#}");
    let shared = agent.place.path().join(".claude/projects");
    assert!(!shared.join("link").is_symlink());
    assert_eq!(fs::metadata(shared.join("tool")).unwrap().mode() & 0o7000, 0);
}
