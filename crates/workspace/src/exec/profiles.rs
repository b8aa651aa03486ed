//! The profiles that commands run by.

use offshoot_profile::{HostRule, Presets, Profile, Profiles, ProjectNarrowing};
use offshoot_protocol::{Demand, FileAccess, Network, Wall};
use offshoot_sandbox::Walls;

use super::envelope::ExecutionResult;
use super::request::ExecutionRequest;
use crate::error::{Result, ServiceError};

/// What programs print where they cannot write.
const NOT_WRITABLE: &str = "read-only file system";

/// The profiles that commands run by: the user's, and what the project takes away from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRules {
    /// Those that there are.
    pub profiles: Profiles,
    /// Those of coding agents.
    pub presets: Presets,
    /// What projects take away.
    pub narrowed: Vec<ProjectNarrowing>,
    /// What the user's settings let commands reach.
    pub network: Network,
    /// Hosts that the user's settings let them reach by the proxy.
    pub allow: Vec<HostRule>,
}

impl ProfileRules {
    /// The profile for a command that asks for one, or for none in particular.
    pub fn profile(&self, asked: Option<&str>) -> Result<Profile> {
        let mut profile = match asked {
            Some(name) => self.profiles.get(name).map_err(ServiceError::Request)?.clone(),
            None => self.profiles.usual().clone(),
        };
        if profile.widen {
            profile.network = profile.network.max(self.network);
            profile.allow.extend(self.allow.iter().cloned());
        }
        Ok(self.narrowed.iter().fold(profile, |profile, project| project.narrow(&profile)))
    }

    /// Whether a command that asks for a profile can be given that network.
    pub fn may_reach(&self, asked: Option<&str>, network: Network, hosts: &[String]) -> bool {
        self.profile(asked).is_ok_and(|profile| profile.widen || network <= profile.network)
            && self.narrowed.iter().all(|project| project.lets_reach(network, hosts))
    }

    /// What a project's file says holds for what is asked for with a command as well. `reaches` says that it asks for more network.
    fn check_projects(
        &self,
        (network, reaches): (Network, bool),
        request: &ExecutionRequest,
    ) -> Result<()> {
        for project in &self.narrowed {
            let lets_reach =
                project.lets_reach(network, &request.allow) && (project.lets_widen() || !reaches);
            let lets_show = project.lets_show() && project.lets_widen();
            let flag = match () {
                () if !lets_reach => "--net",
                () if !request.show.is_empty() && !lets_show => "--show",
                () => continue,
            };
            return Err(ServiceError::Request(format!(
                "{} does not let commands have what {flag} asks for: leave {flag} out, or edit that file",
                project.file()
            )));
        }
        Ok(())
    }

    /// What projects say to no effect.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.narrowed.iter().flat_map(|project| project.warnings().iter().cloned())
    }

    /// What to say to somebody whose command failed because a project's file keeps commands from changing files.
    pub(super) fn kept_from_writing(&self, result: &ExecutionResult) -> Option<String> {
        let printed = if result.terminal { &result.stdout } else { &result.stderr };
        let printed = String::from_utf8_lossy(&printed.bytes).to_lowercase();
        if result.exit_code == Some(0) || !printed.contains(NOT_WRITABLE) {
            return None;
        }
        let project = self.narrowed.iter().find(|project| !project.lets_write())?;
        let file = project.file();
        Some(format!("{file} keeps commands from changing files: to let them, edit that file"))
    }

    /// The profile for a request, which is completed by it.
    pub(super) fn settle(&self, request: &mut ExecutionRequest) -> Result<Profile> {
        let mut profile = self.profile(request.sandbox.as_deref())?;
        let network = request.network.unwrap_or(profile.network);
        let reaches = network > profile.network || !request.allow.is_empty();
        self.check_projects((network, reaches), request)?;
        if (reaches || !request.show.is_empty()) && !profile.widen {
            let flag = if reaches { "--net" } else { "--show" };
            return Err(ServiceError::Request(format!(
                "profile {} cannot be widened: leave {flag} out, or choose another profile with --sandbox",
                profile.name
            )));
        }
        profile.network = network;
        profile.allow.extend(request.allow.iter().cloned().map(HostRule::Text));
        request.network = Some(network);
        request.read_only |= profile.files == FileAccess::Read;
        Ok(profile)
    }
}

/// The walls of a profile, as the sandbox puts them up.
pub(super) fn walls(profile: &Profile) -> Walls {
    let of = |wall| profile.walls.of(wall);
    Walls {
        namespaces: of(Wall::Namespaces),
        own_proc: of(Wall::OwnProc),
        read_only_root: Demand::Required,
        sysfs: of(Wall::Sysfs),
        landlock: of(Wall::Landlock),
        seccomp: of(Wall::Seccomp),
        keyring: of(Wall::Keyring),
        groups: of(Wall::Groups),
        own_ids: of(Wall::OwnIds),
        nested_namespaces: profile.nested_namespaces,
        io_uring: profile.io_uring,
    }
}
