//! How a repository stores what it has, as far as its settings say. Without them git reads the rest of it wrongly, or not at all.

use std::collections::BTreeMap;

use offshoot_tree::VaultPath;

use super::repository::State;
use crate::error::Result;

/// Extensions that nothing but other settings depends on.
const OF_SETTINGS: [&str; 5] =
    ["noop", "noop-v1", "preciousobjects", "relativeworktrees", "worktreeconfig"];
/// How refs are stored, and how objects are named.
const REFS: &str = "refstorage";
const OBJECTS: &str = "objectformat";
/// Objects may be missing, and are fetched when somebody asks for them.
const PARTIAL: &str = "partialclone";

/// What the settings of a repository say about its format, where that is not the usual one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Format(BTreeMap<String, String>);

impl State<'_> {
    /// The format that a repository says to have.
    pub(super) fn format(&self, repository: &VaultPath) -> Result<Format> {
        let settings = self.file(&repository.join(b"config"))?;
        Ok(settings.map(|text| Format::read(&text)).unwrap_or_default())
    }
}

impl Format {
    /// Whether refs are in the reftable format.
    pub(super) fn has_reftable(&self) -> bool {
        self.0.get(REFS).is_some_and(|format| format == "reftable")
    }

    /// Whether refs are stored the same way.
    pub(super) fn has_same_refs(&self, other: &Self) -> bool {
        self.0.get(REFS) == other.0.get(REFS)
    }

    /// Whether objects have the same kind of names.
    pub(super) fn has_same_objects(&self, other: &Self) -> bool {
        self.0.get(OBJECTS) == other.0.get(OBJECTS)
    }

    /// What objects are named by.
    pub(super) fn objects(&self) -> &str {
        self.0.get(OBJECTS).map_or("sha1", String::as_str)
    }

    /// Reads settings. Git takes what counts here from this one file, and follows no other that it includes.
    fn read(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text).to_ascii_lowercase();
        let (mut found, mut section) = (BTreeMap::new(), "");
        for line in text.lines() {
            let mut line = line.trim();
            if let Some((header, rest)) =
                line.strip_prefix('[').and_then(|line| line.split_once(']'))
            {
                (section, line) = (header.trim(), rest.trim());
            }
            let (key, value) = line.split_once('=').unwrap_or((line, "true"));
            let value = value.split(['#', ';']).next().unwrap_or_default();
            let (key, value) = (key.trim(), value.trim().trim_matches('"'));
            let kind = section.split([' ', '\t', '"', '.']).next().unwrap_or_default();
            let is_usual = matches!((key, value), (OBJECTS, "sha1") | (REFS, "files"));
            match (kind, key) {
                (_, "") => {}
                ("core", "repositoryformatversion") if !matches!(value, "0" | "1") => {
                    found.insert(key.to_owned(), value.to_owned());
                }
                ("extensions", key) if key.starts_with(['#', ';']) => {}
                // Which remote the rest comes from is a setting like others.
                ("extensions", PARTIAL) => drop(found.insert(PARTIAL.to_owned(), String::new())),
                ("remote", "promisor") if !matches!(value, "false" | "no" | "off" | "0" | "") => {
                    found.insert(PARTIAL.to_owned(), String::new());
                }
                // The last one counts.
                ("extensions", key) if is_usual => drop(found.remove(key)),
                ("extensions", key) if !OF_SETTINGS.contains(&key) => {
                    found.insert(key.to_owned(), value.to_owned());
                }
                _ => {}
            }
        }
        Self(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str) -> Format {
        Format::read(text.as_bytes())
    }

    #[test]
    fn what_git_writes_by_itself_is_usual() {
        for text in [
            "",
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = x\n",
            "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n",
            "[extensions]\n\tobjectFormat = sha1\n\trefStorage = files\n",
            "[remote \"a\"]\n\tpromisor = false\n",
            "[extensions]\n# refStorage = reftable\n",
            "[other]\n\trefStorage = reftable\n",
        ] {
            assert_eq!(format(text), Format::default(), "{text:?}");
        }
    }

    #[test]
    fn what_the_rest_depends_on_is_found_however_it_is_written() {
        for text in [
            "[extensions]\n\trefstorage = reftable\n",
            "[EXTENSIONS]\n\tRefStorage=\"reftable\" ; said\n",
            "[core]\n\tbare = false\n[extensions] refStorage = reftable # said\n",
        ] {
            assert!(format(text).has_reftable(), "{text:?}");
        }
        for text in [
            "[extensions]\n\tobjectformat = sha256\n",
            "[extensions]\n\tpartialClone = origin\n",
            "[remote \"o]x\"]\n\tpromisor\n",
            "[remote \"origin\"]\n\turl = x\n\tpromisor = true\n",
            "[extensions]\n\tnobodyKnows = 1\n",
            "[core]\n\trepositoryformatversion = 7\n",
        ] {
            assert_ne!(format(text), Format::default(), "{text:?}");
        }
        let sha256 = format("[extensions]\n\tobjectformat = sha256\n");
        assert!(!sha256.has_same_objects(&Format::default()));
        assert!(sha256.has_same_refs(&Format::default()));
    }
}
