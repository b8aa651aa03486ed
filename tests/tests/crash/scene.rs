//! Where a case happens: a project, a home to start from, and one command.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use offshoot_tests::product;
use offshoot_tests::rng::Rng;
use offshoot_tests::trace::{self, Fault, Trace};
use offshoot_vault::{VaultOptions, VaultRegistry};
use tempfile::TempDir;

use crate::state::State;

/// The commands that are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Init,
    InitAgain,
    WriteSmall,
    WriteLarge,
    Fork,
    Undo,
    Checkpoint,
    Append,
    ForkSession,
    Compact,
    Delete,
    Collect,
    Pack,
    Export,
    Import,
    Bind,
    Unbind,
    MoveFolder,
    Approve,
    Refuse,
}

/// What `exec` exits with where policy lets nothing run.
const DENIED: i32 = 122;

/// Where an export goes: each case has a home of its own.
const EXPORTED: &str = "HOME/exported";

/// What it exits with where a person decides.
const PENDING: i32 = 123;

/// Two events, of which one is too long for its row, and another state.
const APPEND: [&str; 9] =
    ["sessions", "append", "talk", "--next", "1", "--from", "../events", "--state", "waiting"];

/// A command that is tried, and waits for a person.
const TRIED: [&str; 9] = ["exec", "-w", "w", "--policy", "../asks.toml", "--", "rm", "-r", "docs"];

/// A command that could do nothing in a workspace.
const REFUSED: [&str; 6] = ["exec", "-w", "w", "--", "sudo", "true"];

impl Operation {
    /// Those that change what a user sees of a vault that was made here.
    pub(crate) const ALL: [Self; 11] = [
        Self::Init,
        Self::InitAgain,
        Self::WriteSmall,
        Self::WriteLarge,
        Self::Fork,
        Self::Undo,
        Self::Checkpoint,
        Self::Append,
        Self::ForkSession,
        Self::Compact,
        Self::Delete,
    ];

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Init | Self::InitAgain => &["init"],
            Self::WriteSmall => &["fs", "write", "/docs/note", "--from", "../small", "-w", "w"],
            Self::WriteLarge => &["fs", "write", "/docs/note", "--from", "../large", "-w", "w"],
            Self::Fork => &["workspace", "create", "fork", "--from", "w"],
            Self::Undo => &["undo", "-w", "w"],
            Self::Checkpoint => &["checkpoint", "create", "mark", "-w", "w"],
            Self::Append => &APPEND,
            Self::ForkSession => &["sessions", "fork", "talk", "--to", "again"],
            Self::Compact => &["vault", "compact", "--all", "-w", "w"],
            Self::Delete => &["vault", "delete", "project", "--yes"],
            Self::Collect => &["gc", "--keep-operations", "0", "--keep-age", "0s"],
            Self::Pack => &["vault", "pack"],
            Self::Export => &["vault", "export", EXPORTED],
            Self::Import => &["vault", "import", "../carried"],
            Self::Bind => &["binding", "add", "../in"],
            Self::Unbind => &["binding", "remove", "in"],
            Self::MoveFolder => &["binding", "move", "in", "../in-2"],
            Self::Approve => &["approvals", "approve", "--all"],
            Self::Refuse => &REFUSED,
        }
    }

    /// What it exits with when all goes well.
    fn exit_code(self) -> i32 {
        if self == Self::Refuse { DENIED } else { 0 }
    }

    /// Whether it changes nothing that a user sees of the home, but for the log.
    pub(crate) fn is_upkeep(self) -> bool {
        matches!(self, Self::Collect | Self::Pack | Self::Export)
    }
}

/// A project and a home that is never changed itself: every case works on a copy.
#[derive(Debug)]
pub(crate) struct Scene {
    folder: TempDir,
    pub(crate) operation: Operation,
    pub(crate) before: State,
    pub(crate) after: State,
    /// The command when nothing goes wrong.
    pub(crate) trace: Trace,
}

impl Scene {
    pub(crate) fn new(operation: Operation) -> Self {
        let folder = temporary();
        build_project(folder.path());
        let nothing = State::default();
        let trace = trace::run(&["true".into()], &[], None, Fault::None).unwrap();
        let mut scene = Self { folder, operation, before: nothing.clone(), after: nothing, trace };
        scene.set_up();
        let home = scene.copy();
        scene.trace = scene.run(home.path(), Fault::None);
        assert!(scene.did(&scene.trace), "{:?}: {:?}", operation, scene.trace);
        // Reading takes in what waits, and the template stays as it is.
        let untouched = scene.copy();
        scene.before = State::read(untouched.path(), &scene.project()).unwrap();
        scene.after = State::read(home.path(), &scene.project()).unwrap();
        let same = scene.before == scene.after;
        assert_eq!(same, operation.is_upkeep(), "{operation:?}");
        scene
    }

