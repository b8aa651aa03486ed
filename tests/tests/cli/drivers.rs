//! The ways in which a workspace becomes a directory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, binary, document_of};
use offshoot_tests::scan;
use offshoot_tests::user::{User, give_away};
use serde_json::Value;

use crate::transcript::{demo, demo_vault};

/// Touches everything that a driver can get wrong.
const PROGRAM: &str = "
    echo more >> README.md && rm run.sh && ln src/lib.rs linked && chmod 750 src &&
    mkdir -p deep/er && mkfifo deep/pipe && ln -s nowhere deep/link && : > deep/empty &&
    rm guide && mkdir guide && echo in > guide/it && chmod 0 guide/it && chmod 0 deep/er &&
    truncate -s 1M deep/sparse && touch -d 2001-02-03 deep/old";

fn exec(place: &Place, driver: &str) -> Value {
    let arguments = ["exec", "--json", "--driver", driver, "--shell", PROGRAM];
    document_of(&place.run(arguments))["result"].clone()
}

fn export(place: &Place, result: &Value, name: &str) -> scan::Scan {
    let to = place.path().join(name);
    let workspace = result["workspace"].as_str().unwrap();
    place.ok(["fs", "export", "/", to.to_str().unwrap(), "-w", workspace]);
    scan::scan(&to).unwrap()
}

#[needs(Overlay, UserNamespace)]
#[test]
fn a_copy_gives_what_an_overlay_gives() {
    let place = demo_vault();
    let (overlay, copy) = (exec(&place, "overlay"), exec(&place, "copy"));
    assert_eq!((&overlay["driver"], &copy["driver"]), (&"overlay".into(), &"copy".into()));
    assert_eq!(overlay["exit_code"], 0, "{overlay}");
    assert_eq!(overlay["changed_files"], copy["changed_files"]);
    assert!(overlay["changed_files"].as_array().unwrap().len() > 10, "{overlay}");
    let trees = [export(&place, &overlay, "one"), export(&place, &copy, "other")];
    let options =
        scan::CompareOptions { mtimes: false, directory_mtimes: false, ..Default::default() };
    let differences = scan::compare(&trees[0], &trees[1], &options);
    assert!(differences.is_empty(), "{differences:?}");
    let chosen =
        document_of(&place.run(["exec", "--json", "-c", "exec.driver=copy", "--", "true"]));
    assert_eq!(chosen["result"]["driver"], "copy");
}

#[needs(UserNamespace)]
#[test]
fn both_drivers_work_for_an_ordinary_user() {
    let user = User::new();
    for driver in ["overlay", "copy"] {
        let place = demo();
        give_away(place.path());
        let arguments = ["exec", "--json", "--driver", driver, "--shell", PROGRAM];
        let result = document_of(&user.run(&place, &arguments))["result"].clone();
        assert_eq!(result["exit_code"], 0, "{driver}: {result}");
        let workspace = result["workspace"].as_str().unwrap();
        let path = "/guide/it";
        let changes = result["changed_files"].as_array().unwrap();
        let closed = changes.iter().find(|change| change["path"] == path).unwrap();
        assert_eq!(closed["after"]["mode"], "0000", "{driver}");
        // What its own modes close to the user is still content of the vault.
        let cat = user.run(&place, &["fs", "cat", path, "-w", workspace]);
        assert_eq!(String::from_utf8_lossy(&cat.stdout), "in\n", "{driver}: {cat:?}");
        let again = ["exec", "-w", workspace, "--json", "--driver", driver, "--", "true"];
        let again = document_of(&user.run(&place, &again))["result"].clone();
        assert_eq!(again["changed_files"], Value::Array(Vec::new()), "{driver}: {again}");
        let check = user.run(&place, &["vault", "check"]);
        assert!(check.status.success(), "{driver}: {check:?}");
    }
}

/// Runs a script in a project whose vaults lie on an overlay, where no other can be stacked; `$1` is the binary.
fn on_an_overlay(place: &Place, script: &str) -> Output {
    for name in ["lower", "upper", "work", "home"] {
        fs::create_dir(place.path().join(name)).unwrap();
    }
    let mount = "mount -t overlay o -o lowerdir=lower,upperdir=upper,workdir=work home";
    let script = format!("{mount} && cd project && {script}");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script, "sh"]).arg(binary()).current_dir(place.path());
    command.env_clear().envs(place.environment()).stdin(Stdio::null());
    command.output().unwrap()
}

#[needs(Root, Overlay)]
#[test]
fn a_home_that_is_an_overlay_itself_falls_back_to_copies() {
    let place = demo();
    let script =
        "\"$1\" exec --json -- sh -c 'rm run.sh; echo x > new' && \"$1\" exec --json -- ls";
    let output = on_an_overlay(&place, script);
    let text = String::from_utf8(output.stdout).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["result"]["driver"], "copy", "{first}");
    let warning = first["result"]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("not supported as upperdir"), "{warning}");
    assert_eq!(first["result"]["changed_files"].as_array().unwrap().len(), 2, "{first}");
    let second: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["success"], true, "{second}");
}

#[needs(Root, Overlay)]
#[test]
fn a_driver_that_is_asked_for_does_not_become_another() {
    let place = demo();
    let script = "exec \"$1\" exec --json --driver overlay -- touch x";
    let output = on_an_overlay(&place, script);
    assert_eq!(output.status.code(), Some(125));
    let refused = document_of(&output);
    assert_eq!(refused["result"]["failed_in"], "mounting", "{refused}");
    let message = refused["result"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("not supported as upperdir"), "{message}");
}

#[needs(UserNamespace)]
#[test]
fn an_unbound_vault_lies_at_workspace() {
    let place = demo();
    place.ok(["vault", "create", "loose"]);
    let arguments =
        ["exec", "--vault", "loose", "--json", "--shell", "pwd; echo x > f; chmod 700 ."];
    let result = document_of(&place.run(arguments))["result"].clone();
    assert_eq!(result["stdout"], "/workspace\n", "{result}");
    assert_eq!(result["changed_files"].as_array().unwrap().len(), 2, "{result}");
    assert!(!std::path::Path::new("/workspace").exists());
    let mode = fs::metadata(place.project()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}
