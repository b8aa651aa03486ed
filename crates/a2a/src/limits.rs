//! Everything that is bounded.

use std::time::Duration;

/// How much a server takes, keeps and does at once.
#[derive(Debug, Clone)]
pub struct A2aLimits {
    /// Bytes of a request.
    pub body: usize,
    /// Arrays and objects of JSON within one another.
    pub depth: usize,
    /// Values in one JSON text.
    pub values: usize,
    /// Parts of one message or artifact.
    pub parts: usize,
    /// Connections at once; more wait.
    pub connections: usize,
    /// Streams at once.
    pub streams: usize,
    /// Updates that a slow stream may be behind before it is cut.
    pub backlog: usize,
    /// Tasks that agents work on at once.
    pub running: usize,
    /// How long a request may take to arrive.
    pub arrival: Duration,
    /// How long a client that waits for the end of a task is kept waiting.
    pub blocking: Duration,
    /// How long an agent has to stop by itself after a task was cancelled.
    pub cancel: Duration,
    /// A comment is sent on a silent stream so often.
    pub heartbeat: Duration,
    /// What is kept of tasks. The store enforces its own, which should be the same.
    pub tasks: A2aTaskLimits,
    /// How webhooks are called.
    pub push: A2aPushLimits,
}

impl Default for A2aLimits {
    fn default() -> Self {
        Self {
            body: 4 << 20,
            depth: 64,
            values: 100_000,
            parts: 256,
            connections: 256,
            streams: 64,
            backlog: 256,
            running: 64,
            arrival: Duration::from_secs(30),
            blocking: Duration::from_secs(10 * 60),
            cancel: Duration::from_secs(5),
            heartbeat: Duration::from_secs(15),
            tasks: A2aTaskLimits::default(),
            push: A2aPushLimits::default(),
        }
    }
}

/// How much is kept of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct A2aTaskLimits {
    /// Tasks; the oldest that are over make room for new ones.
    pub tasks: usize,
    /// Bytes of all tasks as JSON.
    pub bytes: usize,
    /// Bytes of one task as JSON.
    pub task_bytes: usize,
    /// Messages in the history of one task; the oldest go.
    pub history: usize,
    /// Artifacts of one task.
    pub artifacts: usize,
    /// Webhooks of one task.
    pub push_configs: usize,
}

impl Default for A2aTaskLimits {
    fn default() -> Self {
        Self {
            tasks: 10_000,
            bytes: 256 << 20,
            task_bytes: 16 << 20,
            history: 1_000,
            artifacts: 256,
            push_configs: 8,
        }
    }
}

/// How webhooks are called.
#[derive(Debug, Clone)]
pub struct A2aPushLimits {
    /// How often one update is tried.
    pub attempts: u32,
    /// The wait before the second try; it doubles with each.
    pub first_wait: Duration,
    /// No wait is longer.
    pub longest_wait: Duration,
    /// How long one try may take.
    pub timeout: Duration,
    /// Updates that wait for one webhook; the oldest go.
    pub queue: usize,
    /// Webhooks that are called at once.
    pub deliveries: usize,
}

impl Default for A2aPushLimits {
    fn default() -> Self {
        Self {
            attempts: 5,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(30),
            timeout: Duration::from_secs(10),
            queue: 256,
            deliveries: 16,
        }
    }
}
