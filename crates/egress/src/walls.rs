//! Checks that a test can take away one by one, to show what each of them holds.

/// The checks beside the allow-list itself. All are on; whoever turns one off opens what it is named for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EgressWalls {
    /// A name leads to private, loopback and other special addresses only where a rule lists those. Without it an allowed name
    /// that is resolved to such an address reaches it.
    pub special_addresses: bool,
    /// The `Host` header and the name in the greeting of TLS agree with what a connection is for. Without it an allowed
    /// server is asked for another site that it serves as well.
    pub names_agree: bool,
}

impl Default for EgressWalls {
    fn default() -> Self {
        Self { special_addresses: true, names_agree: true }
    }
}
