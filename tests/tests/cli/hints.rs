//! What errors suggest can be typed as it is shown: it means the vault, the workspace and the files that the failed command meant.

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of, with_json};
use serde_json::{Value, json};

use crate::background::Background;
use crate::transcript::demo_vault;

/// The commands of an error.
fn suggested(error: &Value) -> Vec<Vec<String>> {
    let commands = error["commands"].as_array().cloned().unwrap_or_default();
    let words = |command: &Value| serde_json::from_value(command["argv"].clone()).unwrap();
    commands.iter().map(words).collect()
}

/// Runs a suggested command in some folder, without the variables that name vaults and their place.
fn follow(place: &Place, words: &[String]) -> std::process::Output {
    assert_eq!(words[0], "offshoot");
    let mut command = place.command(&words[1..]);
    command.env_remove("OFFSHOOT_HOME").current_dir(place.path()).output().unwrap()
}

#[test]
fn suggested_commands_name_the_vault_and_its_place() {
    let place = demo_vault();
    let home = place.home().into_os_string().into_string().unwrap();
    let mut asked =
        place.command(["--home", &home, "--vault", "project", "kill", "01zzzzzzzzzz", "--json"]);
    let asked = asked.env_remove("OFFSHOOT_HOME").current_dir(place.path()).output().unwrap();
    let commands = suggested(&document_of(&asked)["error"]);
    assert_eq!(commands, [["offshoot", "ps", "--vault", "project", "--home", &home]]);
    let followed = follow(&place, &commands[0]);
    assert!(followed.status.success(), "{followed:?}");
    // People read the same, and so does whoever is told what to do next.
    let told = place.run(["--vault", "project", "kill", "01zzzzzzzzzz"]);
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("`offshoot ps --vault project` lists what runs"), "{told}");
    let deleted = place.ok(["workspace", "delete", "fix", "--vault", "project"]);
    assert!(deleted.contains("`offshoot undo --vault project -w fix`"), "{deleted}");
    place.ok(["workspace", "create", "fresh"]);
    let undone = place.ok(["undo", "--vault", "project", "-w", "fresh"]);
    assert!(undone.contains("`offshoot redo --vault project -w fresh`"), "{undone}");
}

#[test]
fn suggested_commands_name_the_workspace() {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    for arguments in
        [["conflicts", "/README.md", "-w", "fix"], ["resolve", "/README.md", "--ours", "-wfix"]]
    {
        let commands = suggested(&place.json_error(&arguments, 3));
        assert_eq!(commands, [["offshoot", "conflicts", "-w", "fix"]], "{arguments:?}");
    }
    // A word of the wrong command line is not lost either.
    for arguments in [
        ["--vault", "project", "comit", "-w", "fix"],
        ["comit", "--vault=project", "-q", "-w", "fix"],
    ] {
        let commands = suggested(&place.json_error(&arguments, 2));
        let expected = ["offshoot", "commit", "-w", "fix", "--vault", "project"];
        assert_eq!(commands, [expected], "{arguments:?}");
    }
    let commands = suggested(&place.json_error(&["commit", "-am", "text", "-w", "fix"], 2));
    assert_eq!(commands, [["offshoot", "commit", "-w", "fix", "-m", "TEXT"]]);
}

