//! How a client asks.

use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;

use crate::reach::{A2aAddressPolicy, A2aReach};

/// How a client asks.
#[derive(Clone)]
pub struct A2aClientOptions {
    /// Sent as bearer token with every request but the one for the public card.
    pub token: Option<String>,
    /// Which addresses may be asked; by default those with TLS, and this machine.
    pub policy: Arc<dyn A2aAddressPolicy>,
    /// How servers are checked; by default by the certificates that the system trusts.
    pub tls: Option<Arc<ClientConfig>>,
    /// Whether a card may send this client, and its token, to another host than its own.
    pub allow_other_hosts: bool,
    /// Extensions that this client knows, told with every request.
    pub extensions: Vec<String>,
    /// How long the head of an answer may take, and then its body.
    pub timeout: Duration,
    /// The same for a message whose answer comes when the agent is done.
    pub blocking: Duration,
    /// How long a stream may be silent.
    pub idle: Duration,
    /// Bytes of an answer, and of an event of a stream.
    pub answer: usize,
    /// How often what is safe is tried again.
    pub retries: u32,
    /// The wait before the first of these tries; it doubles with each.
    pub first_wait: Duration,
    /// No wait is longer.
    pub longest_wait: Duration,
}

impl A2aClientOptions {
    /// The usual options, with a token.
    #[must_use]
    pub fn with_token(token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..Self::default() }
    }

    /// How long to wait before a try.
    pub(super) fn wait(&self, attempt: u32) -> Duration {
        let doubled = self.first_wait.saturating_mul(1_u32 << attempt.min(20));
        doubled.min(self.longest_wait).mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

impl Default for A2aClientOptions {
    fn default() -> Self {
        Self {
            token: None,
            policy: Arc::new(A2aReach::Encrypted),
            tls: None,
            allow_other_hosts: false,
            extensions: Vec::new(),
            timeout: Duration::from_secs(60),
            blocking: Duration::from_secs(15 * 60),
            idle: Duration::from_secs(60),
            answer: 32 << 20,
            retries: 3,
            first_wait: Duration::from_millis(200),
            longest_wait: Duration::from_secs(5),
        }
    }
}

impl std::fmt::Debug for A2aClientOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("A2aClientOptions")
            .field("has_token", &self.token.is_some())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_end() {
        let options = A2aClientOptions {
            first_wait: Duration::from_millis(100),
            longest_wait: Duration::from_millis(250),
            ..A2aClientOptions::default()
        };
        for (attempt, most) in [(0, 100), (1, 200), (2, 250), (u32::MAX, 250)] {
            let wait = options.wait(attempt);
            let most = Duration::from_millis(most);
            assert!(wait >= most / 2 && wait <= most, "{attempt}: {wait:?}");
        }
    }
}
