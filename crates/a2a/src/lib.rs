//! Agents for other programs by the A2A protocol: server and client.
