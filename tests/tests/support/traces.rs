//! The tracer counts what it should, and breaks exactly what it was told to.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use offshoot_needs::needs;
use offshoot_tests::trace::{Fault, Trace, run};

use crate::children;

const CREATE_FIVE: &str = ": > f1; : > f2; : > f3; : > f4; : > f5";
const ENOSPC: i32 = 28;

fn shell(dir: &Path, script: &str, fault: Fault) -> Trace {
    run(&["sh".into(), "-c".into(), script.into()], &[], Some(dir), fault).unwrap()
}

fn existing(dir: &Path) -> Vec<u32> {
    (1..=5).filter(|number| dir.join(format!("f{number}")).exists()).collect()
}

fn names(trace: &Trace) -> Vec<&'static str> {
    trace.calls.iter().map(|call| call.name).collect()
}

#[needs(Ptrace)]
#[test]
fn changing_calls_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    let script = "echo text > f; mkdir d; mv f d/g; ln -s x d/s; cat d/g; echo error >&2; exit 7";
    let trace = shell(dir.path(), script, Fault::None);
    assert_eq!(trace.status.code(), Some(7));
    assert_eq!((&trace.stdout[..], &trace.stderr[..]), (&b"text\n"[..], &b"error\n"[..]));
    let listed: Vec<String> = trace.calls.iter().map(ToString::to_string).collect();
    assert_eq!(trace.calls.len(), 5, "{listed:#?}");
    assert_eq!((trace.mutating, trace.syncs), (5, 0));
    for (call, name) in trace.calls.iter().zip(["openat", "write", "mkdir", "rename", "symlink"]) {
        assert!(call.name.starts_with(name), "{listed:#?}");
    }
    let top = fs::canonicalize(dir.path()).unwrap();
    for (index, path) in ["f", "f", "d", "f", "d/s"].iter().enumerate() {
        assert_eq!(trace.calls[index].path, Some(top.join(path)), "{listed:#?}");
    }
    assert_eq!(trace.calls[1].result, Some(5));
    assert_eq!(trace.calls[3].second, Some(top.join("d/g")));
}

#[needs(Ptrace)]
#[test]
fn kills_before_and_after() {
    for n in 1..=5 {
        let dir = tempfile::tempdir().unwrap();
        let trace = shell(dir.path(), CREATE_FIVE, Fault::KillAt(n));
        assert_eq!(trace.status.signal(), Some(9));
        assert_eq!(existing(dir.path()), (1..n as u32).collect::<Vec<_>>());
        assert_eq!((trace.mutating, trace.calls[n as usize - 1].result), (n, None));

        let dir = tempfile::tempdir().unwrap();
        let trace = shell(dir.path(), CREATE_FIVE, Fault::KillAfter(n));
        assert_eq!(trace.status.signal(), Some(9));
        assert_eq!(existing(dir.path()), (1..=n as u32).collect::<Vec<_>>());
    }
    let dir = tempfile::tempdir().unwrap();
    let trace = shell(dir.path(), CREATE_FIVE, Fault::KillAt(6));
    assert!(trace.status.success());
    assert_eq!(existing(dir.path()).len(), 5);
}

#[needs(Ptrace)]
#[test]
fn one_call_fails() {
    for n in 1..=5 {
        let dir = tempfile::tempdir().unwrap();
        let script = "for n in 1 2 3 4 5; do (: > f$n); done";
        let trace = shell(dir.path(), script, Fault::FailAt { n, errno: ENOSPC });
        let expected: Vec<u32> = (1..=5).filter(|number| u64::from(*number) != n).collect();
        assert_eq!(existing(dir.path()), expected);
        assert_eq!(trace.calls[n as usize - 1].result, Some(-i64::from(ENOSPC)));
        assert!(String::from_utf8_lossy(&trace.stderr).contains("No space left"), "{trace:?}");
    }
}

#[needs(Ptrace)]
#[test]
fn syncs_are_left_out() {
    // A fifo cannot be synced, so only a sync that was told to succeeds. That it does not run
    // either is seen on an image (images::left_out_sync_loses_data).
    let dir = tempfile::tempdir().unwrap();
    let setup = Command::new("mkfifo").args(["a", "b"]).current_dir(dir.path()).status().unwrap();
    assert!(setup.success());
    let script = "sync a && echo a; sync b && echo b; sync -d a && echo a-data";
    let stdout = |fault| {
        let trace = shell(dir.path(), script, fault);
        assert_eq!(names(&trace), ["fsync", "fsync", "fdatasync"]);
        assert_eq!(trace.syncs, 3);
        String::from_utf8(trace.stdout).unwrap()
    };
    assert_eq!(stdout(Fault::None), "");
    assert_eq!(stdout(Fault::SkipSync { nth_sync: 2 }), "b\n");
    assert_eq!(stdout(Fault::SkipAllSyncs), "a\nb\na-data\n");
    let named_a = |path: &Path| path.ends_with("a");
    assert_eq!(stdout(Fault::SkipSyncsOf(Box::new(named_a))), "a\na-data\n");
}

