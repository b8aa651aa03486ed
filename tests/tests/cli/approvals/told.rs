//! What is told about approvals, before and after: to whoever asked, to whoever decides, and to whoever looks back.

use offshoot_needs::needs;

use super::*;

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// The lines of a timeline that are about a command.
fn lines(place: &Place, command: &str) -> Vec<String> {
    let story = place.ok(["timeline", "--all", "-n", "1000"]);
    story.lines().filter(|line| line.contains(command)).map(str::to_owned).collect()
}

const NEVER: &str = "\n[[rule]]\nname = \"no-shred\"\ndecision = \"deny\"\nprefix = [\"shred\"]\n";

#[test]
fn a_timeline_tells_trials_from_runs_and_who_decided() {
    let place = project();
    set_rules(&place, &format!("{ASKS}{NEVER}"));
    place.ok(["workspace", "create", "fix"]);
    let moved = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let waits = format!("tried, waits for approval {}", &moved[..12]);
    let about = lines(&place, "  rm a");
    assert!(about[0].contains(&waits) && about[0].contains("exit 0"), "{about:?}");
    let story = place.ok(["timeline", "-w", "fix"]);
    assert!(story.contains("would be deleted /a"), "{story}");
    place.ok(["approvals", "approve", &moved]);
    let about = lines(&place, "  rm a");
    assert!(about[1].contains("approved by tester (moved)"), "{about:?}");
    // Merged, denied with a reason, expired, and what policy itself denies.
    let merged = asked(&place, &["-w", "fix"], &["rm", "b"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo x > x"]);
    place.ok(["approvals", "approve", &merged]);
    assert!(lines(&place, "  rm b")[1].contains("approved by tester (merged)"));
    let denied = asked(&place, &["-w", "fix"], &["rm", "c"]);
    place.ok(["approvals", "deny", &denied, "-m", "keep the data"]);
    let about = lines(&place, "  rm c");
    assert!(about[1].contains("denied by tester: keep the data"), "{about:?}");
    asked(&place, &["-c", "approvals.expire=1s", "-w", "fix"], &["rm", "sub/a"]);
    until(|| pending(&place) == 0);
    let about = lines(&place, "  rm sub/a");
    assert!(about[1].contains("expired as nobody decided in time"), "{about:?}");
    exec(&place, 122, &["-w", "fix"], &["shred", "c"]);
    let about = lines(&place, "  shred c");
    assert!(about[0].contains("denied by rule user:no-shred: "), "{about:?}");
    let untried = ["curl", "-X", "DELETE", "http://127.0.0.1:9/"];
    asked(&place, &["--net", "host", "-w", "fix"], &untried);
    let about = lines(&place, "  curl -X");
    assert!(about[0].contains("  waits for approval "), "{about:?}");
    // Programs are told the same.
    let story = place.json(&["timeline", "--all", "-n", "1000"]);
    let entries = story["entries"].as_array().unwrap();
    let of = |event: &str, id: &str| {
        let is_it = |entry: &&Value| entry["event"] == event && entry["exec"] == id;
        entries.iter().find(is_it).unwrap().clone()
    };
    let tried = of("exec", &moved);
    assert_eq!((&tried["tried"], &tried["approval"]), (&true.into(), &moved.clone().into()));
    assert_eq!(tried["tried_files"][0]["path"], "/a", "{tried:#}");
    assert_eq!(of("approve", &merged)["merged"], true);
    assert_eq!(of("deny", &denied)["reason"], "keep the data");
}

/// A command that an approval of its session lets run says so.
#[test]
fn what_a_session_was_given_is_told() {
    let place = project();
    let run = |options: &[&str]| {
        let all = [&["exec", "-w", "fix"], options, &["--", "rm", "a"]].concat();
        let mut command = place.command(all);
        command.env("OFFSHOOT_AGENT", "robot").env("OFFSHOOT_SESSION", "s1").output().unwrap()
    };
    let first = answered(&run(&["--json"]), 123);
    let id = first["result"]["exec"].as_str().unwrap();
    place.ok(["approvals", "approve", id, "--session"]);
    place.ok(["undo", "-w", "fix"]);
    let again = answered(&run(&["--json"]), 0);
    let approval = &again["result"]["approval"];
    assert_eq!(
        (&approval["id"], &approval["state"]),
        (&id.into(), &"approved".into()),
        "{again:#}"
    );
    assert_eq!(approval["decision"]["scope"], "session");
    assert_eq!(approval["decision"]["by"]["user"], "tester");
    place.ok(["undo", "-w", "fix"]);
    let told = said(&run(&[]));
    assert!(told.contains("approved by tester for this session (approval "), "{told}");
    let about = lines(&place, "  rm a");
    assert!(about.last().unwrap().contains("by approval "), "{about:?}");
}

/// What would be made for a command has a name before it is there.
#[test]
fn a_workspace_that_is_not_there_yet_is_found() {
    let place = project();
    let remote = ["curl", "-X", "DELETE", "http://127.0.0.1:9/"];
    let id = asked(&place, &["--net", "host", "-w", "later"], &remote);
    let unnamed = asked(&place, &["--net", "host"], &remote);
    assert_eq!(workspaces(&place).len(), 0);
    let found = place.json(&["approvals", "list", "-w", "later"])["approvals"].clone();
    assert_eq!((found.as_array().unwrap().len(), &found[0]["id"]), (1, &id.clone().into()));
    assert_eq!(found[0]["workspace"], "later");
    assert_eq!(approval(&place, &unnamed)["workspace"], Value::Null);
    let list = place.ok(["approvals", "list"]);
    assert!(list.contains("later (new)"), "{list}");
    assert!(place.ok(["approvals", "show", &id]).contains("later (new)"));
    place.json(&["approvals", "deny", "--all", "-w", "later"]);
    assert_eq!(pending(&place), 1);
    // What is decided leaves nothing to do.
    place.ok(["approvals", "deny", "--all"]);
    let list = place.ok(["approvals", "list", "--all"]);
    assert!(list.contains("approvals show ID") && !list.contains("approvals approve ID"), "{list}");
}

/// What of a repository is not taken by a merge is told, and why.
#[needs("git")]
#[test]
fn what_a_merge_leaves_of_git_is_told() {
    let place = Place::new();
    place.write("a", "one\n");
    place.write("b", "two\n");
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.args(words).current_dir(place.project()).env_clear().envs(place.environment());
        assert!(command.output().unwrap().status.success(), "git {words:?}");
    };
    git(&["init", "-q"]);
    git(&["config", "user.email", "a@example.org"]);
    git(&["config", "user.name", "A"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "Begin"]);
    place.ok(["init"]);
    set_rules(&place, ASKS);
    place.ok(["workspace", "create", "fix"]);
    let id = asked(&place, &["-w", "fix"], &["sh", "-c", "rm a; git add -A"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo c > c; git add c"]);
    let decided = place.json(&["approvals", "approve", &id]);
    let outcome = &decided["decided"][0];
    assert_eq!(outcome["merged"], true, "{decided:#}");
    let notes = outcome["repositories"].as_array().unwrap();
    assert!(notes.iter().any(|note| note["why"].is_string()), "{decided:#}");
    let second = asked(&place, &["-w", "fix"], &["sh", "-c", "rm b; git add -A"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo d > d; git add d"]);
    let told = place.ok(["approvals", "approve", &second]);
    assert!(told.contains("git:") && told.contains("index"), "{told}");
}

/// However it is asked, as many files were changed.
#[test]
fn there_is_one_count_of_changed_files() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let count = |value: &Value| value.as_array().unwrap().len() as u64;
    for meanwhile in [false, true] {
        let script =
            format!("rm -f none; mkdir d{meanwhile}; echo 1 > d{meanwhile}/f; mv c e; cp e c");
        let id = asked(&place, &["-w", "fix"], &["sh", "-c", &script]);
        if meanwhile {
            exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo x > x"]);
        }
        let tried = count(&envelope(&place, &id)["result"]["changed_files"]);
        let decided = place.json(&["approvals", "approve", &id])["decided"][0].clone();
        assert_eq!(decided["merged"].as_bool().unwrap_or_default(), meanwhile);
        let approved = count(&decided["changed_files"]);
        let last = count(&envelope(&place, &id)["result"]["changed_files"]);
        let execs = place.json(&["execs", "-n", "9"])["execs"].clone();
        let listed =
            execs.as_array().unwrap().iter().find(|one| one["exec"] == id.as_str()).unwrap();
        let log = place.ok(["audit", "log", "--json", "--exec", &id]);
        let audited = |line: &str| {
            let event: Value = serde_json::from_str(line).unwrap();
            let details = &event["result"]["details"];
            let files = details.get("files").or(details.get("tried_files"));
            files.map(|files| (files["count"].as_u64().unwrap(), count(&files["changed"])))
        };
        let audited: Vec<(u64, u64)> = log.lines().filter_map(audited).collect();
        assert_eq!((approved, last, listed["changed"].as_u64()), (tried, tried, Some(tried)));
        assert_eq!(audited, [(tried, tried); 2], "{log}");
    }
    // An edit and a merge count the same way.
    let edit = place.ok_with(["fs", "write", "/sub/new", "-w", "fix", "--json"], b"x");
    let edit: Value = serde_json::from_str(&edit).unwrap();
    assert_eq!(count(&edit["result"]["changes"]), 1, "{edit:#}");
    let event = place.ok(["audit", "log", "--json", "--kind", "fs write"]);
    let event: Value = serde_json::from_str(event.lines().last().unwrap()).unwrap();
    let files = &event["result"]["details"]["files"];
    assert_eq!((files["count"].as_u64(), count(&files["changed"])), (Some(1), 1), "{event:#}");
}

/// Directories are shown and counted like everything else that a trial would change.
#[test]
fn directories_are_changes_too() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    exec(&place, 0, &["-w", "fix"], &["mkdir", "-p", "src", "newdir/below"]);
    let odd = "rm -f none; mkdir empty; chmod 700 sub; echo x >> a; touch b";
    let trials: [(&[&str], &[&str], &str); 4] = [
        (&["rm", "-r", "src"], &["D /src/"], "1 change"),
        (&["rm", "-r", "newdir"], &["D /newdir/", "D /newdir/below/"], "2 changes"),
        (&["sh", "-c", odd], &["A /empty/", "P /sub/  (0755 -> 0700)", "T /b"], "4 changes"),
        (&["rm", "-f", "none"], &[], "changed nothing"),
    ];
    for (command, lines, changes) in trials {
        let id = asked(&place, &["-w", "fix"], command);
        let shown = place.ok(["approvals", "show", &id]);
        for line in lines {
            assert!(shown.lines().any(|shown| shown.starts_with(line)), "{line}: {shown}");
        }
        assert!(shown.contains(&format!("exit 0, {changes}, without")), "{shown}");
        let list = place.ok(["approvals", "list"]);
        assert!(list.contains(&changes.replace("changed nothing", "no changes")), "{list}");
        let count = envelope(&place, &id)["result"]["changed_files"].as_array().unwrap().len();
        for document in [approval(&place, &id), place.json(&["approvals", "show", &id])] {
            assert_eq!(document["changes"], count, "{document:#}");
        }
        place.ok(["approvals", "deny", &id]);
    }
}

/// A trial that was merged by hand is settled by approving of it.
#[test]
fn what_was_merged_by_hand_is_settled() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked(&place, &["-w", "fix"], &["sh", "-c", "rm a; echo mine > b"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo theirs > b"]);
    let refused = place.json_error(&["approvals", "approve", &id], 4);
    let merge = refused["commands"][0]["argv"].as_array().unwrap();
    let merge: Vec<&str> = merge.iter().skip(1).map(|word| word.as_str().unwrap()).collect();
    let told = said(&place.run(merge));
    let settle = format!("`offshoot approvals approve {}` settles it", &id[..12]);
    assert!(told.contains(&settle) && told.contains("when the conflicts are decided"), "{told}");
    place.json_error(&["approvals", "approve", &id], 4);
    place.ok(["resolve", "/b", "--ours", "-w", "fix"]);
    place.ok(["approvals", "approve", &id]);
    assert_eq!(approval(&place, &id)["state"], "approved");
    assert_eq!(envelope(&place, &id)["result"]["state"], "completed");
    assert_eq!(
        (cat(&place, "fix", "/a"), cat(&place, "fix", "/b").as_deref()),
        (None, Some("theirs\n"))
    );
}

/// Of several, one that fails keeps nobody from the others.
#[test]
fn one_that_fails_does_not_stop_the_others() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let conflicting = asked(&place, &["-w", "fix"], &["sh", "-c", "rm a; echo mine > b"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo theirs > b"]);
    let other = asked(&place, &["-w", "other"], &["rm", "a"]);
    let output = place.run(["approvals", "approve", "--all", "--json"]);
    let answer = answered(&output, 4);
    let result = &answer["result"];
    assert_eq!(answer["success"], false, "{answer:#}");
    assert_eq!(result["decided"][0]["approval"]["id"], other.as_str(), "{answer:#}");
    assert_eq!(result["failed"][0]["id"], conflicting.as_str(), "{answer:#}");
    assert_eq!(result["failed"][0]["error"]["exit_code"], 4, "{answer:#}");
    assert_eq!((cat(&place, "other", "/a"), pending(&place)), (None, 1));
    // People are told both. Somebody else may have been first.
    let another = asked(&place, &["-w", "other"], &["rm", "b"]);
    let output = place.run(["approvals", "approve", "--all"]);
    let told = said(&output);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("approved: rm b") && told.contains("not decided: sh -c"), "{told}");
    let output = place.run(["approvals", "deny", &another, &conflicting]);
    let told = said(&output);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("not decided: rm b") && told.contains("denied: sh -c"), "{told}");
}

/// What became of a trial is no end of a command.
#[test]
fn a_denied_command_has_no_exit_code() {
    let place = project();
    let wait = place.run(["exec", "--wait-approval=1s", "-w", "fix", "--", "rm", "a"]);
    let told = said(&wait);
    assert_eq!(wait.status.code(), Some(123), "{told}");
    assert!(told.contains("nobody decided within 1s: "), "{told}");
    let id = place.json(&["approvals", "list"])["approvals"][0]["id"].as_str().unwrap().to_owned();
    let goes_on = format!("`offshoot approvals wait {}` goes on waiting", &id[..12]);
    assert!(told.contains(&goes_on), "{told}");
    let late = said(&place.run(["approvals", "wait", &id, "--timeout", "1s"]));
    assert!(late.contains("within 1s") && late.contains(&goes_on), "{late}");
    let shown = place.ok(["show", &id]);
    assert!(shown.contains("waits for an approval (its trial: exit code 0)"), "{shown}");
    place.ok(["approvals", "deny", &id]);
    let ended = said(&place.run(["approvals", "wait", &id]));
    assert!(ended.contains("denied (its trial: exit code 0)"), "{ended}");
    assert!(!ended.contains("ended       exit code"), "{ended}");
}

/// A command that is told about approvals ends, with all that it started.
#[test]
fn what_is_told_ends_in_time() {
    let place = project();
    let (told, pids) = (place.path().join("told"), place.path().join("pids"));
    let line = format!(
        "approvals.notify=cat > {}; sleep 600 & echo $$ $! > {}; sleep 600",
        told.display(),
        pids.display()
    );
    asked(&place, &["-c", &line, "-w", "fix"], &["rm", "a"]);
    let started = Instant::now();
    until(|| fs::read_to_string(&pids).is_ok_and(|text| text.ends_with('\n')));
    let text = fs::read_to_string(&told).unwrap();
    let approval: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&approval["workspace"], &approval["command"]), (&"fix".into(), &"rm a".into()));
    assert_eq!(approval["changes"], 1, "{text}");
    let pids = fs::read_to_string(&pids).unwrap();
    let is_there = |pid: &str| {
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // One that nobody has reaped yet has ended.
        state.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
    };
    let pids: Vec<&str> = pids.split_whitespace().collect();
    assert!(pids.iter().all(|pid| is_there(pid)), "{pids:?}");
    until(|| !pids.iter().any(|pid| is_there(pid)));
    let took = started.elapsed();
    assert!(took > Duration::from_secs(8) && took < Duration::from_secs(30), "{took:?}");
}

/// A denial takes the workspace along that was only made for the command: its story is found all the same.
#[test]
fn a_timeline_tells_of_what_was_denied() {
    let place = project();
    set_rules(&place, &format!("{ASKS}{NEVER}"));
    let story = |arguments: &[&str]| said(&place.run([&["timeline"], arguments].concat()));
    let id = asked(&place, &[], &["rm", "a"]);
    let name = workspaces(&place).remove(0);
    place.ok(["approvals", "deny", &id, "-m", "no"]);
    assert_eq!(workspaces(&place).len(), 0);
    for arguments in [&[][..], &["--all"], &["-w", &name]] {
        let told = story(arguments);
        assert!(told.contains("rm a") && told.contains("denied by tester: no"), "{told}");
    }
    // Another workspace has a story of its own, which is not the last of the vault.
    exec(&place, 0, &["-w", "other"], &["touch", "x"]);
    assert!(!story(&[]).contains("timeline --all"), "{}", story(&[]));
    let id = asked(&place, &[], &["rm", "b"]);
    place.ok(["approvals", "deny", &id]);
    let told = story(&[]);
    assert!(told.contains("touch x") && !told.contains("rm b"), "{told}");
    assert!(told.contains("this is workspace other; `offshoot timeline --all` tells"), "{told}");
    let document = document_of(&place.run(["timeline", "--json"]));
    assert_eq!(document["result"]["workspace"], "other");
    // What policy denies makes no workspace at all.
    exec(&place, 122, &["-w", "never"], &["shred", "c"]);
    let told = story(&["-w", "never"]);
    assert!(told.contains("there is no workspace") && told.contains("timeline --all"), "{told}");
    assert!(story(&["--all"]).contains("shred c"));
}

/// What is advised against an error is possible.
#[test]
fn nothing_is_advised_that_fails_the_same_way() {
    let place = project();
    let two = ["sh", "-c", "rm a; rm b"];
    let id = asked(&place, &["-w", "fix"], &two);
    let always = said(&place.run(["approvals", "approve", &id, "--always", "--yes"]));
    assert!(always.contains("no rule allows just") && !always.contains("--session"), "{always}");
    let session = said(&place.run(["approvals", "approve", &id, "--session"]));
    assert!(session.contains("by no session") && !session.contains("--always"), "{session}");
    place.ok(["approvals", "approve", &id]);
    // Of a session it is possible.
    place.ok(["undo", "-w", "fix"]);
    let all = [&["exec", "--json", "-w", "fix", "--"], &two[..]].concat();
    let mut agent = place.command(all);
    agent.env("OFFSHOOT_AGENT", "robot").env("OFFSHOOT_SESSION", "s1");
    let asked = answered(&agent.output().unwrap(), 123);
    let id = asked["result"]["exec"].as_str().unwrap();
    let always = said(&place.run(["approvals", "approve", id, "--always", "--yes"]));
    assert!(always.contains("or with --session"), "{always}");
    place.ok(["approvals", "approve", id, "--session"]);
}