    fn set_up(&self) {
        fs::create_dir(self.template()).unwrap();
        if self.operation == Operation::Init {
            return;
        }
        let home = self.template();
        for arguments in [
            &["init"][..],
            &["workspace", "create", "w"],
            &["fs", "write", "/first", "--from", "../large-2", "-w", "w"],
            &["checkpoint", "create", "start", "-w", "w"],
            &["fs", "write", "/docs/note", "--from", "../other", "-w", "w"],
        ] {
            let output = self.offshoot(&home, arguments);
            assert!(output.status.success(), "{arguments:?}: {output:?}");
        }
        if self.operation == Operation::Compact {
            stack_up(&home, &self.project());
        }
        if self.operation == Operation::Collect {
            // States that only the log names, a layer that nothing needs, one that is needed in part, and a pack of
            // which little is.
            for arguments in [
                &["vault", "pack"][..],
                &["undo", "-w", "w"],
                &["fs", "rm", "/large", "-w", "w"],
                &["fs", "import", "../in", "/in", "-w", "w"],
                &["fs", "rm", "/in/most", "-w", "w"],
            ] {
                let output = self.offshoot(&home, arguments);
                assert!(output.status.success(), "{arguments:?}: {output:?}");
            }
        }
        if matches!(self.operation, Operation::Unbind | Operation::MoveFolder) {
            let output = self.offshoot(&home, &["binding", "add", "../in"]);
            assert!(output.status.success(), "{output:?}");
        }
        if matches!(self.operation, Operation::Append | Operation::ForkSession) {
            let long = "x".repeat(100_000);
            let events = format!(
                "{{\"kind\":\"user\",\"body\":1}}\n{{\"kind\":\"long\",\"body\":\"{long}\"}}\n"
            );
            fs::write(self.folder.path().join("events"), events).unwrap();
            let output = self.offshoot(&home, &["sessions", "create", "talk", "-w", "w"]);
            assert!(output.status.success(), "{output:?}");
        }
        if self.operation == Operation::ForkSession {
            let output = self.offshoot(&home, &APPEND);
            assert!(output.status.success(), "{output:?}");
        }
        if self.operation == Operation::Approve {
            let asks = "version = 1\n[defaults]\ndestructive = \"require_approval\"\n";
            fs::write(self.folder.path().join("asks.toml"), asks).unwrap();
            let output = self.offshoot(&home, &TRIED);
            assert_eq!(output.status.code(), Some(PENDING), "{output:?}");
        }
        if self.operation == Operation::Import {
            for arguments in
                [&["vault", "export", "../carried"][..], &["vault", "delete", "project", "--yes"]]
            {
                let output = self.offshoot(&home, arguments);
                assert!(output.status.success(), "{arguments:?}: {output:?}");
            }
        }
        if self.operation == Operation::InitAgain {
            let project = self.project();
            fs::write(project.join("added"), Rng::new(5).bytes(100_000)).unwrap();
            fs::write(project.join("docs/guide"), "changed").unwrap();
            fs::remove_file(project.join("src/main")).unwrap();
        }
    }

    /// Whether the command says that it did what it was asked to.
    pub(crate) fn did(&self, trace: &Trace) -> bool {
        self.is_expected(trace.status)
            && !String::from_utf8_lossy(&trace.stderr).contains("could not be recorded")
    }

