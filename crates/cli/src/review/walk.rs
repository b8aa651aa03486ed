//! Where somebody is in a review, and what each key does.

use offshoot_engine::change::{Change, ChangeKind};
use offshoot_engine::review::{Decision, FoldedReview, Group, Item, Tally, decide_all};

use super::show::{group_lines, matches, piece_lines};
use crate::screen::Key;

/// A walk through changes.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(super) title: String,
    pub(super) items: Vec<Item>,
    /// Which of them are shown as one, as long as nobody expands them.
    pub(super) groups: Vec<Group>,
    /// Which item is shown; of those that are shown as one, the first.
    pub(super) item: usize,
    /// Which piece of it.
    pub(super) piece: usize,
    /// How many lines of it are above the screen.
    pub(super) scroll: usize,
    pub(super) mode: Mode,
    /// Something to say until the next key.
    pub(super) message: Option<String>,
    /// What was looked for last.
    pattern: String,
    /// Lines and columns of the screen.
    pub(super) size: (usize, usize),
    /// Whether what was accepted can be committed at the end.
    pub(super) can_commit: bool,
}

/// What keys mean at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// They decide.
    Deciding,
    /// They are text to look for.
    Finding(String),
    /// Any ends the help.
    Helping,
    /// They say what becomes of the decisions.
    Leaving,
}

/// What has to be done by whoever shows the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Nothing but showing it again.
    Show,
    /// Letting the piece be edited.
    EditPiece,
    /// Letting the whole file be edited.
    EditFile,
    /// Ending it.
    End(Ending),
}

/// What becomes of the decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// They are carried out.
    Apply,
    /// They are carried out, and what was accepted is committed.
    Commit,
    /// They are forgotten.
    Forget,
}

/// How many pieces were decided about in which way, for people.
pub(crate) fn tally_text(tally: &Tally) -> String {
    let Tally { accepted, dropped, edited, undecided } = tally;
    format!("{accepted} accepted, {dropped} dropped, {edited} edited, {undecided} undecided")
}

impl Walk {
    /// Begins at the first piece. There must be one.
    pub(crate) fn new(title: String, review: FoldedReview, can_commit: bool) -> Self {
        Self {
            title,
            items: review.items,
            groups: review.groups,
            item: 0,
            piece: 0,
            scroll: 0,
            mode: Mode::Deciding,
            message: None,
            pattern: String::new(),
            size: (24, 80),
            can_commit,
        }
    }

    /// Tells how large the screen is.
    pub(crate) fn resize(&mut self, lines: usize, columns: usize) {
        self.size = (lines, columns);
        self.scroll = self.scroll.min(self.furthest());
    }

    /// Gives the items back, with their decisions and as they were shown.
    pub(crate) fn into_review(self) -> FoldedReview {
        FoldedReview { items: self.items, groups: self.groups }
    }

    /// Says something until the next key.
    pub(crate) fn say(&mut self, message: impl Into<String>) {
        self.message = Some(message.into());
    }

    /// The item that is shown.
    pub(crate) fn current(&self) -> Option<&Item> {
        self.items.get(self.item)
    }

    /// The number of the piece that is shown, in its item.
    pub(crate) fn current_piece(&self) -> usize {
        self.piece
    }

    /// Puts edited lines in the place of the piece that is shown.
    pub(crate) fn edited_piece(&mut self, lines: Vec<u8>) {
        self.decide(Decision::Edited(lines));
    }

    /// Puts an edited text in the place of the whole file that is shown.
    pub(crate) fn edited_file(&mut self, text: Vec<u8>) {
        if let Some(item) = self.items.get_mut(self.item) {
            item.edit_whole(text);
            self.piece = 0;
        }
        self.next_item();
    }

    /// Does what a key says.
    pub(crate) fn press(&mut self, key: Key) -> Action {
        self.message = None;
        match std::mem::replace(&mut self.mode, Mode::Deciding) {
            Mode::Deciding => self.deciding(key),
            Mode::Helping => Action::Show,
            Mode::Finding(text) => self.finding(key, text),
            Mode::Leaving => self.leaving(key),
        }
    }

