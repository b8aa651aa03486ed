//! Disks that are full, read-only, or not there.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use nix::mount::{MsFlags, mount};
use offshoot_needs::needs;
use offshoot_tests::image::{LoopImage, private_mounts};
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away};
use serde_json::Value;

use crate::transcript::{demo, demo_vault};

/// Commands that only read; they work wherever the vault can be read.
pub(crate) const READING: &[&[&str]] = &[
    &["status"],
    &["diff"],
    &["log"],
    &["op", "log"],
    &["show", "fix"],
    &["history", "/README.md"],
    &["fs", "ls"],
    &["fs", "cat", "/README.md"],
    &["fs", "tree"],
    &["fs", "stat", "/README.md"],
    &["workspace", "list"],
    &["workspace", "tree"],
    &["workspace", "show"],
    &["checkpoint", "list"],
    &["vault", "list"],
    &["vault", "info"],
    &["vault", "check"],
];

/// Commands that change the vault.
const WRITING: &[&[&str]] = &[
    &["fs", "mkdir", "/made", "-w", "fix"],
    &["fs", "write", "/made.txt", "-w", "fix"],
    &["checkpoint", "create", "-w", "fix"],
    &["workspace", "create", "other"],
    &["workspace", "delete", "fix"],
    &["discard", "-w", "fix"],
    &["undo", "--vault-wide"],
    &["vault", "compact", "--all"],
];

/// Those of them that work on a full disk, too, to free space.
const FREEING: &[&str] = &["delete", "discard", "undo"];

/// Commands that change the home.
const HOUSEKEEPING: &[&[&str]] = &[
    &["vault", "create", "other"],
    &["vault", "rename", "project", "other"],
    &["vault", "delete", "project", "--yes"],
];

#[track_caller]
fn assert_storage(output: &Output, what: &[&str]) -> Value {
    let document = document_of(output);
    assert_eq!(output.status.code(), Some(6), "{what:?}: {document}");
    assert_eq!(document["error"]["code"], "storage", "{what:?}");
    assert!(document["error"]["hint"].is_string(), "{what:?}: {document}");
    document["error"].clone()
}

/// Runs a command with the home on another file system.
fn run_in(place: &Place, home: &Path, arguments: &[&str], input: Option<&Path>) -> Output {
    let mut command = place.command(arguments);
    command.env("OFFSHOOT_HOME", home).arg("--json");
    if let Some(input) = input {
        command.stdin(File::open(input).unwrap());
    }
    command.output().unwrap()
}

/// Takes all space that is left, and what the file system gives back when it writes that to its disk: it reserves more than it needs.
fn fill(path: &Path) {
    let mut file = File::create(path).unwrap();
    let mut written = true;
    while std::mem::take(&mut written) {
        for size in [1 << 20, 1 << 12, 1] {
            let block = vec![1; size];
            while file.write_all(&block).is_ok() {
                written = true;
            }
        }
        file.sync_all().unwrap();
    }
}

