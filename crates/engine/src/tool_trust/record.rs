//! What of servers and their tools is recorded in the audit log.

use std::collections::BTreeMap;

use serde_json::Value;

use super::ToolTrust;
use super::definition::hash_json;
use crate::error::Result;
use crate::project::Project;
use crate::tool_server::ToolServer;

/// A call of a tool, as the audit log has it.
///
/// ```
/// use offshoot_engine::tool_trust::ToolCallRecord;
///
/// let call = ToolCallRecord { server: "github", tool: "search", definition: "5f..", arguments: "a0.." };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ToolCallRecord<'a> {
    /// The server.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The hash of the tool's definition.
    pub definition: &'a str,
    /// The hash of the arguments. They may hold secrets, so they are not recorded themselves.
    pub arguments: &'a str,
}

impl Project {
    /// Records in the audit log what was trusted of a server, by hashes.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project, server: &offshoot_engine::tool_server::ToolServer) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::tool_trust::ToolTrust;
    ///
    /// project.record_tool_trust(server, &ToolTrust::default())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn record_tool_trust(&self, server: &ToolServer, trust: &ToolTrust) -> Result<()> {
        self.vault().record_event("mcp trust", self.engine().actor(), |tx| {
            let tools = crate::text::count(trust.tools.len() as u64, "tool");
            tx.summary(format!("trust {tools} of {}", server.name));
            tx.detail("server", &server.name);
            tx.detail("identity", server.identity());
            let hashes: BTreeMap<&String, String> =
                trust.tools.iter().map(|(name, tool)| (name, tool.hash())).collect();
            tx.detail("tools", &hashes);
            if let Some(text) = &trust.instructions {
                tx.detail("instructions", hash_json(&Value::from(text.as_str())));
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Records in the audit log that nothing of a server is trusted any more.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// project.record_forgotten_tools("github")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn record_forgotten_tools(&self, server: &str) -> Result<()> {
        self.vault().record_event("mcp forget", self.engine().actor(), |tx| {
            tx.summary(format!("forget the tools of {}", crate::text::line(server)));
            tx.detail("server", server);
            Ok(())
        })?;
        Ok(())
    }

    /// Records in the audit log that a tool is about to be called.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project, call: &offshoot_engine::tool_trust::ToolCallRecord<'_>) -> offshoot_engine::Result<()> {
    /// project.record_tool_call(call)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn record_tool_call(&self, call: &ToolCallRecord<'_>) -> Result<()> {
        self.record_call("mcp call", call, |tx| {
            tx.detail("arguments", call.arguments);
        })
    }

    /// Records in the audit log what came of a call: `answered`, `failed` or what went wrong, and the hash of the result.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project, call: &offshoot_engine::tool_trust::ToolCallRecord<'_>) -> offshoot_engine::Result<()> {
    /// project.record_tool_result(call, "timeout", None)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn record_tool_result(
        &self,
        call: &ToolCallRecord<'_>,
        outcome: &str,
        result: Option<&str>,
    ) -> Result<()> {
        self.record_call("mcp result", call, |tx| {
            tx.detail("outcome", outcome);
            if let Some(result) = result {
                tx.detail("result", result);
            }
        })
    }

    fn record_call(
        &self,
        kind: &str,
        call: &ToolCallRecord<'_>,
        detail: impl FnOnce(&mut offshoot_vault::Transaction<'_, '_>),
    ) -> Result<()> {
        self.vault().record_event(kind, self.engine().actor(), |tx| {
            tx.summary(format!("{} of {}", crate::text::line(call.tool), call.server));
            tx.detail("server", call.server);
            tx.detail("tool", call.tool);
            tx.detail("definition", call.definition);
            detail(tx);
            Ok(())
        })?;
        Ok(())
    }
}
