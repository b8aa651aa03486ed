//! A fleet of agents in simulated time.