    fn deciding(&mut self, key: Key) -> Action {
        match key {
            Key::Char('a' | 'y') => self.decide(Decision::Accepted),
            Key::Char('d') => self.decide(Decision::Dropped),
            Key::Char('u') => self.set(Decision::Undecided),
            Key::Char('n') => self.next(),
            Key::Char('p') => self.previous(),
            Key::Char('f') => self.decide_item(&Decision::Accepted),
            Key::Char('F') => self.decide_item(&Decision::Dropped),
            Key::Char('J') => self.next_item(),
            Key::Char('K') => self.previous_item(),
            Key::Char('x') => self.expand(),
            Key::Char('s') => self.split(),
            Key::Char('e') => return self.edit_piece(),
            Key::Char('E') => return self.edit_file(),
            Key::Char('/') => self.mode = Mode::Finding(String::new()),
            Key::Char('?' | 'h') => self.mode = Mode::Helping,
            Key::Char('q') | Key::Interrupt | Key::Escape => self.mode = Mode::Leaving,
            Key::Char('j') | Key::Down | Key::Enter => self.scroll_by(1),
            Key::Char('k') | Key::Up => self.scroll_by(-1),
            Key::Char(' ') | Key::PageDown => self.scroll_by(self.page()),
            Key::Char('b') | Key::PageUp => self.scroll_by(-self.page()),
            Key::Char('g') | Key::Home => self.scroll = 0,
            Key::Char('G') | Key::End => self.scroll = self.furthest(),
            Key::Char(c) => self.say(format!("{c} means nothing here; ? is the help")),
            Key::Backspace => {}
        }
        Action::Show
    }

    fn finding(&mut self, key: Key, mut text: String) -> Action {
        match key {
            Key::Enter => self.find(text),
            Key::Escape | Key::Interrupt => {}
            Key::Backspace if text.is_empty() => {}
            other => {
                match other {
                    Key::Backspace => drop(text.pop()),
                    Key::Char(c) => text.push(c),
                    _ => {}
                }
                self.mode = Mode::Finding(text);
            }
        }
        Action::Show
    }

    fn leaving(&mut self, key: Key) -> Action {
        match key {
            Key::Char('y') | Key::Enter => Action::End(Ending::Apply),
            Key::Char('c') if self.can_commit => Action::End(Ending::Commit),
            Key::Char('x') | Key::Interrupt => Action::End(Ending::Forget),
            Key::Char('p' | 'r') | Key::Escape => Action::Show,
            _ => {
                self.mode = Mode::Leaving;
                Action::Show
            }
        }
    }

    /// What is shown as one.
    pub(super) fn current_group(&self) -> Option<&Group> {
        self.group_of(self.item)
    }

    fn group_of(&self, item: usize) -> Option<&Group> {
        self.groups.iter().find(|group| group.items.contains(&item))
    }

    /// The number of what is shown, and how much there is.
    pub(super) fn place(&self) -> (usize, usize) {
        let is_shown = |at: &usize| self.group_of(*at).is_none_or(|it| it.items.start == *at);
        let shown = |end: usize| (0..end).filter(is_shown).count();
        (shown(self.item) + 1, shown(self.items.len()))
    }

    fn expand(&mut self) {
        match self.groups.iter().position(|group| group.items.contains(&self.item)) {
            Some(at) => drop(self.groups.remove(at)),
            None => self.say("there is nothing to expand here"),
        }
    }

    /// Whether something is shown as one, in which case it says that it has no parts.
    fn is_folded(&mut self) -> bool {
        let folded = self.current_group().is_some();
        if folded {
            self.say("these are many files; x expands them");
        }
        folded
    }

    fn set(&mut self, decision: Decision) {
        if let Some(group) = self.current_group() {
            let items = group.items.clone();
            return decide_all(&mut self.items[items], &decision);
        }
        let item = self.items.get_mut(self.item);
        if let Some(piece) = item.and_then(|item| item.pieces.get_mut(self.piece)) {
            piece.decision = decision;
        }
    }

    fn decide(&mut self, decision: Decision) {
        self.set(decision);
        self.next();
    }

    fn decide_item(&mut self, decision: &Decision) {
        let one = self.item..(self.item + 1).min(self.items.len());
        let items = self.current_group().map_or(one, |group| group.items.clone());
        decide_all(&mut self.items[items], decision);
        self.next_item();
    }

    fn split(&mut self) {
        if self.is_folded() {
            return;
        }
        let split = self.items.get_mut(self.item).is_some_and(|item| item.split(self.piece));
        if split {
            self.scroll = 0;
        } else {
            self.say("this cannot be split any further");
        }
    }

