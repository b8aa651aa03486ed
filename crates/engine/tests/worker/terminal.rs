//! A command at a terminal, whose worker reads what is typed to the host.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command as Program, Stdio};
use std::sync::mpsc::{Receiver, channel};

use offshoot_engine::Offshoot;
use offshoot_engine::exec::{Command, Event, Input, Terminal};
use offshoot_needs::needs;
use offshoot_tests::product::binary;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::support::{PATIENCE, changed, on_threads, place, project};

const HOST: &str = "OFFSHOOT_TEST_TERMINAL_HOST";
const PROGRAM: &str = "OFFSHOOT_TEST_PROGRAM";

/// The host itself, where another test starts it at a terminal: a shell in a workspace.
#[test]
fn a_host_at_a_terminal() {
    let Some(place) = std::env::var_os(HOST) else { return };
    let environment = std::env::vars_os().filter(|(name, _)| name != HOST && name != PROGRAM);
    let options = on_threads(Path::new(&place), environment.collect());
    let options = options.worker(std::env::var_os(PROGRAM).unwrap());
    let folder = Path::new(&place).join("project");
    let project = Offshoot::open(options).unwrap().project(folder).unwrap();
    let caller = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let shell = Command::new(["sh", "-i"]).input(Input::Terminal(Terminal { caller }));
    let exec = project.workspace("w").unwrap().exec(shell).unwrap();
    for event in exec.events() {
        match event {
            // The terminal inside has the modes that this one had when the command started.
            Event::Started { .. } => {
                let mut raw = tcgetattr(std::io::stdin()).unwrap();
                raw.make_raw();
                tcsetattr(std::io::stdin(), OptionalActions::Now, &raw).unwrap();
            }
            Event::Output { bytes, .. } => {
                std::io::stdout().write_all(&bytes).unwrap();
                std::io::stdout().flush().unwrap();
            }
            _ => {}
        }
    }
    let ended = exec.wait();
    write!(std::io::stdout(), "the shell ended with {:?}", ended.result.exit_code).unwrap();
}

/// What a terminal shows, as far as it was not waited for yet.
struct Screen {
    pieces: Receiver<Vec<u8>>,
    shown: String,
}

impl Screen {
    fn of(mut terminal: File) -> Self {
        let (show, pieces) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The read fails when nobody has the other side any more.
            while let Ok(got @ 1..) = terminal.read(&mut bytes) {
                if show.send(bytes[..got].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { pieces, shown: String::new() }
    }

    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        loop {
            if let Some(at) = self.shown.find(text) {
                self.shown.drain(..at + text.len());
                return;
            }
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => self.shown.push_str(&String::from_utf8_lossy(&piece)),
                Err(error) => panic!("{text:?} is not shown ({error}):\n{}", self.shown),
            }
        }
    }
}

#[needs(UserNamespace)]
#[test]
fn a_shell_reads_what_is_typed_and_follows_the_window() {
    let place = place();
    let workspace = project(&place).fork("w").unwrap();
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).unwrap();
    unlockpt(&master).unwrap();
    let slave = ioctl_tiocgptpeer(&master, flags).unwrap();
    let resize = |ws_row, ws_col| {
        tcsetwinsize(&master, Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    };
    resize(24, 80);
    let end = || Stdio::from(slave.try_clone().unwrap());
    let mut host = Program::new("setsid")
        .arg("--ctty")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "terminal::a_host_at_a_terminal", "--nocapture"])
        .env_clear()
        .envs(place.environment())
        .env("TERM", "xterm")
        .env(HOST, place.path())
        .env(PROGRAM, binary())
        .stdin(end())
        .stdout(end())
        .stderr(end())
        .spawn()
        .unwrap();
    let mut keys = File::from(master.try_clone().unwrap());
    let mut screen = Screen::of(File::from(master.try_clone().unwrap()));
    let mut type_in = |text: &str| keys.write_all(text.as_bytes()).unwrap();

    // What is typed is shown as well; the quotes keep it from being taken for what the shell says.
    type_in("test -t 0 && echo 'at a' terminal > seen; cat seen; echo 'rea''dy'\r");
    screen.wait_for("at a terminal");
    screen.wait_for("ready");
    type_in("stty size\r");
    screen.wait_for("24 80");
    resize(30, 100);
    type_in("until stty size | grep '30 100'; do sleep 0.05; done; echo 'follow''ed'\r");
    screen.wait_for("followed");
    // Ctrl-C is for what runs inside. The program says itself that it runs: a shell that is just
    // starting one may swallow the key.
    type_in("sh -c 'echo sleep\"\"ing; exec sleep 1000'\r");
    screen.wait_for("sleeping");
    type_in("\x03");
    type_in("echo 'awa''ke'\r");
    screen.wait_for("awake");
    type_in("exit 3\r");
    screen.wait_for("the shell ended with Some(3)");
    drop(slave);
    assert!(host.wait().unwrap().success());
    assert_eq!(changed(&workspace), ["/seen"]);
}
