//! Programs that use Offshoot as a library, and are killed: a test that starts its own binary once more.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs one test of this binary as a program of its own, and kills it once it printed that it is ready.
pub fn kill_when_ready(test: &str, change: impl FnOnce(&mut Command)) {
    let own = std::env::current_exe().expect("a test has a program");
    let mut host = Command::new(own);
    host.args(["--exact", test, "--nocapture"]).stdout(Stdio::piped());
    change(&mut host);
    let mut host = host.spawn().expect("a test can be started");
    let said = BufReader::new(host.stdout.take().expect("its output is a pipe"));
    let is_ready = said.lines().any(|line| line.is_ok_and(|line| line.contains("ready")));
    host.kill().expect("it can be killed");
    let status = host.wait().expect("it was started here");
    assert!(is_ready, "the host ended before it was ready: {status}");
}

/// Whether another process has a word among its arguments.
pub fn runs(word: &str) -> bool {
    let has = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word)
    };
    let own = std::process::id().cast_signed();
    processes().into_iter().any(|pid| pid != own && has(&pid))
}

/// All processes.
pub fn processes() -> Vec<i32> {
    let all = fs::read_dir("/proc").expect("processes are listed").filter_map(Result::ok);
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
