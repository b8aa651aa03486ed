//! Connections between agents: calls, streams and acknowledged messages over TLS, QUIC or within one process.
