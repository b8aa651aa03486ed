//! What a command was held to, reached and used.

use offshoot_vocabulary::{Confinement, HomeView, Network, OwnSandbox, PresetOrigin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::is_zero;
use crate::text::Text;

/// What confined a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SandboxDoc {
    /// How it was confined.
    pub mode: Confinement,
    /// The namespaces of its own.
    pub namespaces: Vec<String>,
    /// What it could reach.
    pub network: Network,
    /// How its home looked.
    pub home: HomeView,
    /// Where it could write and what was kept: the workspace, unless it was read-only.
    pub writable: Vec<Text>,
    /// Where it could write and what was thrown away afterwards.
    pub private: Vec<Text>,
    /// What it saw empty.
    pub hidden: Vec<Text>,
    /// Directories of the workspace could be renamed where overlayfs by itself refuses.
    #[serde(default)]
    pub broker: bool,
    /// Package caches that outlive it: what it wrote there is kept for later commands of the vault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<String>,
    /// The limits that it was held to.
    #[serde(default)]
    pub limits: LimitsDoc,
    /// The version of Landlock's rules that held, the `landlock` of the restrictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landlock_abi: Option<u32>,
    /// Everything else in force, such as `no_new_privs`.
    pub restrictions: Vec<String>,
    /// What became of the sandbox that a coding agent has itself, by its preset; missing where it is no agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_sandbox: Option<OwnSandbox>,
    /// What commands are usually kept from and this one was not, because the system refuses what would do it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
}

/// The limits that a command was held to, as the kernel and the sandbox had them; none where there was none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitsDoc {
    /// Processes and threads.
    pub processes: Option<u64>,
    /// Bytes of one file.
    pub file_size: Option<u64>,
    /// Bytes of memory of all its processes together, files in private directories included.
    pub memory: Option<u64>,
    /// Milliseconds of processors of all its processes together.
    #[serde(default)]
    pub cpu_ms: Option<u64>,
    /// Bytes of each private directory.
    #[serde(default)]
    pub tmpfs: Option<u64>,
}

/// The network of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkDoc {
    /// What it could reach.
    pub mode: Network,
    /// How often it sent something or began a connection that could not leave, as the kernel counts it. With `proxy`, what went to ports where
    /// nobody listens: no rule names them, and the command has no server there. 0 with `host`.
    pub attempted: u64,
    /// What went through the network proxy or was refused by it, in the order in which it ended: the first 1000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionDoc>,
    /// How many connections are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub connections_left_out: u64,
    /// Hosts that no rule allows: the first 1000. Those that the preset of an agent does without are not among them; `connections` has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedHostDoc>,
    /// How many refusals are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused_left_out: u64,
}

/// One connection by the network proxy, or one request of HTTP where the proxy reads requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionDoc {
    /// When it came.
    pub time: String,
    /// How long it took.
    pub duration_ms: u64,
    /// How it came: `http`, `connect`, `socks`, `direct` from a program that knows no proxy, or `dns`.
    pub route: String,
    /// The host that it was for, where that could be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The port that it was for; 0 where there is none.
    pub port: u16,
    /// The address and port that it went to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The method of HTTP, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The path of HTTP without its query, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Bytes from the command.
    pub sent_bytes: u64,
    /// Bytes to the command.
    pub received_bytes: u64,
    /// Whether it was served.
    pub allowed: bool,
    /// Why it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A host that the network proxy refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedHostDoc {
    /// The host.
    pub host: String,
    /// The first port that was tried; 0 where only its address was asked for. What was tried at 80 and at 443 is told together.
    pub port: u16,
    /// How often.
    pub count: u64,
    /// Why, the first time.
    pub reason: String,
    /// The option that would allow it, where one would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
}

/// What a command wrote or deleted outside the project: in the throw-away home, or beside a project in a private directory. Caches
/// and names in the home that start with a dot are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiscardedDoc {
    /// How many files, links and new empty directories.
    pub count: u64,
    /// Bytes of those files that are there.
    #[serde(default)]
    pub bytes: u64,
    /// The first 20 of them as absolute paths. A new directory stands for all that is in it.
    pub paths: Vec<Text>,
}

/// What a command and its children used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecUsageDoc {
    /// Milliseconds in its own code.
    pub user_ms: u64,
    /// Milliseconds in the kernel.
    pub system_ms: u64,
    /// The most memory that one process had.
    pub max_resident_bytes: u64,
    /// Bytes that it wrote to file systems on disks, as the kernel counts them: in whole pages, once until they are written
    /// out, deleted files included, memory file systems such as `/tmp` not.
    #[serde(default)]
    pub written_bytes: u64,
    /// Bytes of the files that it left in the workspace: the sizes of those that are new, moved or of other content.
    #[serde(default)]
    pub kept_bytes: u64,
    /// How many processes and threads it started, itself included.
    #[serde(default)]
    pub processes: u64,
}

/// A preset that a coding agent ran by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecPresetDoc {
    /// What it is called.
    pub name: String,
    /// Where it comes from.
    pub origin: PresetOrigin,
    /// Files of the home that were kept equal to the user's own.
    pub credentials: Vec<ExecCredentialDoc>,
    /// Directories of the user's own home that the agent shared, and could write to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_state: Vec<Text>,
}

/// A file that was kept equal to the user's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecCredentialDoc {
    /// Where it is below the home.
    pub path: String,
    /// How often what the agent wrote was written to the user's home.
    pub to_host: u64,
    /// How often the user's file was written to the agent's home while it ran.
    pub from_host: u64,
}
