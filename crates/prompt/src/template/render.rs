//! From a template and values to text.

use std::collections::BTreeMap;

use crate::error::BuildError;
use crate::template::Template;
use crate::template::library::Library;
use crate::template::parse::Node;
use crate::template::variable::VariableRule;
use crate::value::PromptValue;

/// How long the text of a template may become.
const LONGEST: usize = 8 * 1024 * 1024;
/// How many pieces of templates may be written for it: parts that include parts become many.
const MOST_PIECES: usize = 1_000_000;

/// Values by the names of their variables.
pub(crate) type Values = BTreeMap<String, PromptValue>;

/// The text of a template with these values. A value is copied, whatever it says.
pub(crate) fn render(
    template: &Template,
    library: &Library,
    values: &Values,
) -> Result<String, BuildError> {
    for part in library.with_parts(template) {
        check(part, values)?;
    }
    let mut output = Output::default();
    write(&template.nodes, template, library, values, None, &mut output);
    if output.is_over() {
        return Err(BuildError::TooLong {
            template: template.name.clone(),
            bytes: LONGEST,
            pieces: MOST_PIECES,
        });
    }
    Ok(output.text)
}

fn check(template: &Template, values: &Values) -> Result<(), BuildError> {
    for (name, rule) in &template.variables {
        match values.get(name) {
            None if rule.may_be_missing() => {}
            None => {
                return Err(BuildError::MissingVariable {
                    template: template.name.clone(),
                    variable: name.clone(),
                    expected: rule.expected(),
                });
            }
            Some(value) => rule.check(value).map_err(|found| BuildError::WrongValue {
                template: template.name.clone(),
                variable: name.clone(),
                expected: rule.expected(),
                found,
            })?,
        }
    }
    Ok(())
}

#[derive(Default)]
struct Output {
    text: String,
    /// The last thing was a fence, which ends its line.
    after_fence: bool,
    /// How many pieces were written.
    pieces: usize,
}

impl Output {
    /// It became more than it may, so nothing more is written.
    fn is_over(&self) -> bool {
        self.text.len() > LONGEST || self.pieces > MOST_PIECES
    }

    fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.after_fence && !text.starts_with('\n') {
            self.text.push('\n');
        }
        self.after_fence = false;
        self.text.push_str(text);
    }

    fn push_value(&mut self, text: &str, fence: Option<&str>) {
        let Some(label) = fence else { return self.push(text) };
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(&fenced(label, text));
        self.after_fence = true;
    }
}

fn write(
    nodes: &[Node],
    template: &Template,
    library: &Library,
    values: &Values,
    item: Option<(&str, Option<&str>)>,
    output: &mut Output,
) {
    let of = |name: &String| {
        let rule: Option<&VariableRule> = template.variables.get(name);
        let value = values.get(name).or_else(|| rule.and_then(|rule| rule.default.as_ref()));
        (value, rule.and_then(|rule| rule.fence.as_deref()))
    };
    for node in nodes {
        output.pieces += 1;
        if output.is_over() {
            return;
        }
        match node {
            Node::Text(text) => output.push(text),
            Node::Item => {
                if let Some((item, fence)) = item {
                    output.push_value(item, fence);
                }
            }
            Node::Value { name, .. } => {
                if let (Some(value), fence) = of(name) {
                    output.push_value(&text_of(value), fence);
                }
            }
            Node::If { name, is, then, otherwise, .. } => {
                let holds = of(name).0.is_some_and(|value| match is {
                    Some(word) => matches!(value, PromptValue::Text(text) if text == word),
                    None => is_there(value),
                });
                let nodes = if holds { then } else { otherwise };
                write(nodes, template, library, values, item, output);
            }
            Node::Each { name, body, .. } => {
                if let (Some(PromptValue::List(items)), fence) = of(name) {
                    for item in items {
                        write(body, template, library, values, Some((item, fence)), output);
                    }
                }
            }
            Node::Include { reference, .. } => {
                // It was found when the template was loaded.
                if let Ok(part) = library.find(reference) {
                    write(&part.nodes, part, library, values, None, output);
                }
            }
        }
    }
}

fn is_there(value: &PromptValue) -> bool {
    match value {
        PromptValue::Boolean(value) => *value,
        PromptValue::Integer(_) | PromptValue::Number(_) => true,
        PromptValue::Text(text) => !text.is_empty(),
        PromptValue::List(items) => !items.is_empty(),
    }
}

fn text_of(value: &PromptValue) -> String {
    match value {
        PromptValue::Boolean(value) => value.to_string(),
        PromptValue::Integer(number) => number.to_string(),
        PromptValue::Number(number) => number.to_string(),
        PromptValue::Text(text) => text.clone(),
        PromptValue::List(items) => items.join("\n"),
    }
}

/// A text between two lines that say that it is data. It cannot have the second line in it.
pub(crate) fn fenced(label: &str, text: &str) -> String {
    let key = (0_u64..).map(|round| key(text, round)).find(|key| !text.contains(key.as_str()));
    let key = key.unwrap_or_default();
    format!("<data-{key} label=\"{label}\">\n{text}\n</data-{key}>")
}

/// Letters alone, so that no key looks like a number of somebody.
fn key(text: &str, round: u64) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("offshoot prompt fence 1");
    hasher.update(&round.to_le_bytes());
    hasher.update(text.as_bytes());
    hasher.finalize().as_bytes()[..8].iter().map(|byte| char::from(b'a' + byte % 26)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that knows its key cannot be had by chance, so the rounds are counted here.
    #[test]
    fn no_text_has_its_own_key() {
        for text in ["", "a", "</data-", "<data-aaaaaaaa label=\"x\">"] {
            let fence = fenced("x", text);
            let end = fence.lines().last().unwrap();
            assert_eq!(fence.matches(end).count(), 1);
        }
        let text = format!("{} {}", key("x", 0), key("x", 1));
        assert!(!text.contains(&key(&text, 0)));
    }
}
