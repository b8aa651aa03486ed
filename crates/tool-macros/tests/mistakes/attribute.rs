use offshoot_tool_macros::tool;

/// Does something.
#[tool(capability = "files")]
async fn no_effects() {}

/// Does something.
#[tool(effects = "writes")]
async fn wrong_effects() {}

/// Does something.
#[tool(effects = "read", capabilities = "files")]
async fn unknown_option() {}

/// Does something.
#[tool(effects = "read", capability = "Read Files")]
async fn wrong_capability() {}

/// Does something.
#[tool(effects = "read", timeout_seconds = "60")]
async fn no_number() {}

/// Does something.
#[tool(effects = "read", name = "no name")]
async fn wrong_name() {}

fn main() {}
