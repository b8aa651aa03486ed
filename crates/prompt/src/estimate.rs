//! How large a text is.

/// Says how many tokens a text has. It has to give the same answer for the same text.
pub trait TokenEstimator {
    /// How many tokens a text has, or is taken to have.
    fn estimate(&self, text: &str) -> usize;
}

impl<F: Fn(&str) -> usize> TokenEstimator for F {
    fn estimate(&self, text: &str) -> usize {
        self(text)
    }
}

/// Takes so many characters for a token, and a part of it for a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharacterEstimator {
    per_token: usize,
}

impl CharacterEstimator {
    /// One token for this many characters; at least one.
    pub fn new(per_token: usize) -> Self {
        Self { per_token: per_token.max(1) }
    }
}

impl Default for CharacterEstimator {
    /// One token for three characters, which is rather too many tokens than too few.
    fn default() -> Self {
        Self::new(3)
    }
}

impl TokenEstimator for CharacterEstimator {
    fn estimate(&self, text: &str) -> usize {
        text.chars().count().div_ceil(self.per_token)
    }
}
