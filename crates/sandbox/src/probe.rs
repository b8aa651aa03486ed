//! Whether this system can confine a command, found by trying.

use std::path::Path;

use crate::error::SandboxError;
use crate::launch::launch;
use crate::running::{Flow, Observer, Stream, Timeout};
use crate::spec::{Command, Files, Limits, Overlay, Spec, Stdin, Upper, WorkspaceMount};
use offshoot_vocabulary::Network;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeReport {
    /// Whether a command can be confined at all, on a plain directory.
    pub namespaces: Result<(), SandboxError>,
    /// Whether layers can be stacked in the directory that was given.
    pub overlay: Result<(), SandboxError>,
}

/// Tries both in an existing empty directory, which should be where layers are to be.
pub fn probe(scratch: &Path) -> ProbeReport {
    let namespaces = attempt(Files::Directory(scratch.to_owned()));
    let overlay = match &namespaces {
        Ok(()) => attempt_overlay(scratch),
        Err(error) => Err(error.clone()),
    };
    ProbeReport { namespaces, overlay }
}

fn attempt_overlay(scratch: &Path) -> Result<(), SandboxError> {
    for name in ["lower", "upper", "work"] {
        // A directory that cannot be made is reported by the mount that needs it.
        let _missing = std::fs::create_dir(scratch.join(name)).is_err();
    }
    attempt(Files::Overlay(Overlay {
        directory: scratch.to_owned(),
        lower: vec!["lower".into()],
        data: Vec::new(),
        upper: Some(Upper { directory: "upper".into(), work: "work".into() }),
        look_up: Vec::new(),
    }))
}

/// What the file `name` holds, read through these layers.
pub fn read_through(layers: Overlay, name: &str) -> Result<Vec<u8>, SandboxError> {
    let mut printed = Printed::default();
    run(Files::Overlay(layers), &["cat", name], &mut printed)?;
    Ok(printed.0)
}

fn attempt(files: Files) -> Result<(), SandboxError> {
    run(files, &["true"], &mut Printed::default())
}

fn run(files: Files, arguments: &[&str], printed: &mut Printed) -> Result<(), SandboxError> {
    let target = "/tmp/workspace".into();
    let running = launch(&Spec {
        workspace: WorkspaceMount {
            files,
            target,
            read_only: false,
            folders: Vec::new(),
            covered: None,
        },
        home: None,
        hidden: Vec::new(),
        caches: Vec::new(),
        files: Vec::new(),
        network: Network::None,
        limits: Limits::default(),
        door: None,
        broker: false,
        command: Command {
            arguments: arguments.iter().map(Into::into).collect(),
            environment: Vec::new(),
            directory: "/tmp/workspace".into(),
            stdin: Stdin::Empty,
            terminal: None,
        },
    })?;
    let timeout = Timeout { after: None, grace: std::time::Duration::ZERO };
    running.drive(&timeout, printed, None).map(drop)
}

/// What was printed to standard output.
#[derive(Default)]
struct Printed(Vec<u8>);

impl Observer for Printed {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Flow {
        if stream == Stream::Stdout {
            self.0.extend_from_slice(bytes);
        }
        Flow::More
    }
}
