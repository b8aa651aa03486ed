//! A vault with the services around it, and short ways to say things.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_tree::TreeError;
use offshoot_tree::{RootId, VaultPath};
use offshoot_vault::{
    Actor, ImportOptions, Scope, Vault, VaultError, VaultOptions, VaultRegistry, WorkspaceRecord,
};
use offshoot_workspace::{
    CheckpointService, Edited, FileService, HistoryService, NewCheckpoint, NewWorkspace, Point,
    Resolver, ServiceError, WorkspaceService,
};

/// One vault in a directory that is removed at the end.
pub(crate) struct Bench {
    pub(crate) place: PathBuf,
    _dir: Option<tempfile::TempDir>,
    pub(crate) vault: Vault,
    pub(crate) actor: Actor,
}

impl Bench {
    /// With an empty vault.
    pub(crate) fn new() -> Self {
        Self::with(None)
    }

    /// With these files, given by path and content.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self::with(Some(files))
    }

    /// The vault of another bench, opened again by another process.
    pub(crate) fn open(place: &Path) -> Self {
        let (vault, actor) = (home(place).open("v").unwrap(), Actor::user("tester"));
        Self { place: place.to_owned(), _dir: None, vault, actor }
    }

    fn with(files: Option<&[(&str, &str)]>) -> Self {
        let (dir, actor) = (tempfile::tempdir().unwrap(), Actor::user("tester"));
        let source = files.map(|files| {
            let source = dir.path().join("source");
            for (name, text) in files {
                fs::create_dir_all(source.join(name).parent().unwrap()).unwrap();
                fs::write(source.join(name), text).unwrap();
            }
            source
        });
        let options = ImportOptions::default();
        let created = home(dir.path()).create("v", source.as_deref(), &options, &actor);
        let (place, vault) = (dir.path().to_owned(), created.unwrap().vault);
        Self { place, _dir: Some(dir), vault, actor }
    }

    pub(crate) fn workspaces(&self) -> WorkspaceService<'_> {
        WorkspaceService::new(&self.vault, &self.actor)
    }

    pub(crate) fn checkpoints(&self) -> CheckpointService<'_> {
        CheckpointService::new(&self.vault, &self.actor)
    }

    pub(crate) fn files(&self) -> FileService<'_> {
        FileService::new(&self.vault, &self.actor)
    }

    pub(crate) fn history(&self) -> HistoryService<'_> {
        HistoryService::new(&self.vault, &self.actor)
    }

    pub(crate) fn resolver(&self) -> Resolver<'_> {
        Resolver::new(&self.vault)
    }

    pub(crate) fn point(&self, text: &str) -> Point {
        self.resolver().point(text, None).unwrap()
    }

    /// A new workspace from the main line.
    pub(crate) fn fork(&self, name: &str) -> WorkspaceRecord {
        self.fork_from(name, "head")
    }

    pub(crate) fn fork_from(&self, name: &str, from: &str) -> WorkspaceRecord {
        let from = &self.point(from);
        self.workspaces().create(&NewWorkspace { name: Some(name), from, lifetime: None }).unwrap()
    }

    pub(crate) fn checkpoint(&self, workspace: &WorkspaceRecord, name: &str) {
        let new = NewCheckpoint { name: Some(name), automatic: false, reason: "test" };
        self.checkpoints().create(workspace, &new).unwrap();
    }

    pub(crate) fn write(&self, workspace: &WorkspaceRecord, at: &str, text: &str) -> Edited {
        self.try_write(workspace, at, text).unwrap()
    }

    pub(crate) fn try_write(
        &self,
        workspace: &WorkspaceRecord,
        at: &str,
        text: &str,
    ) -> Result<Edited, ServiceError> {
        let mut source = text.as_bytes();
        self.files().write(workspace, &path(at), &mut source, Path::new("test"), true)
    }

    /// The newest root of a workspace.
    pub(crate) fn root(&self, name: &str) -> RootId {
        self.point(name).snapshot.root
    }

    /// What a file of a workspace holds now; `None` where there is none.
    pub(crate) fn read(&self, name: &str, at: &str) -> Option<String> {
        self.read_root(&self.root(name), at)
    }

    pub(crate) fn read_root(&self, root: &RootId, at: &str) -> Option<String> {
        match self.files().open(root, &path(at)) {
            Ok(mut file) => {
                let mut bytes = Vec::new();
                file.reader.read_to_end(&mut bytes).unwrap();
                Some(String::from_utf8(bytes).unwrap())
            }
            Err(
                ServiceError::NoPath { .. }
                | ServiceError::Vault(VaultError::Tree(TreeError::NoEntry { .. })),
            ) => None,
            Err(error) => panic!("{at}: {error}"),
        }
    }

    /// Every path of a workspace.
    pub(crate) fn paths(&self, name: &str) -> Vec<String> {
        let tree = self.vault.tree(&self.root(name)).unwrap();
        let mut paths = Vec::new();
        let mut visit = |path: &VaultPath, _: &_| {
            paths.push(path.to_string());
            Ok(())
        };
        tree.walk(&VaultPath::top(), tree.top().directory().unwrap(), &mut visit).unwrap();
        paths
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.workspaces().list().unwrap().into_iter().map(|w| w.name).collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn undo(&self, workspace: &WorkspaceRecord) -> String {
        self.history().undo(Scope::Workspace(workspace.id)).unwrap().target.kind
    }

    pub(crate) fn redo(&self, workspace: &WorkspaceRecord) -> String {
        self.history().redo(Scope::Workspace(workspace.id)).unwrap().target.kind
    }
}

pub(crate) fn home(dir: &Path) -> VaultRegistry {
    VaultRegistry::new(
        dir.join("home"),
        VaultOptions { busy_timeout: Duration::from_secs(60), ..VaultOptions::default() },
    )
}

pub(crate) fn path(text: &str) -> VaultPath {
    VaultPath::parse(text.as_bytes()).unwrap()
}

/// Fails unless a result is an error of the vault that fits.
#[macro_export]
macro_rules! assert_vault_error {
    ($result:expr, $pattern:pat) => {
        match $result {
            Err(offshoot_workspace::ServiceError::Vault($pattern)) => {}
            other => panic!("expected {}, got {other:?}", stringify!($pattern)),
        }
    };
}
