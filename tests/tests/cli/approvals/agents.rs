//! An agent gets by no approval: not by the id of what was tried, nor by settings, rules or the log.

use super::*;

fn as_agent(place: &Place, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = place.command(arguments);
    command.env("OFFSHOOT_AGENT", "robot").envs(variables.iter().copied());
    command.output().unwrap()
}

/// Refused, with a way out.
fn refused(place: &Place, arguments: &[&str], code: i32) -> String {
    let all = [arguments, &["--json"]].concat();
    let output = as_agent(place, &all, &[]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?} {said}{told}");
    said
}

fn tried(place: &Place, id: &str) -> String {
    approval(place, id)["snapshot_tried"].as_str().unwrap().to_owned()
}

/// What was tried is an agent's to look at, and nobody's to use before somebody approves of it but a person's, of which the log tells.
#[test]
fn what_was_tried_is_not_an_agents_to_use() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let trial = tried(&place, &id);
    let ways = |trial: &str| {
        for way in [
            &["merge", trial, "--into", "fix"][..],
            &["merge", trial, "--into", "other"],
            &["checkpoint", "restore", trial, "-w", "fix"],
            &["workspace", "create", "other", "--from", trial],
            &["fs", "revert", "/a", "--at", trial, "-w", "fix"],
        ] {
            let said = refused(&place, way, 122);
            assert!(said.contains("nobody has approved of"), "{said}");
            assert!(said.contains("approvals show") && said.contains("a person"), "{said}");
        }
        let exec = ["exec", "--json", "--from", trial, "--", "touch", "x"];
        let forked = as_agent(&place, &exec, &[]);
        assert_eq!(forked.status.code(), Some(125), "{forked:?}");
        assert_eq!(document_of(&forked)["result"]["error"]["code"], "denied");
    };
    ways(&trial);
    ways(&trial[..12]);
    assert!(cat(&place, "fix", "/a").is_some());
    assert_eq!(workspaces(&place), ["fix"]);
    // No workspace and no checkpoint stands in its place when a person merges it.
    for name in [&*trial, &trial[..12], &trial[..4]] {
        for way in [
            &["workspace", "create", name][..],
            &["workspace", "rename", "fix", name],
            &["checkpoint", "create", name, "-w", "fix"],
        ] {
            let said = refused(&place, way, 2);
            assert!(said.contains("could be read as the start of an id"), "{said}");
        }
    }
    // To look is free.
    for way in [
        &["diff", "fix", &trial][..],
        &["approvals", "show", &id],
        &["fs", "ls", "/", "--at", &trial],
        &["merge", &trial, "--into", "fix", "--dry-run"],
    ] {
        let output = as_agent(&place, way, &[]);
        assert!(output.status.success(), "{way:?} {output:?}");
    }
    // A no is no yes.
    place.ok(["approvals", "deny", &id]);
    ways(&trial);
    // A person may, and it is on record.
    place.ok(["checkpoint", "restore", &trial, "-w", "fix"]);
    assert_eq!(cat(&place, "fix", "/a"), None);
    let log = place.ok(["audit", "log", "--json", "--kind", "checkpoint restore"]);
    let event: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(event["result"]["details"]["unapproved"][0], id.as_str(), "{event}");
    for told in [&["audit", "log"][..], &["timeline", "-w", "fix"]] {
        let text = place.ok(told);
        assert!(text.contains(&format!("unapproved: {}", &id[..12])), "{text}");
    }
    // What a person put into a workspace is there for everybody.
    assert!(
        as_agent(&place, &["workspace", "create", "next", "--from", "fix"], &[]).status.success()
    );
}

/// What was approved is history like any other.
#[test]
fn what_was_approved_is_an_agents_to_use() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let trial = tried(&place, &id);
    place.ok(["approvals", "approve", &id]);
    let output = as_agent(&place, &["workspace", "create", "next", "--from", &trial], &[]);
    assert!(output.status.success(), "{output:?}");
    let back = [&["undo", "-w", "fix"][..], &["redo", "-w", "fix"]];
    for way in back {
        assert!(as_agent(&place, way, &[]).status.success(), "{way:?}");
    }
    assert_eq!(cat(&place, "fix", "/a"), None);
}

