//! What cannot be tried waits before it runs, and commands wait for their approval.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use offshoot_needs::needs;

use super::*;

/// A server that answers so many requests and tells what they were.
fn server(requests: usize) -> (u16, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = move || {
        (0..requests)
            .map(|_| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut bytes = [0; 4096];
                let got = stream.read(&mut bytes).unwrap();
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n").unwrap();
                let text = String::from_utf8_lossy(&bytes[..got]).into_owned();
                text.lines().next().unwrap_or_default().to_owned()
            })
            .collect()
    };
    (port, std::thread::spawn(serve))
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/thing")
}

#[needs("curl")]
#[test]
fn what_uses_the_network_runs_when_it_is_approved() {
    let place = project();
    let (port, served) = server(1);
    let url = url(port);
    let command = ["curl", "-s", "-X", "DELETE", &url, "-o", "answer"];
    let options = ["--net", "host", "-w", "fix", "-e", "TOKEN=secret", "--memory", "512MiB"];
    let envelope_then = exec(&place, 123, &options, &command);
    let result = &envelope_then["result"];
    assert_eq!(result["approval"]["tried"], false);
    assert!(result["approval"]["untried"].as_str().unwrap().contains("network"), "{result}");
    assert_eq!(result["exit_code"], Value::Null);
    let id = result["exec"].as_str().unwrap();
    assert_eq!(workspaces(&place).len(), 0, "nothing is forked for what has not run");
    let ran = place.run(["approvals", "approve", "--json", id]);
    let decided = answered(&ran, 0);
    let exec = &decided["result"]["decided"][0]["exec"];
    assert_eq!(exec["result"]["state"], "completed", "{decided}");
    assert_eq!(exec["result"]["exec"], id);
    assert_eq!(exec["result"]["sandbox"]["limits"]["memory"], 512 << 20, "{exec}");
    assert_eq!(cat(&place, "fix", "/answer").as_deref(), Some("ok\n"));
    assert_eq!(served.join().unwrap(), ["DELETE /thing HTTP/1.1"]);
    assert_eq!(envelope(&place, id)["result"]["state"], "completed");
    assert_eq!(approval(&place, id)["state"], "approved");
    // Once is all.
    place.json_error(&["approvals", "approve", id], 4);
}

/// Whoever waits gets the final answer, and runs what was not tried.
#[needs("curl")]
#[test]
fn a_command_that_waits_is_answered() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let wait = ["exec", "--json", "--wait-approval", "-w", "fix", "--", "rm", "a"];
    let (child, id) = waiting(&place, &wait);
    assert_eq!(place.json(&["approvals", "list"])["approvals"][0]["awaited"], true);
    place.ok(["approvals", "approve", &id]);
    let last = answered(&child.wait_with_output().unwrap(), 0);
    assert_eq!(last["result"]["state"], "completed", "{last}");
    assert_eq!(last["result"]["approval"]["state"], "approved");
    assert_eq!(last["result"]["changed_files"].as_array().unwrap().len(), 1);
    let (child, id) =
        waiting(&place, &["exec", "--json", "--wait-approval", "-w", "fix", "--", "rm", "b"]);
    place.ok(["approvals", "deny", &id, "-m", "no"]);
    let last = answered(&child.wait_with_output().unwrap(), 122);
    assert_eq!(last["result"]["state"], "denied");
    assert!(last["result"]["error"]["message"].as_str().unwrap().ends_with(": no"), "{last}");
    let (port, served) = server(1);
    let url = url(port);
    let remote = [
        "exec",
        "--json",
        "--wait-approval",
        "--net",
        "host",
        "-w",
        "fix",
        "--",
        "curl",
        "-s",
        "-X",
        "DELETE",
        &url,
    ];
    let (child, id) = waiting(&place, &remote);
    let said = place.ok(["approvals", "approve", &id]);
    assert!(said.contains("whoever waits for it runs it"), "{said}");
    let last = answered(&child.wait_with_output().unwrap(), 0);
    assert_eq!(
        (&last["result"]["stdout"], &last["result"]["exec"]),
        (&"ok\n".into(), &id.clone().into())
    );
    assert_eq!(served.join().unwrap(), ["DELETE /thing HTTP/1.1"]);
    assert_eq!(approval(&place, &id)["state"], "approved");
}

