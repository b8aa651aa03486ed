//! Files that make up the system prompt, wherever they are.

use std::collections::BTreeMap;

use crate::context::layers::PromptLayer;
use crate::context::skills::Skill;

/// Instructions of a project have this name.
const INSTRUCTIONS: &str = "AGENTS.md";
/// A skill is a directory with a file of this name.
const SKILL: &str = "SKILL.md";
/// Longer files are cut: they would take the place of the conversation.
const LONGEST: usize = 64 << 10;

/// Reads files of a project. Paths are relative to its top, with `/` between their parts.
pub trait PromptSources {
    /// The text of a file; nothing if there is none, and why it cannot be read if there is.
    fn read(&self, path: &str) -> Result<Option<String>, String>;
    /// The names in a directory; none if there is no such directory.
    fn list(&self, directory: &str) -> Vec<String>;
}

/// Files in memory, by their paths.
impl PromptSources for BTreeMap<String, String> {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        Ok(self.get(path).cloned())
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let start = match directory {
            "" => String::new(),
            directory => format!("{directory}/"),
        };
        let below = self.keys().filter_map(|path| path.strip_prefix(&start));
        let mut names: Vec<String> =
            below.filter_map(|rest| rest.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        names
    }
}

/// The instructions for a directory of a project: those of its top first, its own last. What is left out is added to the notes.
pub fn instructions(
    sources: &dyn PromptSources,
    directory: &str,
    notes: &mut Vec<String>,
) -> Vec<PromptLayer> {
    let mut directories = vec![String::new()];
    for part in directory.split('/').filter(|part| !matches!(*part, "" | "." | "..")) {
        let above = directories.last().map(String::as_str).unwrap_or_default();
        directories.push(format!("{above}{part}/"));
    }
    let layers = directories.into_iter().filter_map(|above| {
        let path = format!("{above}{INSTRUCTIONS}");
        let text = read(sources, &path, notes)?;
        if text.len() > LONGEST {
            notes
                .push(format!("{path} is longer than {} KiB: the rest is left out", LONGEST >> 10));
        }
        (!text.trim().is_empty()).then(|| PromptLayer::Instructions { path, text: cut(text) })
    });
    layers.collect()
}

/// The skills below a directory, by name. What has no name and description is none, which is added to the notes.
pub fn skills(sources: &dyn PromptSources, directory: &str, notes: &mut Vec<String>) -> Vec<Skill> {
    let mut names = sources.list(directory);
    names.sort();
    let skills = names.into_iter().filter_map(|name| {
        let path = match directory {
            "" => format!("{name}/{SKILL}"),
            directory => format!("{directory}/{name}/{SKILL}"),
        };
        let skill = Skill::parse(&read(sources, &path, notes)?, &path);
        if skill.is_none() {
            notes.push(format!(
                "{path} is no skill: it needs `name` and `description` between lines of ---"
            ));
        }
        skill
    });
    skills.collect()
}

/// Reads a file, and notes why it cannot be read.
fn read(sources: &dyn PromptSources, path: &str, notes: &mut Vec<String>) -> Option<String> {
    match sources.read(path) {
        Ok(text) => text,
        Err(why) => {
            notes.push(format!("{path} is left out: {why}"));
            None
        }
    }
}

fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push_str("\n[cut here]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn instructions_come_from_the_top_down_to_the_directory() {
        let files = sources(&[
            ("AGENTS.md", "top"),
            ("a/AGENTS.md", " \n"),
            ("a/b/AGENTS.md", "below"),
            ("c/AGENTS.md", "beside"),
        ]);
        let paths: Vec<String> = instructions(&files, "a/./b/../x", &mut Vec::new())
            .into_iter()
            .map(|layer| match layer {
                PromptLayer::Instructions { path, .. } => path,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(paths, ["AGENTS.md", "a/b/AGENTS.md"]);
    }

    #[test]
    fn long_instructions_are_cut_between_characters() {
        let files = sources(&[("AGENTS.md", &"ü".repeat(LONGEST))]);
        let mut notes = Vec::new();
        let layers = instructions(&files, "", &mut notes);
        assert_eq!(notes, ["AGENTS.md is longer than 64 KiB: the rest is left out"]);
        let [PromptLayer::Instructions { text, .. }] = layers.as_slice() else { panic!() };
        assert!(text.len() <= LONGEST + 16 && text.ends_with("[cut here]"));
    }

    #[test]
    fn skills_are_found_by_their_files() {
        let good = "---\nname: pdf\ndescription: Reads PDF\n---\nDo so.\n";
        let files = sources(&[
            ("skills/pdf/SKILL.md", good),
            ("skills/none/SKILL.md", "no head"),
            ("skills/empty/README.md", good),
        ]);
        let mut notes = Vec::new();
        let found = skills(&files, "skills", &mut notes);
        assert!(notes.len() == 1 && notes[0].starts_with("skills/none/SKILL.md"), "{notes:?}");
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].name.as_str(), found[0].path.as_str()),
            ("pdf", "skills/pdf/SKILL.md")
        );
        assert_eq!(found[0].text.trim(), "Do so.");
    }
}
