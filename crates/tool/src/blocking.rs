//! Work that blocks, away from the threads that must not.

use std::sync::Arc;

use crate::context::CallContext;
use crate::error::ToolError;
use crate::host::ToolHost;

/// Does what blocks where it may.
pub(crate) async fn blocking<T: Send + 'static>(
    context: &CallContext,
    work: impl FnOnce(&ToolHost) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let host = Arc::clone(context.host());
    let broken = |error| ToolError::fatal(format!("the call broke off: {error}"));
    tokio::task::spawn_blocking(move || work(&host)).await.map_err(broken)?
}
