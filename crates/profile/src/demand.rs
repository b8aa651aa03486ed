//! Walls that can be asked for one by one.

use std::collections::BTreeMap;

use offshoot_vocabulary::Demand;
use serde::{Deserialize, Serialize};

/// Something that confines a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// Namespaces, and the mounts in them. Without, rules of Landlock and the filter of calls alone keep the command in.
    Namespaces,
    /// A `/proc` of its own processes alone.
    OwnProc,
    /// Rules of the kernel's Landlock beneath the mounts.
    Landlock,
    /// System calls that no build needs are refused.
    Seccomp,
    /// Keys of the caller's session are out of reach.
    Keyring,
    /// The caller's further groups are dropped.
    Groups,
    /// Root has ids that nobody has outside.
    OwnIds,
    /// What of `/sys` tells of the whole machine is empty.
    Sysfs,
}

impl Wall {
    /// Every wall.
    pub const ALL: [Self; 8] = [
        Self::Namespaces,
        Self::OwnProc,
        Self::Landlock,
        Self::Seccomp,
        Self::Keyring,
        Self::Groups,
        Self::OwnIds,
        Self::Sysfs,
    ];

    /// Its name in files and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::OwnProc => "own_proc",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::Keyring => "keyring",
            Self::Groups => "groups",
            Self::OwnIds => "own_ids",
            Self::Sysfs => "sysfs",
        }
    }

    /// What is asked of it where nobody says: what every kernel of the last years has is a must.
    fn usual(self) -> Demand {
        match self {
            Self::Namespaces | Self::OwnProc | Self::Seccomp | Self::Keyring | Self::Sysfs => {
                Demand::Required
            }
            Self::Landlock | Self::Groups | Self::OwnIds => Demand::Optional,
        }
    }
}

/// What is asked of each wall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demands(BTreeMap<Wall, Demand>);

impl Default for Demands {
    fn default() -> Self {
        Self(Wall::ALL.into_iter().map(|wall| (wall, wall.usual())).collect())
    }
}

impl Demands {
    /// What is asked of a wall.
    pub fn of(&self, wall: Wall) -> Demand {
        self.0.get(&wall).copied().unwrap_or_else(|| wall.usual())
    }

    /// The walls in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Wall, Demand)> {
        Wall::ALL.into_iter().map(|wall| (wall, self.of(wall)))
    }

    pub(crate) fn set(&mut self, others: &BTreeMap<Wall, Demand>) {
        self.0.extend(others);
    }

    /// The higher demand of both, wall by wall.
    pub(crate) fn meet(&self, other: &Self) -> Self {
        Self(Wall::ALL.into_iter().map(|wall| (wall, self.of(wall).max(other.of(wall)))).collect())
    }
}