/// What is printed after a success can be copied from any folder too.
#[test]
fn ways_on_name_the_vault() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/README.md", "-w", "fix"], b"one side");
    let elsewhere = |arguments: &[&str]| {
        let arguments = [&["--vault", "project"], arguments].concat();
        let output = place.command(arguments).current_dir(place.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let committed = elsewhere(&["commit", "-w", "fix"]);
    assert!(committed.contains("undo: offshoot undo --vault project -w fix\n"), "{committed}");
    place.ok_with(["fs", "write", "/README.md", "-w", "fix"], b"one side again");
    place.write("README.md", "the other side");
    let refused = elsewhere(&["commit", "-w", "fix"]);
    assert!(refused.contains("next: offshoot pull --vault project -w fix, "), "{refused}");
    let document: Value =
        serde_json::from_str(&elsewhere(&["commit", "-w", "fix", "--json"])).unwrap();
    let ways = &document["result"]["ways_on"];
    assert_eq!(ways[0]["commands"], json!(["offshoot pull --vault project -w fix"]), "{ways}");
    let pulled = elsewhere(&["pull", "-w", "fix"]);
    for line in [
        "see: offshoot conflicts --vault project -w fix ",
        "resolve: offshoot resolve --vault project PATH -w fix --ours|--theirs\n",
        "undo: offshoot undo --vault project -w fix\n",
    ] {
        assert!(pulled.contains(line), "{pulled}");
    }
    let conflicts = elsewhere(&["conflicts", "-w", "fix"]);
    assert!(conflicts.contains("see: offshoot conflicts --vault project PATH "), "{conflicts}");
    // On the usual command line nothing is added.
    place.ok(["undo", "-w", "fix"]);
    let refused = place.run(["commit", "-w", "fix"]).stdout;
    let refused = String::from_utf8(refused).unwrap();
    assert!(refused.contains("next: offshoot pull -w fix, "), "{refused}");
}

/// The name of a workspace is no path, and is not taken for one.
#[test]
fn a_workspace_in_place_of_a_path_is_told() {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    for arguments in [&["review", "fix", "--list"][..], &["conflicts", "fix"]] {
        let error = place.json_error(arguments, 2);
        assert_eq!(error["message"], "fix is a workspace, not a path");
        assert_eq!(suggested(&error), [["offshoot", arguments[0], "-w", "fix"]]);
    }
    // What writes to a repository asks which one is meant.
    place.json_error(&["export", "--git", "branch"], 2);
}

#[needs(UserNamespace)]
#[test]
fn a_time_behind_wait_is_no_command() {
    let place = demo_vault();
    for arguments in [vec!["exec", "--wait", "30s", "--", "ls"], vec!["exec", "--wait", "30", "ls"]]
    {
        let refused = place.run(arguments);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("write --wait=30"), "{said}");
    }
    place.ok(["exec", "--wait", "-w", "fix", "--", "true"]);
}

/// As a shell has it: what cannot be looked into has nothing.
#[needs(UserNamespace)]
#[test]
fn a_closed_directory_on_the_path_hides_nothing() {
    let place = demo_vault();
    let closed = place.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let path = format!("{}:/usr/bin:/bin", closed.display());
    let run = |program: &str| {
        let mut command = place.command(["exec", "-w", "fix", "--", program]);
        command.env("PATH", &path).output().unwrap().status.code()
    };
    assert_eq!((run("no-such-program"), run("true")), (Some(127), Some(0)));
    std::fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
}

/// A command that only looked under the name of a deleted workspace is in nobody's way back.
#[needs(UserNamespace)]
#[test]
fn a_name_that_was_used_in_vain_still_leads_to_the_work() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/precious", "-w", "fix"], b"work");
    place.ok(["workspace", "delete", "fix"]);
    let looked = place.run(["exec", "-w", "fix", "--", "cat", "precious"]);
    let said = String::from_utf8(looked.stderr).unwrap();
    assert!(said.contains("there is no workspace fix: this ran in a new fork"), "{said}");
    let error = place.json_error(&["status", "-w", "fix"], 3);
    assert_eq!(error["message"], "workspace fix is gone");
    place.ok(["undo", "-w", "fix"]);
    assert_eq!(place.ok(["fs", "cat", "/precious", "-w", "fix"]), "work");
}

#[needs(UserNamespace)]
#[test]
fn envelopes_suggest_what_can_be_run() {
    let place = demo_vault();
    let run = |words: &[&str]| {
        let output =
            place.run(with_json(&[&["exec", "-w", "fix", "--vault", "project"], words].concat()));
        (output.status.code(), document_of(&output)["result"]["error"].clone())
    };
    let (code, error) = run(&["--", "no-such-program"]);
    assert_eq!(code, Some(127), "{error}");
    let commands = suggested(&error);
    assert_eq!(commands, [["offshoot", "exec", "-w", "fix", "--vault", "project", "--", "env"]]);
    let followed = place.ok(&commands[0][1..]);
    assert!(followed.contains("PATH="), "{followed}");
    let (_, error) = run(&["--", "echo hi"]);
    let commands = suggested(&error);
    assert_eq!(commands[0][1..], ["exec", "-w", "fix", "--vault", "project", "--shell", "echo hi"]);
    assert_eq!(place.ok(&commands[0][1..]), "hi\n");
    let (code, error) = run(&["--", "./README.md"]);
    assert_eq!(code, Some(126), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("its mode and its first line"), "{error}");
    let (code, error) = run(&["--", "./no-such-file"]);
    assert_eq!(code, Some(127), "{error}");
    let commands = suggested(&error);
    assert_eq!(commands, [["offshoot", "fs", "ls", "-w", "fix", "--vault", "project"]]);
    assert!(place.ok(&commands[0][1..]).contains("README.md"));
}

