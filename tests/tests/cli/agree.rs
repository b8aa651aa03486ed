//! `policy check` says of a command what `exec` decides about it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use serde_json::Value;

const RULES: &str = r#"
version = 1
[defaults]
destructive = "require_approval"

[[rule]]
name = "not-in-sub"
decision = "deny"
prefix = ["touch"]
cwd = "PROJECT/sub"

[[rule]]
name = "agents-online"
decision = "deny"
prefix = ["claude"]
network = "proxy"

[[rule]]
name = "trusted"
decision = "deny"
prefix = ["claude", "--dangerously-skip-permissions"]

[[rule]]
name = "online"
decision = "require_approval"
prefix = ["true", "online"]
network = "host"

[[rule]]
name = "by-rule"
decision = "deny"
prefix = ["true", "proxy"]
network = "proxy"
"#;

/// Options that both take, a command, and the exit code of `policy check`.
const COMMANDS: &[(&[&str], &[&str], i32)] = &[
    (&[], &["ls"], 0),
    (&[], &["cat", "a"], 0),
    (&[], &["cp", "a", "b"], 0),
    (&["--read-only"], &["cp", "a", "b"], 0),
    (&[], &["rm", "a"], 123),
    (&[], &["sh", "-c", "rm a"], 123),
    (&[], &["sudo", "ls"], 122),
    (&[], &["env", "sudo", "rm", "a"], 122),
    (&[], &["no-such-program"], 0),
    (&[], &["touch", "x"], 0),
    (&["--cwd", "sub"], &["touch", "x"], 122),
    (&["--cwd", "sub"], &["touch", "../x"], 122),
    (&[], &["true", "online"], 0),
    (&["--net", "none"], &["true", "online"], 0),
    (&["--net", "host"], &["true", "online"], 123),
    (&["--net", "allow=example.com"], &["true", "proxy"], 122),
    (&["-c", "exec.net=host"], &["true", "online"], 123),
    (&["-c", "exec.net=host", "--net", "none"], &["true", "online"], 0),
    (&["-c", "exec.net=host", "--sandbox", "strict"], &["true", "online"], 0),
    (&["--sandbox", "strict"], &["rm", "a"], 123),
    (&[], &["claude"], 122),
    (&["--preset", "none"], &["claude"], 0),
    (&["--net", "none"], &["claude"], 0),
    (&["--net", "none", "--trust-agent"], &["claude"], 122),
    (&["--preset", "claude"], &["ls"], 0),
    (&["-e", "LD_PRELOAD=/x"], &["ls"], 0),
    (&["-e", "MINE"], &["ls"], 0),
    (&["-e", "PATH"], &["ls"], 0),
    (&["--policy", "strict.toml"], &["ls"], 122),
    (&["--shell", "ls; rm a"], &[], 123),
    (&["--shell", "cd sub; touch x"], &[], 122),
    (&["--shell", "ls | wc -l"], &[], 0),
];

/// What is compared: the decision, the rule and all parts.
fn essence(decision: &Value) -> Value {
    let mut decision = decision.clone();
    decision.as_object_mut().map(|fields| fields.remove("remedy"));
    decision
}

#[needs(UserNamespace)]
#[test]
fn a_check_says_what_exec_decides() {
    let place = Place::new();
    place.write("a", "one\n");
    place.write("sub/b", "two\n");
    place.write(
        "strict.toml",
        "version = 1\n[[rule]]\nname = \"no\"\nprefix = [\"ls\"]\ndecision = \"deny\"\n",
    );
    let tools = place.path().join("tools");
    let config = place.path().join(".config/offshoot");
    for folder in [&tools, &config] {
        fs::create_dir_all(folder).unwrap();
    }
    let project = place.project();
    fs::write(config.join("policy.toml"), RULES.replace("PROJECT", project.to_str().unwrap()))
        .unwrap();
    fs::write(tools.join("claude"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(tools.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    place.ok(["init"]);
    let mut differences = Vec::new();
    // Where no vault is asked about yet it is the same; and with programs that are looked for in the project.
    for path in [tools.to_str().unwrap(), "tools-of-the-project"] {
        let system = place.environment().into_iter().find(|(name, _)| name == "PATH");
        let system = system.map(|(_, value)| value.to_str().unwrap().to_owned()).unwrap();
        let path = format!("{path}:{}:{system}", tools.display());
        let run = |start: &[&str], options: &[&str], command: &[&str]| {
            let end = if command.is_empty() { Vec::new() } else { [&["--"], command].concat() };
            let all = [start, &["--json"], options, &end].concat();
            place.command(all).env("PATH", &path).env("MINE", "1").output().unwrap()
        };
        let all = if path.starts_with('/') { COMMANDS } else { &COMMANDS[..6] };
        for (options, command, code) in all {
            let check = run(&["policy", "check"], options, command);
            let exec = run(&["exec"], options, command);
            let (verdict, envelope) = (document_of(&check), document_of(&exec));
            let (verdict, result) = (&verdict["result"]["verdict"], &envelope["result"]);
            let decided = match result["state"].as_str() {
                Some("denied") => 122,
                Some("pending_approval") => 123,
                _ => 0,
            };
            let same = essence(verdict) == essence(&result["decision"]);
            if !same || check.status.code() != Some(decided) || decided != *code {
                differences.push(format!(
                    "{options:?} {command:?}: check {:?}, exec {decided}, expected {code}\n  {}\n  {}",
                    check.status.code(),
                    essence(verdict),
                    essence(&result["decision"])
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
