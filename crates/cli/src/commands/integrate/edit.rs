//! Text that is put into a text and taken out again.

use serde::{Deserialize, Serialize};

/// A piece that was put in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Piece {
    /// Where, in bytes: in the text before all pieces, or after all where it is recorded.
    pub(super) at: usize,
    pub(super) text: String,
}

/// What puts an entry into a text.
#[derive(Debug)]
pub(super) struct Insertion {
    /// In order.
    pub(super) pieces: Vec<Piece>,
    /// How many objects or lists around the entry are new.
    pub(super) made: usize,
}

/// The text with the pieces in it, and these as they are recorded.
pub(super) fn put_in(text: &str, pieces: &[Piece]) -> (String, Vec<Piece>) {
    let mut whole = String::with_capacity(text.len());
    let mut recorded = Vec::new();
    let mut from = 0;
    for piece in pieces {
        whole.push_str(&text[from..piece.at]);
        recorded.push(Piece { at: whole.len(), text: piece.text.clone() });
        whole.push_str(&piece.text);
        from = piece.at;
    }
    whole.push_str(&text[from..]);
    (whole, recorded)
}

/// The text without the pieces; none where they are not all in their places. A single piece may have moved.
pub(super) fn taken_out(text: &str, recorded: &[Piece]) -> Option<String> {
    let in_place = |piece: &Piece| {
        text.get(piece.at..).is_some_and(|rest| rest.starts_with(piece.text.as_str()))
    };
    if !recorded.is_empty() && recorded.iter().all(in_place) {
        let mut kept = text.to_owned();
        for piece in recorded.iter().rev() {
            kept.replace_range(piece.at..piece.at + piece.text.len(), "");
        }
        return Some(kept);
    }
    let [piece] = recorded else { return None };
    let (before, after) = text.split_once(piece.text.as_str())?;
    (!after.contains(piece.text.as_str())).then(|| format!("{before}{after}"))
}

/// What is other in a text, for people: the line, what goes and what comes. Of what stays nothing is shown.
pub(super) fn difference(before: &str, after: &str) -> String {
    let same = before.chars().zip(after.chars()).take_while(|(one, other)| one == other);
    let start: usize = same.map(|(c, _)| c.len_utf8()).sum();
    let (old, new) = (&before[start..], &after[start..]);
    let same = old.chars().rev().zip(new.chars().rev()).take_while(|(one, other)| one == other);
    let end: usize = same.map(|(c, _)| c.len_utf8()).sum();
    let line = before[..start].matches('\n').count() + 1;
    let mut text = format!("@@ line {line} @@\n");
    for (mark, part) in [('-', &old[..old.len() - end]), ('+', &new[..new.len() - end])] {
        for line in part.lines() {
            text.push_str(&format!("{mark}{line}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_go_out_as_they_came_in() {
        let pieces = [Piece { at: 1, text: "XX".into() }, Piece { at: 3, text: "Y".into() }];
        let (whole, recorded) = put_in("abcd", &pieces);
        assert_eq!(whole, "aXXbcYd");
        assert_eq!(taken_out(&whole, &recorded).as_deref(), Some("abcd"));
        assert_eq!(taken_out("aXXbcd", &recorded), None);
        let (_, one) = put_in("abcd", &pieces[..1]);
        assert_eq!(taken_out("--aXXbcd", &one).as_deref(), Some("--abcd"));
        assert_eq!(taken_out("--aXXbXXcd", &one), None);
    }

    #[test]
    fn only_what_differs_is_shown() {
        let shown = difference("{\n  \"token\": 1\n}\n", "{\n  \"token\": 1,\n  \"a\": 2\n}\n");
        assert_eq!(shown, "@@ line 2 @@\n+,\n+  \"a\": 2\n");
    }
}
