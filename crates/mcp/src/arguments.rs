//! The arguments of a call.

use offshoot_engine::{Error, Result};
use offshoot_protocol::Notation;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The argument that names a workspace, where calls may.
pub(crate) const WORKSPACE: &str = "workspace";

/// The arguments of a call.
#[derive(Debug)]
pub(crate) struct Arguments {
    workspace: Option<String>,
    values: JsonObject,
}

impl Arguments {
    pub(crate) fn new(given: Option<JsonObject>) -> Result<Self> {
        let mut values = given.unwrap_or_default();
        let workspace = match values.remove(WORKSPACE) {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name),
            Some(_) => return Err(Error::usage("`workspace` has to be a string")),
        };
        Ok(Self { workspace, values })
    }

    /// The arguments as a tool wants them.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_value(Value::Object(self.values.clone())).map_err(|error| {
            let problem = Notation::Json.explain(&error.to_string());
            Error::usage(format!("arguments do not fit: {problem}"))
        })
    }

    pub(crate) fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }
}
