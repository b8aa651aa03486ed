//! The pieces of a change, and what a path becomes by the decisions about them.

use offshoot_protocol::PieceKindDoc;
use offshoot_text::pick::{Part, Take, TextPick, fingerprint};
use offshoot_tree::diff::{Change, ChangeKind};
use offshoot_tree::{Entry, EntryKind, VaultPath};

use super::Origin;
use crate::commit::HeldReason;

/// A path that changed, in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewItem {
    /// The change, at the path where it is committed.
    pub change: Change,
    /// Where the workspace has it, where that is another path: the main line moved it, or the directory that it is in.
    pub source: Option<VaultPath>,
    /// Its texts, where it has such.
    pub text: Option<TextPick>,
    /// What can be decided about it: at least one piece, lines last and in their order.
    pub pieces: Vec<ReviewPiece>,
    /// What changed it last.
    pub origin: Option<Origin>,
    /// Why a commit leaves it in the workspace, where it does.
    pub held: Option<HeldReason>,
}

/// Something to decide about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewPiece {
    /// A word for it that stays the same while other changes come and go.
    pub id: String,
    /// What it is.
    pub kind: PieceKind,
    /// What was decided.
    pub decision: ReviewDecision,
}

/// What a piece of a change is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// All of the change.
    Whole,
    /// That the file was moved.
    Rename,
    /// Its permission bits.
    Mode,
    /// Some of its lines.
    Lines(Part),
}

impl PieceKind {
    /// The word for it.
    pub fn word(&self) -> PieceKindDoc {
        match self {
            Self::Whole => PieceKindDoc::File,
            Self::Rename => PieceKindDoc::Rename,
            Self::Mode => PieceKindDoc::Mode,
            Self::Lines(_) => PieceKindDoc::Hunk,
        }
    }
}

/// What somebody thinks of a piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReviewDecision {
    /// Nothing yet: it stays in the workspace.
    #[default]
    Undecided,
    /// It is good.
    Accepted,
    /// It is to go.
    Dropped,
    /// These lines are to take its place.
    Edited(Vec<u8>),
}

/// Which pieces are to be in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All that were not dropped: what the workspace is to have.
    NotDropped,
    /// Those that were accepted or edited: what is to be committed.
    Accepted,
}

impl Wanted {
    fn takes(self, decision: &ReviewDecision) -> bool {
        match decision {
            ReviewDecision::Undecided => self == Self::NotDropped,
            ReviewDecision::Accepted | ReviewDecision::Edited(_) => true,
            ReviewDecision::Dropped => false,
        }
    }
}

/// What a path becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceOutcome {
    /// What it is in the workspace.
    After,
    /// What it was before.
    Before,
    /// Something of both.
    Mixed(Mixed),
}

/// A file with some of its changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// Whether it is at its new path, where it was moved.
    pub moved: bool,
    /// Whether it has its new mode.
    pub mode: bool,
    /// What is in it, unless that is what the workspace has.
    pub content: Option<Vec<u8>>,
}

impl ReviewItem {
    /// Divides a change into pieces that nothing is decided about; `context` says how near changes of lines are together.
    pub fn of(
        change: Change,
        text: Option<TextPick>,
        context: u32,
        origin: Option<Origin>,
    ) -> Self {
        let kinds = kinds(&change, text.as_ref(), context);
        let mut item = Self { change, source: None, text, pieces: Vec::new(), origin, held: None };
        for kind in kinds {
            item.pieces.push(item.piece(kind, ReviewDecision::Undecided));
        }
        item
    }

    /// Where the workspace has it.
    pub fn workspace_path(&self) -> &VaultPath {
        self.source.as_ref().unwrap_or(&self.change.path)
    }

    /// Divides a piece of lines into smaller ones, which keep its decision; false where it cannot be divided.
    pub fn split(&mut self, at: usize) -> bool {
        let (Some(piece), Some(text)) = (self.pieces.get(at), &self.text) else { return false };
        let (PieceKind::Lines(part), decision) = (&piece.kind, piece.decision.clone()) else {
            return false;
        };
        let parts = text.split(part);
        if parts.len() < 2 || matches!(decision, ReviewDecision::Edited(_)) {
            return false;
        }
        self.pieces.remove(at);
        for (offset, part) in parts.into_iter().enumerate() {
            let piece = self.piece(PieceKind::Lines(part), decision.clone());
            self.pieces.insert(at + offset, piece);
        }
        true
    }

    /// The lines that somebody edits who edits a piece; `None` where it has none.
    pub fn editable(&self, at: usize) -> Option<Vec<u8>> {
        let (piece, text) = (self.pieces.get(at)?, self.text.as_ref()?);
        match (&piece.kind, &piece.decision) {
            (PieceKind::Lines(_), ReviewDecision::Edited(lines)) => Some(lines.clone()),
            (PieceKind::Lines(part), _) => Some(text.new_text(part).to_vec()),
            (PieceKind::Whole, ReviewDecision::Edited(lines)) => Some(lines.clone()),
            (PieceKind::Whole, _) => {
                self.change.after.as_ref().map(|_| text.whole_after().to_vec())
            }
            (PieceKind::Rename | PieceKind::Mode, _) => None,
        }
    }

