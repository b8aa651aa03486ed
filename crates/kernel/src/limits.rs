//! The bounds of an agent.

use serde::{Deserialize, Serialize};

/// Bounds of what an agent accepts, keeps and does. The design page says what each is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelLimits {
    /// Tasks that run at the same time.
    pub concurrency: usize,
    /// Open tasks.
    pub queue: usize,
    /// Open tasks of one sender.
    pub queue_per_sender: usize,
    /// Messages that are accepted while the agent is suspended.
    pub suspended_queue: usize,
    /// Keys of closed tasks that are remembered.
    pub dedup_keys: usize,
    /// How long they are, in milliseconds.
    pub dedup_ms: u64,
    /// Dead letters that are kept.
    pub dead_letters: usize,
    /// Bytes of a body, answer, effect, checkpoint of progress or question, as JSON.
    pub value_bytes: usize,
    /// Effects of one task.
    pub effects_per_task: usize,
    /// Sub-tasks of one task.
    pub children_per_task: usize,
    /// How deep sub-tasks may be.
    pub depth: u32,
    /// Jobs.
    pub jobs: usize,
    /// Plans.
    pub plans: usize,
    /// How long an attempt may run, in milliseconds.
    pub task_ms: u64,
    /// How long `on_bootstrap` and `on_shutdown` may run.
    pub hook_ms: u64,
    /// How long an attempt that was stopped may take to end.
    pub grace_ms: u64,
    /// How long an attempt may be silent.
    pub heartbeat_ms: Option<u64>,
    /// How long retiring may take.
    pub drain_ms: u64,
    /// After how many records the journal is compacted.
    pub compact_after: u64,
    /// How many crashes of hooks suspend the agent.
    pub crashes: CrashLimit,
}

/// How often hooks may crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CrashLimit {
    /// More than so many suspend the agent,
    pub max: usize,
    /// if they were within this time.
    pub window_ms: u64,
}

impl Default for CrashLimit {
    fn default() -> Self {
        Self { max: 10, window_ms: 60_000 }
    }
}

impl Default for KernelLimits {
    fn default() -> Self {
        Self {
            concurrency: 8,
            queue: 65_536,
            queue_per_sender: 16_384,
            suspended_queue: 256,
            dedup_keys: 10_000,
            dedup_ms: 24 * 60 * 60 * 1_000,
            dead_letters: 1_000,
            value_bytes: 256 << 10,
            effects_per_task: 1_000,
            children_per_task: 64,
            depth: 8,
            jobs: 256,
            plans: 64,
            task_ms: 10 * 60 * 1_000,
            hook_ms: 30_000,
            grace_ms: 2_000,
            heartbeat_ms: None,
            drain_ms: 60_000,
            compact_after: 20_000,
            crashes: CrashLimit::default(),
        }
    }
}
