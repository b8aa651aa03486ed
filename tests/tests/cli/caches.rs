//! Package caches that outlive commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of, with_json};
use offshoot_tests::user::{User, give_away};
use serde_json::{Value, json};

use crate::transcript::{Transcript, demo};

/// A place whose user has some packages of npm in their own cache.
fn place() -> Place {
    let place = demo();
    fs::create_dir(place.path().join(".npm")).unwrap();
    fs::write(place.path().join(".npm/own"), "of the host").unwrap();
    // What it does is not known beforehand: it may fetch packages.
    place.write("fetch", "eval \"$1\"\n");
    place
}

fn exec(place: &Place, options: &[&str], script: &str) -> Value {
    let arguments = [&["exec"], options, &["--", "sh", "fetch", script]].concat();
    document_of(&place.run(with_json(&arguments)))["result"].clone()
}

fn said(place: &Place, options: &[&str], script: &str) -> String {
    let result = exec(place, options, script);
    assert_eq!(result["warnings"], json!([]), "{result:#}");
    result["stdout"].as_str().unwrap().to_owned()
}

fn names(place: &Place) -> Vec<String> {
    let list = place.json(&["cache", "list"]);
    let caches = list["caches"].as_array().unwrap();
    caches.iter().map(|cache| cache["name"].as_str().unwrap().to_owned()).collect()
}

/// The directory of all caches of the only vault.
fn caches(place: &Place) -> PathBuf {
    let vaults = fs::read_dir(place.home().join("vaults")).unwrap();
    vaults.map(|vault| vault.unwrap().path()).next().unwrap().join("caches")
}

/// A command that uses caches until it is told to end.
fn long(place: &Place) -> (Child, PathBuf) {
    let script = "echo long > ~/.npm/long; read end";
    let arguments = ["exec", "-w", "long", "-i", "--", "sh", "fetch", script];
    let mut command = place.command(arguments);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    wait_until_running(place);
    (child, caches(place))
}

