//! What a walk looks like.

use anstyle::Style;
use offshoot_engine::id::Id;
use offshoot_engine::review::{Decision, Item, Tally};
use offshoot_engine::text::display_bytes;

use super::show::piece_name;
use super::walk::{Mode, Walk, letter, tally_text};
use crate::render::listing::place_text;
use crate::render::styled::Styled;
use crate::render::{self, BAD, BOLD, DIM, GOOD, NAME, WARN};

/// Lines of the screen that are not the piece: three above, two below.
pub(super) const FRAME: usize = 5;
const PLAIN: Style = Style::new();

const KEYS: &str =
    "a accept  d drop  e edit  n next  p previous  s split  f/F file  / find  ? help  q quit";

const HELP: &[(&str, &str)] = &[
    ("a, y", "accept this, and go on"),
    ("d", "drop this: it is taken out of the workspace at the end"),
    ("e", "edit these lines in $VISUAL or $EDITOR"),
    ("E", "edit the whole file"),
    ("s", "split this into smaller pieces"),
    ("x", "expand what is shown as one, to decide about each file"),
    ("u", "take the decision about this back"),
    ("n", "next one; this one stays undecided, and in the workspace"),
    ("p", "previous one"),
    ("f", "accept the whole file"),
    ("F", "drop the whole file"),
    ("J, K", "next file, previous file"),
    ("j, k, arrows", "scroll by a line"),
    ("space, b", "scroll by a page"),
    ("g, G", "to the beginning, to the end"),
    ("/", "find a text; an empty one finds the last one again"),
    ("q", "quit; what becomes of the decisions is asked"),
];

impl Walk {
    /// The screen, as many lines as it has.
    pub(crate) fn screen(&self) -> Vec<Styled> {
        let (lines, columns) = self.size;
        let mut screen = match self.mode {
            Mode::Helping => self.help(),
            Mode::Leaving => self.question(),
            Mode::Deciding | Mode::Finding(_) => self.piece_screen(),
        };
        screen.truncate(lines.saturating_sub(1));
        screen.resize(lines.saturating_sub(1), Styled::default());
        screen.push(self.last_line());
        screen.iter().map(|line| line.cut(columns)).collect()
    }

    fn piece_screen(&self) -> Vec<Styled> {
        let Some(item) = self.current() else { return Vec::new() };
        let mut screen = match self.current_group() {
            Some(group) => {
                let changes = self.items[group.items.clone()].iter().map(|item| &item.change);
                let text = place_text(&group.at, &group.kind, changes);
                let mut state = decision_line(item, 0);
                state.push(DIM, "  a and d decide about all of it, x expands it");
                vec![self.bar("folded"), Styled::of(BOLD, text), state]
            }
            None => {
                let bar = self.bar(&piece_name(item, self.piece));
                vec![bar, path_line(item), state_line(item, self.piece)]
            }
        };
        let body = self.body();
        let shown = body.iter().skip(self.scroll).take(self.body_height());
        screen.extend(shown.cloned());
        screen.resize(3 + self.body_height(), Styled::default());
        screen.push(self.place_line(body.len()));
        screen
    }

    fn bar(&self, piece: &str) -> Styled {
        let mut bar = Styled::of(BOLD, format!("{}  ", self.title));
        let (at, all) = self.place();
        bar.push(PLAIN, format!("file {at}/{all}  {piece}  "));
        bar.push(DIM, tally_text(&Tally::of(&self.items, &self.groups)));
        bar
    }

    /// How much there is above and below.
    fn place_line(&self, length: usize) -> Styled {
        if length <= self.body_height() {
            return Styled::default();
        }
        let last = (self.scroll + self.body_height()).min(length);
        Styled::of(DIM, format!("lines {}-{last} of {length}", self.scroll + 1))
    }

    fn last_line(&self) -> Styled {
        match (&self.mode, &self.message) {
            (Mode::Finding(text), _) => Styled::of(BOLD, format!("/{}", render::line(text))),
            (_, Some(message)) => Styled::of(WARN, render::line(message)),
            (Mode::Helping, None) => Styled::of(DIM, "any key goes back"),
            (Mode::Leaving, None) => Styled::default(),
            (Mode::Deciding, None) => Styled::of(DIM, KEYS),
        }
    }

    fn help(&self) -> Vec<Styled> {
        let mut lines = vec![Styled::of(BOLD, self.title.clone()), Styled::default()];
        for (key, meaning) in HELP {
            let mut line = Styled::of(NAME, format!("  {key:<14}"));
            line.push(PLAIN, *meaning);
            lines.push(line);
        }
        lines
    }

    fn question(&self) -> Vec<Styled> {
        let tally = Tally::of(&self.items, &self.groups);
        let mut lines = vec![
            Styled::of(BOLD, self.title.clone()),
            Styled::default(),
            Styled::of(PLAIN, tally_text(&tally)),
            Styled::default(),
        ];
        let mut answer = |key: &str, meaning: &str| {
            let mut line = Styled::of(NAME, format!("  {key:<10}"));
            line.push(PLAIN, meaning);
            lines.push(line);
        };
        answer(
            "y, Enter",
            match tally.changes_something() {
                true => "take what was dropped out of the workspace, and put in what was edited",
                false => "end; nothing was dropped or edited, so the workspace stays as it is",
            },
        );
        if self.can_commit {
            answer("c", "the same, and commit what was accepted or edited");
        }
        answer("x", "forget the decisions; nothing is changed");
        answer("r, Esc", "return to the review");
        lines
    }
}

fn path_line(item: &Item) -> Styled {
    let mut line = Styled::of(WARN, format!("{} ", letter(&item.change)));
    line.push(BOLD, render::path(&item.change.path));
    if let Some((from, _)) = &item.change.moved {
        line.push(DIM, format!("  from {from}"));
    }
    if let Some(reason) = item.held {
        let why = reason.detail().map(|why| format!(", {why}")).unwrap_or_default();
        line.push(WARN, format!("  (stays in the workspace: {}{why})", reason.word()));
    }
    line
}

/// What was decided, and what changed the file last.
fn state_line(item: &Item, piece: usize) -> Styled {
    let mut line = decision_line(item, piece);
    if let Some(origin) = &item.origin {
        let id = origin.exec.as_ref().map(Id::short).unwrap_or_default();
        let what = origin.message.as_deref().unwrap_or_default();
        let text = [origin.reason.as_str(), &id, what].join(" ");
        let text = display_bytes(text.trim().as_bytes());
        line.push(DIM, format!("  last changed by {text}"));
    }
    line
}

fn decision_line(item: &Item, piece: usize) -> Styled {
    match item.pieces.get(piece).map(|piece| &piece.decision) {
        Some(Decision::Accepted) => Styled::of(GOOD, "accepted"),
        Some(Decision::Dropped) => Styled::of(BAD, "dropped"),
        Some(Decision::Edited(_)) => Styled::of(NAME, "edited"),
        Some(Decision::Undecided) | None => Styled::of(DIM, "undecided"),
    }
}
