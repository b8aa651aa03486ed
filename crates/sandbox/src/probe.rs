//! Whether this system can confine a command, found by trying.

use std::path::Path;

use crate::error::SandboxError;
use crate::launch::launch;
use crate::running::{Flow, Observer, Stream, Timeout};
use crate::spec::{Command, Files, Limits, Network, Overlay, Spec, Stdin, WorkspaceMount};

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
        upper: "upper".into(),
        work: "work".into(),
        look_up: Vec::new(),
    }))
}

fn attempt(files: Files) -> Result<(), SandboxError> {
    let target = "/tmp/workspace".into();
    let running = launch(&Spec {
        workspace: WorkspaceMount { files, target, read_only: false },
        home: None,
        hidden: Vec::new(),
        network: Network::None,
        limits: Limits::default(),
        broker: false,
        command: Command {
            arguments: vec!["true".into()],
            environment: Vec::new(),
            directory: "/tmp/workspace".into(),
            stdin: Stdin::Empty,
        },
    })?;
    let timeout = Timeout { after: None, grace: std::time::Duration::ZERO };
    running.drive(&timeout, &mut Deaf, None).map(drop)
}

struct Deaf;

impl Observer for Deaf {
    fn output(&mut self, _: Stream, _: &[u8]) -> Flow {
        Flow::More
    }
}
