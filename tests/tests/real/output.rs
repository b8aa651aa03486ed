//! What commands print, and what their files are called, in an envelope.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use offshoot_needs::needs;
use serde_json::{Value, json};

use crate::scene::{Scene, WORKSPACE, Who, envelope_of};

fn scene() -> Scene {
    let scene = Scene::new(Who::Me);
    scene.place.write("file.txt", "file\n");
    scene.bind();
    scene
}

#[needs(Overlay, UserNamespace)]
#[test]
fn bytes_that_are_no_text() {
    let scene = scene();
    let script = "printf 'a\\377\\376\\000b'; printf 'e\\300' >&2; : > \"$(printf 'n\\351.txt')\"; : > 'new\nline'";
    let envelope = scene.exec(&[], &["sh", "-c", script]);
    let result = &envelope["result"];
    assert_eq!(result["stdout"], json!({"lossy": "a\u{fffd}\u{fffd}\0b", "base64": "Yf/+AGI="}));
    assert_eq!(result["stderr"], json!({"lossy": "e\u{fffd}", "base64": "ZcA="}));
    let paths: Vec<&Value> =
        result["changed_files"].as_array().unwrap().iter().map(|change| &change["path"]).collect();
    let named = |path: Value| paths.contains(&&path);
    assert!(named(json!("/new\nline")), "{result:#}");
    assert!(named(json!({"lossy": "/n\u{fffd}.txt", "base64": "L27pLnR4dA=="})), "{result:#}");
    // The same again from the record.
    let exec = result["exec"].as_str().unwrap();
    let logs: Value = serde_json::from_str(&scene.offshoot_ok(&["logs", exec, "--json"])).unwrap();
    assert_eq!(logs["result"]["stdout"], result["stdout"]);
    assert_eq!(logs["result"]["stderr"], result["stderr"]);
    let raw = scene.offshoot(&["logs", exec]).output().unwrap();
    assert_eq!(raw.stdout, b"a\xff\xfe\0b");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn a_command_of_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let scene = scene();
    let mut command = scene.exec_command(&["-w", WORKSPACE], &["printf", "%s"]);
    let envelope =
        envelope_of(&command.arg(std::ffi::OsStr::from_bytes(b"x\xe9")).output().unwrap());
    assert_eq!(envelope["result"]["stdout"]["base64"], "eOk=", "{envelope:#}");
    assert_eq!(envelope["request"]["command"][2]["base64"], "eOk=", "{envelope:#}");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn more_output_than_is_kept() {
    let scene = scene();
    const LENGTH: usize = 5 << 20;
    let script = format!(
        "yes 0123456789 | head -c {LENGTH}; yes error | head -c 2000000 >&2; echo done > done"
    );
    let envelope = scene.exec(&[], &["sh", "-c", &script]);
    let result = &envelope["result"];
    assert_eq!(result["exit_code"], 0);
    let kept = result["stdout"].as_str().unwrap();
    let missing = usize::try_from(result["truncated"]["stdout_bytes"].as_u64().unwrap()).unwrap();
    assert!(missing > 0 && kept.len() + missing == LENGTH, "{} and {missing}", kept.len());
    let errors = result["stderr"].as_str().unwrap().len() as u64;
    assert_eq!(errors + result["truncated"]["stderr_bytes"].as_u64().unwrap(), 2_000_000);
    assert!(kept.starts_with("0123456789\n0123456789\n"));
    let logs = scene.offshoot(&["logs", result["exec"].as_str().unwrap()]).output().unwrap();
    assert!(logs.status.success(), "{logs:?}");
    assert!(logs.stdout == kept.as_bytes(), "{} and {}", logs.stdout.len(), kept.len());
    assert!(String::from_utf8_lossy(&logs.stderr).contains("not kept"));
    assert_eq!(scene.inside("cat done").out, "done\n");
}

/// Events come as things happen, and the pieces together are the output.
#[needs(Overlay, UserNamespace)]
#[test]
fn streams() {
    let scene = scene();
    let script = "echo one; echo two >&2; printf '\\303'; sleep 0.1; printf '\\244\\n'; exit 3";
    let arguments = ["exec", "--stream", "-w", WORKSPACE, "--shell", script];
    let output = scene.offshoot(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["event"], "started", "{text}");
    let last = events.last().unwrap();
    assert_eq!(last["event"], "finished", "{text}");
    assert_eq!(last["envelope"]["result"]["stdout"], "one\nä\n", "{text}");
    assert_eq!(last["envelope"]["result"]["stderr"], "two\n", "{text}");
    assert!(events.iter().any(|event| event["event"] == "stderr" && event["data"] == "two\n"));
}

/// For people, output is the command's own.
#[needs(Overlay, UserNamespace)]
#[test]
fn people_see_the_output_as_it_is() {
    let scene = scene();
    let script = "cat; printf 'out\\377'; echo err >&2; exit 5";
    let mut command = scene.offshoot(&["exec", "-q", "-i", "-w", "real", "--shell", script]);
    let output =
        command.stdin(std::fs::File::open(scene.path("file.txt")).unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert_eq!(output.stdout, b"file\nout\xff");
    assert_eq!(output.stderr, b"err\n");
}

/// Who reads only the beginning, as `head` does, ends the command as in any pipe.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_reader_that_has_seen_enough() {
    let scene = scene();
    let arguments = ["exec", "-q", "-w", WORKSPACE, "--timeout", "3s", "--", "yes"];
    let mut child = scene.offshoot(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "y\n");
    let code = child.wait().unwrap().code();
    assert_ne!(code, Some(124), "its time was over");
}