#[needs(UserNamespace)]
#[test]
fn a_busy_workspace_can_be_waited_for() {
    let place = demo_vault();
    let running = Background::start(&place, "echo ready; sleep 600");
    let output = place.run(with_json(&["exec", "-w", "fix", "--", "true"]));
    let error = document_of(&output)["result"]["error"].clone();
    let commands = suggested(&error);
    assert_eq!(commands[0], ["offshoot", "ps"]);
    assert_eq!(commands[1], ["offshoot", "exec", "--wait=30s", "-w", "fix", "--", "CMD"]);
    // Whoever waited knows, and others cannot.
    let waited = place.run(with_json(&["exec", "-w", "fix", "--wait=10ms", "--", "true"]));
    assert_eq!(suggested(&document_of(&waited)["result"]["error"]).len(), 1);
    let error = place.json_error(&["undo", "-w", "fix"], 8);
    assert_eq!(suggested(&error), [["offshoot", "ps"]]);
    drop(running);
}

#[test]
fn folders_that_are_no_projects_are_not_suggested() {
    let place = Place::new();
    for (folder, adopts) in
        [(place.project(), true), (place.path().into(), false), ("/".into(), false)]
    {
        let mut command = place.command(["workspace", "list", "--json"]);
        let output = command.current_dir(&folder).output().unwrap();
        let error = document_of(&output)["error"].clone();
        assert_eq!(error["code"], "not_found", "{error}");
        let init = suggested(&error).iter().any(|words| words[1] == "init");
        assert_eq!(init, adopts, "{}: {error}", folder.display());
    }
    // The folder is named, and what else was given stays.
    let home = place.path().to_str().unwrap();
    let error = place.json_error(&["init", home, "--name", "all"], 2);
    assert_eq!(suggested(&error), [["offshoot", "init", "--name", "all", "--force", home]]);
    place.ok(["init"]);
    place.write("sub/a", "a");
    let sub = place.project().join("sub");
    let error = place.json_error(&["init", "sub"], 4);
    let [command] = &suggested(&error)[..] else { panic!("{error}") };
    let expected = ["offshoot", "vault", "create", "NAME", "--from", sub.to_str().unwrap()];
    assert_eq!(command[..], expected);
    assert_eq!(error["commands"][0]["placeholders"], json!([3]));
    let error = place.json_error(&["init", "--name", "other"], 4);
    assert_eq!(suggested(&error), [["offshoot", "vault", "rename", "project", "other"]]);
    place.ok(&suggested(&error)[0][1..]);
    let error = place.json_error(&["status", "--vault", ""], 3);
    assert_eq!(error["message"], "there is no vault named \"\"");
}

#[needs(UserNamespace)]
#[test]
fn rules_that_are_wrong_are_named() {
    let place = demo_vault();
    place.write("bad rules.toml", "nonsense");
    let words = ["exec", "--policy", "bad rules.toml", "--", "ls"];
    let error = document_of(&place.run(with_json(&words)))["result"]["error"].clone();
    let commands = suggested(&error);
    let test = ["offshoot", "policy", "test", "bad rules.toml", "--layer", "request"];
    assert_eq!(commands, [test]);
    assert_eq!(place.run(&commands[0][1..]).status.code(), Some(1));
}

