//! Collecting garbage beside everything else, with the real binary.

use std::fs;
use std::io::Write;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use offshoot_needs::needs;
use offshoot_tests::product::Place;
use offshoot_tests::rng::Rng;
use offshoot_tests::tier::Tier;

use crate::damage::directory;

const NOTHING: [&str; 5] = ["gc", "--keep-operations", "0", "--keep-age", "0s"];

fn place() -> Place {
    let place = Place::new();
    let mut rng = Rng::new(9);
    for number in 0..20 {
        place.write(format!("file-{number}"), rng.bytes(30_000));
    }
    place.write("long", rng.bytes(1_500_000));
    place.ok(["init"]);
    place
}

/// Starts a command that waits for its input in the middle, and waits until it runs.
fn start(place: &Place, workspace: &str) -> Child {
    let script = "sha256sum file-* long > /dev/null; echo ready > started; read line; \
                  cat file-* long | sha256sum";
    let command = ["exec", "-q", "-w", workspace, "-i", "--", "sh", "-c", script];
    let mut command = place.command(command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let layers = place.home().join("names/project/layers");
    let limit = Instant::now() + Duration::from_secs(60);
    let started = || {
        let entries = fs::read_dir(&layers).unwrap().flatten();
        entries.into_iter().any(|entry| entry.path().join("fs/started").exists())
    };
    while !started() {
        assert!(Instant::now() < limit, "the command does not start");
        thread::sleep(Duration::from_millis(5));
    }
    child
}

#[needs(Overlay)]
#[test]
fn a_command_keeps_what_it_runs_upon_though_its_workspace_is_gone() {
    let place = place();
    place.ok(["workspace", "create", "doomed"]);
    place.ok(["exec", "-q", "-w", "doomed", "--", "sh", "-c", "date +%N > file-0; rm file-1"]);
    let expected =
        place.ok(["exec", "-q", "-w", "doomed", "--", "sh", "-c", "cat file-* long | sha256sum"]);
    let mut child = start(&place, "doomed");
    // Others are kept out of the workspace by its lock; a program that does not ask is not.
    fs::remove_dir_all(directory(&place).join("locks")).unwrap();
    place.ok(["workspace", "delete", "doomed"]);
    for _ in 0..2 {
        place.ok(NOTHING);
    }
    child.stdin.take().unwrap().write_all(b"go on\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{output:?}");
    // Now nothing needs it any more.
    let taken = place.json(&NOTHING);
    assert!(taken["taken_bytes"].as_u64().unwrap() > 0, "{taken}");
    place.ok(["vault", "check"]);
}

/// Everything that a round must do well while others collect.
fn round(place: &Place, worker: u64, number: u64) {
    let name = format!("w{worker}-{number}");
    place.ok(["workspace", "create", &name]);
    let script =
        format!("head -c 70000 /dev/urandom > new; cat new file-{number} > file-0; rm file-1");
    place.ok(["exec", "-q", "-w", &name, "--", "sh", "-c", &script]);
    place.ok_with(["fs", "write", "/written", "-q", "-w", &name], &[b'x'; 100_000]);
    place.ok(["exec", "-q", "-w", &name, "--", "sh", "-c", "test $(cat written | wc -c) = 100000"]);
    place.ok(["exec", "-q", "-w", &name, "--", "sh", "-c", "cat file-* long new > all"]);
    let fork = format!("{name}-fork");
    place.ok(["workspace", "create", &fork, "--from", &name]);
    place.ok(["workspace", "delete", &name]);
    place.ok(["exec", "-q", "-w", &fork, "--", "sh", "-c", "cmp all /dev/null; cat all > again"]);
    if number.is_multiple_of(2) {
        place.ok(["workspace", "delete", &fork]);
    }
}

#[needs(Overlay)]
#[test]
fn commands_and_forks_go_on_while_garbage_is_collected() {
    let place = place();
    let rounds = Tier::from_env().pick(4, 40);
    let over = AtomicBool::new(false);
    let longest = thread::scope(|scope| {
        let workers: Vec<_> = (0..3u64)
            .map(|worker| {
                let place = &place;
                scope.spawn(move || (0..rounds).for_each(|number| round(place, worker, number)))
            })
            .collect();
        let collectors: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let (mut longest, mut count) = (0, 0);
                    while !over.load(Ordering::SeqCst) {
                        let report = place.json(&NOTHING);
                        longest = longest.max(report["longest_pause_us"].as_u64().unwrap());
                        count += 1;
                        if count % 5 == 4 {
                            place.ok(["vault", "pack"]);
                        }
                    }
                    (longest, count)
                })
            })
            .collect();
        let done: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        over.store(true, Ordering::SeqCst);
        let seen: Vec<(u64, u64)> =
            collectors.into_iter().map(|collector| collector.join().unwrap()).collect();
        assert!(done.into_iter().all(|worker| worker.is_ok()), "a worker failed");
        let collections: u64 = seen.iter().map(|(_, count)| count).sum();
        println!("{collections} collections beside {} rounds", 3 * rounds);
        seen.iter().map(|(longest, _)| *longest).max().unwrap()
    });
    println!("the longest pause was {} us", longest);
    place.ok(NOTHING);
    place.ok(["vault", "check"]);
    for workspace in place.json(&["workspace", "list"])["workspaces"].as_array().unwrap() {
        let name = workspace["name"].as_str().or(workspace["workspace"]["name"].as_str()).unwrap();
        place.ok(["exec", "-q", "-w", name, "--", "cmp", "all", "again"]);
    }
}

/// An export is one moment, whatever goes on.
#[needs(Overlay)]
#[test]
fn an_export_beside_commands_is_one_moment() {
    let place = place();
    place.ok(["workspace", "create", "w"]);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..12 {
                let script = format!("echo {number} > one; echo {number} > two");
                place.ok(["exec", "-q", "-w", "w", "--", "sh", "-c", &script]);
            }
        });
        for number in 0..4 {
            let file = format!("../export-{number}");
            place.ok(["vault", "export", "-q", &file]);
        }
        writer.join().unwrap();
    });
    for number in 0..4 {
        let (file, home) = (format!("../export-{number}"), format!("../home-{number}"));
        place.ok(["vault", "import", "-q", &file, "--home", &home]);
        let read = |path: &str| {
            let output = place.run(["fs", "cat", path, "-w", "w", "--home", &home]);
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert_eq!(read("/one"), read("/two"));
    }
}
