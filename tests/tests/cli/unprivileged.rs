//! The product in the hands of an ordinary user.

use std::fs;
use std::os::unix::fs::{PermissionsExt, lchown};

use offshoot_needs::needs;
use offshoot_tests::awkward;
use offshoot_tests::product::document_of;
use offshoot_tests::user::{User, give_away};

use crate::transcript::demo;

#[test]
fn the_tour_of_an_ordinary_user() {
    let user = User::new();
    let place = demo();
    give_away(place.path());
    let ok = |arguments: &[&str]| user.ok(&place, arguments);
    ok(&["init"]);
    ok(&["workspace", "create", "fix"]);
    ok(&["checkpoint", "create", "start", "-w", "fix"]);
    ok(&["fs", "write", "/README.md", "--from", "run.sh", "-w", "fix"]);
    ok(&["fs", "mkdir", "-p", "/a/b", "-w", "fix"]);
    ok(&["fs", "mv", "/src", "/a/src", "-w", "fix"]);
    ok(&["fs", "import", "src", "/again", "-w", "fix"]);
    ok(&["fs", "rm", "/run.sh", "-w", "fix"]);
    assert!(ok(&["diff"]).contains("+exec cargo run"));
    assert!(ok(&["status"]).contains("/again"));
    ok(&["log"]);
    ok(&["op", "log"]);
    ok(&["undo", "-w", "fix"]);
    ok(&["redo", "-w", "fix"]);
    ok(&["fs", "export", "/", "../out", "-w", "fix"]);
    assert_eq!(
        fs::read(place.path().join("out/a/src/lib.rs")).unwrap(),
        fs::read(place.project().join("src/lib.rs")).unwrap()
    );
    ok(&["checkpoint", "restore", "start", "-w", "fix"]);
    assert_eq!(ok(&["diff", "--name-only", "--metadata"]), "");
    ok(&["init"]);
    ok(&["vault", "check"]);
    ok(&["doctor"]);
    let names = fs::read_dir(place.home()).unwrap().map(|entry| entry.unwrap().file_name());
    let hidden: Vec<_> = names.filter(|name| name.as_encoded_bytes().starts_with(b".")).collect();
    assert!(hidden.is_empty(), "what the doctor tried is still there: {hidden:?}");
    ok(&["discard", "-w", "fix"]);
    ok(&["vault", "delete", "project", "--yes"]);
}

