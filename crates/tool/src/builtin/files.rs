//! Reading and finding files.

use offshoot_engine::lines::lines;
use offshoot_engine::listing::ListingOptions;
use offshoot_engine::path_glob::PathGlob;
use offshoot_tool_macros::tool;

use crate::blocking::blocking;
use crate::context::CallContext;
use crate::error::ToolError;
use crate::host::ToolHost;

/// Without a limit so many lines are read.
const LINES: usize = 2_000;
/// Without a limit so many entries are listed.
const ENTRIES: usize = 1_000;

/// Read a text file of the workspace, whole or from a line on.
#[tool(effects = "read", capability = "files", crate = "crate")]
pub(crate) async fn read_file(
    /// The file: `src/main.rs` from where you work, `/src/main.rs` from the top of the project, or the path as commands see it.
    path: String,
    /// The first line to read, counted from 1.
    offset: Option<usize>,
    /// How many lines to read. Without it, 2000.
    limit: Option<usize>,
    /// Put the number of each line before it.
    #[default(false)]
    numbered: bool,
    context: CallContext,
) -> Result<String, ToolError> {
    let read = move |host: &ToolHost| {
        let project = host.workspace().project();
        let (root, path) = (host.root()?, host.path(&path)?);
        let (path, _, bytes) = project.engine().content(project.vault(), &root, &path)?;
        let Ok(text) = std::str::from_utf8(&bytes) else {
            let message = format!("{path} is no text: {} bytes", bytes.len());
            return Err(ToolError::refused(message).hint("look into it with a command"));
        };
        if text.is_empty() {
            return Ok(format!("{path} is empty"));
        }
        let found = lines(text, offset.unwrap_or(1), limit.unwrap_or(LINES))?;
        let mut shown = match numbered {
            true => {
                let all = found.text.split_inclusive('\n').zip(found.first..);
                all.map(|(line, number)| format!("{number:>6}\t{line}")).collect()
            }
            false => found.text.to_owned(),
        };
        if let Some(note) = found.note() {
            let end = if shown.ends_with('\n') { "" } else { "\n" };
            shown.push_str(&format!("{end}[{note}]\n"));
        }
        Ok(shown)
    };
    blocking(&context, read).await
}

/// List a directory of the workspace.
#[tool(effects = "read", capability = "files", crate = "crate")]
pub(crate) async fn list_files(
    /// The directory, as with `read_file`. Without it, where you work.
    path: Option<String>,
    /// How many levels to list. Without it, 1.
    depth: Option<usize>,
    /// How many entries to list. Without it, 1000.
    limit: Option<usize>,
    context: CallContext,
) -> Result<String, ToolError> {
    let (depth, limit) = (depth.unwrap_or(1), limit.unwrap_or(ENTRIES));
    listed(context, path, ListingOptions { depth, limit, glob: None }).await
}

/// Find files of the workspace by their paths. Git directories are left out.
#[tool(effects = "read", capability = "files", crate = "crate")]
pub(crate) async fn find_files(
    /// A pattern such as `*.rs`, at any depth, or `src/**/*.ts`, from the top.
    glob: String,
    /// Look below this directory. Without it, where you work.
    path: Option<String>,
    /// How many files to list. Without it, 1000.
    limit: Option<usize>,
    context: CallContext,
) -> Result<String, ToolError> {
    let (depth, limit) = (usize::MAX, limit.unwrap_or(ENTRIES));
    let glob = Some(PathGlob::new(&glob)?);
    listed(context, path, ListingOptions { depth, limit, glob }).await
}

async fn listed(
    context: CallContext,
    path: Option<String>,
    options: ListingOptions,
) -> Result<String, ToolError> {
    let list = move |host: &ToolHost| {
        let project = host.workspace().project();
        let (root, path) = (host.root()?, host.path(path.as_deref().unwrap_or("."))?);
        let listing = project.engine().listing(project.vault(), &root, &path, &options)?;
        if listing.entries.is_empty() && options.glob.is_some() {
            return Ok(format!("nothing fits below {}", listing.path));
        }
        let mut text = listing.text(usize::MAX);
        if let Some(note) = listing.note() {
            text.push_str(&format!("[{note}]\n"));
        }
        Ok(text)
    };
    blocking(&context, list).await
}
