//! One root mounted for one command.

mod copy;
mod overlay;

use std::path::PathBuf;

use offshoot_sandbox::{
    CacheMount, Command, Ended, FolderMount, Limits, Network, Running, Spec, WorkspaceMount,
    WrittenFile, launch_noted, make_door,
};
use offshoot_vault::{Adopted, ExecNote, Id, LinkLimit, ProcessMark, RootId, Upper, Vault};
use offshoot_vocabulary::{Driver, DriverChoice};

use crate::error::{MountError, Result};

/// Where a session is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountState {
    /// Nothing is mounted: not yet, or not any more.
    Unmounted,
    /// The inside is being made.
    Mounting,
    /// The command runs in it.
    Mounted,
    /// The command is over; its changes are being taken.
    Unmounting,
    /// Something failed; nothing is mounted.
    Failed,
}

impl MountState {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unmounted => "unmounted",
            Self::Mounting => "mounting",
            Self::Mounted => "mounted",
            Self::Unmounting => "unmounting",
            Self::Failed => "failed",
        }
    }

    /// Whether the one may follow the other.
    fn leads_to(self, next: Self) -> bool {
        use MountState::*;
        matches!(
            (self, next),
            (Unmounted, Mounting)
                | (Mounting, Mounted)
                | (Mounted, Unmounting)
                | (Unmounting, Unmounted)
                | (_, Failed)
        )
    }
}

/// What to mount.
#[derive(Clone, Debug)]
pub struct MountRequest {
    /// The state of files to show.
    pub root: RootId,
    /// Roots that resemble it, nearest first: where it has no layers yet, they are made as the difference to one of these.
    pub near: Vec<RootId>,
    /// Where the command sees it.
    pub target: PathBuf,
    /// Directories of it that the command sees at other places.
    pub folders: Vec<FolderMount>,
    /// A directory of it that the command sees empty, because what is in it is seen elsewhere.
    pub covered: Option<PathBuf>,
    /// The command cannot change it.
    pub read_only: bool,
    /// How to mount.
    pub driver: DriverChoice,
    /// How many hard links are kept whole.
    pub links: LinkLimit,
    /// What to note beside the files while the command runs; what only the mount knows is added.
    pub note: ExecNote,
}

/// Everything about the inside but the workspace.
#[derive(Debug)]
pub struct Inside {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// What the command sees empty.
    pub hidden: Vec<PathBuf>,
    /// Directories that outlive it.
    pub caches: Vec<CacheMount>,
    /// Files in private directories.
    pub files: Vec<WrittenFile>,
    /// What it can reach.
    pub network: Network,
    /// What it may use.
    pub limits: Limits,
    /// Directories can be renamed where overlayfs refuses.
    pub broker: bool,
    /// Others can join the command.
    pub joinable: bool,
    /// What to run.
    pub command: Command,
}

/// What a command left.
#[derive(Debug)]
pub struct Sealed {
    /// The new state, stored but not part of any history yet.
    pub adopted: Adopted,
    /// What is not as one may expect.
    pub warnings: Vec<String>,
}

/// One root mounted for one command.
#[derive(Debug)]
pub struct MountSession<'v> {
    vault: &'v Vault,
    request: MountRequest,
    state: MountState,
    mounted: Option<Mounted>,
    warnings: Vec<String>,
}

#[derive(Debug)]
enum Mounted {
    Overlay(overlay::Layers),
    Copy(copy::Copied),
}

impl Mounted {
    fn driver(&self) -> Driver {
        match self {
            Self::Overlay(_) => Driver::Overlay,
            Self::Copy(_) => Driver::Copy,
        }
    }

    fn upper(&mut self) -> &mut Upper {
        match self {
            Self::Overlay(layers) => &mut layers.upper,
            Self::Copy(copied) => &mut copied.upper,
        }
    }

    fn into_upper(self) -> Upper {
        match self {
            Self::Overlay(layers) => layers.upper,
            Self::Copy(copied) => copied.upper,
        }
    }

    /// The layers that are stacked.
    fn layers(&self) -> Vec<Id> {
        match self {
            Self::Overlay(layers) => layers.stack.layers.clone(),
            Self::Copy(_) => Vec::new(),
        }
    }
}

impl<'v> MountSession<'v> {
    /// A session that has done nothing yet.
    pub fn new(vault: &'v Vault, request: MountRequest) -> Self {
        let (state, mounted, warnings) = (MountState::Unmounted, None, Vec::new());
        Self { vault, request, state, mounted, warnings }
    }

    /// Where the session is in its life.
    pub fn state(&self) -> MountState {
        self.state
    }

    /// The driver in use.
    pub fn driver(&self) -> Option<Driver> {
        self.mounted.as_ref().map(Mounted::driver)
    }

    /// Where to keep what the command prints while it runs.
    pub fn output_file(&mut self) -> Option<PathBuf> {
        self.mounted.as_mut().map(|mounted| mounted.upper().output_file())
    }

