//! A terminal emulator that can be asked what is on the screen.

use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use offshoot_tests::product::{Place, binary};

/// Longer than anything takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of its own with one window, in which a shell runs; gone when dropped.
pub(crate) struct Tmux<'a> {
    place: &'a Place,
    socket: String,
}

impl<'a> Tmux<'a> {
    pub(crate) fn new(place: &'a Place) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let tmux = Self { place, socket: format!("offshoot-test-{}-{number}", std::process::id()) };
        // It may outlive its window by a moment, and must not write its history to a folder that is gone by then.
        let shell = ["env", "PS1=outside> ", "HISTFILE=", "bash", "--norc", "--noprofile"];
        let window = ["new-session", "-d", "-x", "80", "-y", "24"];
        let made = tmux.command(&[&window[..], &shell].concat());
        assert!(made.status.success(), "{made:?}");
        tmux.wait_for("outside>");
        tmux
    }

    fn command(&self, words: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.socket, "-f", "/dev/null"]).args(words);
        command.env_clear().envs(self.place.environment()).current_dir(self.place.project());
        command.env("TMUX_TMPDIR", self.place.path()).env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8").env("OFFSHOOT", binary());
        command.output().unwrap()
    }

    /// Types text, or presses a key by its name.
    pub(crate) fn keys(&self, keys: &[&str]) {
        let sent = self.command(&[&["send-keys"], keys].concat());
        assert!(sent.status.success(), "{sent:?}");
    }

    pub(crate) fn line(&self, text: &str) {
        self.keys(&["-l", text]);
        self.keys(&["Enter"]);
    }

    pub(crate) fn resize(&self, columns: &str, lines: &str) {
        let resized = self.command(&["resize-window", "-x", columns, "-y", lines]);
        assert!(resized.status.success(), "{resized:?}");
    }

    pub(crate) fn screen(&self) -> String {
        let shown = self.command(&["capture-pane", "-p"]);
        assert!(shown.status.success(), "{shown:?}");
        String::from_utf8(shown.stdout).unwrap()
    }

    /// Waits until something is on the screen.
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text));
    }

    /// Waits until the screen is as it should be.
    pub(crate) fn wait_until(&self, what: &str, fits: impl Fn(&str) -> bool) {
        let limit = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if fits(&screen) {
                return;
            }
            assert!(Instant::now() < limit, "{what:?} is not on the screen:\n{screen}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        self.command(&["kill-server"]);
    }
}
