//! Who decides, for how long, and who is told.

use super::*;

fn approve_as(place: &Place, id: &str, variables: &[(&str, &str)], options: &[&str]) -> Output {
    let mut command = place.command([&["approvals", "approve", "--json", id], options].concat());
    command.envs(variables.iter().copied());
    command.output().unwrap()
}

#[test]
fn an_agent_decides_about_nothing() {
    let place = project();
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    for variables in [
        &[("OFFSHOOT_AGENT", "robot")][..],
        &[("OFFSHOOT_AGENT", "other"), ("OFFSHOOT_SESSION", "s")],
    ] {
        let refused = answered(&approve_as(&place, &id, variables, &[]), 122);
        assert!(refused.to_string().contains("cannot decide"), "{refused}");
    }
    assert_eq!(approval(&place, &id)["state"], "pending");
    // Inside there is nothing to decide with.
    let vaults = place.home().join("vaults");
    let look = format!("! ls {}/*", vaults.display());
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", &look]);
}

#[test]
fn only_who_is_named_decides() {
    let place = project();
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let refused = place.json_error(
        &["approvals", "approve", &id, "-c", "approvals.approvers=nobody-of-this-name"],
        122,
    );
    assert!(refused["message"].as_str().unwrap().contains("nobody-of-this-name"), "{refused}");
    place.json_error(
        &["approvals", "deny", &id, "-c", "approvals.approvers=nobody-of-this-name"],
        122,
    );
    // It is the account that counts, not what somebody calls themselves.
    let claimed = approve_as(
        &place,
        &id,
        &[("USER", "nobody-of-this-name")],
        &["-c", "approvals.approvers=nobody-of-this-name"],
    );
    answered(&claimed, 122);
    // A project cannot name its own approvers.
    place.write(
        "offshoot.toml",
        "[approvals]\napprovers = \"nobody-of-this-name\"\nfallback = \"approve\"\n",
    );
    place.ok(["approvals", "approve", &id]);
    assert!(approval(&place, &id)["decision"]["by"]["user"].is_string());
}

