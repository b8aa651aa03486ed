//! The shell on tokio: real hooks, real files, real time.
