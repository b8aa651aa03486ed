//! What all benchmarks share: options, a place on disk, trees, and the binary.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use offshoot_tests::product;
use tempfile::TempDir;

use crate::options::Options;
use crate::{Result, helper, machine, run, tree};

/// Names the directory that benchmarks work in.
const DIR_VARIABLE: &str = "OFFSHOOT_BENCH_DIR";

/// A profile without the walls that look at each call of a command.
pub(crate) const UNWALLED: &str = "unwalled";

/// What all benchmarks share.
#[derive(Debug)]
pub(crate) struct Bench {
    /// How to measure.
    pub(crate) options: Options,
    scratch: TempDir,
    trees: RefCell<BTreeMap<usize, PathBuf>>,
    places: Cell<usize>,
}

impl Bench {
    pub(crate) fn new(options: Options) -> Result<Self> {
        let own = std::env::current_exe()?;
        helper::check_visible(&own)?;
        let dir = std::env::var_os(DIR_VARIABLE).map_or_else(std::env::temp_dir, PathBuf::from);
        let dir = dir.canonicalize().map_err(|error| format!("{}: {error}", dir.display()))?;
        if machine::is_in_memory(&dir) {
            let shown = dir.display();
            println!("warning: {shown} is in memory, where syncing is free: set {DIR_VARIABLE}");
        }
        let scratch = tempfile::Builder::new().prefix("offshoot-bench-").tempdir_in(dir)?;
        // Commands see what a list names. The helpers are this program, and the compiler is the one that it was built with.
        let settings = scratch.path().join(".config/offshoot");
        std::fs::create_dir_all(&settings)?;
        let compiler = Path::new(env!("CARGO")).parent().and_then(Path::parent);
        let shown: Vec<String> = [Some(&*own), compiler]
            .into_iter()
            .flatten()
            .map(|path| path.display().to_string())
            .collect();
        let profiles = format!(
            "[profile.workspace]\nshow = {shown:?}\n[profile.{UNWALLED}]\nfrom = \"workspace\"\n\
             walls = {{ landlock = \"off\", seccomp = \"off\", own_ids = \"off\" }}\n"
        );
        std::fs::write(settings.join("sandbox.toml"), profiles)?;
        Ok(Self { options, scratch, trees: RefCell::default(), places: Cell::new(0) })
    }

    /// Where everything is.
    pub(crate) fn dir(&self) -> &Path {
        self.scratch.path()
    }

    /// Removes everything.
    pub(crate) fn close(self) -> Result<()> {
        Ok(self.scratch.close()?)
    }

    /// A path that nothing is at. What is made there stays until the end: ext4 gives an inode away again only minutes
    /// after it was deleted, and until then looks at it for every new file, so that a benchmark which clears away after
    /// itself soon measures nothing else.
    pub(crate) fn fresh(&self, kind: &str) -> PathBuf {
        self.places.set(self.places.get() + 1);
        self.dir().join(format!("{kind}-{}", self.places.get()))
    }

    /// A tree of so many files, made when first asked for and in memory and on disk since.
    pub(crate) fn tree(&self, files: usize) -> Result<PathBuf> {
        if let Some(path) = self.trees.borrow().get(&files) {
            return Ok(path.clone());
        }
        let path = self.dir().join(format!("tree-{files}"));
        tree::make(&path, files)?;
        self.settle()?;
        self.trees.borrow_mut().insert(files, path.clone());
        Ok(path)
    }

    /// Waits until nothing is left to be written, so that nobody pays for what another did before.
    pub(crate) fn settle(&self) -> Result<()> {
        run::timed(&mut run::sync(self.dir())).map(drop)
    }

    /// The binary with a home of its own, run in a directory, seeing nothing of whoever runs this.
    pub(crate) fn offshoot(&self, home: &Path, dir: &Path, arguments: &[&str]) -> Command {
        self.program(product::binary(), home, dir, arguments)
    }

    /// The same for another build of it.
    pub(crate) fn program(
        &self,
        program: &Path,
        home: &Path,
        dir: &Path,
        arguments: &[&str],
    ) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("HOME", self.dir()).env("OFFSHOOT_HOME", home);
        command.env("USER", "bench").env("TZ", "UTC");
        command.current_dir(dir).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs the binary without measuring it.
    pub(crate) fn prepare(&self, home: &Path, dir: &Path, arguments: &[&str]) -> Result<()> {
        run::timed(&mut self.offshoot(home, dir, arguments)).map(drop)
    }

    /// A home with one vault of a directory.
    pub(crate) fn vault_of(&self, dir: &Path) -> Result<PathBuf> {
        let home = self.fresh("home");
        self.prepare(&home, dir, &["init"])?;
        Ok(home)
    }
}
