//! The tools that can be called, in their versions, and a call from its name to its outcome.

mod call;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::capability::Capabilities;
use crate::context::CallContext;
use crate::contract::ToolContract;
use crate::outcome::CallOutcome;
use crate::tool::Tool;

/// The tools that can be called.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: BTreeMap<String, Versions>,
}

/// The versions of one tool.
#[derive(Clone, Default)]
struct Versions {
    all: BTreeMap<u32, Arc<dyn Tool>>,
    pinned: Option<u32>,
}

/// Why a registry is not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// There is such a tool in that version.
    #[error("there is a tool {name} in version {version} already")]
    Taken {
        /// Its name.
        name: String,
        /// The version.
        version: u32,
    },
    /// There is none.
    #[error("there is no tool {name} in version {version}")]
    Missing {
        /// Its name.
        name: String,
        /// The version.
        version: u32,
    },
    /// The schema is none of an object.
    #[error("the schema of {name} has to be one of an object")]
    Schema {
        /// The tool's name.
        name: String,
    },
    /// No model takes such a name.
    #[error("{name:?} is no name of a tool: letters, digits, _ and -, at most 64")]
    Name {
        /// The name.
        name: String,
    },
}

impl ToolRegistry {
    /// Without a tool.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the built-in tools.
    pub fn builtin() -> Self {
        let mut registry = Self::new();
        for tool in crate::builtin::all() {
            registry.put(tool);
        }
        registry
    }

    /// Adds a tool, or another version of one.
    pub fn add(&mut self, tool: impl Tool) -> Result<(), RegistryError> {
        let contract = tool.contract();
        let name = contract.name.clone();
        let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
            return Err(RegistryError::Name { name });
        }
        if contract.schema.get("type").is_none_or(|it| it != "object") {
            return Err(RegistryError::Schema { name });
        }
        let version = contract.version;
        if self.tools.get(&name).is_some_and(|it| it.all.contains_key(&version)) {
            return Err(RegistryError::Taken { name, version });
        }
        self.put(Arc::new(tool));
        Ok(())
    }

    fn put(&mut self, tool: Arc<dyn Tool>) {
        let (name, version) = (tool.contract().name.clone(), tool.contract().version);
        self.tools.entry(name).or_default().all.insert(version, tool);
    }

    /// Has a version called in place of the newest, such as the one that a conversation began with.
    pub fn pin(&mut self, name: &str, version: u32) -> Result<(), RegistryError> {
        match self.tools.get_mut(name).filter(|it| it.all.contains_key(&version)) {
            Some(versions) => {
                versions.pinned = Some(version);
                Ok(())
            }
            None => Err(RegistryError::Missing { name: name.to_owned(), version }),
        }
    }

    /// Removes a tool in all its versions; whether it was there.
    pub fn remove(&mut self, name: &str) -> bool {
        self.tools.remove(name).is_some()
    }

    /// The tools that are called, one for each name, in order.
    pub fn contracts(&self) -> impl Iterator<Item = &ToolContract> {
        self.tools.values().filter_map(|versions| Some(versions.active()?.contract()))
    }

    /// Those of them that somebody with these capabilities can call.
    pub fn contracts_for(&self, capabilities: &Capabilities) -> Vec<&ToolContract> {
        let can =
            |contract: &&ToolContract| contract.capabilities.iter().all(|it| capabilities.has(it));
        self.contracts().filter(can).collect()
    }

    /// The tool that is called by a name.
    pub fn get(&self, name: &str) -> Option<&ToolContract> {
        Some(self.tool(name)?.contract())
    }

    /// The arguments of a call as its tool gets them: [repaired](crate::Repair) and checked; nothing where they cannot be.
    pub fn arguments(&self, name: &str, raw_arguments: &str) -> Option<serde_json::Value> {
        let prepared = crate::arguments::prepare(&self.get(name)?.schema, raw_arguments);
        Some(prepared.ok()?.value)
    }

    /// Calls a tool with arguments as the model wrote them.
    pub async fn call(&self, name: &str, raw_arguments: &str, context: CallContext) -> CallOutcome {
        call::call(self, name, raw_arguments, context).await
    }

    fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)?.active()
    }
}

impl Versions {
    fn active(&self) -> Option<&Arc<dyn Tool>> {
        match self.pinned {
            Some(version) => self.all.get(&version),
            None => self.all.values().next_back(),
        }
    }
}

impl std::fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.contracts().map(|contract| (&contract.name, contract.version));
        f.debug_map().entries(names).finish()
    }
}
