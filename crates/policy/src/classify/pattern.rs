//! Patterns as the shell has them, for one name.

/// Whether a name fits a pattern; a class in brackets stands for any one character. It goes back to the last `*` alone, so that
/// no pattern takes long.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    let mut again: Option<(&str, &str)> = None;
    loop {
        let mut rest = pattern.chars();
        let mut letters = name.chars();
        match (rest.next(), letters.next()) {
            (Some('*'), _) => {
                pattern = rest.as_str();
                again = Some((pattern, name));
                continue;
            }
            (None, None) => return true,
            (Some(wanted), Some(letter)) if matches!(wanted, '?' | '[') || wanted == letter => {
                let behind = rest.as_str();
                let class = if wanted == '[' { behind.find(']').map_or(0, |at| at + 1) } else { 0 };
                pattern = &behind[class..];
                name = letters.as_str();
                continue;
            }
            _ => {}
        }
        let Some((behind, from)) = again else { return false };
        let mut letters = from.chars();
        if letters.next().is_none() {
            return false;
        }
        pattern = behind;
        name = letters.as_str();
        again = Some((behind, name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit() {
        assert!(fits("*", ""));
        assert!(fits("a*c", "abcbc"));
        assert!(fits("?[x-z]*", "ay"));
        assert!(fits("*%output*", "%{url}%output{f}"));
        assert!(!fits("a*c", "abcb"));
        assert!(!fits("?", ""));
        assert!(!fits("", "a"));
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = "*a".repeat(5_000);
        assert!(!fits(&pattern, &"a".repeat(4_999)));
    }
}