    fn edit_piece(&mut self) -> Action {
        if self.is_folded() {
            return Action::Show;
        }
        let editable = self.current().and_then(|item| item.editable(self.piece));
        if editable.is_some() {
            return Action::EditPiece;
        }
        self.say("there are no lines to edit here");
        Action::Show
    }

    fn edit_file(&mut self) -> Action {
        if self.is_folded() {
            return Action::Show;
        }
        if self.current().and_then(Item::whole_editable).is_some() {
            return Action::EditFile;
        }
        self.say("this is not a text that can be edited");
        Action::Show
    }

    fn go(&mut self, item: usize, piece: usize) {
        (self.item, self.piece, self.scroll) = (item, piece, 0);
    }

    fn next(&mut self) {
        match self.current().filter(|_| self.current_group().is_none()) {
            Some(item) if self.piece + 1 < item.pieces.len() => self.go(self.item, self.piece + 1),
            _ => self.next_item(),
        }
    }

    fn next_item(&mut self) {
        let next = self.current_group().map_or(self.item + 1, |group| group.items.end);
        if next < self.items.len() {
            self.go(next, 0);
        } else {
            self.mode = Mode::Leaving;
        }
    }

    fn previous(&mut self) {
        if self.piece > 0 {
            self.go(self.item, self.piece - 1);
        } else if self.item > 0 {
            match self.group_of(self.item - 1) {
                Some(group) => self.go(group.items.start, 0),
                None => {
                    let last = self.items[self.item - 1].pieces.len().saturating_sub(1);
                    self.go(self.item - 1, last);
                }
            }
        } else {
            self.say("this is the first one");
        }
    }

    fn previous_item(&mut self) {
        let before = self.item.saturating_sub(1);
        self.go(self.group_of(before).map_or(before, |group| group.items.start), 0);
    }

    /// Goes to the next piece that has a text in it, or in its path; from the last one on to the first.
    fn find(&mut self, text: String) {
        if !text.is_empty() {
            self.pattern = text;
        }
        if self.pattern.is_empty() {
            return;
        }
        let places: Vec<(usize, usize)> = self
            .items
            .iter()
            .enumerate()
            .flat_map(|(at, item)| (0..item.pieces.len()).map(move |piece| (at, piece)))
            .collect();
        let here = places.iter().position(|place| *place == (self.item, self.piece)).unwrap_or(0);
        // What is shown as one is left as a whole.
        let here = match self.current_group() {
            Some(group) => places.partition_point(|(item, _)| *item < group.items.end) - 1,
            None => here,
        };
        let (before, after) = places.split_at((here + 1).min(places.len()));
        let found = after
            .iter()
            .chain(before)
            .find(|(item, piece)| matches(&self.items[*item], *piece, &self.pattern));
        match found {
            Some((item, piece)) => match self.group_of(*item) {
                Some(group) => self.go(group.items.start, 0),
                None => self.go(*item, *piece),
            },
            None => self.say(format!("{} is nowhere", self.pattern)),
        }
    }

    /// How many lines of a piece are on the screen at once.
    pub(super) fn body_height(&self) -> usize {
        self.size.0.saturating_sub(super::screen::FRAME).max(1)
    }

    fn page(&self) -> isize {
        isize::try_from(self.body_height().saturating_sub(1).max(1)).unwrap_or(1)
    }

    fn furthest(&self) -> usize {
        self.body().len().saturating_sub(self.body_height())
    }

    /// The lines of the piece that is shown, as wide as the screen.
    pub(super) fn body(&self) -> Vec<crate::render::styled::Styled> {
        let Some(item) = self.current() else { return Vec::new() };
        let lines = match self.current_group() {
            Some(group) => group_lines(&self.items[group.items.clone()]),
            None => piece_lines(item, self.piece),
        };
        lines.iter().flat_map(|line| line.wrapped(self.size.1)).collect()
    }

    fn scroll_by(&mut self, lines: isize) {
        self.scroll = self.scroll.saturating_add_signed(lines).min(self.furthest());
    }
}

/// The letter of a change, as in `status`.
pub(super) fn letter(change: &Change) -> &'static str {
    match change.kind() {
        ChangeKind::Added => "A",
        ChangeKind::Modified => "M",
        ChangeKind::Deleted => "D",
        ChangeKind::Renamed => "R",
        ChangeKind::Mode => "P",
        ChangeKind::Metadata => "T",
    }
}

#[cfg(test)]
mod tests;
