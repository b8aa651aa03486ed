//! Folders of vaults that were moved, copied or deleted behind Offshoot's back.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use offshoot_tests::product::{Place, document_of};
use serde_json::Value;

use crate::transcript::demo;

/// A vault whose workspace `fix` has a file that is nowhere else, and where its folder will be.
fn with_work() -> (Place, PathBuf) {
    let place = demo();
    place.ok(["exec", "-w", "fix", "--", "sh", "-c", "echo work > work.txt"]);
    let renamed = place.path().join("renamed");
    (place, renamed)
}

fn run_in(place: &Place, folder: &Path, arguments: &[&str]) -> Output {
    place.command(arguments).current_dir(folder).output().unwrap()
}

fn list(place: &Place) -> Value {
    document_of(&run_in(place, place.path(), &["vault", "list", "--json"]))["result"].clone()
}

fn vaults(place: &Place) -> Vec<String> {
    let listed = list(place);
    let listed = listed["vaults"].as_array().unwrap();
    listed.iter().map(|vault| vault["name"].as_str().unwrap().to_owned()).collect()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Makes a copy with the same times, as `mv` does between file systems.
fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(copied.success());
}

#[test]
fn a_vault_follows_its_folder_with_whatever_command_comes_first() {
    for first in [
        &["status"][..],
        &["exec", "-w", "fix", "--", "cat", "work.txt"],
        &["run", "-w", "fix", "--", "cat", "work.txt"],
        &["init"],
        &["workspace", "create", "other"],
    ] {
        let (place, renamed) = with_work();
        fs::rename(place.project(), &renamed).unwrap();
        let output = run_in(&place, &renamed, first);
        assert!(output.status.success(), "{first:?}: {output:?}");
        let told = errors(&output);
        let old = place.project().canonicalize().unwrap_or(place.project());
        assert!(told.contains("vault project follows it here"), "{first:?}: {told}");
        assert!(told.contains(old.to_str().unwrap()), "{first:?}: {told}");
        assert_eq!(vaults(&place), ["project"], "{first:?}");
        let again = run_in(&place, &renamed, &["exec", "-w", "fix", "--", "cat", "work.txt"]);
        assert_eq!(String::from_utf8_lossy(&again.stdout), "work\n", "{first:?}: {again:?}");
        assert!(!errors(&again).contains("follows"), "{again:?}");
        let committed = run_in(&place, &renamed, &["commit", "-w", "fix"]);
        assert!(committed.status.success(), "{committed:?}");
        assert_eq!(fs::read(renamed.join("work.txt")).unwrap(), b"work\n");
    }
}

#[test]
fn it_is_found_from_a_folder_below_and_when_it_comes_back() {
    let (place, renamed) = with_work();
    fs::create_dir_all(place.project().join("src/deep")).unwrap();
    fs::rename(place.project(), &renamed).unwrap();
    let output = run_in(&place, &renamed.join("src/deep"), &["status"]);
    assert!(output.status.success(), "{output:?}");
    fs::rename(&renamed, place.project()).unwrap();
    assert!(place.ok(["status"]).contains("workspace fix"));
    assert_eq!(vaults(&place), ["project"]);
}

/// A command that may not run changes nothing, here neither.
#[test]
fn a_command_that_may_not_run_moves_nothing() {
    let (place, renamed) = with_work();
    fs::rename(place.project(), &renamed).unwrap();
    let output = run_in(&place, &renamed, &["exec", "-w", "fix", "--", "rm", "-rf", "/"]);
    assert!(matches!(output.status.code(), Some(122 | 123)), "{output:?}");
    let listed = list(&place);
    assert_eq!(listed["vaults"][0]["missing"], listed["vaults"][0]["bindings"], "{listed}");
}