#[test]
fn waiting_ends_in_time() {
    let place = project();
    let wait = ["exec", "--json", "--wait-approval=1s", "-w", "fix", "--", "rm", "a"];
    let last = answered(&place.run(wait), 123);
    assert_eq!(last["result"]["state"], "pending_approval");
    let id = last["result"]["exec"].as_str().unwrap();
    // People are told what it waits for.
    let output = place.run(["exec", "--wait-approval=1s", "-w", "fix", "--", "rm", "b"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("waiting for an approval: offshoot approvals approve "), "{told}");
    // Somebody else can go on waiting for it.
    place.json_error(&["approvals", "wait", id, "--timeout", "1s"], 123);
    place.ok(["approvals", "approve", id]);
    let last = answered(&place.run(["approvals", "wait", id, "--json"]), 0);
    assert_eq!(last["result"]["state"], "completed");
}

#[test]
fn nobody_decides_in_time() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let expires = ["-c", "approvals.expire=1s"];
    let id = asked(&place, &[&expires[..], &["-w", "fix"]].concat(), &["rm", "a"]);
    until(|| approval(&place, &id)["state"] == "expired");
    let text = place.ok(["approvals", "show", &id]);
    assert!(!text.contains("decided") && !text.contains("(once)"), "{text}");
    place.json_error(&["approvals", "approve", &id], 4);
    assert_eq!(envelope(&place, &id)["result"]["state"], "denied");
    assert!(cat(&place, "fix", "/a").is_some());
    // The user may want what was tried all the same.
    let wait = [
        "exec",
        "--json",
        "--wait-approval",
        "-c",
        "approvals.expire=1s",
        "-c",
        "approvals.fallback=approve",
        "-w",
        "fix",
        "--",
        "rm",
        "a",
    ];
    let last = answered(&place.run(wait), 0);
    assert_eq!(last["result"]["approval"]["decision"]["by"]["user"], "offshoot", "{last}");
    let text = place.ok(["approvals", "show", last["result"]["exec"].as_str().unwrap()]);
    assert!(text.contains("by approvals.fallback: nobody decided in time"), "{text}");
    assert_eq!(cat(&place, "fix", "/a"), None);
    // What was not tried never runs by itself.
    let wait = [
        "exec",
        "--json",
        "--wait-approval",
        "-c",
        "approvals.expire=1s",
        "-c",
        "approvals.fallback=approve",
        "--net",
        "host",
        "--",
        "curl",
        "-X",
        "DELETE",
        "http://127.0.0.1:9/",
    ];
    let last = answered(&place.run(wait), 122);
    assert_eq!(last["result"]["approval"]["state"], "expired", "{last}");
}

/// What is read as it comes cannot be kept; whoever waits can use it.
#[needs("curl")]
#[test]
fn what_cannot_be_kept_does_not_wait() {
    let place = project();
    let remote = ["--net", "host", "-i", "--", "curl", "-X", "DELETE", "http://127.0.0.1:9/"];
    let output = place.run_with([&["exec", "--json"], &remote[..]].concat(), b"data");
    let refused = answered(&output, 122);
    assert_eq!(refused["result"]["state"], "denied");
    let error = &refused["result"]["error"];
    assert!(error["hint"].as_str().unwrap().contains("--wait-approval"), "{error}");
    assert_eq!(pending(&place), 0);
}

/// Rules that changed, or a workspace that moved after the word was given, void it.
#[needs("curl")]
#[test]
fn a_grant_holds_for_what_was_seen() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let remote = ["curl", "-X", "DELETE", "http://127.0.0.1:9/"];
    let id = asked(&place, &["--net", "host", "-w", "fix"], &remote);
    set_rules(&place, &format!("{ASKS}{}", rule("allow", "true")));
    let shown = place.json(&["approvals", "show", &id]);
    assert!(shown["refused"].as_str().unwrap().contains("changed since"), "{shown}");
    let refused = place.json_error(&["approvals", "approve", &id], 4);
    assert!(refused["hint"].as_str().unwrap().contains("ask for it again"), "{refused}");
    assert_eq!(approval(&place, &id)["state"], "pending");
    set_rules(&place, ASKS);
    let output = place.run(["approvals", "approve", "--json", &id]);
    let decided = document_of(&output);
    assert_eq!(decided["result"]["decided"][0]["exec"]["result"]["state"], "completed");
}

/// A rule in words of its own.
fn rule(decision: &str, program: &str) -> String {
    format!("[[rule]]\nname = \"late\"\ndecision = \"{decision}\"\nprefix = [\"{program}\"]\n")
}

