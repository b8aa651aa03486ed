//! Folders that are not what they should be, and users who are not root.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away};

use super::{assert_same, edit, folder, fork, lines, numbered, read};

fn with_change() -> Place {
    let place = lines();
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(3, "three")]));
    place
}

/// A folder that is gone, or another one at its path, is not touched; the right one is found again.
#[test]
fn another_folder_is_not_touched() {
    let place = with_change();
    let (project, away) = (place.project(), place.path().join("away"));
    let commit = |code: i32| {
        let mut command = place.command(["commit", "-w", "work", "--vault", "project", "--json"]);
        let output = command.current_dir(place.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        document_of(&output)["error"]["message"].as_str().unwrap_or_default().to_owned()
    };
    fs::rename(&project, &away).unwrap();
    assert!(commit(3).contains("is gone"));
    symlink(&away, &project).unwrap();
    assert!(commit(3).contains("is gone"));
    fs::remove_file(&project).unwrap();
    fs::create_dir(&project).unwrap();
    assert!(commit(4).contains("another folder"));
    assert_eq!(fs::read_dir(&project).unwrap().count(), 0);
    fs::remove_dir(&project).unwrap();
    fs::rename(&away, &project).unwrap();
    commit(0);
    assert_eq!(read(&place, "lines"), numbered(&[(3, "three")]));
}

#[test]
fn a_vault_without_a_folder_has_nowhere_to_go() {
    let place = Place::new();
    place.ok(["vault", "create", "loose"]);
    place.ok(["workspace", "create", "work", "--vault", "loose"]);
    place.ok_with(["fs", "write", "/a", "-w", "work", "--vault", "loose"], b"a");
    let error = place.json_error(&["commit", "-w", "work", "--vault", "loose"], 4);
    assert!(error["message"].as_str().unwrap().contains("no folder"), "{error}");
    place.ok(["pull", "-w", "work", "--vault", "loose"]);
}

/// A command that runs in the workspace keeps commits out, and says who it is.
#[test]
fn a_busy_workspace_is_waited_for() {
    let place = with_change();
    let mut command = place.command(["exec", "-q", "-w", "work", "--", "sleep", "20"]);
    let mut running = command.spawn().unwrap();
    for _ in 0..600 {
        if place.ok(["ps"]).contains("sleep 20") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let error = place.json_error(&["commit", "-w", "work"], 8);
    assert!(error["message"].as_str().unwrap().contains("sleep 20"), "{error}");
    let listed = place.json(&["ps"]);
    let exec = listed["running"][0]["exec"].as_str().unwrap().to_owned();
    place.ok(["kill", &exec, "--now"]);
    running.wait().unwrap();
}

#[test]
fn an_ordinary_user_commits() {
    let user = User::new();
    let place = lines();
    fs::remove_dir_all(place.home()).unwrap();
    give_away(place.path());
    let ok = |arguments: &[&str]| user.ok(&place, arguments);
    fs::set_permissions(place.project().join("other"), fs::Permissions::from_mode(0o640)).unwrap();
    ok(&["init"]);
    let before = folder(&place);
    let script = "sed -i s/^3$/three/ lines; mkdir sub; echo new >sub/new; rm other; chmod 755 .";
    ok(&["workspace", "create", "w"]);
    ok(&["exec", "-w", "w", "--", "sh", "-c", script]);
    ok(&["commit", "-w", "w"]);
    assert_eq!(read(&place, "lines"), numbered(&[(3, "three")]));
    let owner = fs::metadata(place.project().join("sub/new")).unwrap().uid();
    assert_eq!(owner, fs::metadata(place.project()).unwrap().uid());
    assert_ne!(owner, 0);
    ok(&["undo", "-w", "w"]);
    assert_same(&before, &folder(&place));
    ok(&["redo", "-w", "w"]);
    assert_eq!(read(&place, "sub/new"), "new\n");
}

/// A directory that cannot be written to is found before anything is changed.
#[test]
fn what_may_not_be_changed_is_told_first() {
    let user = User::new();
    let place = lines();
    place.write("closed/inner", "1");
    fs::remove_dir_all(place.home()).unwrap();
    give_away(place.path());
    user.ok(&place, &["init"]);
    user.ok(&place, &["workspace", "create", "w"]);
    let script = "echo 2 >closed/inner; echo 2 >lines";
    user.ok(&place, &["exec", "-w", "w", "--", "sh", "-c", script]);
    let closed = place.project().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let before = folder(&place);
    let output = user.run(&place, &["commit", "-w", "w", "--json"]);
    let document = document_of(&output);
    assert_eq!(output.status.code(), Some(4), "{document}");
    assert!(document["error"]["message"].as_str().unwrap().contains("closed"), "{document}");
    assert_same(&before, &folder(&place));
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    user.ok(&place, &["commit", "-w", "w"]);
    assert_eq!(read(&place, "closed/inner"), "2\n");
}
