//! Finds what seems to be a credential, and leaves it out.
//!
//! [`scrub`] divides a settings file: lines with credentials go, the rest stays usable. A [`Redactor`] replaces credentials in any text, such as the
//! output of a command. Both know credentials by the same table, `data/credentials.toml`.

mod settings;
mod text;

pub use settings::{OmittedLines, Scrubbed, scrub};
pub use text::{REDACTED, Redactor};
