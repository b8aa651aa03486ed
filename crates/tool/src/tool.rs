//! What a tool is.

use futures::future::BoxFuture;
use serde_json::Value;

use crate::context::CallContext;
use crate::contract::ToolContract;
use crate::error::ToolError;
use crate::output::ToolOutput;

/// Something that a model can call.
pub trait Tool: Send + Sync + 'static {
    /// What it is.
    fn contract(&self) -> &ToolContract;

    /// Does it, with arguments that fit its schema. When the context's token is cancelled it should end and say what came of it.
    fn call(
        &self,
        arguments: Value,
        context: CallContext,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;
}