/// The rules as they are when somebody decides, or nobody does, are those that hold.
#[test]
fn what_the_rules_deny_by_now_is_not_approved() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let late = "approvals.expire=1s";
    let left = asked(&place, &["-c", late, "-w", "fix"], &["rm", "a"]);
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    let settings = ["-c", "approvals.expire=6s", "-c", "approvals.fallback=approve"];
    let wait = [&["exec", "--json", "--wait-approval"][..], &settings].concat();
    let (child, waits) = waiting(&place, &[&wait[..], &["-w", "fix", "--", "rm", "b"]].concat());
    set_rules(&place, &format!("{ASKS}{}", rule("deny", "rm")));
    let shown = place.ok(["approvals", "show", &id]);
    assert!(shown.contains("policy denies this command by now"), "{shown}");
    assert!(!shown.contains("approvals approve"), "{shown}");
    let refused = place.json_error(&["approvals", "approve", &id], 4);
    assert!(refused["message"].as_str().unwrap().contains("denies this command"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("approvals deny"), "{refused}");
    std::thread::sleep(Duration::from_secs(1));
    place.ok(["approvals", "list", "-c", "approvals.fallback=approve"]);
    assert_eq!(approval(&place, &left)["state"], "expired");
    // Whoever waits read the rules when it started.
    let ended = answered(&child.wait_with_output().unwrap(), 122);
    assert_eq!(ended["result"]["approval"]["state"], "expired", "{ended}");
    assert_eq!(approval(&place, &waits)["state"], "expired");
    assert!(cat(&place, "fix", "/a").is_some() && cat(&place, "fix", "/b").is_some());
    // The way out.
    set_rules(&place, ASKS);
    place.ok(["approvals", "approve", &id, &id]);
    assert_eq!(cat(&place, "fix", "/a"), None);
}

/// A policy that denies outright leaves nothing to approve.
#[test]
fn what_is_denied_or_of_no_use_does_not_wait() {
    let place = project();
    set_rules(&place, "version = 1\n");
    let refused = exec(&place, 122, &[], &["sudo", "rm", "a"]);
    assert_eq!(refused["result"]["state"], "denied", "{refused}");
    assert_eq!(refused["result"]["approval"], Value::Null);
    assert_eq!(pending(&place), 0);
    // Nor does what is of no use where the user wants to be asked about all of its kind.
    for kind in ["destructive", "mutating", "host_escape_risk"] {
        set_rules(&place, &format!("version = 1\n[defaults]\n{kind} = \"require_approval\"\n"));
        let refused = exec(&place, 122, &[], &["sudo", "rm", "a"]);
        assert_eq!(refused["result"]["state"], "denied", "{kind} {refused}");
        let hint = refused["result"]["error"]["hint"].as_str().unwrap_or_default();
        assert!(hint.contains("run it yourself, outside of Offshoot"), "{kind} {refused}");
        assert_eq!(pending(&place), 0, "{kind}");
    }
}

/// Whoever approved saw a workspace; what another command made of it since, nobody has seen.
#[needs("curl")]
#[test]
fn a_grant_is_void_when_the_workspace_moved_after_it() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let (port, _served) = server(0);
    let url = url(port);
    let wait = ["exec", "--json", "--wait-approval=60s", "--net", "host", "-w", "fix", "--"];
    let remote = ["curl", "-s", "-X", "DELETE", &url];
    let (child, id) = waiting(&place, &[&wait[..], &remote].concat());
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    };
    signal("-STOP");
    place.ok(["approvals", "approve", &id]);
    assert_eq!(approval(&place, &id)["state"], "granted");
    place.ok(["exec", "-q", "-w", "fix", "--", "touch", "meanwhile"]);
    signal("-CONT");
    let ended = document_of(&child.wait_with_output().unwrap());
    let result = &ended["result"];
    assert_eq!(
        (&result["state"], &result["error"]["code"]),
        (&"failed".into(), &"conflict".into()),
        "{ended}"
    );
    assert!(cat(&place, "fix", "/meanwhile").is_some());
}

/// Asks for something that waits before it runs.
fn asked_remotely(place: &Place, options: &[&str]) -> String {
    let remote = ["curl", "-s", "-X", "DELETE", "http://127.0.0.1:9/"];
    asked(place, &[&["--net", "host", "-w", "fix"], options].concat(), &remote)
}

