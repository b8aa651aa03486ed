//! Texts of any kind without what seems to be a credential: output of commands, answers of models, source code.

mod spans;

use std::borrow::Cow;
use std::fmt;

use crate::settings::kind::is_harmless;
use crate::settings::line::is_credential;

/// What stands in the place of a credential.
pub const REDACTED: &str = "[redacted]";

/// Shorter values are too common to be looked for.
const LEAST_KNOWN: usize = 6;

/// Replaces credentials in texts: those that look like one, and values that are known to be some.
///
/// ```
/// use offshoot_scrub::Redactor;
///
/// let redactor = Redactor::new(["correct horse"]);
/// assert_eq!(redactor.redact("say correct horse, GITHUB_TOKEN=abcdef012345"), "say [redacted], GITHUB_TOKEN=[redacted]");
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longer ones first, since one may be a part of another.
    known: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("known", &self.known.len()).finish()
    }
}

impl Redactor {
    /// Also replaces these values wherever they are. Values of fewer than six characters are not looked for.
    pub fn new<V: Into<String>>(known: impl IntoIterator<Item = V>) -> Self {
        let long = |value: &String| value.len() >= LEAST_KNOWN;
        let mut known: Vec<String> = known.into_iter().map(Into::into).filter(long).collect();
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        Self { known }
    }

    /// Also replaces the values of those variables whose names tell of a credential.
    pub fn with_variables<'v>(
        self,
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Self {
        let secret = variables.into_iter().filter(|(name, value)| {
            // `SECRETS_DIR=/etc/keys` has a path, and `SSH_AUTH_SOCK` the place of a socket.
            is_credential(name) && !is_harmless(name, value) && !value.starts_with('/')
        });
        Self::new(self.known.into_iter().chain(secret.map(|(_, value)| value.to_owned())))
    }

    /// The text without credentials.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for value in &self.known {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), REDACTED));
            }
        }
        let spans = spans::find(&text);
        if spans.is_empty() {
            return text;
        }
        let mut rest = String::with_capacity(text.len());
        let mut at = 0;
        for span in spans {
            rest.push_str(&text[at..span.start]);
            rest.push_str(REDACTED);
            at = span.end;
        }
        rest.push_str(&text[at..]);
        Cow::Owned(rest)
    }

    /// Whether a text holds no credential.
    pub fn is_clean(&self, text: &str) -> bool {
        matches!(self.redact(text), Cow::Borrowed(_))
    }
}

#[cfg(test)]
mod tests;
