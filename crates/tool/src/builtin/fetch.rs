//! Pages of the web.

use offshoot_engine::fetch::PageRequest;
use offshoot_engine::text::plain;
use offshoot_tool_macros::tool;

use crate::context::CallContext;
use crate::error::ToolError;
use crate::html::text_of;
use crate::output::TextOutput;

/// Fetch a page of the web as text. Only hosts that the person allowed can be reached.
#[tool(effects = "read", capability = "network", crate = "crate")]
pub(crate) async fn fetch_url(
    /// The whole address, as in https://docs.rs/serde.
    url: String,
    /// Give HTML as it is, not as text.
    #[default(false)]
    raw: bool,
    context: CallContext,
) -> Result<TextOutput, ToolError> {
    let host = context.host();
    let engine = host.workspace().project().engine();
    let page = engine.fetch(&PageRequest::new(url), host.allowed_hosts()).await?;
    let content_type = page.content_type.as_deref().unwrap_or("text/plain");
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_html = matches!(kind.as_str(), "text/html" | "application/xhtml+xml");
    let is_text = kind.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml"].iter().any(|word| kind.contains(word));
    if !is_text {
        let message = format!("{} is {kind}, and no text: {} bytes", page.url, page.body.len());
        return Err(ToolError::refused(message));
    }
    let body = plain(&page.body);
    let body = if is_html && !raw { text_of(&body) } else { body };
    let cut =
        if page.is_cut { "\n[there is more: the page is too long to fetch whole]" } else { "" };
    let text = format!("{} {}\n\n{body}{cut}", page.status, page.url);
    Ok(TextOutput::new(text).failed(page.status >= 400))
}
