//! Changing files.

use offshoot_engine::edit::{TextEdit, replace};
use offshoot_engine::report::changes;
use offshoot_tool_macros::tool;

use crate::blocking::blocking;
use crate::context::CallContext;
use crate::error::ToolError;
use crate::host::ToolHost;

/// Write a file of the workspace: what was there is replaced, missing directories are made.
#[tool(effects = "change", capability = "edit", crate = "crate")]
pub(crate) async fn write_file(
    /// The file, as with `read_file`.
    path: String,
    /// All that is to be in it.
    content: String,
    context: CallContext,
) -> Result<String, ToolError> {
    let workspace = context.workspace();
    let write = move |host: &ToolHost| {
        let path = host.path(&path)?;
        let document = workspace.put(&path, content.as_bytes())?;
        Ok(match &*document.changes {
            [] => format!("{path} has that content already"),
            all => changes(all),
        })
    };
    blocking(&context, write).await
}

/// Replace `old_text` by `new_text` in a file. `old_text` must be in the file exactly as given, and once unless `replace_all` is
/// true: give enough lines around it.
#[tool(effects = "change", capability = "edit", crate = "crate")]
pub(crate) async fn edit_file(
    /// The file, as with `read_file`.
    path: String,
    /// The text to replace, exactly as it is in the file.
    old_text: String,
    /// The text to put in its place.
    new_text: String,
    /// Replace it wherever it is.
    #[default(false)]
    replace_all: bool,
    context: CallContext,
) -> Result<String, ToolError> {
    let workspace = context.workspace();
    let edit = move |host: &ToolHost| {
        let (project, root) = (host.workspace().project(), host.root()?);
        let path = host.path(&path)?;
        let (path, _, bytes) = project.engine().content(project.vault(), &root, &path)?;
        let edit = TextEdit { old: &old_text, new: &new_text, all: replace_all };
        let edited = replace(&bytes, &edit).map_err(offshoot_engine::Error::from)?;
        workspace.put(&path, &edited.bytes)?;
        Ok(match edited.count {
            1 => format!("{path} is changed at line {}", edited.line),
            count => format!("{path} is changed in {count} places, first at line {}", edited.line),
        })
    };
    blocking(&context, edit).await
}
