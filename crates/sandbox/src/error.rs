//! What can go wrong before and around a confined command.

use std::path::PathBuf;

use rustix::io::Errno;

use offshoot_vocabulary::Network;

/// The result of sandbox functions.
pub type Result<T, E = SandboxError> = std::result::Result<T, E>;

/// Why a command could not be confined or run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// The kernel refuses the namespaces that every confined command needs.
    #[error("this system does not let you make user namespaces: {errno}{}", because(.setting))]
    Namespaces {
        /// What the kernel said.
        errno: Errno,
        /// The setting that forbids it, where one is known.
        setting: Option<String>,
    },
    /// Commands cannot have ids of their own here, and it was asked for.
    #[error("root's commands cannot have ids of their own here: {0}")]
    Ids(Errno),
    /// The inside could not be made.
    #[error("{step}{}: {errno}{}", at(.path), kernel(.detail))]
    Prepare {
        /// What was being done.
        step: &'static str,
        /// What it was about.
        path: Option<PathBuf>,
        /// What the kernel said.
        errno: Errno,
        /// What the kernel said about it at length.
        detail: String,
    },
    /// The system refuses a wall that the command must have.
    #[error("this system does not allow the sandbox's `{wall}` wall: {errno}")]
    Wall {
        /// Its name.
        wall: &'static str,
        /// What the kernel said.
        errno: Errno,
    },
    /// The command could not be executed.
    #[error("{}: {errno}", .program.display())]
    NotExecuted {
        /// What was to be run.
        program: PathBuf,
        /// What the kernel said.
        errno: Errno,
    },
    /// An argument, a variable or a path has a NUL byte in it.
    #[error("{0} has a NUL byte in it")]
    Nul(&'static str),
    /// The command that was to be joined has another network.
    #[error("the running session {}", network_of(.0))]
    OtherNetwork(Network),
    /// The rules of the network name more ports than there can be sockets for.
    #[error("the allowed hosts have {0} different ports, and at most {most} can be used", most = crate::proxy::MOST_PORTS)]
    TooManyPorts(usize),
    /// As many have joined the command as can.
    #[error("{0} terminals have joined the running session, and no more can")]
    Full(u64),
    /// There is no proxy where there are no namespaces.
    #[error(
        "hosts cannot be allowed one by one here: the proxy needs namespaces, which this system refuses"
    )]
    NoProxy,
    /// A command line is too long to be passed on.
    #[error("the command line and its variables take more than 64 KiB")]
    TooLong,
    /// The init is gone without a word.
    #[error("the sandbox ended unexpectedly")]
    Lost,
    /// A system call failed that cannot fail on a healthy system.
    #[error("{doing}: {errno}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// What the kernel said.
        errno: Errno,
    },
}

impl SandboxError {
    /// Whether the layers themselves could not be stacked, which another way of mounting may not need.
    pub fn is_about_layers(&self) -> bool {
        matches!(self, Self::Prepare { step, .. } if [LAYERS, READ_ONLY_LAYERS].contains(step))
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Namespaces { .. } => Some(
                "allow unprivileged user namespaces with the setting named, or run as a user who may make them; --sandbox container does without, and says what is then not protected",
            ),
            Self::Prepare { step, errno: Errno::PERM, .. } if *step == FRESH_PROC => Some(
                "a container that hides parts of /proc forbids this; start it with /proc unmasked, or use --sandbox container, which says what is then not protected",
            ),
            Self::Prepare { step, .. } if *step == GUARD => Some(
                "it takes Landlock, of Linux 5.19 or later; `-c agents.host_state=` runs the agent without your own sessions",
            ),
            Self::NoProxy => Some("use --net none, or --net host"),
            Self::Ids(_) => Some(
                "the file system of the vault may know no mounts that translate ids; a profile that has own_ids = \"optional\" does without",
            ),
            Self::Wall { .. } => Some(
                "a sandbox profile can mark this wall as optional; commands then run without it",
            ),
            Self::OtherNetwork(Network::Host) => Some("join it with --net host"),
            Self::OtherNetwork(Network::Proxy) => Some("join it with --net proxy"),
            Self::OtherNetwork(Network::None) => {
                Some("join it with --net none, or end it first and start it with --net host")
            }
            _ => None,
        }
    }
}

/// The steps that fail where overlayfs cannot be used.
pub(crate) const LAYERS: &str = "cannot mount the layers in";
pub(crate) const READ_ONLY_LAYERS: &str = "the kernel mounted the layers read-only in";
/// The step that fails in containers which mask parts of `/proc`.
pub(crate) const FRESH_PROC: &str = "cannot mount a fresh /proc";

/// The step that fails where Landlock is missing and a directory of the user is shared.
pub(crate) const GUARD: &str = "cannot keep links, pipes and sockets out of";

pub(crate) fn system(doing: &'static str) -> impl Fn(Errno) -> SandboxError {
    move |errno| SandboxError::System { doing, errno }
}

fn network_of(network: &Network) -> &'static str {
    match network {
        Network::None => "has no network",
        Network::Proxy => "reaches the network by a proxy",
        Network::Host => "has the host's network",
    }
}

fn because(setting: &Option<String>) -> String {
    setting.as_ref().map_or_else(String::new, |setting| format!(" ({setting})"))
}

fn at(path: &Option<PathBuf>) -> String {
    path.as_ref().map_or_else(String::new, |path| format!(" {}", path.display()))
}

fn kernel(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(" ({detail})") }
}
