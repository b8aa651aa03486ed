//! Looking for lines in the files of a state, as grep does.

use offshoot_tree::{Body, RootId, VaultPath};
use offshoot_vault::Vault;
use offshoot_workspace::ServiceError;
use regex::bytes::{Regex, RegexBuilder};

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
use crate::path_glob::PathGlob;
use crate::text::{head, line};

/// Larger files are left out.
const MOST_BYTES: u64 = 4 << 20;
/// Longer lines are cut.
const MOST_LINE: usize = 400;
/// What holds back no more than this of a file is looked at to see whether it is text.
const HEAD: usize = 8 << 10;
/// How large the program of an expression may be.
const MOST_PROGRAM: usize = 1 << 20;

/// What to look for.
///
/// ```
/// use offshoot_engine::search::Search;
///
/// let search = Search { ignore_case: true, ..Search::new("todo") };
/// assert_eq!(search.limit, 200);
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    /// A regular expression; it is matched with each line.
    pub pattern: String,
    /// The pattern is a text, and no expression.
    pub literal: bool,
    /// Upper and lower case of ASCII letters are the same.
    pub ignore_case: bool,
    /// Only files whose paths fit.
    pub glob: Option<PathGlob>,
    /// How many lines to find.
    pub limit: usize,
}

impl Search {
    /// Looks for an expression.
    ///
    /// ```
    /// use offshoot_engine::search::Search;
    ///
    /// let functions = Search::new("^fn ");
    /// ```
    pub fn new(pattern: impl Into<String>) -> Self {
        let (literal, ignore_case) = (false, false);
        Self { pattern: pattern.into(), literal, ignore_case, glob: None, limit: 200 }
    }

    fn expression(&self) -> Result<Regex> {
        let pattern = match self.literal {
            true => regex::escape(&self.pattern),
            false => self.pattern.clone(),
        };
        // Bytes, not letters: the tables for all of Unicode are not in this program.
        RegexBuilder::new(&pattern)
            .unicode(false)
            .case_insensitive(self.ignore_case)
            .size_limit(MOST_PROGRAM)
            .build()
            .map_err(|error| {
                Error::usage(format!("`pattern` cannot be used: {error}"))
                    .hint("set `literal` to look for the text itself")
            })
    }
}

/// A line that fits.
///
/// ```
/// # fn example(found: &offshoot_engine::search::FoundLine) {
/// println!("{}:{}", found.path, found.line);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLine {
    /// The file.
    pub path: VaultPath,
    /// Its number, from 1.
    pub line: u64,
    /// Its first bytes.
    pub text: Vec<u8>,
}

/// What was found.
///
/// ```
/// # fn example(found: &offshoot_engine::search::Found) {
/// print!("{}", found.text(10_000));
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Found {
    /// The lines.
    pub lines: Vec<FoundLine>,
    /// Whether there are more.
    pub more: bool,
    /// How many files were looked into.
    pub files: u64,
}

impl Found {
    /// The lines with their places, and whether there are more.
    ///
    /// ```
    /// use offshoot_engine::search::Found;
    ///
    /// assert_eq!(Found::default().text(100), "nothing found in 0 files");
    /// ```
    pub fn text(&self, most: usize) -> String {
        if self.lines.is_empty() {
            return format!("nothing found in {} files", self.files);
        }
        let lines = self.lines.iter().map(|found| {
            let text = String::from_utf8_lossy(&found.text);
            format!("{}:{}:{}\n", line(&found.path.to_string()), found.line, line(&text))
        });
        let mut text = head(&lines.collect::<String>(), most);
        if self.more {
            text.push_str(
                "there are more: raise `limit`, or narrow it down with `path` or `glob`\n",
            );
        }
        text
    }
}

impl Offshoot {
    /// Looks for lines below a directory, or in one file. Git directories, binary files and very large ones are left out.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use offshoot_engine::{Offshoot, Options};
    /// # let scratch = tempfile::tempdir()?;
    /// # let (vaults, folder) = (scratch.path().join("vaults"), scratch.path().join("project"));
    /// # std::fs::create_dir(&folder)?;
    /// # std::fs::write(folder.join("greeting"), "hello\nworld\n")?;
    /// # let offshoot = Offshoot::open(Options::new(Vec::new()).registry(vaults))?;
    /// # let project = offshoot.project(&folder)?;
    /// use offshoot_engine::file::VaultPath;
    /// use offshoot_engine::search::Search;
    ///
    /// let (root, top) = (project.vault().head()?.root, VaultPath::parse(b"/")?);
    /// let found = project.engine().search(project.vault(), &root, &top, &Search::new("^w"))?;
    /// assert_eq!(found.text(1_000), "/greeting:2:world\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn search(
        &self,
        vault: &Vault,
        root: &RootId,
        path: &VaultPath,
        search: &Search,
    ) -> Result<Found> {
        let regex = search.expression()?;
        let files = self.files(vault);
        let (path, _) = files.list(root, path)?;
        let tree = files.tree(root)?;
        let (path, top) = tree.resolve(&path).map_err(ServiceError::from)?;
        let mut wanted: Vec<VaultPath> = Vec::new();
        match top.directory() {
            None => wanted.push(path),
            Some(directory) => tree
                .walk(&path, directory, &mut |at, entry| {
                    let fits = matches!(entry.body, Body::File { .. })
                        && entry.size() <= MOST_BYTES
                        && !at.names().iter().any(|name| *name == b".git")
                        && search.glob.as_ref().is_none_or(|glob| glob.fits(at));
                    if fits {
                        wanted.push(at.clone());
                    }
                    Ok(())
                })
                .map_err(ServiceError::from)?,
        }
        let mut found = Found::default();
        let mut bytes = Vec::new();
        for path in wanted {
            bytes.clear();
            let mut file = files.open(root, &path)?;
            file.reader.read_to_end(&mut bytes).map_err(ServiceError::from)?;
            if bytes[..bytes.len().min(HEAD)].contains(&0) {
                continue;
            }
            found.files += 1;
            look(&regex, &path, &bytes, search.limit.max(1), &mut found);
            if found.more {
                break;
            }
        }
        Ok(found)
    }
}

fn look(regex: &Regex, path: &VaultPath, bytes: &[u8], limit: usize, found: &mut Found) {
    for (number, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if !regex.is_match(text) {
            continue;
        }
        if found.lines.len() == limit {
            found.more = true;
            return;
        }
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        found.lines.push(FoundLine {
            path: path.clone(),
            line: number as u64 + 1,
            text: text[..text.len().min(MOST_LINE)].to_vec(),
        });
    }
}
