//! One profile.

use std::collections::BTreeSet;

use offshoot_vocabulary::{FileAccess, Network};

use crate::demand::Demands;
use crate::hosts::HostRule;

/// What a command may read, reach and use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What it is called.
    pub name: String,
    /// What it is for, in a line.
    pub about: String,
    /// What the command does with the workspace.
    pub files: FileAccess,
    /// Groups of the table that it sees, by their names.
    pub reads: BTreeSet<String>,
    /// What it sees besides: `~/` is the home, `$NAME/` what a variable names.
    pub show: Vec<String>,
    /// What it does not see, wherever that would be in what it does.
    pub hide: Vec<String>,
    /// What it reaches.
    pub network: Network,
    /// Hosts that it reaches by the proxy.
    pub allow: Vec<HostRule>,
    /// Package caches of the vault are there.
    pub caches: bool,
    /// It is held to limits.
    pub limits: bool,
    /// What is asked for with a command can widen this.
    pub widen: bool,
    /// It may make namespaces of its own, as browsers and other sandboxes do.
    pub nested_namespaces: bool,
    /// It may use io_uring.
    pub io_uring: bool,
    /// What is asked of each wall.
    pub walls: Demands,
}

impl Profile {
    /// What both allow, and no more. It keeps the name of the first where the second takes nothing away.
    pub fn meet(&self, other: &Self) -> Self {
        let mut met = Self {
            name: self.name.clone(),
            about: self.about.clone(),
            files: self.files.min(other.files),
            reads: self.reads.intersection(&other.reads).cloned().collect(),
            show: shared(&self.show, &other.show),
            hide: self.hide.iter().chain(&other.hide).cloned().collect(),
            network: self.network.min(other.network),
            allow: shared(&self.allow, &other.allow),
            caches: self.caches && other.caches,
            limits: self.limits || other.limits,
            widen: self.widen && other.widen,
            nested_namespaces: self.nested_namespaces && other.nested_namespaces,
            io_uring: self.io_uring && other.io_uring,
            walls: self.walls.meet(&other.walls),
        };
        // A profile that sees or reaches everything takes nothing away from one that names some.
        if other.is_open() {
            (met.reads, met.show) = (self.reads.clone(), self.show.clone());
        } else if self.is_open() {
            (met.reads, met.show) = (other.reads.clone(), other.show.clone());
        }
        if other.network == Network::Host {
            met.allow.clone_from(&self.allow);
        } else if self.network == Network::Host {
            met.allow.clone_from(&other.allow);
        }
        met.hide.sort();
        met.hide.dedup();
        if met != *self {
            met.name = format!("{} & {}", self.name, other.name);
        }
        met
    }

    /// Whether nothing confines the command but the workspace itself.
    pub fn is_open(&self) -> bool {
        self.reads.contains(crate::ALL)
    }
}

fn shared<T: Clone + PartialEq>(a: &[T], b: &[T]) -> Vec<T> {
    a.iter().filter(|item| b.contains(item)).cloned().collect()
}
