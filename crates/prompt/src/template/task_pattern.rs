//! Types of tasks that a template is for.

/// A type of tasks, in which `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskPattern {
    pieces: Vec<String>,
}

impl TaskPattern {
    pub(crate) fn new(text: &str) -> Self {
        Self { pieces: text.split('*').map(str::to_owned).collect() }
    }

    /// Whether a type fits.
    pub(crate) fn fits(&self, task_type: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return self.pieces.iter().all(|only| only == task_type);
        };
        let rest = task_type.strip_prefix(first.as_str());
        let Some(mut rest) = rest.and_then(|rest| rest.strip_suffix(last.as_str())) else {
            return false;
        };
        for piece in middle {
            match rest.find(piece.as_str()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, yes, no) in [
            ("review", "review", "review-2"),
            ("review-*", "review-", "review"),
            ("*", "x", "-"),
            ("a*b*c", "abxbc", "acb"),
            ("ab*ba", "abba", "aba"),
        ] {
            assert!(TaskPattern::new(pattern).fits(yes), "{pattern}");
            assert!(pattern == "*" || !TaskPattern::new(pattern).fits(no), "{pattern}");
        }
    }
}