/// A person approves of what they looked at: in a workspace that has changed since, they say which state that was.
#[needs("curl")]
#[test]
fn what_has_changed_is_looked_at_again() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked_remotely(&place, &[]);
    let shown = || place.json(&["approvals", "show", &id]);
    assert_eq!(shown()["moved"], Value::Null);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo x > x; echo y > y"]);
    let text = place.ok(["approvals", "show", &id]);
    assert!(text.contains("has changed since this was asked for (2 files)"), "{text}");
    let again = place.json_error(&["approvals", "approve", &id], 4);
    let told = again["message"].as_str().unwrap();
    assert!(told.contains("has changed since this was asked for (2 files)"), "{again}");
    assert!(again.to_string().contains("look again"), "{again}");
    assert_eq!(approval(&place, &id)["state"], "pending");
    let seen = shown()["moved"]["snapshot"].as_str().unwrap().to_owned();
    assert!(text.contains(&format!("--seen {seen}")), "{text}");
    // It moves between the look and the word.
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo z > z"]);
    place.json_error(&["approvals", "approve", &id, "--seen", &seen], 4);
    let seen = shown()["moved"]["snapshot"].as_str().unwrap().to_owned();
    let ran = place.run(["approvals", "approve", "--json", &id, "--seen", &seen]);
    assert_eq!(document_of(&ran)["result"]["decided"][0]["exec"]["result"]["state"], "completed");
    // What is back where it was has not changed.
    let id = asked_remotely(&place, &[]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo more >> x"]);
    place.ok(["undo", "-w", "fix"]);
    let ran = place.run(["approvals", "approve", "--json", &id]);
    assert_eq!(document_of(&ran)["result"]["decided"][0]["exec"]["result"]["state"], "completed");
}

/// Whoever decides sees where it would run and with what, but no secrets.
#[test]
fn where_and_with_what_is_shown() {
    let place = project();
    let options = ["-e", "TARGET=prod", "-e", "API_TOKEN=ghp_0123456789abcdef0123456789abcdef0123"];
    let options = [&options[..], &["--cwd", "sub"]].concat();
    let id = asked_remotely(&place, &options);
    let text = place.ok(["approvals", "show", &id]);
    assert!(text.contains("TARGET=prod") && text.contains("sub"), "{text}");
    assert!(text.contains("API_TOKEN (its value is not shown)"), "{text}");
    let shown = place.json(&["approvals", "show", &id]);
    assert!(!shown.to_string().contains("ghp_") && !text.contains("ghp_"), "{shown}");
    assert_eq!(shown["variables"][1]["value"], "prod", "{shown}");
    // Of what was tried the names are kept.
    let id = asked(&place, &[&["-w", "fix"], &options[..]].concat(), &["rm", "a"]);
    let text = place.ok(["approvals", "show", &id]);
    assert!(text.contains("TARGET") && text.contains("API_TOKEN"), "{text}");
}

/// A grant whose process was killed before it used it is gone, and its variables with it once it is too late.
#[test]
fn a_grant_that_nobody_uses_is_gone() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let wait =
        ["exec", "-c", "approvals.expire=4s", "--wait-approval", "--net", "host", "-w", "fix"];
    let remote = ["-e", "KEPT=for-later", "--", "curl", "-X", "DELETE", "http://127.0.0.1:9/"];
    let (mut child, id) = waiting(&place, &[&wait[..], &remote].concat());
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::STOP).unwrap();
    place.ok(["approvals", "approve", &id]);
    assert_eq!(approval(&place, &id)["state"], "granted");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(approval(&place, &id)["state"], "gone");
    let refused = place.json_error(&["approvals", "approve", &id], 4);
    assert!(refused["message"].as_str().unwrap().ends_with("is gone"), "{refused}");
    // Whoever asked is told, and asks no more.
    let lost = envelope(&place, &id)["result"].clone();
    assert_eq!((&lost["state"], &lost["error"]["code"]), (&"failed".into(), &"conflict".into()));
    assert_eq!(lost["approval"]["state"], "gone", "{lost}");
    assert!(lost["error"]["hint"].as_str().unwrap().contains("ask for it again"), "{lost}");
    let waited = place.run(["approvals", "wait", &id]);
    assert_eq!(waited.status.code(), Some(125), "{waited:?}");
    assert!(String::from_utf8_lossy(&waited.stdout).contains("nothing changed"), "{waited:?}");
    let listed = place.json(&["execs"])["execs"][0].clone();
    assert_eq!((&listed["exec"], &listed["state"]), (&id.as_str().into(), &"failed".into()));
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(approval(&place, &id)["state"], "expired");
    assert_eq!(envelope(&place, &id)["result"]["state"], "denied");
}

