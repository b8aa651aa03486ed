//! Running a shell text in a sandbox over one layer.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_sandbox::{
    Ended, Files, InForce, Limits, Network, Observer, Overlay, Program, ProxyPorts, Requests,
    SandboxError, Spec, Stdin, Stream, Timeout, UpperDirectories, Walls, WorkspaceMount,
    WrittenFile, launch, make_door,
};

/// A temporary folder that an overlay works in.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    /// The kernel and commands leave closed directories, which an ordinary user could not remove.
    fn drop(&mut self) {
        open_up(self.path());
    }
}

fn open_up(dir: &Path) {
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            open_up(&entry.path());
        }
    }
}

/// A folder with a layer of one file, and an empty upper.
pub(crate) struct Scene {
    pub(crate) folder: Folder,
    pub(crate) shown: Vec<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) files: Vec<WrittenFile>,
    pub(crate) network: Network,
    pub(crate) limits: Limits,
    pub(crate) walls: Walls,
    pub(crate) stdin: Option<Vec<u8>>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) read_only: bool,
    pub(crate) broker: bool,
    /// Others can join.
    pub(crate) joinable: bool,
    pub(crate) target: PathBuf,
    pub(crate) environment: Vec<(&'static str, &'static str)>,
}

/// What a run printed, and how it ended.
pub(crate) struct Outcome {
    pub(crate) ended: Ended,
    pub(crate) in_force: InForce,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

#[derive(Default)]
struct Kept([Vec<u8>; 2]);

impl Observer for Kept {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        self.0[usize::from(stream == Stream::Stderr)].extend_from_slice(bytes);
    }
}

impl Scene {
    pub(crate) fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        for name in ["lower", "upper", "work"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("lower/file"), "below\n").unwrap();
        Self {
            folder,
            shown: ["/usr", "/bin", "/lib", "/lib64", "/etc", "/sys"].map(Into::into).to_vec(),
            home: None,
            hidden: Vec::new(),
            files: Vec::new(),
            network: Network::None,
            limits: Limits::default(),
            walls: Walls::default(),
            stdin: None,
            timeout: Some(Duration::from_secs(30)),
            read_only: false,
            broker: true,
            joinable: false,
            target: "/tmp/some/workspace".into(),
            environment: vec![("PATH", "/usr/bin:/bin")],
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn upper(&self) -> PathBuf {
        self.path("upper")
    }

    pub(crate) fn shell(&self, text: &str) -> Outcome {
        self.run(&["sh", "-c", text]).unwrap()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Outcome, SandboxError> {
        let running = launch(&self.spec(arguments))?;
        let in_force = running.in_force.clone();
        let mut kept = Kept::default();
        let timeout = Timeout { after: self.timeout, grace: Duration::from_millis(300) };
        let ended = running.drive(&timeout, &mut kept, Requests::default())?;
        let [stdout, stderr] = kept.0.map(|bytes| String::from_utf8(bytes).unwrap());
        Ok(Outcome { ended, in_force, stdout, stderr })
    }

    fn spec(&self, arguments: &[&str]) -> Spec {
        let overlay = Overlay {
            directory: self.folder.path().to_owned(),
            lower: vec!["lower".into()],
            data: Vec::new(),
            upper: Some(UpperDirectories { directory: "upper".into(), work: "work".into() }),
            look_up: Vec::new(),
        };
        let files = Files::Overlay(overlay);
        let (target, read_only) = (self.target.clone(), self.read_only);
        let variables = self.environment.iter();
        Spec {
            workspace: WorkspaceMount {
                files,
                target,
                read_only,
                folders: Vec::new(),
                covered: None,
            },
            shown: self.shown.clone(),
            home: self.home.clone(),
            kept_home: None,
            shared: Vec::new(),
            hidden: self.hidden.clone(),
            caches: Vec::new(),
            files: self.files.clone(),
            network: self.network,
            proxy: ProxyPorts::default(),
            limits: self.limits,
            walls: self.walls,
            bare: None,
            broker: self.broker,
            door: self.joinable.then(|| make_door(&self.path("door")).unwrap()),
            command: Program {
                arguments: arguments.iter().map(Into::into).collect(),
                environment: variables.map(|(name, value)| (name.into(), value.into())).collect(),
                directory: self.target.clone(),
                stdin: self.stdin.clone().map_or(Stdin::Empty, Stdin::Bytes),
                terminal: None,
            },
        }
    }
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
