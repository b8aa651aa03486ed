//! A terminal with the product in it, and a person who types and reads.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use offshoot_tests::product::{Place, binary, document_of};
use offshoot_tests::user::{User, give_away};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use serde_json::Value;

/// Longer than anything takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);

/// A place with a vault of a small project and its workspace `fix`.
pub(crate) fn place() -> Place {
    let place = Place::new();
    place.write("README.md", "# Demo\n\nA small project.\n");
    place.write("notes.txt", (1..=200).map(|n| format!("line {n}\n")).collect::<String>());
    place.ok(["init"]);
    place.ok(["workspace", "create", "fix"]);
    place
}

/// The same place in the hands of somebody who is not root.
pub(crate) fn place_of_user() -> (Place, User) {
    let (place, user) = (place(), User::new());
    give_away(place.path());
    (place, user)
}

/// What became of the newest exec, from its envelope.
pub(crate) fn newest(place: &Place) -> Value {
    let id = place.json(&["execs"])["execs"][0]["exec"].as_str().unwrap().to_owned();
    document_of(&place.run(["show", &id, "--json"]))["result"].clone()
}

/// A terminal, what it has shown, and the program that was started in it.
pub(crate) struct Console {
    master: Option<File>,
    /// Held so that the terminal outlives the program and can be looked at.
    slave: OwnedFd,
    child: Child,
    shown: Vec<u8>,
    /// How much of it was waited for already.
    seen: usize,
}

impl Console {
    /// Runs the product in a new terminal of 24 lines with 80 columns.
    pub(crate) fn run(place: &Place, arguments: &[&str]) -> Self {
        let mut program = Command::new("setsid");
        program.arg("--ctty").arg(binary());
        Self::start(place, program, arguments, |_| {})
    }

    /// The same as somebody who is not root.
    pub(crate) fn run_as(place: &Place, user: &User, arguments: &[&str]) -> Self {
        let mut program = Command::new("setsid");
        program.arg("--ctty").args(user.becoming()).arg(user.binary());
        Self::start(place, program, arguments, |_| {})
    }

    /// The same with something changed before it starts.
    pub(crate) fn run_with(
        place: &Place,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let mut program = Command::new("setsid");
        program.arg("--ctty").arg(binary());
        Self::start(place, program, arguments, change)
    }

    /// The same with an empty standard input.
    pub(crate) fn run_without_input(place: &Place, arguments: &[&str]) -> Self {
        let program = Command::new(binary());
        Self::start(place, program, arguments, |command| {
            command.stdin(Stdio::null());
        })
    }

    fn start(
        place: &Place,
        program: Command,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        Self::start_sized(place, (24, 80), program, arguments, change)
    }

    /// Runs a program in a new terminal of so many lines and columns.
    pub(crate) fn start_sized(
        place: &Place,
        (lines, columns): (u16, u16),
        mut program: Command,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        unlockpt(&master).unwrap();
        let slave = ioctl_tiocgptpeer(&master, flags).unwrap();
        program.args(arguments).env_clear().envs(place.environment()).env("TERM", "xterm");
        program.env("COLORTERM", "truecolor");
        program.current_dir(place.project());
        let end = || Stdio::from(slave.try_clone().unwrap());
        program.stdin(end()).stdout(end()).stderr(end());
        change(&mut program);
        let master = Some(File::from(master));
        resize(master.as_ref().unwrap(), lines, columns);
        let child = program.spawn().unwrap();
        Self { master, slave, child, shown: Vec::new(), seen: 0 }
    }