/// What waits to run in a workspace that is not there yet is approved as it was asked for: files that somebody put there since are others.
#[test]
fn a_workspace_that_was_made_since_is_looked_at_first() {
    let place = project();
    place.write("d.sh", "echo GOOD\n");
    let command = ["sh", "./d.sh"];
    let id = asked(&place, &["-w", "e1", "--sandbox", "none"], &command);
    let remote = asked(
        &place,
        &["-w", "e2", "--net", "host"],
        &["curl", "-X", "DELETE", "http://127.0.0.1:9/"],
    );
    for name in ["e1", "e2"] {
        let made = place.command(["new", name]).env("OFFSHOOT_AGENT", "bot").output().unwrap();
        assert!(made.status.success(), "{made:?}");
    }
    // It is another place, even before it has other files.
    place.json_error(&["approvals", "approve", &id], 4);
    let text = place.ok(["approvals", "show", &id]);
    assert!(
        text.contains("was made by somebody since this was asked for (the files are the same)"),
        "{text}"
    );
    assert!(!text.contains("(new)"), "{text}");
    place.run_with(["fs", "write", "d.sh", "-w", "e1"], b"echo EVIL\n");
    place.run_with(["fs", "write", "d.sh", "-w", "e2"], b"echo EVIL\n");
    for id in [&id, &remote] {
        let refused = place.json_error(&["approvals", "approve", id], 4);
        let told = refused["message"].as_str().unwrap();
        assert!(told.contains("was made by somebody since this was asked for (1 file)"), "{told}");
        assert_eq!(approval(&place, id)["state"], "pending");
    }
    let shown = place.json(&["approvals", "show", &id]);
    assert_eq!(
        (&shown["moved"]["made"], &shown["moved"]["files"]),
        (&true.into(), &1.into()),
        "{shown}"
    );
    let seen = shown["moved"]["snapshot"].as_str().unwrap();
    let text = place.ok(["approvals", "show", &id]);
    assert!(text.contains(&format!("--seen {seen}")), "{text}");
    let ran = answered(&place.run(["approvals", "approve", "--json", &id, "--seen", seen]), 0);
    assert_eq!(ran["result"]["decided"][0]["exec"]["result"]["stdout"], "EVIL\n", "{ran}");
}

/// A workspace that is not there yet is made from the folder as it is when the command is asked for; what changes there until somebody
/// approves is looked at first.
#[test]
fn what_a_new_workspace_would_be_made_from_is_up_to_date() {
    let place = project();
    place.write("d.sh", "echo V1\n");
    place.ok(["status"]);
    place.write("d.sh", "echo V2\n");
    let output = |ran: &Value| ran["result"]["decided"][0]["exec"]["result"]["stdout"].clone();
    let id = asked(&place, &["-w", "s1", "--sandbox", "none"], &["sh", "./d.sh"]);
    assert_eq!(place.json(&["approvals", "show", &id])["moved"], Value::Null);
    let ran = answered(&place.run(["approvals", "approve", "--json", &id]), 0);
    assert_eq!(output(&ran), "V2\n", "{ran}");
    for named in [&["-w", "s2"][..], &[]] {
        place.write("d.sh", "echo V2\n");
        let id = asked(&place, &[named, &["--sandbox", "none"]].concat(), &["sh", "./d.sh"]);
        place.write("d.sh", "echo V3\n");
        let refused = place.json_error(&["approvals", "approve", &id], 4);
        let told = refused["message"].as_str().unwrap();
        assert!(told.contains("what its workspace will be made from has changed"), "{told}");
        let text = place.ok(["approvals", "show", &id]);
        assert!(text.contains("has changed since this was asked for (1 file)"), "{text}");
        let shown = place.json(&["approvals", "show", &id]);
        let seen = shown["moved"]["snapshot"].as_str().unwrap();
        let ran = answered(&place.run(["approvals", "approve", "--json", &id, "--seen", seen]), 0);
        assert_eq!(output(&ran), "V3\n", "{ran}");
    }
    // Whoever waits brings the folder in itself, and does not run on what nobody saw.
    place.write("d.sh", "echo V4\n");
    let wait = ["exec", "--json", "--wait-approval", "-w", "s3", "--sandbox", "none", "--", "sh"];
    let (child, id) = waiting(&place, &[&wait[..], &["./d.sh"]].concat());
    place.write("d.sh", "echo V5\n");
    place.json_error(&["approvals", "approve", &id], 4);
    place.ok(["approvals", "deny", &id]);
    answered(&child.wait_with_output().unwrap(), 122);
}

