//! A call, and what it needs.

use std::sync::Arc;

use offshoot_engine::{Error, Result};
use rmcp::RoleServer;
use rmcp::model::CallToolResponse;
use rmcp::service::RequestContext;

use crate::answer::Answer;
use crate::session::Session;
use crate::shared::Shared;

/// A call, with all that it needs.
pub(crate) struct Call {
    pub(crate) shared: Arc<Shared>,
    pub(crate) session: Arc<Session>,
    pub(crate) context: RequestContext<RoleServer>,
}

/// What a call that is over answers.
pub(crate) fn complete(answer: Answer) -> CallToolResponse {
    CallToolResponse::Complete(answer.into())
}

/// Runs what blocks where it may.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let broken = |error: tokio::task::JoinError| {
        Error::new(offshoot_protocol::ExitCode::Failure, format!("the call broke off: {error}"))
    };
    tokio::task::spawn_blocking(work).await.map_err(broken)?
}
