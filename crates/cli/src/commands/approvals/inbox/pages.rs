//! The pages of the inbox: keys go in, decisions and a screen come out, and nothing in it touches a terminal.

use anstyle::Style;
use offshoot_engine::approval::Approval;

use crate::render::patch::coloured;
use crate::render::styled::Styled;
use crate::render::{BOLD, DIM, WARN};
use crate::screen::Key;

const KEYS: &str = "a approve  s for this session  A always  d deny  n next  p previous  j/k scroll  q quit  ? explain";
/// What the keys do that decide.
const EXPLAINED: &str = "a makes a trial real or runs what was not tried, s for the same session too, A with a rule; d drops it, and tells why";
/// Lines of the screen that are no part of a page.
const FRAME: usize = 3;

/// What somebody decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Approve,
    ApproveSession,
    ApproveAlways,
    /// With what they say about it.
    Deny(String),
}

/// One approval.
#[derive(Debug)]
pub(super) struct Page {
    approval: Approval,
    lines: Vec<String>,
}

impl Page {
    pub(super) fn new(approval: Approval, details: &str, patch: &[u8]) -> Self {
        let text = format!("{details}\n{}", coloured(patch));
        Self { approval, lines: text.lines().map(str::to_owned).collect() }
    }
}

/// All of them, and where somebody is.
#[derive(Debug)]
pub(super) struct Pages {
    pages: Vec<Page>,
    at: usize,
    scroll: usize,
    size: (usize, usize),
    /// What is typed as the reason for a denial.
    reason: Option<String>,
    message: String,
    over: bool,
}

impl Pages {
    pub(super) fn new(pages: Vec<Page>) -> Self {
        let (at, scroll, size) = (0, 0, (24, 80));
        let over = pages.is_empty();
        Self { pages, at, scroll, size, reason: None, message: String::new(), over }
    }

    pub(super) fn resize(&mut self, lines: usize, columns: usize) {
        self.size = (lines, columns);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn say(&mut self, message: String) {
        self.message = message;
    }

    /// The one that is shown was decided.
    pub(super) fn decided(&mut self) {
        self.pages.remove(self.at);
        self.go(self.at.min(self.pages.len().saturating_sub(1)));
        self.over = self.pages.is_empty();
    }

    /// What a key means: a decision about the one that is shown, or something about the screen alone.
    pub(super) fn press(&mut self, key: Key) -> Option<(Approval, Choice)> {
        self.message.clear();
        if let Some(reason) = &mut self.reason {
            match key {
                Key::Char(c) => reason.push(c),
                Key::Backspace => drop(reason.pop()),
                Key::Enter => {
                    let reason = self.reason.take().unwrap_or_default();
                    return self.choose(Choice::Deny(reason.trim().to_owned()));
                }
                Key::Escape | Key::Interrupt => self.reason = None,
                _ => {}
            }
            return None;
        }
        match key {
            Key::Char('a' | 'y') => return self.choose(Choice::Approve),
            Key::Char('s') => return self.choose(Choice::ApproveSession),
            Key::Char('A') => return self.choose(Choice::ApproveAlways),
            Key::Char('d') => self.reason = Some(String::new()),
            Key::Char('n') => self.go((self.at + 1).min(self.pages.len().saturating_sub(1))),
            Key::Char('p') => self.go(self.at.saturating_sub(1)),
            Key::Char('j') | Key::Down => self.scroll_to(self.scroll + 1),
            Key::Char('k') | Key::Up => self.scroll_to(self.scroll.saturating_sub(1)),
            Key::Char(' ') | Key::PageDown => self.scroll_to(self.scroll + self.height()),
            Key::Char('b') | Key::PageUp => {
                self.scroll_to(self.scroll.saturating_sub(self.height()));
            }
            Key::Char('g') | Key::Home => self.scroll = 0,
            Key::Char('G') | Key::End => self.scroll_to(usize::MAX),
            Key::Char('?') => EXPLAINED.clone_into(&mut self.message),
            Key::Char('q') | Key::Escape | Key::Interrupt => self.over = true,
            _ => {}
        }
        None
    }

    fn choose(&self, choice: Choice) -> Option<(Approval, Choice)> {
        self.pages.get(self.at).map(|page| (page.approval.clone(), choice))
    }

    fn go(&mut self, at: usize) {
        (self.at, self.scroll) = (at, 0);
    }

    fn height(&self) -> usize {
        self.size.0.saturating_sub(FRAME).max(1)
    }

    fn scroll_to(&mut self, line: usize) {
        let lines = self.pages.get(self.at).map_or(0, |page| page.lines.len());
        self.scroll = line.min(lines.saturating_sub(self.height()));
    }

    /// The screen, as many lines as it has.
    pub(super) fn screen(&self) -> Vec<Styled> {
        let (lines, columns) = self.size;
        let Some(page) = self.pages.get(self.at) else { return Vec::new() };
        let mut bar = Styled::of(BOLD, "approvals  ");
        bar.push(Style::new(), format!("{} of {}", self.at + 1, self.pages.len()));
        let mut screen = vec![bar];
        let shown = page.lines.iter().skip(self.scroll).take(self.height());
        screen.extend(shown.map(|line| Styled::of(Style::new(), line.as_str())));
        screen.resize(lines.saturating_sub(2), Styled::default());
        let more = page.lines.len().saturating_sub(self.scroll + self.height());
        let below = if more > 0 { format!("{more} more lines") } else { String::new() };
        screen.push(Styled::of(DIM, below));
        let mut screen: Vec<Styled> = screen
            .iter()
            .enumerate()
            // What is painted already is not measured.
            .map(|(at, line)| if at == 0 { line.cut(columns) } else { line.clone() })
            .collect();
        screen.push(match &self.reason {
            Some(reason) => Styled::of(BOLD, format!("deny, because: {reason}_")).cut(columns),
            None if !self.message.is_empty() => Styled::of(WARN, &*self.message).cut(columns),
            None => Styled::of(DIM, KEYS).cut(columns),
        });
        screen
    }
}