    /// The text that somebody edits who edits the whole file, as decided so far; `None` where it is no text or is gone.
    pub fn whole_editable(&self) -> Option<Vec<u8>> {
        let (text, _) = (self.text.as_ref()?, self.change.after.as_ref()?);
        match self.content(Wanted::NotDropped) {
            Some(content) => Some(content),
            None => Some(text.whole_after().to_vec()),
        }
    }

    /// Puts a text in the place of the whole file. Where it was moved, it stays moved, and it keeps its new mode.
    pub fn edit_whole(&mut self, text: Vec<u8>) {
        self.pieces.clear();
        self.pieces.push(self.piece(PieceKind::Whole, ReviewDecision::Edited(text)));
    }

    /// Whether a path lies below this one, which became a directory or is none any more: it is decided with it.
    pub fn replaces_all_below(&self, path: &VaultPath) -> bool {
        let kinds = (self.change.before.as_deref(), self.change.after.as_deref());
        let is_replaced =
            matches!(kinds, (Some(before), Some(after)) if before.kind() != after.kind());
        is_replaced && *path != self.change.path && path.is_within(&self.change.path)
    }

    /// What the path becomes.
    pub fn outcome(&self, wanted: Wanted) -> PieceOutcome {
        let taken = |piece: &ReviewPiece| wanted.takes(&piece.decision);
        let edited = |piece: &ReviewPiece| matches!(piece.decision, ReviewDecision::Edited(_));
        if self.pieces.iter().all(|piece| taken(piece) && !edited(piece)) {
            return PieceOutcome::After;
        }
        if !self.pieces.iter().any(taken) {
            return PieceOutcome::Before;
        }
        let takes = |kind: &PieceKind| {
            let mut of_kind = self.pieces.iter().filter(|piece| piece.kind == *kind);
            of_kind.all(taken)
        };
        PieceOutcome::Mixed(Mixed {
            moved: takes(&PieceKind::Rename),
            mode: takes(&PieceKind::Mode),
            content: self.content(wanted),
        })
    }

    /// What the file has in it, unless it is what the workspace has.
    fn content(&self, wanted: Wanted) -> Option<Vec<u8>> {
        let text = self.text.as_ref()?;
        if let [
            ReviewPiece { kind: PieceKind::Whole, decision: ReviewDecision::Edited(lines), .. },
        ] = self.pieces.as_slice()
        {
            return Some(lines.clone());
        }
        if self.pieces.iter().any(|piece| piece.kind == PieceKind::Whole) {
            return None;
        }
        let picks = self.pieces.iter().filter_map(|piece| {
            let PieceKind::Lines(part) = &piece.kind else { return None };
            let take = match &piece.decision {
                ReviewDecision::Edited(lines) => Take::Other(lines),
                decision if wanted.takes(decision) => Take::After,
                _ => Take::Before,
            };
            Some((part, take))
        });
        let content = text.compose(picks);
        (content != text.whole_after()).then_some(content)
    }

    fn piece(&self, kind: PieceKind, decision: ReviewDecision) -> ReviewPiece {
        let path = self.change.path.to_bytes();
        let salt = [kind.word().as_str().as_bytes(), b"\0", &path].concat();
        let id = match (&kind, &self.text) {
            (PieceKind::Lines(part), Some(text)) => text.fingerprint(&salt, part),
            (PieceKind::Mode, _) => {
                self.side_fingerprint(&salt, |entry| entry.meta.mode.to_le_bytes().to_vec())
            }
            _ => self.side_fingerprint(&salt, |entry| entry.content_hash().to_vec()),
        };
        ReviewPiece { id: self.unique(id), kind, decision }
    }

    fn side_fingerprint(&self, salt: &[u8], of: impl Fn(&Entry) -> Vec<u8>) -> String {
        let side = |entry: Option<&Entry>| entry.map(&of).unwrap_or_default();
        let Change { before, after, .. } = &self.change;
        let (before, after) = (side(before.as_deref()), side(after.as_deref()));
        fingerprint([salt, &before, &after])
    }

    /// The same lines may change in the same way at several places of a file.
    fn unique(&self, id: String) -> String {
        let taken = |id: &str| self.pieces.iter().any(|piece| piece.id == id);
        if !taken(&id) {
            return id;
        }
        let mut numbered = (2..).map(|number: u32| format!("{id}.{number}"));
        numbered.find(|id| !taken(id)).unwrap_or(id)
    }
}

/// What a change consists of. What comes, goes or turns into another kind is decided as a whole.
fn kinds(change: &Change, text: Option<&TextPick>, context: u32) -> Vec<PieceKind> {
    let (Some(before), Some(after)) = (&change.before, &change.after) else {
        return vec![PieceKind::Whole];
    };
    let Some(text) = text.filter(|_| after.kind() == EntryKind::File) else {
        return vec![PieceKind::Whole];
    };
    let mut kinds = Vec::new();
    if change.kind() == ChangeKind::Renamed {
        kinds.push(PieceKind::Rename);
    }
    if before.meta.mode != after.meta.mode {
        kinds.push(PieceKind::Mode);
    }
    kinds.extend(text.hunks(context).into_iter().map(PieceKind::Lines));
    if kinds.is_empty() { vec![PieceKind::Whole] } else { kinds }
}

#[cfg(test)]
mod tests;
