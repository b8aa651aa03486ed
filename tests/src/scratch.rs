//! A place that leaves nothing behind, and what is in it.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::awkward;
use crate::scan::{CompareOptions, Scan, scan};

/// Set where the usual limit on descriptors is what is tested.
pub const KEEP_LIMITS: &str = "OFFSHOOT_TEST_KEEP_LIMITS";

/// A directory that is removed at the end, whatever is in it by then.
#[derive(Debug)]
pub struct Scratch(Option<TempDir>);

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// A new one.
    pub fn new() -> Self {
        raise_descriptor_limit();
        Self(Some(tempfile::tempdir().expect("a temporary folder")))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.as_ref().expect("it is there until it is dropped").path()
    }

    /// A new directory in it.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir(&path).expect("a new folder");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let dir = self.0.take().expect("it is dropped once");
        // Of the product the tests want nothing, not even to be tidied up after; so by recursion, with room for it.
        let clear = move || {
            awkward::clear(dir.path())?;
            dir.close()
        };
        let cleared = big_stack(clear);
        assert!(cleared.is_ok() || std::thread::panicking(), "{cleared:?}");
    }
}

/// Runs something that recurses as deep as the deepest tree.
pub fn big_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 20);
        let thread = thread.spawn_scoped(scope, work).expect("a thread");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The scanner and the removal of temporary directories hold a descriptor for each level of a tree.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if std::env::var_os(KEEP_LIMITS).is_none() && limit.current < limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        setrlimit(Resource::Nofile, raised).expect("everybody may use what they have");
    }
}

/// What is in a directory, however deep.
pub fn scanned(dir: &Path) -> Scan {
    big_stack(|| scan(dir).expect("it can be scanned"))
}

/// Whether root runs the tests.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Owners can only be kept by root.
pub fn everything_kept() -> CompareOptions {
    CompareOptions { owners: is_root(), special: false, ..CompareOptions::default() }
}
