//! States of files as the model sees them. Every file has a number that stays when it is moved, and every line of text is
//! written once and never again, so it is always clear where something came from.

use std::collections::{BTreeMap, BTreeSet};

/// Files by their path, without a leading `/`.
pub(crate) type Tree = BTreeMap<String, File>;

/// A file that somebody made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Which one it is, wherever it is moved to.
    pub(crate) id: u64,
    pub(crate) body: Body,
    pub(crate) executable: bool,
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Lines that are all different.
    Text(Vec<String>),
    /// Bytes that are no text.
    Opaque(String),
    /// A symbolic link.
    Link(String),
}

impl Body {
    /// The bytes on a disk; a link's are those of its target.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(lines) => text_of(lines).into_bytes(),
            Self::Opaque(tag) => {
                // As long as a small picture, and with nothing in common with another.
                let mut bytes = vec![0];
                for part in 0..8u8 {
                    bytes.extend(blake3::hash(&[tag.as_bytes(), &[part]].concat()).as_bytes());
                }
                bytes
            }
            Self::Link(target) => target.clone().into_bytes(),
        }
    }

    pub(crate) fn lines(&self) -> &[String] {
        match self {
            Self::Text(lines) => lines,
            _ => &[],
        }
    }
}

/// Lines as a file holds them.
pub(crate) fn text_of(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// Where a file is, and what it is.
pub(crate) fn by_id(tree: &Tree) -> BTreeMap<u64, (&String, &File)> {
    tree.iter().map(|(path, file)| (file.id, (path, file))).collect()
}

/// Every line of every text.
pub(crate) fn all_lines(tree: &Tree) -> BTreeSet<&String> {
    tree.values().flat_map(|file| file.body.lines()).collect()
}
