//! A project, a workspace of it, and calls in that.

use std::fs;
use std::sync::Arc;

use offshoot_engine::id::Id;
use offshoot_engine::{Offshoot, Options, Project};
use offshoot_tool::{CallContext, CallOutcome, CallResult, Capabilities, ToolHost, ToolRegistry};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Builder;

/// A project and a workspace.
pub(crate) struct World {
    pub(crate) scratch: TempDir,
    pub(crate) project: Project,
    pub(crate) host: Arc<ToolHost>,
    pub(crate) registry: ToolRegistry,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|host| host)
    }

    pub(crate) fn with(change: impl FnOnce(ToolHost) -> ToolHost) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("project");
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("src/main.rs"), "fn main() {\n    start();\n}\n").unwrap();
        fs::write(folder.join("README.md"), "# Project\n\nIt starts.\n").unwrap();
        fs::write(folder.join("raw"), b"\0\xff").unwrap();
        let environment =
            ["PATH"].map(|name| (name.into(), std::env::var_os(name).unwrap())).to_vec();
        let options = Options::new(environment).registry(scratch.path().join("vaults"));
        let project = Offshoot::open(options).unwrap().project(&folder).unwrap();
        let workspace = project.fork("work").unwrap();
        let session = workspace.new_session(Some("work"), ("none", "none")).unwrap();
        let host = change(ToolHost::new(workspace).session(session));
        Self { scratch, project, host: Arc::new(host), registry: ToolRegistry::builtin() }
    }

    /// A context with everything.
    pub(crate) fn context(&self) -> CallContext {
        let name = Id::random().to_string();
        CallContext::new(Arc::clone(&self.host), name).capabilities(Capabilities::all())
    }

    pub(crate) async fn outcome(&self, name: &str, arguments: Value) -> CallOutcome {
        self.registry.call(name, &arguments.to_string(), self.context()).await
    }

    pub(crate) async fn result(&self, name: &str, arguments: Value) -> CallResult {
        match self.outcome(name, arguments).await {
            CallOutcome::Done(result) => result,
            other => panic!("{name} is not done: {other:?}"),
        }
    }

    /// The text of a call that works.
    pub(crate) async fn text(&self, name: &str, arguments: Value) -> String {
        let result = self.result(name, arguments).await;
        assert!(!result.failed, "{name}: {}", result.text);
        result.text
    }

    /// The text of a call that is refused.
    pub(crate) async fn refused(&self, name: &str, arguments: Value) -> String {
        let result = self.result(name, arguments).await;
        assert!(result.failed, "{name} works: {}", result.text);
        result.text
    }
}

/// Runs a test.
pub(crate) fn run(test: impl Future<Output = ()>) {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}
