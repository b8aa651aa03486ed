//! Skills: instructions that the model reads when it needs them.

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use offshoot_provider::{CallBlock, ToolSpec};
use serde_json::json;

use crate::call::{
    AgentCallKey, Assessment, CallEffect, CallFate, CallPermission, CallReply, CallReport,
    PlannedCall,
};
use crate::context::layers::PromptLayer;
use crate::tools::Tools;

/// The tool by which a skill is read.
const TOOL: &str = "skill";

/// A skill, as its file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where it is.
    pub path: String,
    /// What to do.
    pub text: String,
}

impl Skill {
    /// Reads a file: between lines of `---` name and description, then the text. Nothing if it lacks them.
    pub fn parse(file: &str, path: &str) -> Option<Self> {
        let file = file.replace("\r\n", "\n");
        let (head, text) = file.strip_prefix("---\n")?.split_once("\n---")?;
        let field = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            let value = line.trim().trim_matches(['"', '\'']).trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        let text = text.trim_start_matches('-').trim_start_matches('\n').to_owned();
        Some(Self {
            name: field("name")?,
            description: field("description")?,
            path: path.to_owned(),
            text,
        })
    }

    /// What the system prompt has of it.
    pub fn layer(&self) -> PromptLayer {
        PromptLayer::Skill { name: self.name.clone(), description: self.description.clone() }
    }
}

/// Tools, and one more that reads skills.
pub struct WithSkills<T> {
    tools: T,
    skills: Vec<Skill>,
}

impl<T: Tools> WithSkills<T> {
    /// Adds the tool `skill`.
    pub fn new(tools: T, skills: Vec<Skill>) -> Self {
        Self { tools, skills }
    }

    fn read(&self, call: &CallBlock) -> CallReport {
        let arguments: Option<serde_json::Value> = serde_json::from_str(&call.arguments).ok();
        let name = arguments.as_ref().and_then(|value| value.get("name")?.as_str());
        match self.skills.iter().find(|skill| Some(skill.name.as_str()) == name) {
            Some(skill) => {
                CallReport::text(format!("{} ({}):\n\n{}", skill.name, skill.path, skill.text))
            }
            None => {
                let names: Vec<&str> =
                    self.skills.iter().map(|skill| skill.name.as_str()).collect();
                CallReport::failure(format!("no such skill; there are: {}", names.join(", ")))
            }
        }
    }

    fn is_own(&self, call: &CallBlock) -> bool {
        !self.skills.is_empty() && call.name == TOOL
    }
}

impl<T: Tools> Tools for WithSkills<T> {
    fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.tools.specs();
        if !self.skills.is_empty() {
            specs.push(ToolSpec {
                name: TOOL.to_owned(),
                description: "Read a skill of the list in your instructions.".to_owned(),
                parameters: json!({
                    "type": "object",
                    "properties": { "name": { "type": "string" } },
                    "required": ["name"],
                }),
                cache: None,
            });
        }
        specs
    }

    fn assess(&self, call: &PlannedCall) -> Assessment {
        if self.is_own(&call.call) {
            let permission = CallPermission::Allowed;
            return Assessment { key: call.key.clone(), effect: CallEffect::Reads, permission };
        }
        self.tools.assess(call)
    }

    fn call(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        if self.is_own(&call.call) {
            return ready(CallReply::Done(self.read(&call.call))).boxed();
        }
        self.tools.call(call)
    }

    fn outcome_of(&self, call: PlannedCall) -> BoxFuture<'static, CallFate> {
        if self.is_own(&call.call) {
            return ready(CallFate::NotStarted).boxed();
        }
        self.tools.outcome_of(call)
    }

    fn attach(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        self.tools.attach(call)
    }

    fn stop(&self, keys: &[AgentCallKey]) {
        self.tools.stop(keys);
    }

    fn finish(&self) -> BoxFuture<'static, Vec<String>> {
        self.tools.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_needs_a_name_and_a_description() {
        let skill =
            Skill::parse("---\nname: \"a b\"\ndescription: c: d\nmore: 1\n---\n\ntext\n", "p");
        let skill = skill.unwrap();
        assert_eq!((skill.name.as_str(), skill.description.as_str()), ("a b", "c: d"));
        assert_eq!(skill.text, "text\n");
        for wrong in
            ["", "---\nname: a\n---\n", "name: a\ndescription: b", "---\nname: a\ndescription: b\n"]
        {
            assert_eq!(Skill::parse(wrong, "p"), None, "{wrong}");
        }
    }
}
