use offshoot_tool_macros::tool;

/// Does something.
#[tool(effects = "read")]
fn not_async() {}

#[tool(effects = "read")]
async fn no_description() {}

/// Does something.
#[tool(effects = "read")]
async fn argument_without_description(path: String) {}

/// Does something.
#[tool(effects = "read")]
async fn borrowed(
    /// The file.
    path: &str,
) {
}

/// Does something.
#[tool(effects = "read")]
async fn borrowed_context(context: &CallContext) {}

/// Does something.
#[tool(effects = "read")]
async fn two_contexts(one: CallContext, other: CallContext) {}

/// Does something.
#[tool(effects = "read")]
async fn generic<T>(
    /// Anything.
    any: T,
) {
}

/// Does something.
#[tool(effects = "read")]
async fn pattern(
    /// Two at once.
    (one, other): (u8, u8),
) {
}

fn main() {}