    /// Mounts the root and starts the command in it.
    pub fn start(&mut self, inside: Inside) -> Result<Running> {
        self.advance(MountState::Mounting)?;
        let mut spec = Spec {
            workspace: WorkspaceMount {
                files: offshoot_sandbox::Files::Directory(PathBuf::new()),
                target: self.request.target.clone(),
                read_only: self.request.read_only,
                folders: self.request.folders.clone(),
                covered: self.request.covered.clone(),
            },
            home: inside.home,
            hidden: inside.hidden,
            caches: inside.caches,
            files: inside.files,
            network: inside.network,
            limits: inside.limits,
            broker: inside.broker,
            door: None,
            command: inside.command,
        };
        let joinable = inside.joinable;
        let started = match self.request.driver.only() {
            Some(driver) => self.start_with(driver, &mut spec, joinable),
            None => match self.start_with(Driver::Overlay, &mut spec, joinable) {
                Err(error) if error.is_about_layers() => {
                    self.fall_back(&error);
                    self.start_with(Driver::Copy, &mut spec, joinable)
                }
                other => other,
            },
        };
        self.advance(if started.is_ok() { MountState::Mounted } else { MountState::Failed })?;
        started
    }

    fn fall_back(&mut self, error: &MountError) {
        self.warnings.push(format!(
            "worked on a plain copy, because overlayfs cannot be used here: {error}; `offshoot doctor` says more"
        ));
    }

    fn start_with(&mut self, driver: Driver, spec: &mut Spec, joinable: bool) -> Result<Running> {
        let mut mounted = match driver {
            Driver::Overlay => {
                Mounted::Overlay(overlay::Layers::prepare(self.vault, &self.request)?)
            }
            Driver::Copy => Mounted::Copy(copy::Copied::prepare(self.vault, &self.request)?),
        };
        spec.workspace.files = match &mounted {
            Mounted::Overlay(layers) => layers.files(),
            Mounted::Copy(copied) => copied.files(),
        };
        // Without one nobody can join, and the command is all right.
        spec.door = joinable.then(|| make_door(&mounted.upper().door()).ok()).flatten();
        let mut note = ExecNote {
            layers: mounted.layers(),
            copy: driver == Driver::Copy,
            read_only: self.request.read_only,
            ..self.request.note.clone()
        };
        // Before anything runs: what has no note was written by no command.
        let launched = launch_noted(spec, &mut |init| -> Result<()> {
            note.init = Some(ProcessMark::of(init));
            Ok(mounted.upper().note(&note)?)
        });
        match launched {
            Ok(running) => {
                self.mounted = Some(mounted);
                Ok(running)
            }
            Err(error) => {
                mounted.into_upper().discard();
                Err(error)
            }
        }
    }

    /// Makes a root of what the command left.
    pub fn seal(mut self, ended: &Ended) -> Result<Sealed> {
        self.advance(MountState::Unmounting)?;
        let mounted = self.mounted.take().ok_or(MountError::State(MountState::Failed.word()))?;
        let adopted = match mounted {
            Mounted::Overlay(layers) => {
                self.warnings.extend(layers.warning());
                if ended.busy {
                    let busy = "something outside still has the files open; what it writes from now on is not kept";
                    self.warnings.push(busy.to_owned());
                }
                layers.seal(self.vault, ended)
            }
            Mounted::Copy(copied) => copied.seal(self.vault),
        };
        self.advance(if adopted.is_ok() { MountState::Unmounted } else { MountState::Failed })?;
        Ok(Sealed { adopted: adopted?, warnings: self.warnings })
    }

    /// Gives up a command that did not come to an end that could be sealed. Nothing of it may run any more. What it wrote is
    /// set aside, to be recovered.
    pub fn abandon(mut self) {
        if let Some(mounted) = self.mounted.take() {
            mounted.into_upper().abandon(self.vault);
        }
    }

    /// Ends a session in which nothing could be written. Gives what is not as one may expect.
    pub fn release(mut self) -> Result<Vec<String>> {
        self.advance(MountState::Unmounting)?;
        self.mounted = None;
        self.advance(MountState::Unmounted)?;
        Ok(self.warnings)
    }

    fn advance(&mut self, next: MountState) -> Result<()> {
        if !self.state.leads_to(next) {
            return Err(MountError::State(self.state.word()));
        }
        self.state = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::MountState::*;

    #[test]
    fn a_session_goes_forward_only() {
        let all = [Unmounted, Mounting, Mounted, Unmounting, Failed];
        for from in all {
            let next: Vec<_> = all.into_iter().filter(|to| from.leads_to(*to)).collect();
            let expected = match from {
                Unmounted => vec![Mounting, Failed],
                Mounting => vec![Mounted, Failed],
                Mounted => vec![Unmounting, Failed],
                Unmounting => vec![Unmounted, Failed],
                Failed => vec![Failed],
            };
            assert_eq!(next, expected, "{from:?}");
        }
    }
}
