//! Some lines of a text.

use crate::error::{Error, Result};

/// Some lines of a text, and which they are.
///
/// ```
/// use offshoot_engine::lines::lines;
///
/// let found = lines("a\nb\nc\n", 2, 1)?;
/// assert_eq!((found.text, found.first, found.last, found.total), ("b\n", 2, 2, 3));
/// # Ok::<(), offshoot_engine::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines<'t> {
    /// They themselves.
    pub text: &'t str,
    /// The number of the first, from 1.
    pub first: usize,
    /// The number of the last.
    pub last: usize,
    /// How many the text has.
    pub total: usize,
}

impl Lines<'_> {
    /// What a reader has to know who got only some of them.
    ///
    /// ```
    /// use offshoot_engine::lines::lines;
    ///
    /// assert_eq!(lines("a\nb\n", 1, 1)?.note().as_deref(), Some("lines 1 to 1 of 2"));
    /// assert_eq!(lines("a\nb\n", 1, 9)?.note(), None);
    /// # Ok::<(), offshoot_engine::Error>(())
    /// ```
    pub fn note(&self) -> Option<String> {
        let is_part = self.first > 1 || self.last < self.total;
        is_part.then(|| format!("lines {} to {} of {}", self.first, self.last, self.total))
    }
}

/// The lines of a text from number `first` on, no more than `limit`.
///
/// ```
/// use offshoot_engine::lines::lines;
///
/// assert!(lines("a\n", 5, 1).is_err_and(|error| error.message.contains("behind the end")));
/// ```
pub fn lines(text: &str, first: usize, limit: usize) -> Result<Lines<'_>> {
    let first = first.max(1);
    let starts: Vec<usize> = text
        .split_inclusive('\n')
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(start)
        })
        .collect();
    let total = starts.len();
    if first > total.max(1) {
        return Err(Error::usage(format!(
            "offset {first} is behind the end: there are {total} lines"
        )));
    }
    let from = starts.get(first - 1).copied().unwrap_or_default();
    let last = (first - 1).saturating_add(limit);
    let to = starts.get(last).copied().unwrap_or(text.len());
    Ok(Lines { text: &text[from..to], first, last: last.min(total), total })
}