    /// Types something.
    pub(crate) fn keys(&mut self, text: &str) {
        self.master.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Gives the terminal another size.
    pub(crate) fn resize(&self, lines: u16, columns: u16) {
        resize(self.master.as_ref().unwrap(), lines, columns);
    }

    /// Waits until something is shown that was not waited for before.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let limit = Instant::now() + PATIENCE;
        loop {
            let shown = &self.shown[self.seen..];
            if let Some(at) = shown.windows(text.len()).position(|found| found == text.as_bytes()) {
                self.seen += at + text.len();
                return;
            }
            // In this order: what it wrote just before its end is read.
            let has_ended = self.child.try_wait().unwrap().is_some();
            let more = self.read(Duration::from_millis(100));
            let over = Instant::now() > limit || !more && has_ended;
            assert!(!over, "{text:?} is not shown:\n{}", self.screen());
        }
    }

    /// What is shown up to a text, which is waited for.
    pub(crate) fn read_until(&mut self, text: &str) -> String {
        let start = self.seen;
        self.wait_for(text);
        let shown = &self.shown[start..self.seen - text.len()];
        String::from_utf8_lossy(shown).into_owned()
    }

    /// Everything that was shown.
    pub(crate) fn screen(&self) -> String {
        String::from_utf8_lossy(&self.shown).into_owned()
    }

    /// The same as a person reads it: without colours and what else steers a terminal.
    pub(crate) fn text(&self) -> String {
        plain(&self.screen())
    }

    /// The modes of the terminal, as text that can be compared.
    pub(crate) fn modes(&self) -> String {
        modes(&tcgetattr(&self.slave).unwrap())
    }

    /// The number of the file system that the terminal's name lies in.
    pub(crate) fn device(&self) -> u64 {
        rustix::fs::fstat(&self.slave).unwrap().st_dev
    }

    /// Sends a signal to the product.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Closes the terminal's window.
    pub(crate) fn close(&mut self) {
        self.master = None;
    }

    /// Waits until the product has ended, and gives how.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let limit = Instant::now() + PATIENCE;
        loop {
            // What is shown must be read, or the product waits for ever.
            let more = self.master.is_some() && self.read(Duration::from_millis(20));
            match self.child.try_wait().unwrap() {
                Some(status) if !more => return status,
                _ => {}
            }
            if self.master.is_none() {
                std::thread::sleep(Duration::from_millis(20));
            }
            assert!(Instant::now() < limit, "it does not end:\n{}", self.screen());
        }
    }

    /// Reads what is there, or comes within a time; false where nothing did.
    fn read(&mut self, patience: Duration) -> bool {
        let master = self.master.as_mut().unwrap();
        let mut events = [PollFd::new(master, PollFlags::IN)];
        let patience = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
        if poll(&mut events, Some(&patience)).unwrap() == 0 {
            return false;
        }
        let mut bytes = [0; 65536];
        let got = master.read(&mut bytes).unwrap_or(0);
        self.shown.extend_from_slice(&bytes[..got]);
        got > 0
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        // A test that fails leaves nothing behind: the product ends what it started when it is killed.
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

/// Takes out what steers a terminal.
pub(crate) fn plain(screen: &str) -> String {
    let mut text = String::new();
    let mut rest = screen.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\x1b' if rest.next_if_eq(&'[').is_some() => {
                // A sequence ends with a letter or the like.
                let mut sequence = String::new();
                for c in rest.by_ref() {
                    sequence.push(c);
                    if ('@'..='~').contains(&c) {
                        break;
                    }
                }
                // Where a line is erased nobody reads any more what stood in it.
                if sequence == "2K" {
                    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
                }
            }
            // A command for the window ends with a bell.
            '\x1b' if rest.next_if_eq(&']').is_some() => {
                rest.by_ref().find(|c| *c == '\x07');
            }
            '\x1b' => drop(rest.next()),
            '\r' | '\x07' => {}
            '\x08' => drop(text.pop()),
            other => text.push(other),
        }
    }
    text
}

fn resize(master: &File, lines: u16, columns: u16) {
    let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).unwrap();
}

fn modes(termios: &Termios) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?}",
        termios.input_modes,
        termios.output_modes,
        termios.control_modes,
        termios.local_modes,
        termios.special_codes
    )
}