/// A trial that was cut short waits for nobody: what it wrote is not an agent's to keep.
#[test]
fn what_a_trial_left_is_not_an_agents_to_keep() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let trial = ["exec", "-w", "fix", "--", "sh", "-c", "rm a; echo > /tmp/x; sleep 600"];
    let mut command = place.command(trial);
    command.env("OFFSHOOT_AGENT", "robot").stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until(|| !place.json(&["ps"])["running"].as_array().unwrap().is_empty());
    std::thread::sleep(Duration::from_millis(500));
    child.kill().unwrap();
    child.wait().unwrap();
    let left = || place.json(&["recover", "list"])["recoverable"].clone();
    until(|| left().as_array().is_some_and(|left| !left.is_empty()));
    let exec = left()[0]["exec"].as_str().unwrap().to_owned();
    let said = refused(&place, &["recover", "keep", &exec], 122);
    assert!(said.contains("a person can"), "{said}");
    place.ok(["recover", "keep", &exec]);
}

/// What guards the user is not an agent's to change.
#[test]
fn an_agent_changes_no_guards() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    for (way, code) in [
        (&["config", "set", "approvals.fallback", "approve"][..], 122),
        (&["config", "unset", "approvals.approvers"], 122),
        (&["config", "set", "policy.rego_timeout", "1ms"], 122),
        (&["config", "set", "exec.net", "host"], 122),
        (&["policy", "init"], 122),
        (&["audit", "rotate"], 122),
        (&["audit", "prune", "--before", "0s", "--yes"], 122),
        (&["vault", "delete", "project", "--yes"], 122),
    ] {
        let said = refused(&place, way, code);
        assert!(said.contains("agent robot cannot") && said.contains("a person can"), "{said}");
    }
    assert!(!place.path().join(".config/offshoot/config.toml").exists());
    // How things look is nobody's concern.
    let output = as_agent(&place, &["config", "set", "diff.context", "5"], &[]);
    assert!(output.status.success(), "{output:?}");
    place.ok(["config", "set", "approvals.fallback", "approve"]);
}

/// Nor does it get by them with other files.
#[test]
fn an_agent_brings_no_rules_and_settings() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let mine = place.path().join("mine.toml");
    fs::write(&mine, "version = 1\n[defaults]\ndestructive = \"allow\"\n").unwrap();
    let settings = place.path().join("settings.toml");
    let text = "[approvals]\nexpire = \"1s\"\nfallback = \"approve\"\n";
    fs::write(&settings, text).unwrap();
    let remove = ["exec", "--json", "-w", "fix", "--", "rm", "a"];
    for rules in [mine.to_str().unwrap(), "/dev/null"] {
        let variables =
            [("OFFSHOOT_POLICY", rules), ("OFFSHOOT_CONFIG", settings.to_str().unwrap())];
        answered(&as_agent(&place, &remove, &variables), 123);
    }
    std::thread::sleep(Duration::from_millis(1500));
    let variables = [("OFFSHOOT_CONFIG", settings.to_str().unwrap())];
    as_agent(&place, &["approvals", "list"], &variables);
    assert_eq!(pending(&place), 2);
    assert!(cat(&place, "fix", "/a").is_some());
    // What it brings can forbid more.
    fs::write(
        &mine,
        "version = 1\n[[rule]]\nname = \"no\"\ndecision = \"deny\"\nprefix = [\"ls\"]\n",
    )
    .unwrap();
    let list = ["exec", "--json", "-w", "fix", "--", "ls"];
    answered(&as_agent(&place, &list, &[("OFFSHOOT_POLICY", mine.to_str().unwrap())]), 122);
    // A person's own choice is theirs.
    let mut person = place.command(["exec", "--json", "-w", "fix", "--", "rm", "a"]);
    answered(&person.env("OFFSHOOT_POLICY", "/dev/null").output().unwrap(), 0);
}

/// Who is not among the approvers does not make themselves one.
#[test]
fn approvers_are_those_of_the_file() {
    let place = project();
    let file = place.path().join(".config/offshoot/config.toml");
    fs::write(&file, "[approvals]\napprovers = \"nobody-of-this-name\"\n").unwrap();
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let account =
        String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
    let name = format!("approvals.approvers={}", account.trim());
    for said in [name.as_str(), "approvals.approvers="] {
        let said = ["approvals", "approve", &id, "-c", said];
        place.json_error(&said, 122);
    }
    let other = place.path().join("other.toml");
    fs::write(&other, "").unwrap();
    let mut command = place.command(["approvals", "approve", "--json", &id]);
    command.env("OFFSHOOT_CONFIG", &other).env("OFFSHOOT_APPROVALS__APPROVERS", account.trim());
    answered(&command.output().unwrap(), 122);
    // Nor by having nobody decide.
    let quick = ["-c", "approvals.expire=1s", "-w", "fix"];
    let id = asked(&place, &quick, &["rm", "b"]);
    std::thread::sleep(Duration::from_millis(1500));
    place.ok(["approvals", "list", "-c", "approvals.fallback=approve"]);
    assert_eq!(approval(&place, &id)["state"], "expired");
    assert!(cat(&place, "fix", "/b").is_some());
}
