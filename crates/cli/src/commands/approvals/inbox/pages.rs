//! The pages of the inbox: keys go in, decisions and a screen come out, and nothing in it touches a terminal.

use anstyle::Style;
use offshoot_engine::approval::Approval;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::render::styled::Styled;
use crate::render::{BOLD, DIM, WARN};
use crate::screen::Key;

const KEYS: &str = "a approve  s for this session  A always  d deny  n next  p previous  j/k scroll  q quit  ? explain";
/// What the keys do that decide.
const EXPLAINED: &str = "a makes a trial real or runs what was not tried, s for the same session too, A with a rule; d drops it, and tells why";
/// Lines of the screen that are no part of a page, beside those at the bottom.
const FRAME: usize = 2;
/// What keeps the keys apart.
const GAP: &str = "  ";

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
    pub(super) fn new(approval: Approval, details: &str, changes: &str) -> Self {
        let text = format!("{details}\n{changes}");
        Self { approval, lines: text.lines().map(str::to_owned).collect() }
    }

    /// The lines as a screen of so many columns has them: what does not fit goes on in the next, and can be scrolled to.
    fn rows(&self, columns: usize) -> Vec<String> {
        self.lines.iter().flat_map(|line| wrapped(line, columns)).collect()
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

    /// The one that is shown is another by now.
    pub(super) fn replace(&mut self, page: Page) {
        if let Some(shown) = self.pages.get_mut(self.at) {
            *shown = page;
            self.go(self.at);
        }
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
        self.size.0.saturating_sub(FRAME + self.bottom().len()).max(1)
    }

    fn scroll_to(&mut self, line: usize) {
        let lines = self.pages.get(self.at).map_or(0, |page| page.rows(self.size.1).len());
        self.scroll = line.min(lines.saturating_sub(self.height()));
    }

    /// What is typed, what there is to say, or the keys: in as many lines as it takes.
    fn bottom(&self) -> Vec<Styled> {
        let (lines, columns) = self.size;
        let (style, rows) = match &self.reason {
            Some(reason) => (BOLD, wrapped(&format!("deny, because: {reason}_"), columns)),
            None if !self.message.is_empty() => (WARN, filled(&self.message, " ", columns)),
            None => (DIM, filled(KEYS, GAP, columns)),
        };
        // Something of the page is always to be seen.
        let most = lines.saturating_sub(FRAME + 1).max(1);
        rows.into_iter().take(most).map(|row| Styled::of(style, row)).collect()
    }

    /// The screen, as many lines as it has.
    pub(super) fn screen(&self) -> Vec<Styled> {
        let (lines, columns) = self.size;
        let Some(page) = self.pages.get(self.at) else { return Vec::new() };
        let mut bar = Styled::of(BOLD, "approvals  ");
        bar.push(Style::new(), format!("{} of {}", self.at + 1, self.pages.len()));
        let mut screen = vec![bar];
        let rows = page.rows(columns);
        let shown = rows.iter().skip(self.scroll).take(self.height());
        screen.extend(shown.map(|line| Styled::of(Style::new(), line.as_str())));
        let bottom = self.bottom();
        screen.resize(lines.saturating_sub(1 + bottom.len()), Styled::default());
        let more = rows.len().saturating_sub(self.scroll + self.height());
        let below = if more > 0 { format!("{more} more lines") } else { String::new() };
        screen.push(Styled::of(DIM, below));
        let mut screen: Vec<Styled> = screen
            .iter()
            .enumerate()
            // What is painted already is not measured.
            .map(|(at, line)| if at == 0 { line.cut(columns) } else { line.clone() })
            .collect();
        screen.extend(bottom.iter().map(|line| line.cut(columns)));
        screen
    }
}

/// A text in lines that are no longer than this, as far as its parts are not.
fn filled(text: &str, gap: &str, columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for part in text.split(gap) {
        match rows.last_mut() {
            Some(row) if row.width() + gap.len() + part.width() <= columns => {
                row.push_str(gap);
                row.push_str(part);
            }
            _ => rows.push(part.to_owned()),
        }
    }
    rows.iter().flat_map(|row| wrapped(row, columns)).collect()
}

/// Cells of a terminal from one tab to the next.
const TAB: usize = 8;

/// A line that is painted already, in as many as it takes at this width.
fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == '\x1b' {
            row.push(letter);
            let end = letters.by_ref().find(|part| {
                row.push(*part);
                part.is_ascii_alphabetic()
            });
            if end.is_none() {
                break;
            }
            continue;
        }
        let width = match letter {
            '\t' => TAB - used % TAB,
            letter => letter.width().unwrap_or(0),
        };
        if used > 0 && used + width > columns {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        row.push(letter);
        used += width;
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All keys, all of an explanation and all of an error are to be seen, whatever the width is.
    #[test]
    fn nothing_at_the_bottom_is_cut() {
        let mut pages = Pages::new(Vec::new());
        let text = |pages: &Pages| {
            let lines = pages.bottom();
            let shown: Vec<String> =
                lines.iter().map(|line| line.cut(pages.size.1).plain()).collect();
            assert!(shown.iter().all(|line| line.width() <= pages.size.1), "{shown:?}");
            shown.join(" ")
        };
        for columns in [40, 80, 200] {
            pages.resize(24, columns);
            pages.message.clear();
            let keys = text(&pages);
            assert!(keys.contains("q quit") && keys.contains("? explain"), "{columns}: {keys}");
            pages.press(Key::Char('?'));
            assert_eq!(text(&pages), EXPLAINED);
        }
        assert_eq!(filled("a b c", " ", 3), ["a b", "c"]);
    }

    #[test]
    fn long_lines_go_on_in_the_next() {
        assert_eq!(wrapped("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("\x1b[1mab\x1b[0mcdef", 4), ["\x1b[1mab\x1b[0mcd", "ef"]);
        assert_eq!(wrapped("漢字漢", 4), ["漢字", "漢"]);
        assert_eq!(wrapped("a\tb", 8), ["a\t", "b"]);
    }
}
