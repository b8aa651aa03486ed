//! How deep a policy is nested.

/// How deep brackets may be nested. The time to parse them doubles with each level.
pub(super) const DEEPEST: usize = 10;

/// The line on which brackets are nested deeper than that.
pub(super) fn too_deep(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut line = 1;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        line += usize::from(c == '\n');
        match (quote, c) {
            (Some('"'), '\\') => line += usize::from(characters.next() == Some('\n')),
            (Some('#'), '\n') => quote = None,
            (Some(end), c) if c == end && end != '#' => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`' | '#') => quote = Some(c),
            (None, '[' | '(' | '{') => depth += 1,
            (None, ']' | ')' | '}') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        if depth > DEEPEST {
            return Some(line);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_counted_where_they_are_brackets() {
        let deep = "[".repeat(DEEPEST + 1);
        assert_eq!(too_deep(&format!("a\nb := {deep}")), Some(2));
        assert_eq!(too_deep(&deep[1..]), None);
        assert_eq!(too_deep(&"[({})]\n".repeat(50)), None);
        assert_eq!(too_deep(&format!("# {deep}\n\"{deep}\" `{deep}` \"\\\"{deep}\"")), None);
        assert_eq!(too_deep(&format!("`\\` {deep}")), Some(1));
        assert_eq!(too_deep(&format!("# `\n{deep}")), Some(2));
    }
}
