//! The registry of agents: who is there and what they can do, with leases, server and client.
