//! Whether this system can confine a command, found by trying.

use crate::cancel::Requests;
use crate::error::SandboxError;
use crate::in_force::InForce;
use crate::launch::launch;
use crate::proxy::ProxyPorts;
use crate::room::Stream;
use crate::running::{Observer, Timeout};
use crate::spec::{Files, Limits, Overlay, Program, Spec, Stdin, WorkspaceMount};
use crate::walls::Walls;
use offshoot_vocabulary::Network;

/// Whether a command can be confined on these files, and what is in force then.
pub fn attempt(files: Files) -> Result<InForce, SandboxError> {
    run(files, &["true"], &mut Printed::default())
}

/// What the file `name` holds, read through these layers.
pub fn read_through(layers: Overlay, name: &str) -> Result<Vec<u8>, SandboxError> {
    let mut printed = Printed::default();
    run(Files::Overlay(layers), &["cat", name], &mut printed)?;
    Ok(printed.0)
}

fn run(files: Files, arguments: &[&str], printed: &mut Printed) -> Result<InForce, SandboxError> {
    let target = "/tmp/workspace".into();
    let running = launch(&Spec {
        workspace: WorkspaceMount {
            files,
            target,
            read_only: false,
            folders: Vec::new(),
            covered: None,
        },
        shown: ["/usr", "/bin", "/lib", "/lib64"].map(Into::into).to_vec(),
        home: None,
        kept_home: None,
        shared: Vec::new(),
        hidden: Vec::new(),
        caches: Vec::new(),
        files: Vec::new(),
        network: Network::None,
        proxy: ProxyPorts::default(),
        limits: Limits::default(),
        walls: Walls::default(),
        bare: None,
        door: None,
        broker: false,
        command: Program {
            arguments: arguments.iter().map(Into::into).collect(),
            environment: Vec::new(),
            directory: "/tmp/workspace".into(),
            stdin: Stdin::Empty,
            terminal: None,
        },
    })?;
    let timeout = Timeout { after: None, grace: std::time::Duration::ZERO };
    let in_force = running.in_force.clone();
    running.drive(&timeout, printed, Requests::default())?;
    Ok(in_force)
}

/// What was printed to standard output.
#[derive(Default)]
struct Printed(Vec<u8>);

impl Observer for Printed {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Stdout {
            self.0.extend_from_slice(bytes);
        }
    }
}
