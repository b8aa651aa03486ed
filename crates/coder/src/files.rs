//! Files of a workspace that make up the system prompt.

use offshoot_agent::PromptSources;
use offshoot_engine::Workspace;
use offshoot_protocol::ExitCode;

/// Reads files as they are in a workspace.
pub(crate) struct WorkspaceFiles<'w>(pub(crate) &'w Workspace);

impl WorkspaceFiles<'_> {
    /// Whether there is such a name, be it a link to nowhere.
    fn has(&self, path: &str) -> bool {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.list(directory).iter().any(|other| other == name)
    }
}

impl PromptSources for WorkspaceFiles<'_> {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        let bytes = match self.0.read(&format!("/{path}")) {
            Ok(bytes) => bytes,
            Err(error) if error.code == ExitCode::NotFound && !self.has(path) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        String::from_utf8(bytes).map(Some).map_err(|_| "it is no text".to_owned())
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let entries = self.0.list(&format!("/{directory}")).unwrap_or_default();
        entries.iter().map(|entry| String::from_utf8_lossy(&entry.name).into_owned()).collect()
    }
}