#[test]
fn what_is_not_there_is_answered_with_what_lists_it() {
    let place = demo_vault();
    let names = |arguments: &[&str]| {
        let commands = suggested(&place.json_error(arguments, 3));
        commands.iter().map(|words| words[1..].join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(names(&["logs", "zzzz"]), ["execs", "ps"]);
    assert_eq!(names(&["show", "zzzz"]), ["execs", "op log"]);
    assert_eq!(names(&["op", "restore", "zzzz", "--vault-wide"]), ["op log"]);
    assert_eq!(names(&["recover", "show", "zzzz"]), ["recover list"]);
    let error = place.json_error(&["show", "fxi"], 3);
    assert_eq!(error["hint"], "did you mean fix?");
}

#[test]
fn paths_that_are_a_slip_away_are_suggested() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "-p", "/source/deep/main.c", "-w", "fix"], b"1\n");
    for (command, typed, meant) in [
        ("cat", "/READM.md", "/README.md"),
        ("ls", "/sorce/deep", "/source/deep"),
        ("stat", "/sorce/deep/main.c", "/source/deep/main.c"),
        ("cat", "/source/dep/main.c", "/source/deep/main.c"),
    ] {
        let error = place.json_error(&["fs", command, typed, "-w", "fix"], 3);
        assert_eq!(error["hint"], format!("did you mean {meant}?"), "{error}");
        assert_eq!(error["candidates"], json!([meant]), "{error}");
    }
    let error = place.json_error(&["fs", "cat", "/sorce/other.c", "-w", "fix"], 3);
    assert!(error["hint"].is_null(), "{error}");
    let error = place.json_error(&["fs", "export", "/READM.md", "out", "-w", "fix"], 3);
    assert_eq!(error["hint"], "did you mean /README.md?");
}

#[test]
fn wrong_command_lines_lead_to_the_help_of_their_command() {
    let place = Place::new();
    for (arguments, help) in [
        (&["exec", "--bogus"][..], &["offshoot", "exec", "--help"][..]),
        (&["exec", "-w", "log"], &["offshoot", "exec", "--help"]),
        (&["vault", "create"], &["offshoot", "vault", "create", "--help"]),
        (&["vault"], &["offshoot", "vault", "--help"]),
        (&[], &["offshoot", "--help"]),
        (&["exec", "-e", "=x", "--", "ls"], &["offshoot", "exec", "--help"]),
        (&["exec", "-e", "", "--", "ls"], &["offshoot", "exec", "--help"]),
    ] {
        let error = place.json_error(arguments, 2);
        assert_eq!(suggested(&error), [help], "{arguments:?}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(!message.contains("proxy") && !message.contains("maintain"), "{message}");
    }
    let told = place.run(["-q"]);
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(!told.contains("proxy"), "{told}");
}

#[needs(UserNamespace)]
#[test]
fn what_cannot_be_undone_takes_more_of_an_id() {
    let place = demo_vault();
    let over = document_of(&place.run(with_json(&["exec", "-w", "fix", "--", "true"])));
    let exec = over["result"]["exec"].as_str().unwrap();
    for short in ["01zzzz", "0", "", &exec[..5]] {
        place.json_error(&["kill", short], 2);
        place.json_error(&["recover", "drop", short], 2);
    }
    let running = Background::start(&place, "echo ready; sleep 600");
    let error = place.json_error(&["kill", &running.exec[..5]], 2);
    assert_eq!(error["candidates"], json!([running.exec]), "{error}");
    place.json_error(&["kill", "01zzzzzz"], 3);
    place.json_error(&["kill", exec], 4);
    place.json_error(&["recover", "drop", "01zzzzzz"], 3);
}

#[test]
fn repositories_that_are_not_there_are_not_found() {
    let place = demo_vault();
    let words = ["export", "--git", "b", "-w", "fix", "--repo"];
    place.json_error(&[&words[..], &["/no-such-folder"]].concat(), 3);
    place.json_error(&[&words[..], &["."]].concat(), 3);
    let error = place.json_error(&["export"], 2);
    let commands = suggested(&error);
    assert_eq!(commands[0], ["offshoot", "fs", "export", "/", "DIR"]);
    assert_eq!(commands[1], ["offshoot", "vault", "export", "FILE"]);
}

/// The envelope of a command that failed is shown as it was, and showing it worked.
#[needs(UserNamespace)]
#[test]
fn what_failed_is_shown_with_success() {
    let place = demo_vault();
    let failed = document_of(&place.run(with_json(&["exec", "-w", "fix", "--", "false"])));
    let shown = place.run(["show", failed["result"]["exec"].as_str().unwrap(), "--json"]);
    assert_eq!(shown.status.code(), Some(0));
    assert_eq!(document_of(&shown)["success"], false);
}
