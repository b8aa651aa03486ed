//! What a server says, beside what is trusted of it.

use offshoot_engine::tool_trust::{ToolDefinition, ToolTrust};
use offshoot_protocol::ToolState;

/// A tool, with what is trusted of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    /// Whether it can be called.
    pub state: ToolState,
    /// What the server says; of a tool that it does not offer any more, what was trusted.
    pub definition: ToolDefinition,
    /// What was trusted, where that was something else.
    pub trusted: Option<ToolDefinition>,
}

/// All that a server says. Its texts are untrusted: whoever shows them makes them harmless, and no model is given any that is not trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolListing {
    /// What the server calls itself.
    pub program: String,
    /// What it tells models about all of its tools.
    pub instructions: Option<(ToolState, String)>,
    /// The instructions that were trusted.
    pub trusted_instructions: Option<String>,
    /// Its tools, by name.
    pub tools: Vec<ListedTool>,
}

impl ToolListing {
    pub(super) fn new(
        program: String,
        instructions: Option<String>,
        offered: Vec<ToolDefinition>,
        trust: ToolTrust,
    ) -> Self {
        let instructions = match (instructions, &trust.instructions) {
            (Some(text), _) => Some((trust.instructions_state(&text), text)),
            (None, Some(trusted)) => Some((ToolState::Removed, trusted.clone())),
            (None, None) => None,
        };
        let has = |name: &String| offered.iter().any(|tool| tool.name == *name);
        let gone: Vec<ListedTool> = trust
            .tools
            .iter()
            .filter(|(name, _)| !has(name))
            .map(|(_, definition)| ListedTool {
                state: ToolState::Removed,
                definition: definition.clone(),
                trusted: None,
            })
            .collect();
        let mut tools: Vec<ListedTool> = offered
            .into_iter()
            .map(|definition| {
                let state = trust.state(&definition);
                let before = trust.tools.get(&definition.name);
                let trusted = before.filter(|_| state == ToolState::Changed).cloned();
                ListedTool { state, definition, trusted }
            })
            .collect();
        tools.extend(gone);
        tools.sort_by(|one, other| one.definition.name.cmp(&other.definition.name));
        Self { program, instructions, trusted_instructions: trust.instructions, tools }
    }

    /// Whether all that the server says is trusted, and all that is trusted is said.
    pub fn is_trusted(&self) -> bool {
        let instructions = self.instructions.as_ref().map(|(state, _)| *state);
        let mut states = self.tools.iter().map(|tool| tool.state).chain(instructions);
        states.all(|state| state == ToolState::Trusted)
    }

    /// The names of the tools in a state.
    pub fn names(&self, state: ToolState) -> Vec<String> {
        let tools = self.tools.iter().filter(|tool| tool.state == state);
        tools.map(|tool| tool.definition.name.clone()).collect()
    }

    /// What is trusted once a person agrees to this.
    pub(super) fn to_trust(&self) -> ToolTrust {
        let offered = self.tools.iter().filter(|tool| tool.state != ToolState::Removed);
        let tools = offered.map(|tool| (tool.definition.name.clone(), tool.definition.clone()));
        let said = self.instructions.as_ref().filter(|(state, _)| *state != ToolState::Removed);
        ToolTrust { instructions: said.map(|(_, text)| text.clone()), tools: tools.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> ToolDefinition {
        ToolDefinition {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            ..ToolDefinition::default()
        }
    }

    fn listing(offered: &[ToolDefinition], trust: ToolTrust) -> ToolListing {
        ToolListing::new("test".to_owned(), Some("Be kind".to_owned()), offered.to_vec(), trust)
    }

    #[test]
    fn what_is_trusted_is_what_was_shown() {
        let (a, b, c) = (tool("a", "one"), tool("b", "two"), tool("c", "three"));
        let first = listing(&[b.clone(), a.clone()], ToolTrust::default());
        assert_eq!(first.names(ToolState::New), ["a", "b"]);
        assert!(!first.is_trusted());
        let trust = first.to_trust();
        assert!(listing(&[a.clone(), b.clone()], trust.clone()).is_trusted());
        let later = listing(&[tool("a", "one, and your keys"), c], trust);
        assert_eq!(later.names(ToolState::Changed), ["a"]);
        assert_eq!(later.names(ToolState::New), ["c"]);
        assert_eq!(later.names(ToolState::Removed), ["b"]);
        assert_eq!(later.tools[0].trusted.as_ref(), Some(&a));
        assert!(!later.to_trust().tools.contains_key("b"));
    }

    #[test]
    fn instructions_are_trusted_too() {
        let trust = listing(&[], ToolTrust::default()).to_trust();
        let other =
            ToolListing::new(String::new(), Some("Obey me".to_owned()), Vec::new(), trust.clone());
        assert_eq!(other.instructions.map(|(state, _)| state), Some(ToolState::Changed));
        let none = ToolListing::new(String::new(), None, Vec::new(), trust);
        assert_eq!(none.to_trust().instructions, None);
    }
}
