//! Texts cut where a line or a sentence ends.

/// What says that something is missing.
const MARK: &str = "[cut]";

/// The longest part of a text that fits, cut at ends of lines, else of sentences; none where not even the shortest does.
pub(crate) fn cut(text: &str, is_head: bool, fits: impl Fn(&str) -> bool) -> Option<String> {
    let at_lines = longest(text, &line_ends(text), is_head, &fits);
    at_lines.or_else(|| longest(text, &sentence_ends(text), is_head, &fits))
}

fn longest(
    text: &str,
    ends: &[usize],
    is_head: bool,
    fits: impl Fn(&str) -> bool,
) -> Option<String> {
    let part = |at: usize| match is_head {
        true => format!("{MARK}\n{}", text[at..].trim_start()),
        false => format!("{}\n{MARK}", text[..at].trim_end()),
    };
    // From what leaves the least to what leaves the most.
    let mut ends = ends.to_vec();
    if is_head {
        ends.reverse();
    }
    let mut fitting = ends.partition_point(|at| fits(&part(*at)));
    // An estimator may find a longer text smaller, so what is taken is looked at once more.
    while fitting > 0 {
        let text = part(ends[fitting - 1]);
        if fits(&text) {
            return Some(text);
        }
        fitting -= 1;
    }
    None
}

/// The places behind ends of lines, within the text.
fn line_ends(text: &str) -> Vec<usize> {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    ends.filter(|at| is_within(text, *at)).collect()
}

/// The places behind ends of sentences, within the text.
fn sentence_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        let is_end = match c {
            '.' | '!' | '?' | '…' => next.is_some_and(char::is_whitespace),
            '。' | '！' | '？' => true,
            _ => false,
        };
        if is_end && is_within(text, at + c.len_utf8()) {
            ends.push(at + c.len_utf8());
        }
    }
    ends
}

/// Whether something is left on both sides.
fn is_within(text: &str, at: usize) -> bool {
    !text[..at].trim().is_empty() && !text[at..].trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(text: &str, most: usize) -> Option<String> {
        cut(text, false, |part| part.chars().count() <= most)
    }

    #[test]
    fn texts_are_cut_at_lines_then_at_sentences() {
        let lines = "one\ntwo. More\nthree\n";
        assert_eq!(tail(lines, 19).as_deref(), Some("one\ntwo. More\n[cut]"));
        assert_eq!(tail(lines, 18).as_deref(), Some("one\n[cut]"));
        assert_eq!(tail(lines, 8), None);
        let sentences = "One is 1.5 long. Two! Three";
        assert_eq!(tail(sentences, 27).as_deref(), Some("One is 1.5 long. Two!\n[cut]"));
        assert_eq!(tail(sentences, 26).as_deref(), Some("One is 1.5 long.\n[cut]"));
        let head = cut(lines, true, |part| part.chars().count() <= 12);
        assert_eq!(head.as_deref(), Some("[cut]\nthree\n"));
        assert_eq!(tail("no end at all", 9), None);
        assert_eq!(tail("一。二。三", 8).as_deref(), Some("一。\n[cut]"));
    }
}