/// What cannot be read is said and left out; the rest comes in.
#[needs(Root)]
#[test]
fn files_of_others_are_reported() {
    let user = User::new();
    let place = demo();
    place.write("secret/key", "key");
    give_away(place.path());
    for path in ["secret", "run.sh"] {
        let path = place.project().join(path);
        lchown(&path, Some(0), Some(0)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let output = user.run(&place, &["init", "--json"]);
    let document = document_of(&output);
    let skipped = document["result"]["import"]["skipped"].as_array().unwrap().clone();
    let paths: Vec<&str> = skipped.iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    assert!(paths.iter().any(|path| path.ends_with("run.sh")), "{document}");
    assert!(paths.iter().any(|path| path.contains("secret")), "{document}");
    assert!(skipped.iter().all(|entry| entry["code"] == "unreadable"), "{document}");
    assert_eq!(document["notes"].as_array().unwrap().len(), skipped.len());
    assert!(user.ok(&place, &["fs", "ls"]).contains("README.md"));
}

/// Nobody else can look into somebody's vaults.
#[needs(Root)]
#[test]
fn a_home_is_private() {
    let user = User::new();
    let place = demo();
    place.ok(["init"]);
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(place.home(), fs::Permissions::from_mode(0o755)).unwrap();
    for arguments in [&["status"][..], &["fs", "cat", "/README.md"], &["init"]] {
        let output = user.run(&place, arguments);
        assert!(!output.status.success(), "{arguments:?}: {output:?}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("Demo"), "{output:?}");
    }
}

#[test]
fn modes_that_lock_their_owner_out_are_kept() {
    let user = User::new();
    let place = demo();
    give_away(place.path());
    user.ok(&place, &["init"]);
    user.ok(&place, &["workspace", "create", "fix"]);
    fs::set_permissions(place.project().join("src"), fs::Permissions::from_mode(0o500)).unwrap();
    fs::set_permissions(place.project().join("run.sh"), fs::Permissions::from_mode(0o400)).unwrap();
    user.ok(&place, &["init"]);
    user.ok(&place, &["workspace", "create", "locked"]);
    user.ok(&place, &["fs", "export", "/", "../out", "-w", "locked"]);
    let mode = |path: &str| fs::metadata(place.path().join(path)).unwrap().permissions().mode();
    assert_eq!((mode("out/src") & 0o7777, mode("out/run.sh") & 0o7777), (0o500, 0o400));
    user.ok(&place, &["vault", "check"]);
    user.ok(&place, &["vault", "delete", "project", "--yes"]);
    awkward::clear(place.path()).unwrap();
}

/// What root makes in the vault of somebody else would be closed to them.
#[needs(Root)]
#[needs(UserNamespace)]
#[test]
fn root_leaves_the_vault_of_somebody_else_alone() {
    let user = User::new();
    let place = demo();
    give_away(place.path());
    user.ok(&place, &["init"]);
    user.ok(&place, &["exec", "-w", "w", "--", "touch", "first"]);
    let exported = place.path().join("exported").into_os_string().into_string().unwrap();
    user.ok(&place, &["vault", "export", &exported]);
    let other = place.path().join("other");
    fs::create_dir(&other).unwrap();
    for (folder, arguments) in [
        (place.project(), &["exec", "-w", "w", "--", "touch", "second"][..]),
        (place.project(), &["undo", "-w", "w"]),
        (place.project(), &["recover", "list"]),
        (place.project(), &["recover", "drop", "--all"]),
        (place.project(), &["vault", "rename", "project", "root"]),
        (place.project(), &["vault", "delete", "project", "--yes"]),
        (place.project(), &["vault", "import", &exported]),
        (other.clone(), &["init"]),
        (other.clone(), &["new", "w"]),
        (other.clone(), &["exec", "true"]),
    ] {
        let output = place.command(arguments).current_dir(folder).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{arguments:?}");
        assert!(told.contains("belongs to user") && told.contains("sudo -u"), "{told}");
    }
    place.ok(["status", "-w", "w"]);
    assert!(place.ok(["vault", "list"]).contains("project"));
    let strangers =
        std::process::Command::new("find").arg(place.home()).args(["-user", "0"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&strangers.stdout), "", "root's files");
    user.ok(&place, &["exec", "-w", "w", "--", "touch", "third"]);
    assert!(user.ok(&place, &["fs", "ls", "/", "-w", "w"]).contains("third"));
}

/// A file that may not be read is not a damaged one.
#[needs(Root)]
#[test]
fn content_that_may_not_be_read_is_not_damaged() {
    let user = User::new();
    let place = demo();
    place.write("large", "a line of a file\n".repeat(5000));
    give_away(place.path());
    user.ok(&place, &["init"]);
    user.ok(&place, &["workspace", "create", "w"]);
    let find = std::process::Command::new("find")
        .arg(place.home())
        .args(["-type", "f", "-size", "+32k", "-path", "*/fs/*"])
        .output()
        .unwrap();
    let found = String::from_utf8(find.stdout).unwrap();
    let files: Vec<&str> = found.lines().collect();
    assert!(!files.is_empty(), "the content is in a layer");
    for file in files {
        lchown(file, Some(0), Some(0)).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let output = user.run(&place, &["fs", "cat", "/large", "-w", "w"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(6), "{told}");
    assert!(told.contains("Permission denied") && !told.contains("damaged"), "{told}");
}
