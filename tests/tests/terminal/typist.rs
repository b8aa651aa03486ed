//! A person who types commands into a shell and waits for its prompt each time.

use std::ffi::OsStr;
use std::process::Command;

use offshoot_tests::product::{Place, binary};

use crate::console::Console;

/// Printed before each prompt, where no terminal shows it: the exit code of what ran before.
const MARK: (&str, &str) = ("\x1b]9;", "\x07");
/// What readline prints when a line was entered.
const ENTERED: &str = "\x1b[?2004l\r";

/// A shell in a terminal that is wide enough for long commands.
pub(crate) struct Typist {
    pub(crate) console: Console,
}

impl Typist {
    /// Opens bash in the project, with the product in its search path.
    pub(crate) fn new(place: &Place) -> Self {
        Self::with_path(place, &std::env::var_os("PATH").unwrap_or_default())
    }

    /// The same with other places for programs.
    pub(crate) fn with_path(place: &Place, path: &OsStr) -> Self {
        let mut program = Command::new("setsid");
        program.args(["--ctty", "bash", "--norc", "--noprofile", "-i"]);
        let console = Console::start_sized(place, (50, 240), program, &[], |command| {
            let folder = binary().parent().unwrap();
            let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(path));
            command.env("PATH", std::env::join_paths(folders).unwrap());
            command.env("SHELL", "/bin/bash").env("PS1", "$ ").env("PS2", "> ");
            command.env("PROMPT_COMMAND", r#"printf '\033]9;%s\007' $?"#);
            command.env("LC_ALL", "C.UTF-8").env("HISTFILE", "/dev/null");
        });
        let mut typist = Self { console };
        typist.code();
        typist
    }

    /// Types a command and waits until it has ended; what it printed, as a person reads it, and its exit code.
    pub(crate) fn command(&mut self, command: &str) -> (String, i32) {
        let start = self.console.screen().len();
        self.console.keys(&command.replace('\n', "\r"));
        self.console.keys("\r");
        let code = self.code();
        let screen = self.console.screen();
        let (printed, _) = screen[start..].rsplit_once(MARK.0).unwrap();
        let printed = printed.rsplit_once(ENTERED).map_or(printed, |(_, printed)| printed);
        (crate::console::plain(printed), code)
    }

    /// Types into a program that answers with a text.
    pub(crate) fn keys(&mut self, keys: &str, answer: &str) {
        self.console.keys(keys);
        self.console.wait_for(answer);
    }

    /// Types the last line for a program.
    pub(crate) fn leave(&mut self, line: &str) {
        self.console.keys(&format!("{line}\r"));
        self.code();
    }

    /// Waits for the prompt.
    fn code(&mut self) -> i32 {
        self.console.wait_for(MARK.0);
        let code = self.console.read_until(MARK.1);
        self.console.wait_for("$ ");
        code.parse().unwrap()
    }
}