#[needs(LoopMount)]
#[test]
fn a_full_disk_loses_nothing() {
    let image = LoopImage::create(32 << 20).unwrap();
    let disk = image.mount().unwrap();
    let home = disk.path().join("home");
    let place = demo();
    let big = place.path().join("big");
    File::create(&big).unwrap().set_len(64 << 20).unwrap();
    let run = |arguments: &[&str]| run_in(&place, &home, arguments, None);
    let result = |arguments: &[&str]| document_of(&run(arguments))["result"].clone();

    // A project that does not fit leaves no vault behind.
    write_noise(&place.project().join("large"), 40 << 20);
    assert_storage(&run(&["init"]), &["init"]);
    assert_eq!(result(&["vault", "list"])["vaults"].as_array().unwrap().len(), 0);
    fs::remove_file(place.project().join("large")).unwrap();

    assert_eq!(result(&["init"])["created"], true);
    result(&["workspace", "create", "fix"]);
    let before = result(&["fs", "tree", "-w", "fix"]);
    write_noise(&big, 40 << 20);
    let write = ["fs", "write", "/big", "-w", "fix"];
    assert_storage(&run_in(&place, &home, &write, Some(&big)), &write);
    assert_eq!(result(&["fs", "tree", "-w", "fix"]), before);
    assert_eq!(result(&["vault", "check"])["ok"], true);

    // With no byte left everything can still be read, and nothing be changed.
    fill(&disk.path().join("fill"));
    for arguments in READING {
        let output = run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
    let frees = |arguments: &[&str]| arguments.iter().any(|word| FREEING.contains(word));
    for arguments in WRITING.iter().filter(|arguments| !frees(arguments)) {
        let error = assert_storage(&run(arguments), arguments);
        assert!(error["message"].as_str().unwrap().contains("no space"), "{error}");
    }
    assert_eq!(result(&["fs", "tree", "-w", "fix"]), before);
    assert_eq!(result(&["vault", "check"])["ok"], true);

    fs::remove_file(disk.path().join("fill")).unwrap();
    for arguments in WRITING.iter().take(4) {
        let output = run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
    assert_eq!(result(&["vault", "check"])["stray_layers"].as_array().unwrap().len(), 0);
    disk.unmount().unwrap();
}

fn write_noise(path: &Path, size: usize) {
    let mut noise = vec![0; size];
    offshoot_tests::rng::Rng::new(5).fill(&mut noise);
    fs::write(path, noise).unwrap();
}

#[needs(Root)]
#[test]
fn a_read_only_file_system_can_be_read() {
    let place = demo_vault();
    place.ok(["checkpoint", "create", "one", "-w", "fix"]);
    private_mounts().unwrap();
    let home = place.home();
    mount(Some(&home), &home, None::<&str>, MsFlags::MS_BIND, None::<&str>).unwrap();
    let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    mount(None::<&str>, &home, None::<&str>, flags, None::<&str>).unwrap();
    for arguments in READING {
        place.ok(*arguments);
    }
    assert_eq!(place.json(&["vault", "info"])["read_only"], true);
    for arguments in WRITING.iter().chain(HOUSEKEEPING).chain([&["init"][..]].iter()) {
        let error = assert_storage(&run_in(&place, &home, arguments, None), arguments);
        assert!(error["hint"].as_str().unwrap().contains("OFFSHOOT_HOME"), "{error}");
    }
    nix::mount::umount(&home).unwrap();
    assert_eq!(place.json(&["workspace", "list"])["workspaces"].as_array().unwrap().len(), 1);
    place.ok(["fs", "mkdir", "/made", "-w", "fix"]);
}

#[test]
fn a_home_without_permission_to_write_can_be_read() {
    let user = User::new();
    let place = demo_vault();
    give_away(place.path());
    set_modes(&place.home(), |mode| mode & !0o222);
    for arguments in READING {
        let output = user.run(&place, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
    for arguments in WRITING.iter().chain(HOUSEKEEPING) {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let error = assert_storage(&user.run(&place, &arguments), &arguments);
        assert!(error["hint"].as_str().unwrap().contains("OFFSHOOT_HOME"), "{error}");
    }
    set_modes(&place.home(), |mode| mode | 0o200);
    assert!(user.run(&place, &["fs", "mkdir", "/made", "-w", "fix"]).status.success());
}

fn set_modes(path: &Path, change: fn(u32) -> u32) {
    let metadata = fs::symlink_metadata(path).unwrap();
    if metadata.is_symlink() {
        return;
    }
    let mode = change(metadata.permissions().mode());
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            set_modes(&entry.unwrap().path(), change);
        }
    }
}

#[test]
fn a_home_that_cannot_be_made() {
    let place = demo();
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    for home in [Path::new("/proc/no/such/place"), &file, &file.join("below")] {
        for arguments in [&["init"][..], &["vault", "create", "other"]] {
            assert_storage(&run_in(&place, home, arguments, None), arguments);
        }
        let output = run_in(&place, home, &["doctor"], None);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let home = document_of(&output)["result"]["checks"][1].clone();
        assert_eq!((&home["name"], &home["state"]), (&"home".into(), &"problem".into()));
    }
    assert_eq!(fs::read(&file).unwrap(), b"");
    let mut command = place.command(["init", "--json"]);
    let output = command.env_remove("OFFSHOOT_HOME").env_remove("HOME").output().unwrap();
    let message = document_of(&output)["error"]["message"].clone();
    assert!(message.as_str().unwrap().contains("OFFSHOOT_HOME"), "{message}");
    assert_eq!(output.status.code(), Some(2));
}
