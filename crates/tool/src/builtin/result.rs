//! More of a text that was shortened.

use offshoot_tool_macros::tool;

use crate::blocking::blocking;
use crate::context::CallContext;
use crate::error::ToolError;
use crate::full_texts::ResultId;
use crate::host::ToolHost;

/// No more is read at once.
const MOST: usize = 20_000;

/// Read more of a result that was shortened. Its text says under which id and from which offset.
#[tool(effects = "read", crate = "crate")]
pub(crate) async fn read_result(
    /// The id, as the text says it.
    id: String,
    /// The first byte to read.
    #[default(0)]
    offset: usize,
    /// How many bytes to read, at most 20000.
    #[default(16_000)]
    limit: usize,
    context: CallContext,
) -> Result<String, ToolError> {
    let read = move |host: &ToolHost| {
        let id = ResultId::parse(&id);
        let found = host.texts().read(&id, offset, limit.min(MOST));
        let found = found.map_err(|error| ToolError::fatal(error.to_string()))?;
        let Some(part) = found else {
            let message = format!("there is no full text {id}, or it is not kept any more");
            return Err(ToolError::refused(message).hint("make the call again that it came from"));
        };
        let end = part.offset + part.text.len();
        let more = match part.next() {
            Some(next) => format!("; offset {next} has more"),
            None => String::new(),
        };
        Ok(format!("[bytes {} to {end} of {}{more}]\n{}", part.offset, part.total, part.text))
    };
    blocking(&context, read).await
}
