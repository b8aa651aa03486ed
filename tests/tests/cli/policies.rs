//! What policy lets run, through the command line.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use offshoot_tests::product::{Place, document_of, with_json};
use serde_json::Value;

use crate::transcript::Transcript;

/// The user's file of rules.
fn user_file(place: &Place) -> PathBuf {
    place.path().join(".config/offshoot/policy.toml")
}

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A project with a vault.
fn project() -> Place {
    let place = Place::new();
    place.write("a", "one\n");
    place.ok(["init"]);
    place
}

/// The envelope of an exec that exits with this code.
fn exec(place: &Place, code: i32, arguments: &[&str]) -> Value {
    let mut all = vec!["exec", "--json"];
    all.extend(arguments);
    let output = place.run(&all);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    document_of(&output)
}

fn rule(decision: &str, prefix: &str) -> String {
    format!(
        "version = 1\n[[rule]]\nname = \"mine\"\ndecision = \"{decision}\"\nprefix = {prefix}\n"
    )
}

fn decision(envelope: &Value) -> &str {
    envelope["result"]["decision"]["decision"].as_str().unwrap()
}

fn workspaces(place: &Place) -> usize {
    place.json(&["workspace", "list"])["workspaces"].as_array().unwrap().len()
}

#[test]
fn a_denied_command_runs_not_and_is_recorded() {
    let place = project();
    write(user_file(&place), &rule("deny", r#"["touch"]"#));
    let envelope = exec(&place, 122, &["--", "touch", "b"]);
    assert_eq!(envelope["success"], false);
    let result = &envelope["result"];
    assert_eq!(result["state"], "denied");
    assert_eq!(result["error"]["code"], "denied");
    assert_eq!(result["error"]["exit_code"], 122);
    assert_eq!(result["decision"]["rule"]["name"], "mine");
    assert_eq!(result["decision"]["rule"]["layer"], "user");
    assert_eq!(result["workspace"], Value::Null);
    assert_eq!(workspaces(&place), 0, "nothing is forked for it");
    let listed = place.json(&["execs"]);
    assert_eq!(listed["execs"][0]["state"], "denied");
    let shown = document_of(&place.run(["show", "--json", result["exec"].as_str().unwrap()]));
    assert!(shown.to_string().contains("\"mine\""), "{shown}");
}

#[test]
fn what_is_of_no_use_is_denied() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let envelope = exec(&place, 122, &["-w", "fix", "--", "sudo", "ls"]);
    let result = &envelope["result"];
    assert_eq!(result["state"], "denied");
    assert_eq!(result["workspace"], "fix");
    assert_eq!(decision(&envelope), "require_approval");
    assert_eq!(result["decision"]["category"], "host_escape_risk");
    assert!(result["decision"]["remedy"]["rule"].as_str().unwrap().contains("[[rule]]"));
    let output = place.run(["exec", "-w", "fix", "--", "sudo", "ls"]);
    let said = String::from_utf8_lossy(&output.stderr);
    // Here nobody gains rights by a rule.
    assert!(said.contains("is not allowed here") && said.contains("outside of Offshoot"), "{said}");
    assert!(!said.contains("approval"), "{said}");
}

#[test]
fn the_rule_that_is_proposed_is_the_one_that_helps() {
    let place = project();
    let envelope = exec(&place, 122, &["--shell", "cat a && sudo true"]);
    let remedy = &envelope["result"]["decision"]["remedy"];
    let proposed = remedy["rule"].as_str().unwrap();
    // There is no file yet.
    write(user_file(&place), &format!("{}{proposed}", remedy["header"].as_str().unwrap()));
    let again = place.run(["policy", "check", "--shell", "cat a && sudo true"]);
    assert_eq!(again.status.code(), Some(0), "{proposed}");
    let other = place.run(["policy", "check", "--", "sudo", "false"]);
    assert_eq!(other.status.code(), Some(122), "{proposed} allows more than was asked for");
}

#[test]
fn decisions_say_whether_there_is_a_checkpoint() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let changed = exec(&place, 0, &["-w", "fix", "--", "touch", "b"]);
    assert_eq!(decision(&changed), "allow_with_checkpoint");
    assert!(changed["result"]["checkpoint"].is_string());
    let read = exec(&place, 0, &["-w", "fix", "--", "cat", "a"]);
    assert_eq!(decision(&read), "allow");
    assert_eq!(read["result"]["decision"]["categories"], serde_json::json!(["read_only"]));
    write(user_file(&place), &rule("allow", r#"["touch"]"#));
    let trusted = exec(&place, 0, &["-w", "fix", "--", "touch", "c"]);
    assert_eq!(decision(&trusted), "allow");
    assert_eq!(trusted["result"]["changed_files"].as_array().unwrap().len(), 1);
    assert_eq!(trusted["result"]["checkpoint"], Value::Null);
}

#[test]
fn layers_narrow_and_only_the_users_widens() {
    let place = project();
    let wide = rule("allow", r#"["sudo", "true"]"#);
    place.write("offshoot-policy.toml", &wide);
    exec(&place, 122, &["--", "sudo", "true"]);
    let warned = place.json(&["policy", "test"]);
    assert_eq!(warned["warnings"].as_array().unwrap().len(), 1, "{warned}");
    write(user_file(&place), &wide);
    let check = |arguments: &[&str]| place.run(arguments).status.code().unwrap();
    assert_eq!(check(&["policy", "check", "--", "sudo", "true"]), 0);
    place.write("offshoot-policy.toml", rule("deny", r#"["sudo"]"#));
    assert_eq!(check(&["policy", "check", "--", "sudo", "true"]), 122);
    let strict = place.path().join("strict.toml");
    fs::write(&strict, rule("deny", r#"["cat"]"#)).unwrap();
    let strict = strict.to_str().unwrap();
    assert_eq!(check(&["policy", "check", "--policy", strict, "--", "cat", "a"]), 122);
    let denied = exec(&place, 122, &["--policy", strict, "--", "cat", "a"]);
    assert_eq!(denied["result"]["decision"]["rule"]["layer"], "request");
    exec(&place, 0, &["--", "cat", "a"]);
}

#[test]
fn the_project_is_found_from_below() {
    let place = project();
    place.write("deep/er/b", "two\n");
    place.write("offshoot-policy.toml", rule("deny", r#"["cat"]"#));
    let mut below = place.command(["policy", "check", "--", "cat", "b"]);
    let output = below.current_dir(place.project().join("deep/er")).output().unwrap();
    assert_eq!(output.status.code(), Some(122), "{output:?}");
}

/// Whoever stands elsewhere and names the vault gets by no rule of its project.
#[test]
fn the_rules_of_a_vault_count_from_elsewhere() {
    let place = project();
    place.write("offshoot-policy.toml", rule("deny", r#"["cat"]"#));
    let elsewhere = place.path().join("elsewhere");
    write(elsewhere.join("offshoot-policy.toml"), &rule("deny", r#"["touch"]"#));
    let run = |arguments: &[&str]| {
        let mut command = place.command(["--vault", "project"].iter().chain(arguments));
        command.current_dir(&elsewhere).output().unwrap()
    };
    for denied in ["cat", "touch"] {
        let checked = run(&["policy", "check", "--", denied, "a"]);
        assert_eq!(checked.status.code(), Some(122), "{checked:?}");
        let ran = run(&["exec", "--json", "--", denied, "a"]);
        assert_eq!(ran.status.code(), Some(122), "{ran:?}");
        assert_eq!(document_of(&ran)["result"]["decision"]["rule"]["layer"], "project");
    }
    let tested = run(&["policy", "test", "--json"]);
    let files = document_of(&tested)["result"]["files"].clone();
    let files: Vec<_> = files.as_array().unwrap().iter().map(|it| it["path"].clone()).collect();
    let expected = [&elsewhere, &place.project()].map(|it| it.join("offshoot-policy.toml"));
    assert_eq!(files, expected.map(|path| path.to_str().unwrap().to_owned()));
    // The same commands are decided again by the same rules.
    let none = place.path().join("none.toml");
    fs::write(&none, "version = 1\n").unwrap();
    let replayed =
        run(&["policy", "replay", "--json", "--layer", "request", none.to_str().unwrap()]);
    assert_eq!(document_of(&replayed)["result"]["different"], serde_json::json!([]));
}

/// Standing in a part of a project that has rules of its own does not take the project's away, and no file is read twice.
#[test]
fn the_rules_of_a_part_come_on_top() {
    let place = project();
    place.write("offshoot-policy.toml", rule("deny", r#"["cat"]"#));
    let below = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        command.current_dir(place.project().join("part")).output().unwrap()
    };
    place.write("part/a", "one\n");
    let tested = document_of(&below(&["policy", "test", "--json"]));
    assert_eq!(tested["result"]["files"].as_array().unwrap().len(), 1, "{tested}");
    place.write("part/offshoot-policy.toml", rule("deny", r#"["touch"]"#));
    for denied in ["cat", "touch"] {
        assert_eq!(below(&["exec", "--", denied, "a"]).status.code(), Some(122), "{denied}");
    }
}

/// Nobody waits for a pipe, and nothing is read that has no end.
#[test]
fn rules_and_settings_are_read_from_files_of_a_sensible_size() {
    let place = project();
    let pipe = place.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let large = place.path().join("large.toml");
    fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
    let large = large.to_str().unwrap();
    let wrong = [
        (pipe.to_str().unwrap(), "not a regular file"),
        ("/dev/zero", "not a regular file"),
        (large, "larger than 1048576 bytes"),
    ];
    for (file, told) in wrong {
        let envelope = exec(&place, 125, &["--policy", file, "--", "cat", "a"]);
        let message = envelope["result"]["error"]["message"].as_str().unwrap();
        assert!(message.contains(told) && message.contains(file), "{message}");
        let mut command = place.command(["exec", "--", "cat", "a"]);
        let output = command.env("OFFSHOOT_POLICY", file).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(125) && message.contains(told), "{message}");
        let mut command = place.command(["status"]);
        let output = command.env("OFFSHOOT_CONFIG", file).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(told), "{message}");
    }
}

/// A link that cannot be followed stands for rules that somebody meant to have.
#[test]
fn rules_that_are_a_link_to_nothing_let_nothing_run() {
    for target in ["nothing", "offshoot-policy.toml", "a/below"] {
        let place = project();
        let link = place.project().join("offshoot-policy.toml");
        std::os::unix::fs::symlink(target, &link).unwrap();
        let envelope = exec(&place, 125, &["--", "cat", "a"]);
        let message = envelope["result"]["error"]["message"].as_str().unwrap();
        assert!(message.contains("offshoot-policy.toml"), "{target}: {message}");
    }
}

#[test]
fn rules_that_are_wrong_let_nothing_run() {
    let place = project();
    write(user_file(&place), "version = 1\n[[rule]]\nname = \"x\"\ndecision = \"perhaps\"\n");
    let envelope = exec(&place, 125, &["--", "cat", "a"]);
    let error = &envelope["result"]["error"];
    assert!(error["message"].as_str().unwrap().contains("policy.toml"), "{error}");
    let tested = place.run(["policy", "test"]);
    assert_eq!(tested.status.code(), Some(1));
    let wrong_example = rule("deny", r#"["cat"]"#) + "matches = [\"ls\"]\n";
    write(user_file(&place), &wrong_example);
    exec(&place, 125, &["--", "cat", "a"]);
    let gone = place.path().join("gone.toml");
    exec(&place, 125, &["--policy", gone.to_str().unwrap(), "--", "cat", "a"]);
}

#[test]
fn another_file_can_stand_in_for_the_users() {
    let place = project();
    let file = place.path().join("other.toml");
    fs::write(&file, rule("deny", r#"["cat"]"#)).unwrap();
    let check = |value: &std::ffi::OsStr| {
        let mut command = place.command(["policy", "check", "--", "cat", "a"]);
        command.env("OFFSHOOT_POLICY", value).output().unwrap().status.code()
    };
    assert_eq!(check(file.as_os_str()), Some(122));
    assert_eq!(check("/dev/null".as_ref()), Some(0));
    assert_eq!(check("/nowhere/policy.toml".as_ref()), Some(2));
}

#[test]
fn a_command_that_may_not_run_makes_no_vault() {
    let place = Place::new();
    place.write("a", "one\n");
    let envelope = exec(&place, 122, &["--", "sudo", "ls"]);
    assert_eq!(envelope["result"]["state"], "denied");
    assert_eq!(place.json(&["vault", "list"])["vaults"].as_array().unwrap().len(), 0);
    exec(&place, 0, &["--", "cat", "a"]);
}

#[test]
fn the_network_makes_a_difference() {
    let place = project();
    let check = |arguments: &[&str]| place.run(arguments).status.code().unwrap();
    let delete = ["--", "kubectl", "delete", "pod", "web"];
    let ask = |net| [&["policy", "check", "--net", net][..], &delete[..]].concat();
    assert_eq!(check(&ask("none")), 0);
    assert_eq!(check(&ask("host")), 123);
}

#[test]
fn variables_of_the_caller_count() {
    let place = project();
    let plain = exec(&place, 0, &["-e", "COLUMNS=10", "--", "cat", "a"]);
    assert_eq!(decision(&plain), "allow");
    let loaded = exec(&place, 0, &["-e", "LD_PRELOAD=/nowhere.so", "--", "cat", "a"]);
    assert_eq!(decision(&loaded), "allow_with_checkpoint");
}

#[test]
fn every_option_of_a_question_counts() {
    let place = project();
    let answer = |arguments: &[&str]| {
        let arguments = [&["policy", "check"][..], arguments].concat();
        let document = document_of(&place.run(with_json(&arguments)));
        document["result"]["verdict"]["decision"].as_str().unwrap().to_owned()
    };
    assert_eq!(answer(&["--", "touch", "b"]), "allow_with_checkpoint");
    assert_eq!(answer(&["--read-only", "--", "touch", "b"]), "allow");
    assert_eq!(answer(&["--cwd", "/etc", "--", "touch", "b"]), "require_approval");
    assert_eq!(answer(&["--cwd", "deep", "--", "touch", "../b"]), "allow_with_checkpoint");
    assert_eq!(answer(&["-e", "LD_PRELOAD=x", "--", "cat", "a"]), "allow_with_checkpoint");
    let module = "package offshoot\nimport rego.v1\n\
        deny contains \"nobody is there\" if not input.context.terminal\n";
    place.write("person.rego", module);
    assert_eq!(answer(&["--policy", "person.rego", "--", "cat", "a"]), "deny");
    assert_eq!(answer(&["--policy", "person.rego", "--terminal", "--", "cat", "a"]), "allow");
}

#[test]
fn rego_has_so_much_time_and_no_more() {
    let place = project();
    let module = "package offshoot\nimport rego.v1\n\
        deny contains \"never\" if {\n some a in numbers.range(1, 300)\n some b in numbers.range(1, 300)\n \
        a * b == 0\n}\n";
    place.write("slow.rego", module);
    let check = |time: &str| {
        let setting = format!("policy.rego_timeout={time}");
        let arguments =
            ["policy", "check", "-c", &setting, "--policy", "slow.rego", "--", "cat", "a"];
        place.run(arguments).status.code()
    };
    assert_eq!(check("1ms"), Some(122));
    assert_eq!(check("60s"), Some(0));
}

#[test]
fn rego_that_nobody_asks_for_is_warned_about() {
    let place = project();
    place.write("slip.rego", "package offshoot\ndney contains \"no\" if true\n");
    let tested = place.json(&["policy", "test", "slip.rego"]);
    let warnings: Vec<_> =
        tested["warnings"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(warnings[0].contains("defines none of"), "{warnings:?}");
    assert!(warnings[1].contains("`dney`: is `deny` meant?"), "{warnings:?}");
}

#[test]
fn rego_decides_too() {
    let place = project();
    let module = "package offshoot\n\nimport rego.v1\n\ndeny contains \"no cats\" if {\n    \
        some command in input.commands\n    command.words[0] == \"cat\"\n}\n";
    write(place.path().join(".config/offshoot/policy.rego"), module);
    let envelope = exec(&place, 122, &["--", "cat", "a"]);
    assert!(envelope["result"]["error"]["message"].as_str().unwrap().contains("no cats"));
    exec(&place, 0, &["--", "ls"]);
    place.write("offshoot-policy.rego", "package offshoot\nthis is no rego\n");
    exec(&place, 125, &["--", "ls"]);
}

#[test]
fn recorded_commands_can_be_decided_again() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    place.ok(["workspace", "create", "other"]);
    place.ok(["exec", "-w", "fix", "--", "touch", "b"]);
    place.ok(["exec", "-w", "fix", "--", "cat", "a"]);
    place.ok(["exec", "-w", "other", "--shell", "touch c && cat a"]);
    let file = place.path().join("new.toml");
    fs::write(&file, rule("deny", r#"["touch"]"#)).unwrap();
    let file = file.to_str().unwrap();
    let replay = place.json(&["policy", "replay", file]);
    let result = &replay;
    assert_eq!((&result["execs"], &result["same"]), (&3.into(), &1.into()));
    let different = result["different"].as_array().unwrap();
    assert_eq!(different.len(), 2);
    assert_eq!(different[0]["before"], "allow_with_checkpoint");
    assert_eq!(different[0]["after"]["decision"], "deny");
    assert_eq!(different[0]["after"]["rule"]["name"], "mine");
    let one = place.json(&["policy", "replay", file, "-w", "fix"]);
    assert_eq!(one["different"].as_array().unwrap().len(), 1);
    write(user_file(&place), &rule("deny", r#"["cat"]"#));
    let instead = place.json(&["policy", "replay", file, "--layer", "user"]);
    assert_eq!(instead["different"].as_array().unwrap().len(), 2);
    let beside = place.json(&["policy", "replay", file, "--layer", "project"]);
    assert_eq!(beside["different"].as_array().unwrap().len(), 3);
}

#[test]
fn files_to_start_from_are_in_order() {
    let place = project();
    place.ok(["policy", "init"]);
    place.ok(["policy", "init", "--project"]);
    let tested = place.json(&["policy", "test"]);
    assert_eq!(tested["problems"].as_array().unwrap().len(), 0);
    assert_eq!(tested["warnings"].as_array().unwrap().len(), 0);
    assert!(tested["rules"].as_u64().unwrap() >= 2, "{tested}");
    assert!(tested["examples"].as_u64().unwrap() >= 4, "{tested}");
    let again = place.run(with_json(&["policy", "init"]));
    assert_eq!(again.status.code(), Some(4), "a file that is there is not touched");
    let denied = place.run(["policy", "check", "--", "git", "push", "--force"]);
    assert_eq!(denied.status.code(), Some(122));
    let publish = place.run(["policy", "check", "--", "npm", "publish"]);
    assert_eq!(publish.status.code(), Some(123));
}

#[test]
fn the_folder_is_not_looked_at_for_a_command_that_may_not_run() {
    let place = project();
    let before = place.json(&["op", "log"]).to_string();
    place.write("new", "not seen\n");
    exec(&place, 122, &["--", "sudo", "ls"]);
    let listed = place.ok(["fs", "ls", "/"]);
    assert!(!listed.contains("new"), "{listed}\n{before}");
    exec(&place, 0, &["--", "cat", "a"]);
    assert!(place.ok(["fs", "ls", "/"]).contains("new"));
}

#[test]
fn git_that_only_looks_runs_nothing_of_the_project() {
    let place = Place::new();
    place.write("a", "one\n");
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.env_clear().envs(place.environment()).current_dir(place.project());
        assert!(command.args(arguments).status().unwrap().success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    let trap = "#!/bin/sh\ntouch sprung\n";
    for hook in [".git/hooks/post-index-change", ".git/monitor"] {
        place.write(hook, trap);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(place.project().join(hook), mode).unwrap();
    }
    git(&["config", "core.fsmonitor", ".git/monitor"]);
    // Newer than the index, so that git would like to write that anew.
    place.write("a", "one\n");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
    fs::File::options()
        .append(true)
        .open(place.project().join("a"))
        .unwrap()
        .set_modified(later)
        .unwrap();
    place.ok(["init"]);
    place.ok(["workspace", "create", "fix"]);
    for command in [["git", "status"], ["git", "diff"]] {
        let envelope = exec(&place, 0, &[&["-w", "fix", "--"][..], &command[..]].concat());
        assert_eq!(decision(&envelope), "allow", "{command:?}");
        let changed = &envelope["result"]["changed_files"];
        assert_eq!(changed.as_array().unwrap().len(), 0, "{command:?}: {changed}");
    }
}

#[test]
fn policies_for_people() {
    let place = project();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["policy", "explain", "--shell", "ls $(rm -rf x)"]);
    transcript.run(&["policy", "check", "--", "cat", "a"]);
    transcript.run(&["policy", "explain", "--", "sudo", "make", "install"]);
    transcript.run(&["policy", "check", "--shell", "curl -s https://example.com | sh"]);
    transcript.run(&["policy", "init"]);
    transcript.run(&["policy", "init", "--project"]);
    transcript.run(&["policy", "init"]);
    transcript.run(&["policy", "test"]);
    transcript.run(&["exec", "-w", "fix", "--", "git", "push", "--force"]);
    transcript.run(&["workspace", "create", "fix"]);
    transcript.run(&["exec", "-w", "fix", "--", "git", "push", "--force"]);
    transcript.run(&["exec", "-w", "fix", "--", "touch", "b"]);
    place.write("strict.toml", rule("deny", r#"["touch"]"#));
    transcript.run(&["policy", "replay", "strict.toml"]);
    place.write(
        "wrong.toml",
        "version = 1\n[[rule]]\nname = \"x\"\ndecision = \"perhaps\"\nprefex = [\"ls\"]\n",
    );
    transcript.run(&["policy", "test", "wrong.toml"]);
    transcript.run(&["exec", "-w", "fix", "--policy", "wrong.toml", "--", "ls"]);
    transcript.run(&["execs", "-w", "fix"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn policies_for_programs() {
    let place = project();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["policy", "check", "--", "sudo", "ls"]);
    transcript.json(&["policy", "explain", "--shell", "A=1 LD_PRELOAD=x ls > f"]);
    transcript.json(&["policy", "init"]);
    transcript.json(&["policy", "test"]);
    transcript.json(&["exec", "--", "git", "push", "--force"]);
    place.write("wide.toml", rule("allow", r#"["git", "push"]"#));
    transcript.json(&["policy", "replay", "wide.toml"]);
    assert_snapshot!(transcript.finish());
}

/// A search path that leads into the workspace finds programs that commands brought there, so nothing found by it only reads.
#[test]
fn programs_of_the_workspace_are_not_taken_for_those_of_the_system() {
    let place = project();
    let decided = |path: &str| {
        let mut command = place.command(["exec", "--json", "-w", "fix", "--", "ls"]);
        let output = command.env("PATH", path).output().unwrap();
        document_of(&output)["result"]["decision"]["category"].clone()
    };
    let system = std::env::var("PATH").unwrap();
    let inside = place.project().join("bin");
    assert_eq!(decided(&system), "read_only");
    for first in [inside.to_str().unwrap(), "bin", ".", ""] {
        assert_eq!(decided(&format!("{first}:{system}")), "mutating", "{first:?}");
    }
}
