//! Starting, ending, output and time.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use offshoot_sandbox::{SandboxError, Status};

use crate::support::{Scene, read};

#[test]
fn a_command_writes_into_the_upper_and_nowhere_else() {
    let scene = Scene::new();
    let outcome = scene.shell("pwd; cat file; echo hi > f; echo changed > file; echo err >&2");
    assert_eq!(outcome.ended.status, Status::Exited(0));
    assert_eq!(outcome.stdout, "/tmp/some/workspace\nbelow\n");
    assert_eq!(outcome.stderr, "err\n");
    assert!(!outcome.ended.busy);
    assert_eq!(read(&scene.upper().join("f")), "hi\n");
    assert_eq!(read(&scene.path("lower/file")), "below\n");
}

#[test]
fn exit_codes_and_signals_are_told() {
    let scene = Scene::new();
    assert_eq!(scene.shell("exit 7").ended.status, Status::Exited(7));
    let scene = Scene::new();
    assert_eq!(scene.shell("kill -9 $$").ended.status, Status::Signaled(9));
}

#[test]
fn a_nul_byte_is_told_where_it_is() {
    for (words, told) in [
        (&["no\0such"][..], "the program has a NUL byte in it"),
        (&["./no\0such"], "the program has a NUL byte in it"),
        (&["echo", "a\0b"], "an argument has a NUL byte in it"),
    ] {
        let error = Scene::new().run(words).err().unwrap();
        assert_eq!(error.to_string(), told, "{words:?}");
    }
}

#[test]
fn a_missing_program_is_told() {
    let scene = Scene::new();
    let missing = scene.run(&["no-such-program"]).err().unwrap();
    assert!(
        matches!(missing, SandboxError::NotExecuted { errno, .. } if errno.raw_os_error() == libc::ENOENT)
    );
    let scene = Scene::new();
    let refused = scene.run(&["./file"]).err().unwrap();
    assert!(
        matches!(refused, SandboxError::NotExecuted { errno, .. } if errno.raw_os_error() == libc::EACCES)
    );
}

#[test]
fn a_script_without_interpreter_is_the_shells() {
    let scene = Scene::new();
    let script = scene.path("lower/script");
    fs::write(&script, "echo from $1\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(scene.run(&["./script", "here"]).unwrap().stdout, "from here\n");
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_its_children() {
    let mut scene = Scene::new();
    scene.timeout = Some(Duration::from_millis(300));
    let started = Instant::now();
    let outcome =
        scene.shell("echo before; (trap '' TERM; sleep 60) & trap '' TERM; sleep 60; sleep 60");
    assert!(outcome.ended.timed_out);
    assert_eq!(outcome.stdout, "before\n");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_command_may_end_by_itself_when_its_time_is_over() {
    let mut scene = Scene::new();
    scene.timeout = Some(Duration::from_millis(200));
    let outcome = scene.shell("trap 'echo bye; exit 3' TERM; while :; do sleep 0.05; done");
    assert!(outcome.ended.timed_out);
    assert_eq!(outcome.ended.status, Status::Exited(3));
    assert_eq!(outcome.stdout, "bye\n");
}

#[test]
fn what_outlives_the_command_is_ended() {
    let scene = Scene::new();
    let outcome = scene.shell("setsid sleep 60 & (sleep 60 &) ; echo done");
    assert_eq!(outcome.ended.status, Status::Exited(0));
    assert_eq!(outcome.stdout, "done\n");
    assert_eq!(outcome.ended.left_behind, 2);
}

#[test]
fn input_arrives_and_ends() {
    let mut scene = Scene::new();
    scene.stdin = Some(b"x".repeat(1 << 20));
    assert_eq!(scene.shell("wc -c").stdout.trim(), "1048576");
    // A command that does not read does not stop anything.
    assert_eq!(
        Scene { stdin: Some(vec![0; 1 << 20]), ..Scene::new() }.shell("echo no").stdout,
        "no\n"
    );
    assert_eq!(Scene::new().shell("wc -c").stdout.trim(), "0");
}

#[test]
fn much_output_on_both_streams_arrives() {
    let scene = Scene::new();
    let outcome = scene.shell(
        "head -c 3000000 /dev/zero | tr '\\0' a; head -c 2000000 /dev/zero | tr '\\0' b >&2",
    );
    assert_eq!((outcome.stdout.len(), outcome.stderr.len()), (3_000_000, 2_000_000));
}

#[test]
fn the_keeper_opens_what_modes_forbid() {
    let scene = Scene::new();
    let outcome = scene.shell("mkdir d; echo secret > d/f; chmod 0 d/f d");
    let flags = rustix::fs::OFlags::RDONLY;
    let file = outcome.ended.keeper.open(b"d/f", flags).unwrap();
    let text = std::io::read_to_string(File::from(file)).unwrap();
    assert_eq!(text, "secret\n");
    let missing = outcome.ended.keeper.open(b"d/g", flags).unwrap_err();
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
    assert!(outcome.ended.keeper.open(b"../lower/file", flags).is_err());
}

#[test]
fn usage_is_counted() {
    let outcome = Scene::new().shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
    assert!(outcome.ended.usage.user > Duration::ZERO);
    assert!(outcome.ended.usage.max_resident > 100_000);
    assert!(outcome.ended.duration >= outcome.ended.usage.user / 2);
}

/// Somebody may have a file of the workspace open when the command ends, such as a process that another thread has just started. A moment is
/// waited for, and no longer.
#[test]
fn who_has_a_file_open_for_a_moment_is_waited_for() {
    for busy in [false, true] {
        let scene = Scene::new();
        let mark = scene.folder.path().to_str().unwrap().to_owned();
        let (ended, has_ended) = mpsc::channel::<()>();
        let holder = thread::spawn({
            let mark = mark.clone();
            move || {
                let (process, file) = open_inside(&mark);
                while process.exists() {
                    thread::sleep(Duration::from_millis(1));
                }
                match busy {
                    true => drop(has_ended.recv()),
                    false => thread::sleep(Duration::from_millis(30)),
                }
                drop(file);
            }
        });
        let outcome = scene.shell(&format!("read answer < file; sleep 0.5; : {mark}"));
        drop(ended);
        holder.join().unwrap();
        assert_eq!(outcome.ended.busy, busy);
    }
}

/// Opens a file of the workspace of a command whose text has a mark; also where the command is in `/proc`.
fn open_inside(mark: &str) -> (PathBuf, File) {
    for _ in 0..1000 {
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let process = entry.path();
            let line = fs::read(process.join("cmdline")).unwrap_or_default();
            if String::from_utf8_lossy(&line).contains(mark)
                && let Ok(file) = File::open(process.join("cwd/file"))
            {
                return (process, file);
            }
        }
        thread::sleep(Duration::from_millis(2));
    }
    panic!("the command did not start");
}
