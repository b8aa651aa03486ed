//! What a server says without being asked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};

use super::progress::{OnProgress, ToolProgress};
use crate::shared::locked;

/// Longer messages of progress are cut.
const LONGEST: usize = 1000;

/// What a server says without being asked. It can ask for nothing: no model, no files, no questions to a person.
#[derive(Clone, Default)]
pub(crate) struct Handler(Arc<Heard>);

#[derive(Default)]
struct Heard {
    /// The tools are others than those that were listed.
    changed: AtomicBool,
    /// Who is told how far calls are.
    progress: Mutex<HashMap<ProgressToken, OnProgress>>,
}

impl Handler {
    /// Whether the server said that its tools changed, since the last time that this was asked.
    pub(crate) fn take_changed(&self) -> bool {
        self.0.changed.swap(false, Ordering::SeqCst)
    }

    /// Tells somebody how far a call is, until `forget`.
    pub(crate) fn follow(&self, token: ProgressToken, told: OnProgress) {
        locked(&self.0.progress).insert(token, told);
    }

    pub(crate) fn forget(&self, token: &ProgressToken) {
        locked(&self.0.progress).remove(token);
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("offshoot", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.changed.store(true, Ordering::SeqCst);
    }

    async fn on_progress(
        &self,
        said: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let told = locked(&self.0.progress).get(&said.progress_token).cloned();
        if let Some(told) = told {
            let message = said.message.map(|text| text.chars().take(LONGEST).collect());
            told(&ToolProgress { progress: said.progress, total: said.total, message });
        }
    }
}
