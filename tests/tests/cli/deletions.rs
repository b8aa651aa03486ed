//! Vaults that are deleted while others start to work in them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread;
use std::time::Duration;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of, with_json};
use offshoot_tests::tier::cases;

use crate::transcript::demo_vault;

const DELETE: [&str; 4] = ["vault", "delete", "project", "--yes"];

fn directory(place: &Place) -> PathBuf {
    PathBuf::from(place.json(&["vault", "info"])["vault"]["directory"].as_str().unwrap())
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Whoever has it open for longer is named, and has a vault for as long as he needs one.
#[test]
fn no_vault_is_deleted_under_whoever_has_it_open() {
    let place = demo_vault();
    let open = File::open(directory(&place)).unwrap();
    open.lock_shared().unwrap();
    let error = place.json_error(&[&DELETE[..], &["-c", "store.busy_timeout=0s"]].concat(), 8);
    let message = error["message"].as_str().unwrap();
    let named = format!("vault project is in use by process {}: ", std::process::id());
    assert!(message.starts_with(&named), "{error}");
    place.ok(["status"]);
    // One who is done soon is waited for.
    thread::scope(|scope| {
        let deletion = scope.spawn(|| place.run(DELETE));
        thread::sleep(Duration::from_millis(100));
        // Not by closing it: another test may be starting a program, which has it open until it is executed.
        open.unlock().unwrap();
        assert!(deletion.join().unwrap().status.success());
    });
    assert_eq!(entries(&place.home().join("vaults")), Vec::<PathBuf>::new());
}

/// Nothing is opened that somebody is about to delete, and nothing is made anew in its place.
#[test]
fn a_command_that_comes_too_late_finds_no_vault() {
    let place = demo_vault();
    let dir = directory(&place);
    let doomed = dir.with_extension("del");
    let held = File::open(&dir).unwrap();
    held.lock().unwrap();
    let mut command = place.command(["fs", "write", "/new", "-w", "fix"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = command.spawn().unwrap();
    thread::sleep(Duration::from_millis(300));
    fs::rename(&dir, &doomed).unwrap();
    held.unlock().unwrap();
    let output = started.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("the vault was deleted meanwhile"), "{told}");
    assert_eq!(entries(&place.home().join("vaults")), [doomed]);
}

/// A command that starts while its vault is deleted has it until its end, or does not begin.
#[needs(UserNamespace)]
#[test]
fn commands_race_a_deletion() {
    let mut refused = 0;
    let rounds = cases(6, 200);
    for round in 0..rounds {
        let place = demo_vault();
        let pause = Duration::from_millis(round * 17 % 100);
        let (outputs, deletion) = thread::scope(|scope| {
            let commands: Vec<_> = ["fix", "one", "two"]
                .map(|workspace| {
                    let text = "echo kept > kept && cat kept";
                    let words = ["exec", "--vault", "project", "-w", workspace, "--shell", text];
                    let place = &place;
                    scope.spawn(move || place.run(with_json(&words)))
                })
                .into();
            thread::sleep(pause);
            let deletion = place.run(with_json(&DELETE));
            let outputs = commands.into_iter().map(|command| command.join().unwrap());
            (outputs.collect::<Vec<_>>(), deletion)
        });
        let ended = outputs.iter().filter(|output| succeeded_or_found_none(output)).count();
        if !deletion.status.success() {
            // Somebody was in it at the time.
            refused += 1;
            assert_eq!(document_of(&deletion)["error"]["exit_code"], 8);
            assert_eq!(ended, outputs.len(), "a command failed although its vault is there");
            assert_eq!(place.ok(["fs", "cat", "/kept", "-w", "one"]), "kept\n");
            place.ok(["vault", "check"]);
            place.ok(DELETE);
        }
        for folder in ["vaults", "names", "bindings"] {
            assert_eq!(entries(&place.home().join(folder)), Vec::<PathBuf>::new(), "{folder}");
        }
    }
    println!("{refused} of {rounds} deletions were refused");
}

/// Whether a command did all of its work; else it must say that there is no vault.
fn succeeded_or_found_none(output: &Output) -> bool {
    let document = document_of(output);
    if output.status.success() {
        assert_eq!(document["result"]["stdout"], "kept\n", "{document}");
        assert_eq!(document["result"].get("error"), None, "{document}");
        return true;
    }
    let error = &document["result"]["error"];
    let message = error["message"].as_str().unwrap_or_default();
    let gone = ["the vault was deleted meanwhile", "there is no vault named project"];
    assert!(gone.iter().any(|gone| message.contains(gone)), "{document}");
    assert_eq!(error["exit_code"], 3, "{document}");
    false
}