#[needs(Ptrace)]
#[test]
fn syncs_fail_from_one_on() {
    let dir = tempfile::tempdir().unwrap();
    let script =
        ": > a; : > b; sync a && echo 1; sync a && echo 2; sync b && echo 3; sync a && echo 4";
    let named_a = |path: &Path| path.ends_with("a");
    let fault = Fault::FailSyncsOf { from: 2, errno: 5, which: Box::new(named_a) };
    let trace = shell(dir.path(), script, fault);
    assert_eq!(names(&trace), ["openat", "openat", "fsync", "fsync", "fsync", "fsync"]);
    assert_eq!(String::from_utf8(trace.stdout).unwrap(), "1\n3\n");
}

#[needs(Ptrace)]
#[test]
fn children_are_followed_and_killed() {
    let dir = tempfile::tempdir().unwrap();
    let trace =
        shell(dir.path(), "(: > f1) & wait; sh -c ': > f2'; setsid sh -c ': > f3'", Fault::None);
    assert_eq!(names(&trace), ["openat"; 3]);

    let dir = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let script = "setsid sleep 100 & sleep 100 & (sleep 0.2; : > f1) & wait";
    let trace = shell(dir.path(), script, Fault::KillAt(1));
    assert_eq!(trace.status.signal(), Some(9));
    assert!(existing(dir.path()).is_empty());
    assert!(start.elapsed() < Duration::from_secs(60), "a child outlived the rest");
}

#[needs(Ptrace)]
#[test]
fn threads_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = vec![OsString::from(std::env::current_exe().unwrap())];
    command.extend(children::arguments("threads").map(OsString::from));
    let (name, value) = children::environment(dir.path());
    let env = [(name.into(), value.into())];
    let trace = run(&command, &env, None, Fault::None).unwrap();
    assert!(trace.status.success(), "{}", String::from_utf8_lossy(&trace.stdout));
    let top = fs::canonicalize(dir.path()).unwrap();
    let ours = || trace.calls.iter().filter(|call| call.path.as_ref().unwrap().starts_with(&top));
    assert_eq!(ours().filter(|call| call.name == "openat").count(), 8);
    assert_eq!(ours().filter(|call| call.name == "write").count(), 8);
    assert!(ours().all(|call| call.result.is_some_and(|result| result >= 0)));

    for entry in fs::read_dir(dir.path()).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let trace = run(&command, &env, None, Fault::KillAt(1)).unwrap();
    assert_eq!(trace.status.signal(), Some(9));
}

#[needs(Ptrace)]
#[test]
fn output_and_signals_pass() {
    let dir = tempfile::tempdir().unwrap();
    let script = "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2";
    let trace = shell(dir.path(), script, Fault::None);
    assert_eq!((trace.stdout.len(), trace.stderr.len()), (1_000_000, 1_000_000));
    assert_eq!(trace.mutating, 0, "{:?}", names(&trace));
    let trace = shell(dir.path(), "trap 'echo caught; exit 3' USR1; kill -USR1 $$", Fault::None);
    assert_eq!((trace.status.code(), &trace.stdout[..]), (Some(3), &b"caught\n"[..]));
    let trace = shell(dir.path(), "kill -TERM $$", Fault::None);
    assert_eq!(trace.status.signal(), Some(15));
    let variable = [("OFFSHOOT_TEST".into(), "a b\nc".into())];
    let command = ["printenv".into(), "OFFSHOOT_TEST".into()];
    assert_eq!(run(&command, &variable, None, Fault::None).unwrap().stdout, b"a b\nc\n");
    let missing = run(&["no-such-program".into()], &[], None, Fault::None).unwrap_err();
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
}

#[needs(Ptrace)]
#[test]
fn traces_run_beside_each_other() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 1..5 {
                    let dir = tempfile::tempdir().unwrap();
                    let trace = shell(dir.path(), CREATE_FIVE, Fault::KillAt(n));
                    assert_eq!(trace.mutating, n);
                    assert!(Command::new("true").status().unwrap().success());
                }
            });
        }
    });
}

#[needs(Ptrace, "sqlite3")]
#[test]
fn database_survives_every_kill() {
    let insert = |dir: &Path, fault| {
        let sql = "PRAGMA synchronous=FULL; INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)";
        run(&["sqlite3".into(), "db".into(), sql.into()], &[], Some(dir), fault).unwrap()
    };
    let query = |dir: &Path, sql: &str| {
        let output = Command::new("sqlite3").arg("db").arg(sql).current_dir(dir).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let mut seen = Vec::new();
    for n in 1.. {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(query(dir.path(), "PRAGMA journal_mode=WAL; CREATE TABLE t(a)"), "wal\n");
        let trace = insert(dir.path(), Fault::KillAt(n));
        assert_eq!(query(dir.path(), "PRAGMA integrity_check"), "ok\n");
        seen.push(query(dir.path(), "SELECT count(*) FROM t"));
        if trace.status.success() {
            assert!(trace.syncs >= 2, "{:?}", names(&trace));
            break;
        }
    }
    assert!(seen.is_sorted(), "{seen:?}");
    seen.dedup();
    assert_eq!(seen, ["0\n", "1\n", "2\n"]);
}
