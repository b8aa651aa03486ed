//! What every word of the vocabulary can do.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// One value of a closed set that has a name in text: the same in flags, settings, catalogs and documents.
pub trait Word: Copy + Eq + fmt::Display + FromStr<Err = UnknownWord> + 'static {
    /// The values, in the order in which they are listed.
    const ALL: &'static [Self];

    /// The name of the value.
    fn as_str(self) -> &'static str;

    /// The names of all values.
    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|word| word.as_str()).collect()
    }

    /// What the value means, without a full stop: the first paragraph of its documentation.
    fn meaning(self) -> String;

    /// What there is to say beyond the meaning: the further paragraphs of its documentation.
    fn details(self) -> Vec<String>;
}

/// A text that names no value of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    text: String,
    expected: Vec<&'static str>,
}

impl UnknownWord {
    /// Says that `text` is no value of `W`.
    pub(crate) fn new<W: Word>(text: &str) -> Self {
        Self { text: text.to_owned(), expected: W::names() }
    }
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is not one of {}", self.text.escape_debug(), self.expected.join(", "))
    }
}

impl Error for UnknownWord {}

/// Joins the first lines of a doc comment to one sentence without its full stop.
pub(crate) fn sentence(lines: &[&str]) -> String {
    let text = paragraphs(lines).swap_remove(0);
    text.strip_suffix('.').map_or_else(|| text.clone(), str::to_owned)
}

/// The paragraphs of a doc comment; at least one.
pub(crate) fn paragraphs(lines: &[&str]) -> Vec<String> {
    let paragraphs = lines.split(|line| line.trim().is_empty());
    let joined =
        |lines: &[&str]| lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    paragraphs.map(joined).collect()
}

/// Defines an enum whose values are words: `Name = "name"`, each with its documentation.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident $(, default $default:ident)? {
            $($(#[doc = $doc:literal])+ $value:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[doc = $doc])+ #[serde(rename = $text)] $value,)+
        }

        impl $name {
            /// The values, in the order in which they are listed.
            pub const ALL: &'static [Self] = &[$(Self::$value),+];

            /// The name of the value.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)+
                }
            }
        }

        impl $crate::word::Word for $name {
            const ALL: &'static [Self] = Self::ALL;

            fn as_str(self) -> &'static str {
                self.as_str()
            }

            fn meaning(self) -> String {
                match self {
                    $(Self::$value => $crate::word::sentence(&[$($doc),+]),)+
                }
            }

            fn details(self) -> Vec<String> {
                match self {
                    $(Self::$value => $crate::word::paragraphs(&[$($doc),+]).split_off(1),)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::word::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$value),)+
                    _ => Err($crate::word::UnknownWord::new::<Self>(text)),
                }
            }
        }

        $(impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        })?
    };
}

pub(crate) use words;