#[test]
fn a_copy_is_a_project_of_its_own() {
    let (place, renamed) = with_work();
    copy(&place.project(), &renamed);
    let output = run_in(&place, &renamed, &["exec", "-w", "fix", "--", "pwd"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(vaults(&place), ["project", "renamed"]);
}

/// The number of an inode is used again at once on many file systems: that alone makes no folder another's successor.
#[test]
fn a_new_folder_in_place_of_a_deleted_one_is_new() {
    let (place, _) = with_work();
    fs::remove_dir_all(place.project()).unwrap();
    for number in 0..8 {
        let new = place.path().join(format!("new-{number}"));
        fs::create_dir(&new).unwrap();
        fs::write(new.join("file"), "").unwrap();
        let output = run_in(&place, &new, &["status"]);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(errors(&output).contains("belongs to no vault"), "{output:?}");
    }
}

/// Nothing is taken from a folder that was put in the place of the bound one, and nothing brought to it, before somebody says that it is
/// the right one.
#[test]
fn another_folder_in_its_place_is_left_alone() {
    let (place, away) = with_work();
    fs::rename(place.project(), &away).unwrap();
    fs::create_dir(place.project()).unwrap();
    fs::write(place.project().join("other.txt"), "other").unwrap();
    for arguments in [
        &["exec", "-w", "new", "--", "ls"][..],
        &["exec", "--", "ls"],
        &["run", "-w", "new", "--", "ls"],
        &["pull", "-w", "fix"],
        &["commit", "-w", "fix", "--dry-run"],
        &["commit", "-w", "fix"],
    ] {
        let output = place.run(arguments);
        assert!(matches!(output.status.code(), Some(4 | 125)), "{arguments:?}: {output:?}");
        let told = errors(&output);
        assert!(told.contains("is another folder than the one"), "{arguments:?}: {told}");
        assert!(told.contains("`offshoot init` there takes it as it is"), "{arguments:?}: {told}");
    }
    for arguments in [&["status", "-w", "fix"][..], &["review", "-w", "fix", "--list"]] {
        let said = place.ok(arguments);
        assert!(said.contains("commit is refused"), "{arguments:?}: {said}");
        let said = place.json(arguments);
        assert!(said["refused"].as_str().unwrap().contains("another folder"), "{said}");
    }
    let said = errors(&place.run(["diff", "fix"]));
    assert!(said.contains("commit is refused"), "{said}");
    assert_eq!(fs::read_dir(place.project()).unwrap().count(), 1);

    fs::rename(place.project(), place.path().join("put-aside")).unwrap();
    fs::rename(&away, place.project()).unwrap();
    assert!(!place.ok(["status", "-w", "fix"]).contains("refused"));
    place.ok(["exec", "-w", "new", "--", "test", "!", "-e", "other.txt"]);
    place.ok(["commit", "-w", "fix"]);

    fs::rename(place.project(), &away).unwrap();
    fs::rename(place.path().join("put-aside"), place.project()).unwrap();
    place.ok(["init"]);
    place.ok(["exec", "-w", "newer", "--", "cat", "other.txt"]);
}

#[test]
fn what_only_looks_like_it_is_left_to_the_person() {
    let (place, renamed) = with_work();
    copy(&place.project(), &renamed);
    fs::remove_dir_all(place.project()).unwrap();
    for command in
        [&["status"][..], &["exec", "-w", "fix", "--", "pwd"], &["ws", "create", "other"]]
    {
        let output = run_in(&place, &renamed, command);
        assert!(!output.status.success(), "{command:?}: {output:?}");
        let told = errors(&output);
        assert!(told.contains("binding move --vault project / ."), "{command:?}: {told}");
        assert!(told.contains("offshoot init"), "{command:?}: {told}");
        assert_eq!(vaults(&place), ["project"], "{command:?}");
    }
    let moved = run_in(&place, &renamed, &["--vault", "project", "binding", "move", "/", "."]);
    assert!(moved.status.success(), "{moved:?}");
    let output = run_in(&place, &renamed, &["exec", "-w", "fix", "--", "cat", "work.txt"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "work\n", "{output:?}");
}

#[test]
fn init_makes_a_new_vault_of_what_only_looks_like_it() {
    let (place, renamed) = with_work();
    copy(&place.project(), &renamed);
    fs::remove_dir_all(place.project()).unwrap();
    let home = place.home().into_os_string().into_string().unwrap();
    let output = run_in(&place, &renamed, &["init", "--home", &home]);
    assert!(output.status.success(), "{output:?}");
    // What was given is given again.
    let ways = format!(
        "`offshoot vault delete --home {home} renamed --yes`, then `offshoot binding move --home {home} --vault project / .`"
    );
    assert!(errors(&output).contains(&ways), "{output:?}");
    assert_eq!(vaults(&place), ["project", "renamed"]);
    // That was a mistake: nothing was done in it, so it can go.
    let moved = run_in(&place, &renamed, &["--vault", "project", "binding", "move", "/", "."]);
    assert_eq!(moved.status.code(), Some(4), "{moved:?}");
    assert!(errors(&moved).contains("offshoot vault delete renamed --yes"), "{moved:?}");
    // With work in it that would be bad advice.
    let made = run_in(&place, &renamed, &["exec", "-w", "a", "--", "touch", "a"]);
    assert!(made.status.success(), "{made:?}");
    let moved = run_in(&place, &renamed, &["--vault", "project", "binding", "move", "/", "."]);
    assert!(!errors(&moved).contains("--yes"), "{moved:?}");
    assert!(errors(&moved).contains("vault export"), "{moved:?}");
}

#[test]
fn a_folder_that_is_gone_is_said_to_be_gone() {
    let (place, _) = with_work();
    place.ok(["exec", "-w", "fix", "--", "sh", "-c", "echo more >> README.md"]);
    let folder = place.project();
    fs::remove_dir_all(&folder).unwrap();
    let run = |arguments: &[&str]| run_in(&place, place.path(), arguments);
    let listed = run(&["vault", "list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("(gone)"), "{listed:?}");
    let status = run(&["--vault", "project", "status"]);
    let text = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(text.contains("is gone"), "{text}");
    assert!(text.contains("offshoot binding move --vault project / DIR"), "{text}");
    assert!(!text.contains("since it was last read"), "{text}");
    let document = document_of(&run(&["--vault", "project", "status", "--json"]));
    let document = &document["result"];
    assert_eq!(document["missing_folders"], document["folders"], "{document}");
    assert!(document.get("outdated").is_none(), "{document}");
}

/// A folder that was restored from a backup is another one, until the person says that it is the right one.
#[test]
fn a_restored_folder_is_taken_for_the_bound_one() {
    let (place, renamed) = with_work();
    copy(&place.project(), &renamed);
    fs::remove_dir_all(place.project()).unwrap();
    fs::rename(&renamed, place.project()).unwrap();
    let refused = run_in(&place, &place.project(), &["commit", "-w", "fix"]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    assert!(errors(&refused).contains("binding move"), "{refused:?}");
    place.ok(["binding", "move", "/", "."]);
    place.ok(["commit", "-w", "fix"]);
    assert_eq!(fs::read(place.project().join("work.txt")).unwrap(), b"work\n");
    // Saying so again changes nothing.
    assert_eq!(place.json(&["binding", "move", "/", "."])["operation"], Value::Null);
}
