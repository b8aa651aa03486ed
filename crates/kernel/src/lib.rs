//! The kernel of an agent: its life, what it accepts, its tasks, jobs and plans, durable and governed.