    /// Whether the command exits so when all goes well.
    pub(crate) fn is_expected(&self, status: ExitStatus) -> bool {
        status.code() == Some(self.operation.exit_code())
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn template(&self) -> PathBuf {
        self.folder.path().join("template")
    }

    /// A home of its own for one case.
    pub(crate) fn copy(&self) -> TempDir {
        let home = temporary();
        copy_home(&self.template(), home.path());
        home
    }

    /// Runs the command that is to be broken, and breaks it.
    pub(crate) fn run(&self, home: &Path, fault: Fault) -> Trace {
        let mut command: Vec<OsString> = vec!["env".into(), "-i".into()];
        command.extend(self.environment(home).map(|(name, value)| {
            let mut both = OsString::from(name);
            both.push("=");
            both.push(value);
            both
        }));
        command.push(product::binary().into());
        command.extend(self.arguments(home));
        trace::run(&command, &[], Some(&self.project()), fault).unwrap()
    }

    /// Runs the binary as a user would.
    pub(crate) fn offshoot(&self, home: &Path, arguments: &[impl AsRef<OsStr>]) -> Output {
        self.command(home, arguments).output().unwrap()
    }

    pub(crate) fn command(&self, home: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(product::binary());
        command.env_clear().envs(self.environment(home)).current_dir(self.project());
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the command again, whole.
    pub(crate) fn again(&self, home: &Path) -> Output {
        self.offshoot(home, &self.arguments(home))
    }

    fn arguments(&self, home: &Path) -> Vec<OsString> {
        let fill = |argument: &&str| match *argument {
            EXPORTED => Self::exported(home).into_os_string(),
            other => other.into(),
        };
        self.operation.arguments().iter().map(fill).collect()
    }

    /// The file that an export writes.
    pub(crate) fn exported(home: &Path) -> PathBuf {
        home.join("exported")
    }

    fn environment(&self, home: &Path) -> impl Iterator<Item = (&'static str, OsString)> {
        let values: [(&str, OsString); 6] = [
            ("HOME", self.folder.path().into()),
            ("OFFSHOOT_HOME", home.into()),
            ("USER", "tester".into()),
            // One thread makes the same calls in the same order each time, so that a point means something.
            ("OFFSHOOT_IMPORT__THREADS", "1".into()),
            ("RAYON_NUM_THREADS", "1".into()),
            ("PATH", std::env::var_os("PATH").unwrap_or_default()),
        ];
        values.into_iter()
    }
}

/// Makes a layer for each state of the workspace, as commands do.
fn stack_up(home: &Path, project: &Path) {
    let home = VaultRegistry::new(home.to_owned(), VaultOptions::default());
    let (listed, _) = home.find_bound(project).unwrap().unwrap();
    let vault = home.open_listed(&listed).unwrap();
    let head = vault.workspaces().unwrap()[0].state.head;
    let mut roots: Vec<_> = vault.ancestry(head, 9).unwrap().iter().map(|it| it.root).collect();
    roots.reverse();
    for pair in roots.windows(2) {
        vault.stack(&pair[1], &pair[..1]).unwrap();
    }
    assert_eq!(vault.stack_depth(roots.last().unwrap()).unwrap(), 3);
}

/// Copies everything in a home, as it is.
pub(crate) fn copy_home(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(status.success());
}

/// A temporary directory in memory where there is such a place: thousands of cases need not wait for a disk.
pub(crate) fn temporary() -> TempDir {
    let mut builder = tempfile::Builder::new();
    builder.prefix("offshoot-crash-");
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { builder.tempdir_in(memory) } else { builder.tempdir() }.unwrap()
}

fn build_project(folder: &Path) {
    let mut rng = Rng::new(1);
    let project = folder.join("project");
    for name in ["src", "docs", "empty"] {
        fs::create_dir_all(project.join(name)).unwrap();
    }
    fs::write(project.join("src/main"), "fn main() {}\n").unwrap();
    fs::write(project.join("src/library"), rng.bytes(3000)).unwrap();
    fs::write(project.join("src/script"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(project.join("src/script"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(project.join("docs/guide"), rng.bytes(9000)).unwrap();
    fs::write(project.join("docs/none"), "").unwrap();
    fs::write(project.join("large"), rng.bytes(1_200_000)).unwrap();
    fs::write(project.join("medium"), rng.bytes(80_000)).unwrap();
    fs::write(project.join("twin"), "fn main() {}\n").unwrap();
    symlink("src/main", project.join("link")).unwrap();
    fs::write(folder.join("small"), "a small note\n").unwrap();
    fs::write(folder.join("other"), "another note\n").unwrap();
    fs::write(folder.join("large"), rng.bytes(200 << 10)).unwrap();
    fs::write(folder.join("large-2"), rng.bytes(100 << 10)).unwrap();
    fs::create_dir(folder.join("in")).unwrap();
    fs::write(folder.join("in/most"), rng.bytes(300 << 10)).unwrap();
    fs::write(folder.join("in/little"), rng.bytes(90 << 10)).unwrap();
    fs::create_dir(folder.join("in-2")).unwrap();
}
