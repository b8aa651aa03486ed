//! What is asked of each wall.

use std::collections::BTreeMap;

use offshoot_vocabulary::{Demand, Wall};

/// What is asked of each wall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demands(BTreeMap<Wall, Demand>);

impl Default for Demands {
    fn default() -> Self {
        Self(Wall::ALL.iter().copied().map(|wall| (wall, usual(wall))).collect())
    }
}

impl Demands {
    /// What is asked of a wall.
    pub fn of(&self, wall: Wall) -> Demand {
        self.0.get(&wall).copied().unwrap_or_else(|| usual(wall))
    }

    /// The walls in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Wall, Demand)> {
        Wall::ALL.iter().copied().map(|wall| (wall, self.of(wall)))
    }

    pub(crate) fn set(&mut self, others: &BTreeMap<Wall, Demand>) {
        self.0.extend(others);
    }

    /// The higher demand of both, wall by wall.
    pub(crate) fn meet(&self, other: &Self) -> Self {
        Self(
            Wall::ALL
                .iter()
                .copied()
                .map(|wall| (wall, self.of(wall).max(other.of(wall))))
                .collect(),
        )
    }
}

/// What is asked of a wall where nobody says: what every kernel of the last years has is a must.
fn usual(wall: Wall) -> Demand {
    match wall {
        Wall::Namespaces | Wall::OwnProc | Wall::Seccomp | Wall::Keyring | Wall::Sysfs => {
            Demand::Required
        }
        Wall::Landlock | Wall::Groups | Wall::OwnIds => Demand::Optional,
    }
}
