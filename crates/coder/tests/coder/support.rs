//! A project, and an agent in a workspace of it.

use std::fs;
use std::path::PathBuf;

use offshoot_coder::{Coder, CoderOptions};
use offshoot_engine::{Offshoot, Options, Project, Workspace};
use offshoot_provider::Scripted;
use tempfile::TempDir;
use tokio::runtime::Builder;

/// A project whose test fails.
pub(crate) struct World {
    scratch: TempDir,
    pub(crate) project: Project,
}

impl World {
    pub(crate) fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("project");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("sum.sh"), "echo $(($1 - $2))\n").unwrap();
        fs::write(folder.join("test.sh"), "test \"$(sh sum.sh 2 3)\" = 5\n").unwrap();
        fs::write(folder.join("AGENTS.md"), "Run `sh test.sh` after each change.\n").unwrap();
        let rule = "version = 1\n[[rule]]\nname = \"mine\"\ndecision = \"require_approval\"\nprefix = [\"rm\"]\n";
        fs::write(folder.join("offshoot-policy.toml"), rule).unwrap();
        let project = Self::open(&scratch);
        Self { scratch, project }
    }

    fn open(scratch: &TempDir) -> Project {
        let environment =
            ["PATH"].map(|name| (name.into(), std::env::var_os(name).unwrap())).to_vec();
        let options = Options::new(environment).registry(scratch.path().join("vaults"));
        Offshoot::open(options).unwrap().project(scratch.path().join("project")).unwrap()
    }

    /// The folder on the host.
    pub(crate) fn folder(&self) -> PathBuf {
        self.scratch.path().join("project")
    }

    /// The project as another process finds it.
    pub(crate) fn again(&self) -> Project {
        Self::open(&self.scratch)
    }

    pub(crate) async fn coder(&self, script: &str) -> (Coder, Workspace) {
        let workspace = self.project.fork("fix").unwrap();
        let coder = Coder::begin(&workspace, options(script)).await.unwrap();
        (coder, workspace)
    }
}

/// Waits for work.
pub(crate) fn block<T>(work: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

pub(crate) fn options(script: &str) -> CoderOptions {
    CoderOptions::new(Scripted::parse(&format!("version = 1\n{script}")).unwrap(), "scripted")
        .name("work")
}
