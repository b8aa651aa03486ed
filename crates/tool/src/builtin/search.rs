//! Looking for lines.

use offshoot_engine::path_glob::PathGlob;
use offshoot_engine::search::Search;
use offshoot_tool_macros::tool;

use crate::blocking::blocking;
use crate::context::CallContext;
use crate::error::ToolError;
use crate::host::ToolHost;

/// Without a limit so many lines are found.
const MATCHES: usize = 200;

/// Find lines of the workspace's files that match a regular expression. Git directories, binary files and very large ones are
/// left out.
#[tool(effects = "read", capability = "files", crate = "crate")]
pub(crate) async fn grep(
    /// A regular expression; it is matched with each line.
    pattern: String,
    /// Look below this directory, or in this file only.
    path: Option<String>,
    /// Look only into files with such paths, for example `*.rs` or `src/**/*.ts`.
    glob: Option<String>,
    /// Take `pattern` as it is, not as an expression.
    #[default(false)]
    literal: bool,
    /// Do not tell upper and lower case of ASCII letters apart.
    #[default(false)]
    ignore_case: bool,
    /// How many lines to find. Without it, 200.
    limit: Option<usize>,
    context: CallContext,
) -> Result<String, ToolError> {
    let search = Search {
        literal,
        ignore_case,
        glob: glob.as_deref().map(PathGlob::new).transpose()?,
        limit: limit.unwrap_or(MATCHES),
        ..Search::new(pattern)
    };
    let look = move |host: &ToolHost| {
        let project = host.workspace().project();
        let (root, path) = (host.root()?, host.path(path.as_deref().unwrap_or("."))?);
        let found = project.engine().search(project.vault(), &root, &path, &search)?;
        Ok(found.text(usize::MAX))
    };
    blocking(&context, look).await
}
