//! Layers of the system prompt.

use serde::{Deserialize, Serialize};

/// One layer of the system prompt. Requests have them by their kind, and in the given order within one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "layer")]
pub enum PromptLayer {
    /// What the agent is.
    Base {
        /// The text.
        text: String,
    },
    /// Instructions of a project, such as an `AGENTS.md`.
    Instructions {
        /// The file.
        path: String,
        /// The text.
        text: String,
    },
    /// A skill: only its name and description are there until the model reads it.
    Skill {
        /// Its name.
        name: String,
        /// What it is for.
        description: String,
    },
    /// What this conversation is for.
    Task {
        /// The text.
        text: String,
    },
}

impl PromptLayer {
    /// The text that is scrubbed.
    pub(crate) fn text_mut(&mut self) -> &mut String {
        match self {
            Self::Base { text } | Self::Instructions { text, .. } | Self::Task { text } => text,
            Self::Skill { description, .. } => description,
        }
    }
}

/// The texts of the system prompt, one for each kind of layer that is there.
pub(crate) fn texts(layers: &[PromptLayer]) -> Vec<String> {
    let of = |part: fn(&PromptLayer) -> Option<String>| {
        let parts: Vec<String> = layers.iter().filter_map(part).collect();
        parts.join("\n\n")
    };
    let base = of(|layer| match layer {
        PromptLayer::Base { text } => Some(text.clone()),
        _ => None,
    });
    let instructions = of(|layer| match layer {
        PromptLayer::Instructions { path, text } => {
            Some(format!("Instructions in {path}:\n\n{text}"))
        }
        _ => None,
    });
    let skills: Vec<String> = layers
        .iter()
        .filter_map(|layer| match layer {
            PromptLayer::Skill { name, description } => Some(format!("- {name}: {description}")),
            _ => None,
        })
        .collect();
    let skills = match skills.is_empty() {
        true => String::new(),
        false => format!(
            "Skills. Read one with the tool `skill` before you do what it is for:\n{}",
            skills.join("\n")
        ),
    };
    let task = of(|layer| match layer {
        PromptLayer::Task { text } => Some(text.clone()),
        _ => None,
    });
    [base, instructions, skills, task].into_iter().filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_have_one_order_and_skills_are_only_named() {
        let layers = [
            PromptLayer::Task { text: "task".to_owned() },
            PromptLayer::Skill { name: "pdf".to_owned(), description: "reads PDF".to_owned() },
            PromptLayer::Instructions { path: "AGENTS.md".to_owned(), text: "outer".to_owned() },
            PromptLayer::Instructions { path: "a/AGENTS.md".to_owned(), text: "inner".to_owned() },
            PromptLayer::Base { text: "base".to_owned() },
        ];
        let texts = texts(&layers);
        assert_eq!(texts.len(), 4);
        assert_eq!(texts[0], "base");
        let (outer, inner) = (texts[1].find("outer").unwrap(), texts[1].find("inner").unwrap());
        assert!(outer < inner);
        assert!(texts[2].ends_with("- pdf: reads PDF"));
        assert_eq!(texts[3], "task");
        assert!(super::texts(&[]).is_empty());
    }
}
