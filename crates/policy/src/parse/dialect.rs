//! The shells that `/bin/sh` may be.

/// Which shell's grammar is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// GNU bash.
    Bash,
    /// The Debian Almquist shell.
    Dash,
}
