//! The ids that git gives to the content of files, by the shortest way to them.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;

use offshoot_host::read_regular;
use offshoot_tree::{BlobId, Body, Entry};
use offshoot_vault::Vault;

use super::stream::Stream;
use crate::error::Result;
use crate::git::error::{GitError, GitResult};
use crate::git::folder::GitFolder;
use crate::git::index::{self, Index};

/// Attributes that change bytes on their way into a repository.
const ATTRIBUTES: [&str; 6] = ["text", "crlf", "eol", "filter", "ident", "working-tree-encoding"];

/// Finds ids.
pub(in crate::git) struct Contents<'a> {
    vault: &'a Vault,
    folder: &'a GitFolder,
    /// What the repository's index knows of files, and when it was written.
    index: Option<(Index, (i64, i64))>,
    /// Whether the person's settings convert the ends of lines everywhere.
    converts_all: bool,
    /// How each path is converted.
    conversions: HashMap<Vec<u8>, Conversion>,
    /// The filters of paths that do not run, since only the repository names them.
    missing_filters: HashMap<Vec<u8>, String>,
    /// What was stored already, where it is stored as it is.
    stored: HashMap<BlobId, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    /// As it is.
    Plain,
    /// Ends of lines, where there is a carriage return.
    Lines,
    /// By a program or an encoding.
    Any,
}

impl<'a> Contents<'a> {
    pub(in crate::git) fn new(vault: &'a Vault, folder: &'a GitFolder) -> GitResult<Self> {
        let converts = folder.git.try_output(&["config", "--get", "core.autocrlf"], &[])?.stdout;
        let converts_all =
            matches!(converts.trim_ascii(), b"true" | b"input" | b"1" | b"yes" | b"on");
        Ok(Self {
            vault,
            folder,
            index: read_index(folder),
            converts_all,
            conversions: HashMap::new(),
            missing_filters: HashMap::new(),
            stored: HashMap::new(),
        })
    }

