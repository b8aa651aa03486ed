//! The terminal as a screen to draw on, and the keys that are pressed there.

mod keys;

use std::io::{self, Write};
use std::os::fd::AsFd;

use offshoot_engine::exec::Signals;
use offshoot_protocol::ExitCode;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

pub(crate) use self::keys::Key;
use self::keys::keys;
use crate::error::{CliError, Result};
use crate::render::styled::Styled;
use crate::terminal::Raw;

/// Another screen, without a cursor; and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// The terminal while it is a screen to draw on: it becomes what it was when this is dropped.
pub(crate) struct Screen {
    signals: Option<Signals>,
    /// What is said where it ends early.
    unfinished: &'static str,
    _raw: Raw,
}

impl Screen {
    /// Takes the terminal over.
    pub(crate) fn enter(unfinished: &'static str) -> Result<Self> {
        let lost = || ended("the terminal is gone", unfinished);
        let raw = Raw::enter().ok_or_else(lost)?;
        let signals = Signals::take_over().map_err(|_| lost())?;
        print(ENTER).map_err(|_| lost())?;
        Ok(Self { signals: Some(signals), unfinished, _raw: raw })
    }

    /// Shows these lines.
    pub(crate) fn draw(&self, lines: &[Styled]) -> Result<()> {
        let mut frame = String::from("\x1b[H");
        for (at, line) in lines.iter().enumerate() {
            let end = if at + 1 < lines.len() { "\r\n" } else { "" };
            frame.push_str(&format!("{}\x1b[K{end}", line.painted()));
        }
        frame.push_str("\x1b[J");
        crate::output::finish_write(print(&frame))
    }

    /// Waits for keys, or until there is another reason to look at the terminal.
    pub(crate) fn read(&self) -> Result<Vec<Key>> {
        let stdin = io::stdin();
        let mut events = vec![PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        events.extend(
            self.signals.iter().map(|s| PollFd::from_borrowed_fd(s.as_fd(), PollFlags::IN)),
        );
        match poll(&mut events, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(ended(&error.to_string(), self.unfinished)),
        }
        let typed = !events[0].revents().is_empty();
        drop(events);
        if self.signals.as_ref().is_some_and(Signals::ask_to_end) {
            return Err(ended("it was asked to end", self.unfinished));
        }
        if !typed {
            return Ok(Vec::new());
        }
        let mut bytes = [0; 1024];
        match rustix::io::read(&stdin, &mut bytes) {
            Ok(0) => Err(ended("the terminal is gone", self.unfinished)),
            Ok(got) => Ok(keys(&bytes[..got])),
            Err(Errno::INTR | Errno::AGAIN) => Ok(Vec::new()),
            Err(error) => Err(ended(&error.to_string(), self.unfinished)),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing any more.
        drop(print(LEAVE));
        if let Some(signals) = self.signals.take() {
            signals.give_back();
        }
    }
}

fn ended(why: &str, unfinished: &str) -> CliError {
    CliError::new(ExitCode::Failure, format!("{why}: {unfinished}"))
}

fn print(text: &str) -> io::Result<()> {
    // Colours go as everything else does: away where they are not wanted.
    let text = match anstream::AutoStream::choice(&io::stdout()) {
        anstream::ColorChoice::Never => without_styles(text),
        _ => text.to_owned(),
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Text without colours, and with everything else that steers the screen.
fn without_styles(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        let (before, sequence) = rest.split_at(at);
        out.push_str(before);
        let length = sequence[2..].find(|c: char| c.is_ascii_alphabetic()).map_or(1, |end| end + 3);
        let (sequence, after) = sequence.split_at(length);
        if !sequence.ends_with('m') {
            out.push_str(sequence);
        }
        rest = after;
    }
    out + rest
}
