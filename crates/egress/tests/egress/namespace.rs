//! A network namespace whose only way out is the proxy.
