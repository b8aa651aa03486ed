//! What may not run is refused and recorded: nothing is found, forked or mounted for it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use serde_json::Value;

/// A command that the rules below let nobody run.
const NEVER: [&str; 2] = ["touch", "never"];

/// A project with a vault, and a rule that denies to touch anything.
fn project() -> Place {
    let place = Place::new();
    place.write("a", "one\n");
    place.ok(["init"]);
    let rules = place.path().join(".config/offshoot/policy.toml");
    fs::create_dir_all(rules.parent().unwrap()).unwrap();
    let rule = "[[rule]]\nname = \"never\"\ndecision = \"deny\"\nprefix = [\"touch\", \"never\"]\n";
    fs::write(rules, format!("version = 1\n{rule}")).unwrap();
    place
}

fn exec(place: &Place, code: i32, options: &[&str], command: &[&str]) -> Value {
    let all = [&["exec", "--json"], options, &["--"], command].concat();
    let output = place.run(&all);
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stdout));
    document_of(&output)
}

/// The directory of the only vault.
fn vault(place: &Place) -> PathBuf {
    let mut vaults = fs::read_dir(place.home().join("vaults")).unwrap();
    vaults.next().unwrap().unwrap().path()
}

fn states(place: &Place) -> Vec<String> {
    let execs = place.json(&["execs"]);
    let state = |exec: &Value| exec["state"].as_str().unwrap().to_owned();
    execs["execs"].as_array().unwrap().iter().map(state).collect()
}

#[test]
fn what_is_refused_is_recorded_like_any_other() {
    let place = project();
    let refused = exec(&place, 122, &[], &NEVER);
    assert_eq!(refused["result"]["state"], "denied");
    assert_eq!(refused["result"]["warnings"], serde_json::json!([]));
    exec(&place, 0, &[], &["cat", "a"]);
    assert_eq!(states(&place), ["completed", "denied"]);
    let id = refused["result"]["exec"].as_str().unwrap();
    let shown = document_of(&place.run(["show", "--json", id]));
    assert!(shown.to_string().contains("\"never\""), "{shown}");
    let log = place.ok(["op", "log"]);
    assert!(log.contains("touch never: denied"), "{log}");
}

#[test]
fn no_workspace_is_made() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    for name in ["fix", "nobody"] {
        let refused = exec(&place, 122, &["-w", name], &NEVER);
        assert_eq!(refused["request"]["workspace"], name);
    }
    // Nor was one made for it.
    let made = place.json(&["workspace", "list"])["workspaces"].clone();
    assert_eq!(made.as_array().unwrap().len(), 1, "{made}");
    let listed = place.json(&["execs"]);
    let workspaces: Vec<&Value> =
        listed["execs"].as_array().unwrap().iter().map(|exec| &exec["workspace"]).collect();
    assert_eq!(workspaces, [&Value::Null, &Value::from("fix")]);
    let log = place.ok(["op", "log", "-w", "fix"]);
    assert!(log.contains("touch never: denied"), "{log}");
}

/// Where a vault has further folders, they are part of what is decided about, whether or not the vault is open by then.
#[test]
fn further_folders_count() {
    let place = project();
    let rules = place.path().join("folders.rego");
    let rule = "deny contains \"alone\" if count(input.context.folders) != 1\n";
    fs::write(&rules, format!("package offshoot\nimport rego.v1\n{rule}")).unwrap();
    let strict = ["--policy", rules.to_str().unwrap()];
    let other = place.path().join("other");
    fs::create_dir(&other).unwrap();
    let refused = exec(&place, 122, &strict, &["cat", "a"]);
    assert!(refused["result"]["error"]["message"].to_string().contains("alone"), "{refused}");
    place.ok(["binding", "add", other.to_str().unwrap()]);
    exec(&place, 0, &strict, &["cat", "a"]);
    exec(&place, 122, &strict, &NEVER);
    assert_eq!(states(&place), ["denied", "completed", "denied"]);
    place.ok(["binding", "remove", "other"]);
    exec(&place, 122, &strict, &["cat", "a"]);
}

/// Holds the write lock of a catalog until its input ends.
const HOLDER: &str = "import sqlite3, sys
catalog = sqlite3.connect(sys.argv[1], isolation_level=None)
catalog.execute('BEGIN IMMEDIATE')
print('held', flush=True)
sys.stdin.read()";

/// While somebody else writes for longer than one wants to wait.
#[needs("python3")]
#[test]
fn what_cannot_be_recorded_is_refused_all_the_same() {
    let place = project();
    let mut holder = Command::new("python3")
        .args(["-c", HOLDER])
        .arg(vault(&place).join("catalog.db"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "held\n");
    let refused = exec(&place, 122, &["-c", "store.busy_timeout=100ms"], &NEVER);
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    let warnings = refused["result"]["warnings"].to_string();
    assert!(warnings.contains("could not be recorded"), "{warnings}");
    exec(&place, 0, &[], &["cat", "a"]);
    assert_eq!(states(&place), ["completed"]);
}
