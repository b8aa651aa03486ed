//! A command of the binary that runs beside the test, and its end.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use offshoot_tests::product::{Place, document_of, with_json};
use serde_json::Value;

/// How long something on a busy machine may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something to become true.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "this never happened: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// An exec that runs. Killed when dropped.
pub(crate) struct Background {
    child: Option<Child>,
    /// Its id.
    pub(crate) exec: String,
    /// The process of `offshoot`, and the first process inside.
    pub(crate) pids: [u32; 2],
}

impl Background {
    /// Starts a shell text in workspace `fix` and waits until it prints `ready`.
    pub(crate) fn start(place: &Place, text: &str) -> Self {
        Self::start_with(place, &["exec", "-w", "fix", "--shell", text])
    }

    /// Starts an exec and waits until it prints `ready`.
    pub(crate) fn start_with(place: &Place, arguments: &[&str]) -> Self {
        Self::spawn(place, &mut place.command(with_json(arguments)))
    }

    /// Starts any command of the binary, an exec, and waits until it prints `ready`.
    pub(crate) fn spawn(place: &Place, command: &mut Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut found = Value::Null;
        eventually("the command runs and is ready", || {
            let listed = place.json(&["ps"])["running"].clone();
            let own = |entry: &&Value| entry["pid"] == child.id();
            found = listed.as_array().unwrap().iter().find(own).cloned().unwrap_or_default();
            let exec = found["exec"].as_str().unwrap_or_default();
            !found.is_null()
                && place.json(&["logs", exec])["stdout"].as_str().unwrap().contains("ready")
        });
        let number = |name: &str| u32::try_from(found[name].as_u64().unwrap()).unwrap();
        let pids = [number("pid"), number("init_pid")];
        Self { child: Some(child), exec: found["exec"].as_str().unwrap().to_owned(), pids }
    }

    /// Waits until it ends.
    pub(crate) fn wait(mut self) -> Output {
        self.child.take().unwrap().wait_with_output().unwrap()
    }

    /// Types something in, and waits until it ends.
    pub(crate) fn answer(mut self, words: &[u8]) -> Output {
        let mut child = self.child.take().unwrap();
        child.stdin.take().unwrap().write_all(words).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Waits until it ends, and gives its envelope.
    pub(crate) fn envelope(self) -> Value {
        document_of(&self.wait())
    }

    /// Kills the process of `offshoot`, as a crash would, and waits until nothing of it runs.
    pub(crate) fn crash(mut self) -> String {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        eventually("everything inside is gone", || !is_alive(self.pids[1]));
        self.exec.clone()
    }

    /// Kills the first process inside, and with it all others there.
    pub(crate) fn kill_init(&self) {
        let pid = rustix::process::Pid::from_raw(self.pids[1].cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Whether a process runs.
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.starts_with(" Z"))
}
