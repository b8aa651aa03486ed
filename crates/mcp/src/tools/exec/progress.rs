//! Progress notifications: the lines that a command prints.

use std::time::Duration;

use offshoot_engine::text::plain;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::time::Instant;

/// No more often than this.
const PAUSE: Duration = Duration::from_millis(100);
/// Of what came meanwhile no more than this, from the end.
const MOST: usize = 4 << 10;

/// What a client that asked for it is told while a command runs.
pub(super) struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    text: Vec<u8>,
    bytes: u64,
    next: Instant,
}

impl Progress {
    pub(super) fn new(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        let to = token.map(|token| (context.peer.clone(), token));
        Self { to, text: Vec::new(), bytes: 0, next: Instant::now() }
    }

    /// Output of the command.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if self.to.is_none() {
            return;
        }
        self.bytes += bytes.len() as u64;
        self.text.extend_from_slice(bytes);
        let too_long = self.text.len().saturating_sub(MOST);
        self.text.drain(..too_long);
    }

    /// Something else that is worth knowing.
    pub(super) fn say(&mut self, text: &str) {
        self.add(text.as_bytes());
    }

    pub(super) fn has_news(&self) -> bool {
        !self.text.is_empty()
    }

    /// Waits until it is time to tell.
    pub(super) async fn due(&self) {
        tokio::time::sleep_until(self.next).await;
    }

    /// Tells what came since the last time.
    pub(super) async fn tell(&mut self) {
        let Some((peer, token)) = self.to.as_ref().filter(|_| !self.text.is_empty()) else {
            return;
        };
        let text = plain(&self.text);
        self.text.clear();
        #[expect(clippy::cast_precision_loss, reason = "nobody prints so much")]
        let told = ProgressNotificationParam::new(token.clone(), self.bytes as f64)
            .with_message(text.trim_end());
        // Whoever is not there any more ends the call by itself.
        let _gone = peer.notify_progress(told).await.is_err();
        self.next = Instant::now() + PAUSE;
    }
}
