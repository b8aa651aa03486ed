//! Giving a command its files and starting it.

use std::path::PathBuf;

use offshoot_mount::{Driver, MountRequest, MountSession, View, candidates};
use offshoot_protocol::{Demand, DriverChoice};
use offshoot_sandbox::{
    Files, FolderMount, Overlay, Running, SandboxError, Spec, UpperDirectories, WorkspaceMount,
    launch_noted, make_door,
};
use offshoot_store::ProcessMark;
use offshoot_vault::Vault;

use super::bare::{self, BareRoom};
use super::disk::DiskBefore;
use crate::error::{Result, ServiceError};

/// What a command works on, and where it sees it.
#[derive(Debug)]
pub(super) struct Wanted {
    /// What to make a directory of.
    pub(super) mount: MountRequest,
    /// How.
    pub(super) driver: DriverChoice,
    /// Where the command sees it.
    pub(super) target: PathBuf,
    /// Directories of it that it sees at other places.
    pub(super) folders: Vec<FolderMount>,
    /// A directory of it that it sees empty, because what is in it is seen elsewhere.
    pub(super) covered: Option<PathBuf>,
    /// Others can join the command.
    pub(super) joinable: bool,
    /// It is limited how much it may add to the disk.
    pub(super) disk_limited: bool,
    /// A home that is kept.
    pub(super) kept_home: Option<PathBuf>,
    /// Directories of the user's home that it shares.
    pub(super) shared: Vec<PathBuf>,
}

impl Wanted {
    /// The workspace as the command sees it, with its files yet to come.
    pub(super) fn workspace(&self) -> WorkspaceMount {
        WorkspaceMount {
            files: Files::Directory(PathBuf::new()),
            target: self.target.clone(),
            read_only: self.mount.read_only,
            folders: self.folders.clone(),
            covered: self.covered.clone(),
        }
    }
}

/// A command that was started.
#[derive(Debug)]
pub(super) struct Launched<'v> {
    pub(super) session: MountSession<'v>,
    pub(super) running: Running,
    /// What is watched, with what was there before the command, where it is limited how much that may add.
    pub(super) disk: Option<DiskBefore>,
    /// What is not as one may expect.
    pub(super) warnings: Vec<String>,
    /// What was made for it where there are no namespaces.
    pub(super) room: Option<BareRoom>,
}

/// Gives a command its files by the first driver that works, and starts it: in namespaces, or without where the profile lets it.
pub(super) fn launch<'v>(
    vault: &'v Vault,
    wanted: &Wanted,
    mut spec: Spec,
) -> Result<Launched<'v>> {
    let demand = spec.walls.namespaces;
    if demand != Demand::Off {
        let launched = launch_by(vault, wanted, wanted.driver, &mut spec);
        let refused = |error: &ServiceError| {
            matches!(error, ServiceError::Sandbox(SandboxError::Namespaces { .. }))
        };
        if demand == Demand::Required || !launched.as_ref().is_err_and(refused) {
            return launched;
        }
    }
    let mut room = BareRoom::new(&mut spec)?;
    let mut launched = launch_by(vault, wanted, DriverChoice::Copy, &mut spec)?;
    room.places = [spec.workspace.target, spec.command.directory];
    launched.room = Some(room);
    Ok(launched)
}

fn launch_by<'v>(
    vault: &'v Vault,
    wanted: &Wanted,
    driver: DriverChoice,
    spec: &mut Spec,
) -> Result<Launched<'v>> {
    let mut warnings = Vec::new();
    let drivers = candidates(driver);
    let mut next = drivers.iter().copied().peekable();
    while let Some(driver) = next.next() {
        match (launch_with(vault, wanted, driver, spec), next.peek()) {
            (Err(error), Some(other)) if error.is_about_layers() => {
                warnings.push(fallen_back(driver, *other, &error));
            }
            (launched, _) => {
                let (session, running, disk) = launched?;
                return Ok(Launched { session, running, disk, warnings, room: None });
            }
        }
    }
    Err(ServiceError::Internal("no driver is left to try".to_owned()))
}

fn fallen_back(from: &dyn Driver, to: &dyn Driver, error: &ServiceError) -> String {
    let (done, needs) = (to.words().done, from.words().needs);
    format!("{done}, because {needs} cannot be used here: {error}; `offshoot doctor` says more")
}

fn launch_with<'v>(
    vault: &'v Vault,
    wanted: &Wanted,
    driver: &'static dyn Driver,
    spec: &mut Spec,
) -> Result<(MountSession<'v>, Running, Option<DiskBefore>)> {
    let mut session = MountSession::prepare(vault, &wanted.mount, driver)?;
    match start(&mut session, wanted, spec) {
        Ok((running, disk)) => Ok((session, running, disk)),
        Err(error) => {
            session.discard();
            Err(error)
        }
    }
}

fn start(
    session: &mut MountSession<'_>,
    wanted: &Wanted,
    spec: &mut Spec,
) -> Result<(Running, Option<DiskBefore>)> {
    spec.workspace.files = files(session.show()?);
    if spec.bare.is_some() {
        bare::move_to_files(spec);
    }
    let output = session.output_file();
    let disk = output.parent().filter(|_| wanted.disk_limited).map(DiskBefore::of);
    // Without one nobody can join, and the command is all right.
    let joinable = wanted.joinable && spec.bare.is_none();
    spec.door = joinable.then(|| make_door(&session.door()).ok()).flatten();
    // Before anything runs: what has no note was written by no command.
    let running =
        launch_noted(spec, &mut |init| -> Result<()> { Ok(session.note(ProcessMark::of(init))?) })?;
    Ok((running, disk))
}

/// What the sandbox mounts for what a driver shows.
pub(super) fn files(view: View) -> Files {
    match view {
        View::Directory(path) => Files::Directory(path),
        View::Layers(layers) => Files::Overlay(Overlay {
            directory: layers.directory,
            lower: layers.lower,
            data: layers.data,
            upper: layers
                .upper
                .map(|upper| UpperDirectories { directory: upper.directory, work: upper.work }),
            look_up: layers.look_up,
        }),
    }
}
