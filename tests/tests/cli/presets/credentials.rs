//! The login of an agent is the user's, on both sides and at once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use offshoot_needs::needs;
use offshoot_tests::product::document_of;
use serde_json::{Value, json};

use super::{Agent, LOGIN, everybody, wait_for};

const BY_RENAME: &str =
    "echo '{\"token\":2}' > ~/.claude/new; mv ~/.claude/new ~/.claude/.credentials.json";
const IN_PLACE: &str = "echo '{\"token\":2}' > ~/.claude/.credentials.json";

#[needs(Overlay, UserNamespace)]
#[test]
fn a_token_that_is_refreshed_inside_is_the_users() {
    for script in [BY_RENAME, IN_PLACE] {
        for agent in everybody() {
            let result = agent.does(script);
            assert_eq!(agent.on_host(LOGIN), "{\"token\":2}\n", "{script}");
            let credential = &result["preset"]["credentials"][0];
            assert_eq!(credential["path"], LOGIN);
            assert_eq!(credential["to_host"], 1, "{credential}");
            let mode = fs::metadata(agent.place.path().join(LOGIN)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            let names = fs::read_dir(agent.place.path().join(".claude")).unwrap().count();
            assert_eq!(names, 1, "nothing is left beside it");
            assert_eq!(agent.says("cat ~/.claude/.credentials.json"), "{\"token\":2}\n");
            let logged = ["audit", "log", "--kind", "credential_written", "--json"];
            let logged = agent.command(&logged).output().unwrap().stdout;
            // One line for each event.
            let logged: Value = serde_json::from_slice(&logged).unwrap();
            let expected =
                json!({ "exec": result["exec"], "path": LOGIN, "preset": "claude", "times": 1 });
            assert_eq!(logged["result"]["details"], expected, "{logged:#}");
            // It is not kept a second time.
            assert!(!agent.kept(LOGIN).exists());
        }
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn both_sides_follow_while_the_agent_runs() {
    for agent in everybody() {
        let running = agent.starts("one", BY_RENAME);
        wait_for(|| agent.on_host(LOGIN) == "{\"token\":2}\n");
        agent.host(LOGIN, "{\"token\":3}");
        let printed = running.ends("for i in $(seq 500); do grep -q 3 ~/.claude/.credentials.json && break; sleep 0.02; done; cat ~/.claude/.credentials.json");
        assert_eq!(printed, "started\n{\"token\":3}");
        assert_eq!(agent.on_host(LOGIN), "{\"token\":3}");
    }
}

/// A token that was refreshed before everything ended is brought home by the next command.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_killed_command_loses_no_login() {
    for agent in everybody() {
        let mut running = agent.starts("one", "true");
        running.child.kill().unwrap();
        running.child.wait().unwrap();
        drop(running.stdin);
        let kept = agent.kept(LOGIN);
        assert_eq!(fs::read_to_string(&kept).unwrap(), "{\"token\":1}");
        fs::write(&kept, "{\"token\":4}").unwrap();
        agent.give_away();
        assert_eq!(
            agent.with(&["-w", "two"], "cat ~/.claude/.credentials.json")["stdout"],
            "{\"token\":4}"
        );
        assert_eq!(agent.on_host(LOGIN), "{\"token\":4}");
        // Where both changed, the later one counts, and the other one is kept.
        let mut running = agent.starts("three", "true");
        running.child.kill().unwrap();
        running.child.wait().unwrap();
        agent.host(LOGIN, "{\"token\":5}");
        std::thread::sleep(Duration::from_millis(50));
        fs::write(agent.kept(LOGIN), "{\"token\":6}").unwrap();
        agent.give_away();
        assert_eq!(
            agent.with(&["-w", "two"], "cat ~/.claude/.credentials.json")["stdout"],
            "{\"token\":6}"
        );
        assert_eq!(agent.on_host(LOGIN), "{\"token\":6}");
        let beside = fs::read_dir(agent.place.path().join(".claude")).unwrap();
        let beside: Vec<_> = beside
            .map(|it| it.unwrap().path())
            .filter(|path| path.to_string_lossy().contains(".offshoot-"))
            .collect();
        assert_eq!(beside.len(), 1, "{beside:?}");
        assert_eq!(super::read(&beside[0]), "{\"token\":5}");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn only_a_login_is_written_to_the_users_home() {
    for agent in everybody() {
        for script in [
            "echo 'no json' > ~/.claude/.credentials.json",
            ": > ~/.claude/.credentials.json",
            "rm ~/.claude/.credentials.json",
            "rm ~/.claude/.credentials.json; ln -s /etc/passwd ~/.claude/.credentials.json",
            "rm ~/.claude/.credentials.json; mkfifo ~/.claude/.credentials.json",
            "rm ~/.claude/.credentials.json; mkdir ~/.claude/.credentials.json",
            "{ printf '{\"a\":\"'; head -c 2000000 /dev/zero | tr '\\0' a; printf '\"}'; } > ~/.claude/.credentials.json",
        ] {
            let result = agent.with(&[], script);
            assert_eq!(agent.on_host(LOGIN), "{\"token\":1}", "{script}: {result:#}");
            assert_eq!(result["exit_code"], 0, "{script}: {result:#}");
            let after = agent.with(&[], "cat ~/.claude/.credentials.json");
            assert_eq!(after["stdout"], "{\"token\":1}", "{script}: {after:#}");
        }
        // Other files of the same directory are nobody's business.
        agent.does("echo '{}' > ~/.claude/settings.local.json; echo evil > ~/.claude/CLAUDE.md; mkdir -p ~/.ssh; echo k > ~/.ssh/authorized_keys");
        let names = fs::read_dir(agent.place.path().join(".claude")).unwrap().count();
        assert_eq!(names, 1);
        assert!(!agent.place.path().join(".ssh").exists());
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn who_logs_in_inside_is_logged_in() {
    for agent in everybody() {
        fs::remove_dir_all(agent.place.path().join(".claude")).unwrap();
        agent.does("mkdir -p ~/.claude; echo '{\"token\":7}' > ~/.claude/.credentials.json");
        assert_eq!(agent.on_host(LOGIN), "{\"token\":7}\n");
        let mode = fs::metadata(agent.place.path().join(LOGIN)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // Who logs out on the host is out.
        fs::remove_file(agent.place.path().join(LOGIN)).unwrap();
        assert_eq!(agent.says("cat ~/.claude/.credentials.json 2>/dev/null; true"), "");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn the_setting_says_what_becomes_of_logins() {
    for agent in everybody() {
        let copied = agent.with(
            &["-c", "agents.credentials=copy"],
            &format!("cat ~/.claude/.credentials.json; {IN_PLACE}"),
        );
        assert_eq!(copied["stdout"], "{\"token\":1}");
        assert_eq!(agent.on_host(LOGIN), "{\"token\":1}");
        let none = agent.with(
            &["-c", "agents.credentials=none"],
            "cat ~/.claude/.credentials.json 2>/dev/null; true",
        );
        assert_eq!(none["stdout"], "");
        assert_eq!(none["preset"]["credentials"], json!([]));
        assert_eq!(agent.says("cat ~/.claude/.credentials.json"), "{\"token\":1}");
    }
}

/// A preset of the user's own whose agent is called `mine`.
fn own_preset(agent: &Agent, row: &str) {
    agent.install("mine");
    let text = format!(
        "summary = \"Mine\"\nprograms = [\"mine\"]\n[args]\ntrusted = [\"--yes\"]\n[[home]]\npaths = [\".mine/auth.json\"]\nkeep = \"credential\"\nformat = \"json\"\n{row}\n"
    );
    agent.host(".config/offshoot/presets/mine.toml", &text);
    agent.host(MINE, "{\"token\":1}");
}

const MINE: &str = ".mine/auth.json";

#[needs(Overlay, UserNamespace)]
#[test]
fn who_logs_out_inside_is_logged_out_where_the_preset_says_so() {
    for agent in everybody() {
        for (row, left) in [("logout = true", ""), ("", "{\"token\":1}")] {
            own_preset(&agent, row);
            let logout = ["exec", "--", "mine", "rm ~/.mine/auth.json"];
            assert!(agent.command(&logout).output().unwrap().status.success());
            assert_eq!(agent.on_host(MINE), left, "{row}");
            let after = ["exec", "--", "mine", "cat ~/.mine/auth.json 2>/dev/null; true"];
            let after = agent.command(&after).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&after.stdout), left, "{row}");
        }
    }
}

/// The user's own agent may write at the same time; it holds a lock meanwhile.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_login_is_written_when_the_users_agent_holds_no_lock() {
    for agent in everybody() {
        own_preset(&agent, "lock = \".mine/auth.json.lock\"");
        let lock = agent.place.path().join(".mine/auth.json.lock");
        fs::create_dir(&lock).unwrap();
        agent.give_away();
        let started = Instant::now();
        let running = agent.starts_as("mine", "one", "echo '{\"token\":2}' > ~/.mine/auth.json");
        std::thread::sleep(Duration::from_millis(200));
        let now = agent.on_host(MINE);
        // A lock that stays for seconds was left behind.
        if started.elapsed() < Duration::from_millis(1500) {
            assert_eq!(now, "{\"token\":1}");
        }
        fs::remove_dir(&lock).unwrap();
        wait_for(|| agent.on_host(MINE) == "{\"token\":2}\n");
        wait_for(|| !lock.exists());
        running.ends("true");
        assert!(!lock.exists());
    }
}

/// Whom the user always trusts needs no option.
#[needs(UserNamespace)]
#[test]
fn an_agent_can_be_trusted_for_good() {
    let agent = Agent::new(None);
    own_preset(&agent, "");
    let ran = |setting: &str| {
        let arguments = ["exec", "--json", "-c", setting, "--", "mine", "true"];
        document_of(&agent.command(&arguments).output().unwrap())["request"]["command"].clone()
    };
    assert_eq!(ran("agents.trusted=claude, mine"), json!(["mine", "--yes", "true"]));
    assert_eq!(ran("agents.trusted=claude"), json!(["mine", "true"]));
}