/// What asked for the network and may use it is not tried without.
#[test]
fn what_may_use_the_network_that_it_asked_for_is_not_tried() {
    let place = project();
    let rule = "version = 1\n[[rule]]\nname = \"sh\"\nnetwork = \"host\"\nprefix = [\"sh\"]\ndecision = \"require_approval\"\n";
    set_rules(&place, rule);
    place.write("deploy.sh", "ls -l /proc/self/ns/net > net\n");
    let asks = exec(&place, 123, &["-w", "n1", "--net", "host"], &["sh", "deploy.sh"]);
    let approval = &asks["result"]["approval"];
    assert_eq!(
        (&approval["tried"], &approval["network"]),
        (&false.into(), &"host".into()),
        "{asks}"
    );
    assert!(approval["untried"].as_str().unwrap().contains("network"), "{asks}");
    let id = approval["id"].as_str().unwrap();
    assert!(place.ok(["approvals", "show", id]).contains("host"));
    let ran = answered(&place.run(["approvals", "approve", "--json", id]), 0);
    let exec = &ran["result"]["decided"][0]["exec"]["result"];
    assert_eq!(exec["sandbox"]["network"], "host", "{ran}");
}

/// What is known to change files alone is tried, and what it asked for is shown.
#[test]
fn what_makes_no_use_of_the_network_is_tried_without() {
    let place = project();
    let asks = exec(&place, 123, &["-w", "fix", "--net", "host"], &["rm", "a"]);
    let approval = &asks["result"]["approval"];
    assert_eq!(
        (&approval["tried"], &approval["network"]),
        (&true.into(), &"host".into()),
        "{asks}"
    );
    let text = place.ok(["approvals", "show", approval["id"].as_str().unwrap()]);
    assert!(text.contains("without the network") && text.contains("host"), "{text}");
}

/// What needs a terminal cannot run later: where nobody decides while it waits there is nothing left to approve. The same with input that
/// cannot be kept.
#[test]
fn what_cannot_run_later_ends_with_whoever_waits() {
    let place = project();
    let wait = ["exec", "--json", "--wait-approval=1s", "-i", "-w", "fix", "--sandbox", "none"];
    let output = place.run_with([&wait[..], &["--", "cat"]].concat(), b"data");
    let left = answered(&output, 122);
    let result = &left["result"];
    assert_eq!(
        (&result["state"], &result["approval"]["state"]),
        (&"denied".into(), &"expired".into()),
        "{left}"
    );
    let told = result["error"]["message"].as_str().unwrap();
    assert!(told.contains("its standard input cannot be kept"), "{told}");
    assert_eq!(pending(&place), 0);
    // One whose process was killed is gone.
    let (mut child, id) = waiting(
        &place,
        &["exec", "--wait-approval", "-i", "-w", "fix", "--sandbox", "none", "--", "cat"],
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(approval(&place, &id)["state"], "gone");
    assert_eq!(pending(&place), 0);
}

/// Whoever approves of what has no walls reads what that means, and what did not stay.
#[test]
fn what_was_discarded_is_named() {
    let place = project();
    let command = ["sh", "-c", "echo x > walls.txt; echo y > ../beside"];
    let id = asked(&place, &["-w", "fix", "--sandbox", "none"], &command);
    let text = place.ok(["approvals", "show", &id]);
    assert!(text.contains("files outside the project are not kept"), "{text}");
    let ran = place.ok(["approvals", "approve", &id]);
    assert!(ran.contains(": 1 change in fix"), "{ran}");
    assert!(ran.contains("1 change outside the project was not kept: ../beside"), "{ran}");
    let id = asked(&place, &["--sandbox", "none"], &["true"]);
    let ran = place.ok(["approvals", "approve", &id]);
    assert!(ran.contains("ran true: no changes; its new workspace was removed"), "{ran}");
}
