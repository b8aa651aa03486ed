//! Texts that are too long for a model: their head and their tail.

/// How much of what is shown is from the head, in percent.
const HEAD: usize = 60;
/// What the line in the gap takes up.
const MARK: usize = 200;

/// What is shown of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shortened<'t> {
    pub(crate) head: &'t str,
    pub(crate) tail: &'t str,
    /// How many bytes are between.
    pub(crate) left_out: usize,
}

/// The head and the tail of a text, in whole lines where that costs little; nothing if all of it may be shown.
pub(crate) fn shorten(text: &str, most: usize) -> Option<Shortened<'_>> {
    if text.len() <= most {
        return None;
    }
    let room = most.saturating_sub(MARK);
    let head = room * HEAD / 100;
    let head = &text[..text.floor_char_boundary(head)];
    let tail = &text[text.ceil_char_boundary(text.len() - (room - room * HEAD / 100))..];
    // A line that is cut says something else; but one that is most of what is shown stays.
    let head = match head.rfind('\n') {
        Some(end) if end >= head.len() / 2 => &head[..=end],
        _ => head,
    };
    let tail = match tail.find('\n') {
        Some(end) if end < tail.len() / 2 => &tail[end + 1..],
        _ => tail,
    };
    let left_out = text.len() - head.len() - tail.len();
    Some(Shortened { head, tail, left_out })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_are_kept_in_whole_lines() {
        assert_eq!(shorten("short", 5), None);
        let text: String = (0..1_000).map(|at| format!("line {at}\n")).collect();
        let short = shorten(&text, 1_000).expect("it is too long");
        assert!(short.head.starts_with("line 0\n") && short.head.ends_with('\n'));
        assert!(short.tail.starts_with("line ") && short.tail.ends_with("line 999\n"));
        assert!(short.head.len() > short.tail.len());
        assert!(short.head.len() + short.tail.len() <= 800);
        assert_eq!(short.left_out, text.len() - short.head.len() - short.tail.len());
    }

    #[test]
    fn one_long_line_and_letters_of_many_bytes_are_cut_between_letters() {
        let text = "ä".repeat(5_000);
        let short = shorten(&text, 999).expect("it is too long");
        assert!(short.head.len() > 400 && short.tail.len() > 300);
        let short = shorten(&text, 3).expect("it is too long");
        assert_eq!((short.head, short.tail, short.left_out), ("", "", 10_000));
    }
}
