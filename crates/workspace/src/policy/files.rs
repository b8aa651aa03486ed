//! The files that rules are in, read again when they change.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use offshoot_host::{RegularFileError, read_regular};
use offshoot_policy::{LayerSource, NamedText, Policy, PolicyError, PolicyOptions};
use offshoot_protocol::{PolicyLanguage, PolicyLayer};

/// A file with rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// The layer that it belongs to.
    pub layer: PolicyLayer,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it must be there.
    pub required: bool,
}

impl PolicyFile {
    /// What it is written in, by its name.
    pub fn language(&self) -> PolicyLanguage {
        match self.path.extension() {
            Some(extension) if extension == "rego" => PolicyLanguage::Rego,
            _ => PolicyLanguage::Toml,
        }
    }

    /// What it is called where something in it is wrong.
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn source(&self, text: String) -> LayerSource {
        let named = Some(NamedText { name: self.name(), text });
        let (toml, rego) = match self.language() {
            PolicyLanguage::Toml => (named, None),
            PolicyLanguage::Rego => (None, named),
        };
        LayerSource { layer: self.layer, toml, rego }
    }
}

/// Why there is no policy. Nothing may run then.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFileError {
    /// A file cannot be read.
    #[error("cannot read the policy file {path}: {error}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is larger than rules are.
    #[error("the policy file {path} is larger than {limit} bytes, which no file of rules is", path = .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most that is read.
        limit: u64,
    },
    /// The rules are wrong.
    #[error("{error}")]
    Rules {
        /// What is wrong.
        error: PolicyError,
        /// The files that it is wrong in.
        files: Vec<PolicyFile>,
    },
}

/// Rules are written by people; anything larger is a mistake.
const LARGEST: u64 = 1 << 20;

/// Where rules come from. Asked for the policy again and again, it looks whether a file has changed since.
#[derive(Debug)]
pub struct PolicyFiles {
    files: Vec<PolicyFile>,
    rego_timeout: Duration,
    loaded: Mutex<Option<Loaded>>,
}

#[derive(Debug)]
struct Loaded {
    stamps: Vec<Option<Stamp>>,
    policy: Arc<Policy>,
}

/// What tells that a file is another one now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl PolicyFiles {
    /// Rules of these files, in any order.
    pub fn new(files: Vec<PolicyFile>, rego_timeout: Duration) -> Self {
        Self { files, rego_timeout, loaded: Mutex::new(None) }
    }

    /// The files that are there.
    pub fn present(&self) -> impl Iterator<Item = &PolicyFile> {
        self.files.iter().filter(|file| file.required || is_there(&file.path))
    }

    /// What decides now. After a file has changed it is read again; while one is wrong there is an error and no policy, so that
    /// nothing runs by rules that are not in force any more.
    pub fn current(&self) -> Result<Arc<Policy>, PolicyFileError> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps: Vec<Option<Stamp>> = self.files.iter().map(|file| stamp(&file.path)).collect();
        if let Some(loaded) = loaded.as_ref().filter(|loaded| loaded.stamps == stamps) {
            return Ok(Arc::clone(&loaded.policy));
        }
        *loaded = None;
        let policy = Arc::new(self.load(read)?);
        *loaded = Some(Loaded { stamps, policy: Arc::clone(&policy) });
        Ok(policy)
    }

    /// Fails where there would be no policy if a file had this text.
    pub fn check_with(&self, path: &Path, text: &str) -> Result<(), PolicyFileError> {
        self.load(|file| match file.path == path {
            true => Ok(Some(text.to_owned())),
            false => read(file),
        })
        .map(drop)
    }

    fn load(
        &self,
        read: impl Fn(&PolicyFile) -> Result<Option<String>, PolicyFileError>,
    ) -> Result<Policy, PolicyFileError> {
        let mut layers = Vec::new();
        for file in &self.files {
            if let Some(text) = read(file)? {
                layers.push(file.source(text));
            }
        }
        let policy = Policy::new(&PolicyOptions { layers, rego_timeout: self.rego_timeout });
        policy.map_err(|error| {
            let is_wrong =
                |file: &&PolicyFile| error.problems.iter().any(|it| it.file == file.name());
            let files = self.files.iter().filter(is_wrong).cloned().collect();
            PolicyFileError::Rules { error, files }
        })
    }
}

fn read(file: &PolicyFile) -> Result<Option<String>, PolicyFileError> {
    let path = &file.path;
    let failed = |error| PolicyFileError::Read { path: path.clone(), error };
    let bytes = match read_regular(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.is_absent() && !file.required => return Ok(None),
        Err(RegularFileError::TooLarge { limit }) => {
            return Err(PolicyFileError::TooLarge { path: path.clone(), limit });
        }
        Err(RegularFileError::Io(error)) => return Err(failed(error)),
        Err(error) => return Err(failed(io::Error::other(error))),
    };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| failed(io::Error::other("it is not UTF-8")))
}

/// Whether there is anything at a path: a link that leads nowhere is there, and wrong.
fn is_there(path: &Path) -> bool {
    let absent = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    };
    !path.symlink_metadata().is_err_and(|error| absent(&error))
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp {
        inode: metadata.ino(),
        size: metadata.size(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}
