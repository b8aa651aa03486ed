//! The profiles that commands run by.

use offshoot_profile::{HostRule, Profile, Profiles, ProjectNarrowing};
use offshoot_protocol::{Demand, FileAccess, Network, Wall};
use offshoot_sandbox::Walls;

use super::request::ExecutionRequest;
use crate::error::{Result, ServiceError};

/// The profiles that commands run by: the user's, and what the project takes away from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRules {
    /// Those that there are.
    pub profiles: Profiles,
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

    /// The profile for a request, which is completed by it.
    pub(super) fn settle(&self, request: &mut ExecutionRequest) -> Result<Profile> {
        let mut profile = self.profile(request.sandbox.as_deref())?;
        let network = request.network.unwrap_or(profile.network);
        let reaches = network > profile.network || !request.allow.is_empty();
        if (reaches || !request.show.is_empty()) && !profile.widen {
            let name = &profile.name;
            let what = if reaches { "a network" } else { "further files" };
            return Err(ServiceError::Request(format!(
                "profile {name} cannot be widened, and {what} was asked for"
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
