//! Showing a walk in the terminal that this process was started in.

use std::io::{self, Write};
use std::os::fd::AsFd;

use offshoot_engine::exec::Signals;
use offshoot_engine::review::{FoldedReview, Item};
use offshoot_protocol::ExitCode;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::editor;
use super::keys::{Key, keys};
use super::walk::{Action, Ending, Walk};
use crate::error::{CliError, Result};
use crate::render::styled::Styled;
use crate::terminal::{self, Raw};

/// Another screen, without a cursor; and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// Walks through items until somebody ends it, and gives them back with the decisions.
pub(crate) fn walk(
    title: String,
    review: FoldedReview,
    can_commit: bool,
) -> Result<(FoldedReview, Ending)> {
    let mut walk = Walk::new(title, review, can_commit);
    let mut screen = Screen::enter()?;
    loop {
        if let Some((lines, columns)) = terminal::size() {
            walk.resize(lines, columns);
        }
        screen.draw(&walk.screen())?;
        for key in screen.read()? {
            match walk.press(key) {
                Action::Show => {}
                Action::End(ending) => return Ok((walk.into_review(), ending)),
                Action::EditPiece => screen = edit_piece(screen, &mut walk)?,
                Action::EditFile => screen = edit_file(screen, &mut walk)?,
            }
        }
    }
}

fn edit_piece(screen: Screen, walk: &mut Walk) -> Result<Screen> {
    let at = walk.current_piece();
    let text = walk.current().and_then(|item| item.editable(at));
    edit(screen, walk, text, Walk::edited_piece)
}

fn edit_file(screen: Screen, walk: &mut Walk) -> Result<Screen> {
    let text = walk.current().and_then(Item::whole_editable);
    edit(screen, walk, text, Walk::edited_file)
}

/// Leaves the terminal to an editor, and takes over what it made of a text.
fn edit(
    screen: Screen,
    walk: &mut Walk,
    text: Option<Vec<u8>>,
    take: impl FnOnce(&mut Walk, Vec<u8>),
) -> Result<Screen> {
    let (Some(text), Some(path)) = (text, walk.current().map(|item| item.change.path.clone()))
    else {
        return Ok(screen);
    };
    drop(screen);
    match editor::edit(&text, &path) {
        Ok(Some(edited)) => take(walk, edited),
        Ok(None) => walk.say("nothing was changed in the editor"),
        Err(error) => walk.say(error.message),
    }
    Screen::enter()
}

/// The terminal while it is a screen to draw on: it becomes what it was when this is dropped.
struct Screen {
    signals: Option<Signals>,
    _raw: Raw,
}

impl Screen {
    fn enter() -> Result<Self> {
        let lost = || CliError::new(ExitCode::Failure, "the terminal is gone; nothing was changed");
        let raw = Raw::enter().ok_or_else(lost)?;
        let signals = Signals::take_over().map_err(|_| lost())?;
        print(ENTER).map_err(|_| lost())?;
        Ok(Self { signals: Some(signals), _raw: raw })
    }

    fn draw(&self, lines: &[Styled]) -> Result<()> {
        let mut frame = String::from("\x1b[H");
        for (at, line) in lines.iter().enumerate() {
            let end = if at + 1 < lines.len() { "\r\n" } else { "" };
            frame.push_str(&format!("{}\x1b[K{end}", line.painted()));
        }
        frame.push_str("\x1b[J");
        crate::output::finish_write(print(&frame))
    }

    /// Waits for keys, or until there is another reason to look at the terminal.
    fn read(&self) -> Result<Vec<Key>> {
        let stdin = io::stdin();
        let mut events = vec![PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        events.extend(
            self.signals.iter().map(|s| PollFd::from_borrowed_fd(s.as_fd(), PollFlags::IN)),
        );
        match poll(&mut events, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(ended(&error.to_string())),
        }
        let typed = !events[0].revents().is_empty();
        drop(events);
        if self.signals.as_ref().is_some_and(Signals::ask_to_end) {
            return Err(ended("it was asked to end"));
        }
        if !typed {
            return Ok(Vec::new());
        }
        let mut bytes = [0; 1024];
        match rustix::io::read(&stdin, &mut bytes) {
            Ok(0) => Err(ended("the terminal is gone")),
            Ok(got) => Ok(keys(&bytes[..got])),
            Err(Errno::INTR | Errno::AGAIN) => Ok(Vec::new()),
            Err(error) => Err(ended(&error.to_string())),
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

fn ended(why: &str) -> CliError {
    CliError::new(ExitCode::Failure, format!("the review ended: {why}; nothing was changed"))
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
