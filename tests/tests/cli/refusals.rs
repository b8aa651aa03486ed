//! What may not run is refused at the door: nothing is looked up for it, and nobody has to be waited for.

use std::fs;
use std::path::PathBuf;

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
fn the_catalog_is_not_needed() {
    let place = project();
    let (there, aside) = (vault(&place).join("catalog.db"), vault(&place).join("aside"));
    fs::rename(&there, &aside).unwrap();
    let refused = exec(&place, 122, &[], &NEVER);
    assert_eq!(refused["result"]["state"], "denied");
    assert_eq!(refused["result"]["warnings"], serde_json::json!([]));
    exec(&place, 125, &[], &["cat", "a"]);
    fs::rename(&aside, &there).unwrap();
    exec(&place, 0, &[], &["cat", "a"]);
    assert_eq!(states(&place), ["completed", "denied"]);
    let id = refused["result"]["exec"].as_str().unwrap();
    let shown = document_of(&place.run(["show", "--json", id]));
    assert!(shown.to_string().contains("\"never\""), "{shown}");
}

#[test]
fn no_workspace_is_looked_up() {
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

#[test]
fn what_cannot_be_recorded_is_refused_all_the_same() {
    let place = project();
    fs::create_dir(vault(&place).join("refusals")).unwrap();
    let refused = exec(&place, 122, &[], &NEVER);
    let warnings = refused["result"]["warnings"].to_string();
    assert!(warnings.contains("could not be recorded"), "{warnings}");
    let said = place.run(["exec", "--", "touch", "never"]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("could not be recorded"), "{said}");
    exec(&place, 0, &[], &["cat", "a"]);
}

/// However often somebody asks in vain, what waits for the catalog stays short.
#[test]
fn many_are_taken_in() {
    let place = project();
    let other = place.path().join("other");
    fs::create_dir(&other).unwrap();
    let waiting = vault(&place).join("refusals");
    let refuse_many = || {
        // Lines that are no records count for nothing, but for their length.
        fs::write(&waiting, "\n".repeat((1 << 20) + 1)).unwrap();
        exec(&place, 122, &[], &NEVER);
        assert_eq!(fs::metadata(&waiting).unwrap().len(), 0);
    };
    refuse_many();
    // The vault of several folders is open by then.
    place.ok(["binding", "add", other.to_str().unwrap()]);
    refuse_many();
    assert_eq!(states(&place), ["denied", "denied"]);
}
