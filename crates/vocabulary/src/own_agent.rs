//! Words about Offshoot's own agent.

use crate::word::words;

words! {
    /// How a run of the agent ended.
    pub enum AgentEnding {
        /// It has nothing more to do.
        Done = "done",
        /// It waits for a person.
        Waiting = "waiting",
        /// It paused at a limit, or could not go on.
        Paused = "paused",
        /// Its time was over.
        TimedOut = "timed_out",
        /// The user ended it.
        Cancelled = "cancelled",
        /// SIGHUP ended it: the terminal is gone.
        HungUp = "hung_up",
        /// SIGQUIT ended it.
        Quit = "quit",
        /// SIGTERM ended it.
        Terminated = "terminated",
    }
}
