//! What answers.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::{ErrorKind, ProviderError};
use crate::id::ProviderId;

/// What answers, as people name it: `NAME`, `scripted:FILE` or `replay:FILE`.
///
/// ```
/// use offshoot_provider::ProviderSource;
///
/// let source: ProviderSource = "scripted:answers.toml".parse()?;
/// assert_eq!(source, ProviderSource::Script("answers.toml".into()));
/// # Ok::<(), offshoot_provider::ProviderError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderSource {
    /// A provider of the catalog.
    Catalog(ProviderId),
    /// A [script](crate::Scripted).
    Script(PathBuf),
    /// A [record](crate::Replayer).
    Record(PathBuf),
}

impl FromStr for ProviderSource {
    type Err = ProviderError;

    fn from_str(text: &str) -> Result<Self, ProviderError> {
        let file = |path: &str, make: fn(PathBuf) -> Self| match path {
            "" => {
                let message = format!("{text} names no file");
                Err(ProviderError::new(ErrorKind::BadRequest, message))
            }
            path => Ok(make(PathBuf::from(path))),
        };
        match text.split_once(':') {
            Some(("scripted", path)) => file(path, Self::Script),
            Some(("replay", path)) => file(path, Self::Record),
            _ => Ok(Self::Catalog(ProviderId::from(text))),
        }
    }
}

impl fmt::Display for ProviderSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Catalog(provider) => write!(f, "{provider}"),
            Self::Script(path) => write!(f, "scripted:{}", path.display()),
            Self::Record(path) => write!(f, "replay:{}", path.display()),
        }
    }
}