    /// Asks git once how these paths of the repository are converted.
    pub(in crate::git) fn prepare(&mut self, paths: &[Vec<u8>]) -> GitResult<()> {
        let unknown: Vec<&Vec<u8>> =
            paths.iter().filter(|p| !self.conversions.contains_key(*p)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let input: Vec<u8> =
            unknown.iter().flat_map(|path| [path.as_slice(), b"\0"].concat()).collect();
        let mut arguments = vec!["check-attr", "-z", "--stdin"];
        arguments.extend(ATTRIBUTES);
        let answer = self.folder.git.output_of(&arguments, &input)?;
        let plain = if self.converts_all { Conversion::Lines } else { Conversion::Plain };
        self.conversions.extend(unknown.into_iter().map(|path| (path.clone(), plain)));
        let mut fields = answer.split(|byte| *byte == 0);
        while let (Some(path), Some(name), Some(value)) =
            (fields.next(), fields.next(), fields.next())
        {
            let found = conversion(name, value);
            let filter = String::from_utf8_lossy(value).into_owned();
            if name == b"filter" && self.folder.git.missing_filters()?.contains(&filter) {
                self.missing_filters.insert(path.to_vec(), filter);
            }
            if let Some(known) = self.conversions.get_mut(path)
                && (found == Conversion::Any
                    || (found == Conversion::Lines && *known == Conversion::Plain))
            {
                *known = found;
            }
        }
        Ok(())
    }

    /// Fails where a path has a filter that does not run: without it git would get other bytes than from `git add`.
    pub(in crate::git) fn require_filter(&self, path: &[u8]) -> GitResult<()> {
        match self.missing_filters.get(path) {
            Some(name) => {
                let path = String::from_utf8_lossy(path).into_owned();
                Err(GitError::RepositoryFilter { path, name: name.clone() })
            }
            None => Ok(()),
        }
    }

    /// The id of an entry's content if git's index has seen this very file, by its path, size and time.
    pub(in crate::git) fn known(&self, path: &[u8], entry: &Entry) -> Option<String> {
        let (index, written) = self.index.as_ref()?;
        let seen = index.get(&(path.to_vec(), 0))?;
        let mtime = entry.meta.mtime;
        // Like git itself, a file that was changed about when the index was written is not trusted.
        let settled = (mtime.seconds, i64::from(mtime.nanoseconds)) < *written;
        let same_time = seen.mtime == (mtime.seconds as u32, mtime.nanoseconds);
        let same_size = seen.size == entry.size() as u32;
        let same =
            settled && same_time && same_size && seen.mode == mode_of(entry)? && !seen.announced;
        same.then(|| seen.object.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Stores an entry's content at a path of the repository; gives its id.
    pub(in crate::git) fn store(
        &mut self,
        stream: &mut Stream,
        path: &[u8],
        entry: &Entry,
    ) -> Result<String> {
        let (blob, size) = match &entry.body {
            Body::Symlink { target } => return Ok(stream.bytes(target)?),
            Body::File { blob, size } => (blob, *size),
            Body::Directory(_) | Body::Fifo => {
                return Err(crate::ServiceError::Internal(
                    "git keeps files and links only".to_owned(),
                ));
            }
        };
        self.require_filter(path)?;
        let conversion = self.conversions.get(path).copied().unwrap_or(Conversion::Plain);
        if conversion != Conversion::Plain {
            let bytes = self.vault.objects()?.blob(blob)?;
            if conversion == Conversion::Any || bytes.contains(&b'\r') {
                return Ok(self.converted(path, &bytes)?);
            }
        }
        if let Some(known) = self.stored.get(blob) {
            return Ok(known.clone());
        }
        let mut reader = self.vault.objects()?.reader(blob)?;
        let id = stream.blob(&mut reader, size)?;
        self.stored.insert(*blob, id.clone());
        Ok(id)
    }

    /// What `git add` would make of the bytes, with the filters that the person set for all of their repositories.
    fn converted(&self, path: &[u8], bytes: &[u8]) -> GitResult<String> {
        let mut option = b"--path=".to_vec();
        option.extend_from_slice(path);
        let arguments = [
            OsStr::new("hash-object"),
            OsStr::new("-w"),
            OsStr::new("--stdin"),
            &OsString::from_vec(option),
        ];
        let answer = self.folder.git.output_of(&arguments, bytes)?;
        let answer = String::from_utf8_lossy(&answer).trim().to_owned();
        match answer.len() {
            40 | 64 => Ok(answer),
            _ => Err(GitError::Answer { what: "hash-object".to_owned(), answer }),
        }
    }
}

/// The mode that git gives an entry, if it keeps such.
pub(in crate::git) fn mode_of(entry: &Entry) -> Option<u32> {
    match entry.body {
        // Like git, by the owner's bit alone.
        Body::File { .. } if entry.meta.mode & 0o100 != 0 => Some(0o100_755),
        Body::File { .. } => Some(0o100_644),
        Body::Symlink { .. } => Some(0o120_000),
        Body::Directory(_) | Body::Fifo => None,
    }
}

fn conversion(name: &[u8], value: &[u8]) -> Conversion {
    let is_set = !matches!(value, b"unspecified" | b"unset");
    match OsStr::from_bytes(name).to_str() {
        Some("filter" | "ident" | "working-tree-encoding") if is_set => Conversion::Any,
        Some("text" | "crlf" | "eol") if is_set => Conversion::Lines,
        _ => Conversion::Plain,
    }
}

fn read_index(folder: &GitFolder) -> Option<(Index, (i64, i64))> {
    let path = folder.git_dir.join("index");
    let metadata = std::fs::metadata(&path).ok()?;
    let index = index::parse(&read_regular(&path, u64::MAX).ok()?)?;
    Some((index, (metadata.mtime(), metadata.mtime_nsec())))
}