fn wait_until_running(place: &Place) {
    let started = Instant::now();
    while place.json(&["ps"])["running"].as_array().unwrap().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn what_a_command_downloads_is_there_for_the_next() {
    let place = place();
    let first = exec(&place, &[], "cat ~/.npm/own; echo new > ~/.npm/a; echo x >> ~/.npm/own");
    assert_eq!(first["stdout"], "of the host", "{first:#}");
    assert_eq!(first["changed_files"], json!([]));
    assert!(first["sandbox"]["caches"].as_array().unwrap().contains(&json!("npm")), "{first:#}");
    // Another workspace, and a command that only reads.
    assert_eq!(said(&place, &[], "cat ~/.npm/a ~/.npm/own"), "new\nof the hostx\n");
    // Commands that only change files, and those that only read, see it and leave nothing.
    let shell = |text: &str| place.ok(["exec", "--shell", text]);
    assert_eq!(shell("echo y > ~/.npm/b; cat ~/.npm/a ~/.npm/b"), "new\ny\n");
    assert_eq!(shell("cat ~/.npm/a; ls ~/.npm"), "new\na\nown\n");
    // The host's own is as it was.
    assert_eq!(fs::read_to_string(place.path().join(".npm/own")).unwrap(), "of the host");
    assert!(!place.path().join(".npm/a").exists());
    // What is deleted stays deleted, and the host has it still.
    said(&place, &[], "rm ~/.npm/own ~/.npm/a; mkdir ~/.npm/d; echo 1 > ~/.npm/d/f");
    assert_eq!(said(&place, &[], "ls ~/.npm"), "d\n");
    assert!(place.path().join(".npm/own").exists());
    place.ok(["vault", "check"]);
}

#[needs(Overlay, UserNamespace)]
#[test]
fn a_home_that_is_no_cache_is_thrown_away() {
    let place = place();
    said(&place, &[], "echo x > ~/.npmrc; echo x > ~/.npm/kept");
    assert_eq!(
        said(&place, &[], "ls -A ~/.npmrc ~/.npm 2> /dev/null || true"),
        format!("{}:\nkept\nown\n", place.path().join(".npm").display())
    );
}

#[needs(Overlay, UserNamespace)]
#[test]
fn caches_can_be_left_out() {
    let place = place();
    for options in [
        &["--no-cache"][..],
        &["-c", "cache.enabled=false"],
        &["-c", "cache.skip=pip,npm"],
        &["--read-only"],
    ] {
        said(&place, options, "echo x > ~/.npm/a");
        assert_eq!(said(&place, &[], "ls ~/.npm"), "own\n", "{options:?}");
    }
    let error = place.json_error(&["cache", "list", "-c", "cache.skip=nmp"], 2);
    assert!(error["message"].as_str().unwrap().contains("cache.skip"), "{error}");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn caches_for_people_and_programs() {
    let place = place();
    place.ok(["init"]);
    let mut transcript = Transcript::new(&place);
    transcript.run(&["cache", "list"]);
    said(&place, &[], "echo a > ~/.npm/a");
    let bytes = place.json(&["cache", "list"])["total_bytes"].as_u64().unwrap();
    transcript.hide(&format!("{:.1} KiB", bytes as f64 / 1024.0), "[size]");
    transcript.run(&["cache", "list"]);
    transcript.json(&["cache", "list"]);
    transcript.run(&["cache", "clear", "nmp"]);
    transcript.run(&["cache", "clear", "npm"]);
    said(&place, &[], "echo a > ~/.npm/a");
    transcript.json(&["cache", "clear"]);
    assert_snapshot!(transcript.finish());
}

#[needs(Overlay, UserNamespace)]
#[test]
fn commands_at_the_same_time_keep_what_each_wrote() {
    let place = place();
    said(&place, &[], "echo 1 > ~/.npm/before");
    place.ok(["workspace", "create", "long"]);
    let (mut child, _) = long(&place);
    // The long one holds what was there: others add to it and do not disturb it.
    for at in 0..3 {
        said(&place, &[], &format!("echo {at} > ~/.npm/short-{at}"));
    }
    assert_eq!(said(&place, &[], "cat ~/.npm/short-*"), "0\n1\n2\n");
    let busy = place.json_error(&["cache", "clear", "npm"], 8);
    assert!(busy["hint"].as_str().unwrap().contains("offshoot ps"), "{busy}");
    drop(child.stdin.take());
    assert!(child.wait().is_ok());
    assert_eq!(said(&place, &[], "ls ~/.npm"), "before\nlong\nown\nshort-0\nshort-1\nshort-2\n");
    let layers = fs::read_dir(caches(&place).join("npm")).unwrap().count();
    assert_eq!(layers, 2, "one layer and its size");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn a_command_that_is_killed_leaves_nothing_in_a_cache() {
    let place = place();
    place.ok(["init"]);
    place.ok(["workspace", "create", "long"]);
    let (mut child, directory) = long(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    said(&place, &[], "echo 1 > ~/.npm/later");
    assert_eq!(said(&place, &[], "ls ~/.npm"), "later\nown\n");
    let left = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.as_encoded_bytes().starts_with(b".use")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn caches_are_listed_bounded_and_cleared() {
    let place = place();
    for name in [".cargo/registry", ".cache/pip"] {
        fs::create_dir_all(place.path().join(name)).unwrap();
    }
    place.ok(["init"]);
    assert!(place.ok(["cache", "list"]).contains("has no package caches"));
    let large = |path: &str| format!("head -c 300000 /dev/zero > ~/{path}/large");
    said(&place, &[], &large(".npm"));
    said(&place, &[], &large(".cargo/registry"));
    assert_eq!(names(&place), ["cargo-registry", "npm"]);
    let list = place.json(&["cache", "list"]);
    let total = list["total_bytes"].as_u64().unwrap();
    assert!((600_000..700_000).contains(&total), "{list}");
    // The one that was not added to for the longest time goes first.
    std::thread::sleep(Duration::from_millis(20));
    let result = exec(&place, &["-c", "cache.max_size=700KB"], &large(".cache/pip"));
    assert!(
        result["warnings"][0].as_str().unwrap().contains("cache npm was cleared"),
        "{result:#}"
    );
    assert_eq!(names(&place), ["cargo-registry", "pip"]);
    assert_eq!(said(&place, &[], "ls ~/.npm"), "own\n");
    let collected = place.run(["gc", "-c", "cache.max_size=400KB"]);
    assert!(
        String::from_utf8_lossy(&collected.stderr).contains("cache cargo-registry"),
        "{collected:?}"
    );
    assert_eq!(names(&place), ["pip"]);
    let error = place.json_error(&["cache", "clear", "pipp"], 3);
    assert_eq!(error["candidates"], json!(["pip"]), "{error}");
    let cleared = place.json(&["cache", "clear", "pip"]);
    assert_eq!(cleared["cleared"][0]["name"], "pip");
    assert_eq!(names(&place), Vec::<String>::new());
    assert_eq!(place.ok(["cache", "clear"]), "nothing to clear\n");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn caches_of_an_ordinary_user_and_of_closed_folders() {
    let user = User::new();
    let place = place();
    fs::create_dir_all(place.path().join("go/pkg/mod")).unwrap();
    give_away(place.path());
    let run = |script: &str| user.ok(&place, &["exec", "--", "sh", "fetch", script]);
    // As go leaves it: nobody may write in what was unpacked.
    run(
        "echo a > ~/.npm/a; mkdir -p ~/go/pkg/mod/one@v1/sub; echo b > ~/go/pkg/mod/one@v1/sub/b; chmod -R a-w ~/go/pkg/mod/one@v1",
    );
    run(
        "mkdir ~/go/pkg/mod/two@v1; chmod u+w ~/go/pkg/mod/one@v1; echo c > ~/go/pkg/mod/one@v1/c; chmod -w ~/go/pkg/mod/one@v1",
    );
    assert_eq!(run("cat ~/.npm/a ~/go/pkg/mod/one@v1/sub/b ~/go/pkg/mod/one@v1/c"), "a\nb\nc\n");
    assert_eq!(run("stat -c %a ~/go/pkg/mod/one@v1/sub"), "555\n");
    let list = user.ok(&place, &["cache", "list"]);
    assert!(list.contains("go-mod") && list.contains("npm"), "{list}");
    user.ok(&place, &["cache", "clear", "go"]);
    assert_eq!(run("ls ~/go/pkg/mod"), "");
    run("mkdir -p ~/go/pkg/mod/one@v1/sub; chmod -R a-w ~/go/pkg/mod/one@v1");
    user.ok(&place, &["vault", "delete", "project", "--yes"]);
    assert_eq!(fs::read_dir(place.home().join("vaults")).unwrap().count(), 0);
}

#[needs(Overlay, UserNamespace)]
#[test]
fn vaults_share_no_cache_and_archives_have_none() {
    let place = place();
    // Its text is not in the command, which is a part of history.
    let secret = "a-download-of-one-vault";
    said(&place, &[], "echo a-download-of-no-vault | sed s/no/one/ > ~/.npm/a");
    assert_eq!(said(&place, &[], "grep -c of-one ~/.npm/a"), "1\n");
    place.ok(["vault", "create", "other"]);
    let list = "ls ~/.npm; eval :";
    assert_eq!(place.ok(["exec", "--vault", "other", "--shell", list]), "own\n");
    assert_eq!(place.ok(["exec", "--shell", list]), "a\nown\n");
    let archive = place.path().join("project.vault");
    place.ok(["vault", "export", archive.to_str().unwrap()]);
    let bytes = fs::read(&archive).unwrap();
    assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()));
}

#[needs(Overlay, UserNamespace)]
#[test]
fn a_cache_that_is_moved_is_found_by_its_variable() {
    let place = place();
    let moved = place.path().join("moved");
    fs::create_dir(&moved).unwrap();
    let variable = format!("npm_config_cache={}", moved.display());
    let file = |name: &str| moved.join(name).display().to_string();
    said(&place, &["-e", &variable], &format!("echo 1 > {}", file("a")));
    assert_eq!(said(&place, &["-e", &variable], &format!("cat {}", file("a"))), "1\n");
    assert!(!Path::new(&file("a")).exists());
    // A cache in the project is a part of the project.
    let inside = format!("npm_config_cache={}", place.project().join("cache").display());
    let result = exec(&place, &["-e", &inside], "mkdir cache; echo 1 > cache/a");
    assert!(!result["changed_files"].as_array().unwrap().is_empty(), "{result:#}");
}
