//! Which walls of the kernel's a command is put behind, in plain data.

use offshoot_vocabulary::Demand;

/// The walls of one command. What of them stands is reported by [`InForce`](crate::InForce), never taken from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walls {
    /// Namespaces. Without them there is no sandbox but [`Bare`](crate::Bare), for which whoever launches has to decide.
    pub namespaces: Demand,
    /// A `/proc` of its own processes. In its place it sees that of all, as far as the host does, and Landlock has to keep it from what lies in there.
    pub own_proc: Demand,
    /// The root is mounted read-only.
    pub read_only_root: Demand,
    /// What of `/sys` tells of the whole machine is masked.
    pub sysfs: Demand,
    /// Landlock: nothing is written but where writing is meant, whatever the mounts say.
    pub landlock: Demand,
    /// A filter refuses system calls that no build needs.
    pub seccomp: Demand,
    /// A session keyring of its own.
    pub keyring: Demand,
    /// Root's commands have ids that nobody has outside.
    pub own_ids: Demand,
    /// No supplementary group. Ordinary users cannot drop theirs.
    pub groups: Demand,
    /// Programs may make namespaces and mounts of their own, as browsers and other sandboxes do. Landlock then guards no files: the kernel
    /// forbids mounts to whom it does.
    pub nested_namespaces: bool,
    /// Programs may use io_uring, whose operations no filter sees.
    pub io_uring: bool,
}

impl Default for Walls {
    fn default() -> Self {
        use Demand::{Optional, Required};
        Self {
            namespaces: Required,
            own_proc: Required,
            read_only_root: Required,
            sysfs: Required,
            landlock: Optional,
            seccomp: Required,
            keyring: Required,
            groups: Optional,
            own_ids: Optional,
            nested_namespaces: false,
            io_uring: false,
        }
    }
}