#[test]
fn of_two_who_decide_one_wins() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    for round in 0..5 {
        place.write(format!("f{round}"), "x");
        let id = asked(&place, &["-w", "fix"], &["sh", "-c", "rm -f none; date +%N > stamp"]);
        let start = |verb: &str| {
            let mut command = place.command(["approvals", verb, "--json", &id]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let both: Vec<Child> = ["approve", "deny", "approve", "deny"].map(start).into();
        let codes: Vec<Option<i32>> =
            both.into_iter().map(|child| child.wait_with_output().unwrap().status.code()).collect();
        let won = codes.iter().filter(|code| **code == Some(0)).count();
        assert_eq!(won, 1, "{codes:?}");
        let state = approval(&place, &id)["state"].clone();
        let exec = envelope(&place, &id)["result"]["state"].clone();
        let fits =
            (state == "approved" && exec == "completed") || (state == "denied" && exec == "denied");
        assert!(fits, "{state} {exec}");
    }
}

#[test]
fn for_a_session() {
    let place = project();
    let run_with = |session: &str, workspace: &str, options: &[&str], command: &[&str]| {
        let all = [&["exec", "--json", "-w", workspace], options, &["--"], command].concat();
        let mut asked = place.command(all);
        asked.env("OFFSHOOT_AGENT", "robot").env("OFFSHOOT_SESSION", session);
        document_of(&asked.output().unwrap())
    };
    let run = |session: &str, workspace: &str, command: &[&str]| {
        run_with(session, workspace, &[], command)
    };
    let first = run("s1", "fix", &["rm", "a"]);
    let id = first["result"]["exec"].as_str().unwrap();
    place.ok(["approvals", "approve", id, "--session"]);
    place.ok(["undo", "-w", "fix"]);
    let again = run("s1", "fix", &["rm", "a"]);
    assert_eq!(again["result"]["state"], "completed", "{again}");
    assert!(again["result"]["checkpoint"].is_string());
    // Another session, another command, another workspace: asked again.
    for (session, workspace, command) in [
        ("s2", "fix", ["rm", "b"]),
        ("s1", "fix", ["rm", "b"]),
        ("s1", "else", ["rm", "a"]),
        ("s2", "else", ["rm", "a"]),
    ] {
        let other = run(session, workspace, &command);
        assert_eq!(
            other["result"]["state"], "pending_approval",
            "{session} {workspace} {command:?}"
        );
    }
    // The same words with something else to read, or in another place, are another command.
    for options in [&["-e", "TARGET=prod"][..], &["--cwd", "sub"], &["--show", "/opt"]] {
        let other = run_with("s1", "fix", options, &["rm", "a"]);
        assert_eq!(other["result"]["approval"]["state"], "pending", "{options:?} {other}");
    }
    // So are they in another workspace of the same name, and where the names of programs mean others.
    let mut other = place.command(["exec", "--json", "-w", "fix", "--", "rm", "a"]);
    other.env("OFFSHOOT_AGENT", "robot").env("OFFSHOOT_SESSION", "s1");
    let path = std::env::var("PATH").unwrap();
    let other = document_of(&other.env("PATH", format!("/opt:{path}")).output().unwrap());
    assert_eq!(other["result"]["approval"]["state"], "pending", "{other}");
    place.ok(["workspace", "rename", "fix", "was"]);
    place.ok(["workspace", "rename", "else", "fix"]);
    let other = run("s1", "fix", &["rm", "a"]);
    assert_eq!(other["result"]["approval"]["state"], "pending", "{other}");
    let same = run("s1", "was", &["rm", "-f", "a"]);
    assert_eq!(same["result"]["approval"]["state"], "pending", "{same}");
    // Who names no session cannot be given one.
    let plain = asked(&place, &["-w", "fix"], &["rm", "b"]);
    place.json_error(&["approvals", "approve", &plain, "--session"], 2);
}

#[test]
fn always_adds_a_rule_for_this_command_alone() {
    let place = project();
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let rules = place.path().join(".config/offshoot/policy.toml");
    // Nobody's word, no rule.
    place.json_error(&["approvals", "approve", &id, "--always"], 2);
    assert_eq!(fs::read_to_string(&rules).unwrap(), ASKS);
    let output = place.run(["approvals", "approve", &id, "--always", "--yes"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && told.contains("[[rule]]"), "{told}");
    assert_eq!(cat(&place, "fix", "/a"), None);
    let now = fs::read_to_string(&rules).unwrap();
    assert!(now.starts_with(ASKS) && now.contains("prefix = [\"rm\", \"a\"]"), "{now}");
    place.ok(["undo", "-w", "fix"]);
    exec(&place, 0, &["-w", "fix"], &["rm", "a"]);
    place.ok(["undo", "-w", "fix"]);
    for other in [&["rm", "b"][..], &["rm", "a", "b"], &["rm", "-r", "a"], &["rm", "sub/a"]] {
        exec(&place, 123, &["-w", "fix"], other);
    }
    exec(&place, 123, &["-w", "fix", "--cwd", "sub"], &["rm", "a"]);
    exec(&place, 123, &["-w", "fix", "--net", "host"], &["rm", "a"]);
    for text in ["rm a; rm -rf sub", "cd sub && rm a"] {
        exec(&place, 123, &["-w", "fix"], &["sh", "-c", text]);
    }
}

/// A rule that is there already is not added once more, and keeps nobody from approving.
#[test]
fn always_knows_the_rule_that_is_there() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    place.ok(["workspace", "create", "other"]);
    let first = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let second = asked(&place, &["-w", "other"], &["rm", "a"]);
    let rules = place.path().join(".config/offshoot/policy.toml");
    place.ok(["approvals", "approve", &first, "--always", "--yes"]);
    let then = fs::read_to_string(&rules).unwrap();
    // Nobody is asked about what changes nothing.
    let output = place.run(["approvals", "approve", &second, "--always"]);
    let (said, told) = (&output.stdout, &output.stderr);
    let (said, told) = (String::from_utf8_lossy(said), String::from_utf8_lossy(told));
    assert!(output.status.success(), "{said}{told}");
    assert!(told.contains("this rule is in your policy already:"), "{told}");
    assert!(!said.contains("added to your policy"), "{said}");
    assert_eq!(approval(&place, &second)["decision"]["scope"], "always");
    assert_eq!(cat(&place, "other", "/a"), None);
    assert_eq!(fs::read_to_string(&rules).unwrap(), then);
}

/// Nothing is approved that the rule cannot be added for, and the file that is named is the one to mend.
#[test]
fn always_approves_nothing_without_its_rule() {
    let place = project();
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let folder = place.path().join(".config/offshoot");
    let always = ["approvals", "approve", &id, "--always", "--yes"];
    let refused = |code: i32| {
        let error = place.json_error(&always, code);
        let message = error["message"].as_str().unwrap().to_owned();
        assert!(message.contains("policy.toml") && !message.contains(".new"), "{error}");
        assert_eq!(approval(&place, &id)["state"], "pending");
        assert!(cat(&place, "fix", "/a").is_some());
    };
    set_rules(&place, "version = 1\n[defaults\n");
    refused(2);
    set_rules(&place, ASKS);
    // Nothing can be written there.
    fs::create_dir(folder.join("policy.toml.new")).unwrap();
    refused(6);
    fs::remove_dir(folder.join("policy.toml.new")).unwrap();
    // A link stays one.
    let real = place.path().join("rules.toml");
    fs::rename(folder.join("policy.toml"), &real).unwrap();
    std::os::unix::fs::symlink(&real, folder.join("policy.toml")).unwrap();
    place.ok(always);
    assert!(folder.join("policy.toml").is_symlink());
    let now = fs::read_to_string(&real).unwrap();
    assert!(now.contains("prefix = [\"rm\", \"a\"]"), "{now}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

/// A word that rules cannot name would be read as others.
#[test]
fn always_names_no_word_that_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let place = project();
    let word = std::ffi::OsStr::from_bytes(b"x\xff");
    let words = ["exec", "--json", "-w", "fix", "--", "rm", "-f"].map(std::ffi::OsStr::new);
    let output = place.run(words.into_iter().chain([word]));
    let id = answered(&output, 123)["result"]["exec"].as_str().unwrap().to_owned();
    let refused = place.json_error(&["approvals", "approve", &id, "--always", "--yes"], 4);
    assert!(refused["message"].as_str().unwrap().contains("not UTF-8"), "{refused}");
    assert_eq!(approval(&place, &id)["state"], "pending");
}

/// What no rule says exactly gets none.
#[test]
fn always_is_refused_where_a_rule_would_allow_more() {
    let place = project();
    let rules = place.path().join(".config/offshoot/policy.toml");
    for (options, command, why) in [
        (&[][..], &["sh", "-c", "rm a; rm b"][..], "several commands"),
        (&[], &["sh", "-c", "rm *"], "not known beforehand"),
        (&[], &["sh", "-c", "rm a > log"], "a redirection"),
        (&[], &["timeout", "5", "rm", "a"], "more than a program and its words"),
        (&["-e", "TARGET=prod"], &["rm", "a"], "variables"),
    ] {
        let id = asked(&place, &[&["-w", "fix"], options].concat(), command);
        let refused = place.json_error(&["approvals", "approve", &id, "--always", "--yes"], 4);
        let message = refused["message"].as_str().unwrap();
        let (_, told) = message.split_once(" and nothing else: ").unwrap();
        assert!(told.contains(why), "{refused}");
        // Nobody is told of --session where the command has none.
        let hint = refused["hint"].as_str().unwrap();
        assert!(hint.contains("without --always") && !hint.contains("--session"), "{refused}");
        assert_eq!(fs::read_to_string(&rules).unwrap(), ASKS);
        assert_eq!(approval(&place, &id)["state"], "pending");
    }
}

/// Approvers that the user's own file names are those who decide.
#[test]
fn approvers_of_the_users_file_decide() {
    let place = project();
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let file = place.path().join(".config/offshoot/config.toml");
    let name = |who: &str| fs::write(&file, format!("[approvals]\napprovers = {who:?}\n")).unwrap();
    name("nobody-of-this-name");
    for decide in [&["approvals", "approve", &id][..], &["approvals", "deny", &id]] {
        let refused = place.json_error(decide, 122);
        assert!(refused["message"].as_str().unwrap().contains("nobody-of-this-name"), "{refused}");
    }
    assert_eq!(approval(&place, &id)["state"], "pending");
    let own = Command::new("id").arg("-un").output().unwrap().stdout;
    name(&format!("nobody-of-this-name, {}", String::from_utf8(own).unwrap().trim()));
    place.ok(["approvals", "approve", &id]);
    assert_eq!(cat(&place, "fix", "/a"), None);
}

/// What was decided long ago is forgotten, and what waits is not.
#[test]
fn gc_forgets_what_was_decided() {
    let place = project();
    let short = ["-c", "approvals.expire=1s", "-w", "fix"];
    let denied = asked(&place, &short, &["rm", "a"]);
    place.ok(["approvals", "deny", &denied]);
    let recent = asked(&place, &["-w", "fix"], &["rm", "b"]);
    place.ok(["approvals", "deny", &recent]);
    let waits = asked(&place, &["-w", "fix"], &["rm", "c"]);
    let known = || {
        let all = place.json(&["approvals", "list", "--all"])["approvals"].clone();
        let id = |one: &Value| one["id"].as_str().unwrap().to_owned();
        all.as_array().unwrap().iter().map(id).collect::<Vec<_>>()
    };
    std::thread::sleep(Duration::from_millis(1500));
    place.ok(["gc"]);
    assert_eq!(known().len(), 3, "it is not old enough");
    place.ok(["gc", "--keep-operations", "0", "--keep-age", "0s"]);
    let left = known();
    assert!(!left.contains(&denied) && left.contains(&recent) && left.contains(&waits), "{left:?}");
    let log = place.ok(["audit", "log", "--json", "--kind", "deny"]);
    assert!(log.contains(&denied), "{log}");
    place.ok(["approvals", "approve", &waits]);
    assert_eq!(cat(&place, "fix", "/c"), None);
}

#[test]
fn another_program_is_told() {
    let place = project();
    let told = place.path().join("told");
    let notify = format!("approvals.notify=cat > {}; echo $OFFSHOOT_VAULT >> {0}", told.display());
    let id = asked(&place, &["-c", &notify, "-w", "fix"], &["rm", "a"]);
    until(|| fs::read_to_string(&told).is_ok_and(|text| text.ends_with("\n")));
    let text = fs::read_to_string(&told).unwrap();
    assert!(text.contains(&id) && text.contains("\"command\":\"rm a\""), "{text}");
    // What runs by a rule is not told about.
    fs::remove_file(&told).unwrap();
    exec(&place, 0, &["-c", &notify, "-w", "fix"], &["touch", "x"]);
    assert!(!told.exists());
}

/// What an agent is started with does not decide for it.
#[test]
fn an_agent_chooses_no_settings_of_approvals() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let as_agent = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        command.env("OFFSHOOT_AGENT", "robot").env("OFFSHOOT_APPROVALS__FALLBACK", "approve");
        command.env("OFFSHOOT_APPROVALS__EXPIRE", "1s").output().unwrap()
    };
    let options = ["-c", "approvals.expire=1s", "-c", "approvals.fallback=approve"];
    let remove = [&["exec", "--json"], &options[..], &["-w", "fix", "--", "rm", "a"]].concat();
    let asked = answered(&as_agent(&remove), 123);
    let id = asked["result"]["exec"].as_str().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    as_agent(&[&["approvals", "list"], &options[..]].concat());
    assert_eq!(approval(&place, id)["state"], "pending");
    assert!(cat(&place, "fix", "/a").is_some());
    // What the user wrote holds for agents too, and is told as what it is.
    let file = place.path().join(".config/offshoot/config.toml");
    fs::write(&file, "[approvals]\nexpire = \"1s\"\nfallback = \"approve\"\n").unwrap();
    let remove = ["exec", "--json", "--wait-approval=30s", "-w", "fix", "--", "rm", "b"];
    let mut agent = place.command(remove);
    let waited = answered(&agent.env("OFFSHOOT_AGENT", "robot").output().unwrap(), 0);
    assert_eq!(waited["result"]["state"], "completed", "{waited}");
    assert_eq!(cat(&place, "fix", "/b"), None);
    let log = place.ok(["audit", "log", "--json", "--kind", "approve"]);
    let event: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(event["result"]["actor"]["user"], "offshoot", "{event}");
    assert_eq!(event["result"]["details"]["fallback"], true, "{event}");
}

/// What waits outlives another key, and the denial of another.
#[test]
fn what_waits_is_not_lost_by_others() {
    let place = project();
    let first = asked(&place, &["-w", "new"], &["rm", "a"]);
    let second = asked(&place, &["-w", "new"], &["rm", "b"]);
    place.ok(["audit", "rotate"]);
    place.ok(["approvals", "deny", &first]);
    assert_eq!(workspaces(&place), ["new"]);
    place.ok(["approvals", "approve", &second]);
    assert_eq!((cat(&place, "new", "/a").is_some(), cat(&place, "new", "/b")), (true, None));
    asked(&place, &["-w", "other"], &["rm", "a"]);
    let listed = |options: &[&str]| {
        let all = place.json(&[&["approvals", "list"], options].concat())["approvals"].clone();
        all.as_array().unwrap().len()
    };
    assert_eq!((listed(&["--all"]), listed(&["--all", "-w", "new"])), (3, 2));
}
