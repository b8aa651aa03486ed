//! From the text of a template to what it says.

/// How deep blocks may be in blocks.
const DEEPEST: usize = 8;

/// A piece of a template. What refers to something knows its byte in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Text(String),
    Value { name: String, at: usize },
    Item,
    If { name: String, is: Option<String>, at: usize, then: Vec<Self>, otherwise: Vec<Self> },
    Each { name: String, at: usize, body: Vec<Self> },
    Include { reference: String, at: usize },
}

/// What is wrong with a text, and at which byte.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ParseProblem {
    pub(crate) at: usize,
    pub(crate) message: String,
    pub(crate) hint: Option<&'static str>,
}

const TAGS: &str = "there are {{name}}, {{#if name}}, {{else}}, {{/if}}, {{#each name}}, {{item}}, {{/each}} and {{> name}}";

/// Reads a text.
pub(crate) fn parse(text: &str) -> Result<Vec<Node>, ParseProblem> {
    let mut parser = Parser { text, blocks: Vec::new(), nodes: Vec::new() };
    parser.run()?;
    match parser.blocks.pop() {
        None => Ok(parser.nodes),
        Some(open) => Err(problem(
            open.at,
            format!("the block `{}` has no end", open.tag()),
            Some("end it with {{/if}} or {{/each}}"),
        )),
    }
}

struct Parser<'a> {
    text: &'a str,
    blocks: Vec<Open>,
    nodes: Vec<Node>,
}

/// A block whose end was not seen yet.
struct Open {
    name: String,
    /// The value of a condition; none for a loop.
    condition: Option<Option<String>>,
    at: usize,
    /// What was before the block.
    outside: Vec<Node>,
    /// What was before `{{else}}`.
    then: Option<Vec<Node>>,
}

impl Open {
    fn tag(&self) -> &'static str {
        if self.condition.is_some() { "if" } else { "each" }
    }
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), ParseProblem> {
        let mut at = 0;
        while let Some(found) = self.text[at..].find("{{") {
            let start = at + found;
            if self.text[..start].ends_with('\\') {
                self.push_text(&self.text[at..start - 1]);
                self.push_text("{{");
                at = start + 2;
                continue;
            }
            let Some(length) = self.text[start + 2..].find("}}") else {
                let hint = Some("end it with }}, or write \\{{ for two braces");
                return Err(problem(start, "a tag has no end", hint));
            };
            let end = start + 2 + length + 2;
            let tag = self.text[start + 2..end - 2].trim();
            let is_block = tag.starts_with(['#', '/']) || tag == "else";
            let (before, after) = match is_block.then(|| self.alone(at, start, end)).flatten() {
                Some(line) => line,
                None => (start, end),
            };
            self.push_text(&self.text[at..before]);
            self.tag(tag, start)?;
            at = after;
        }
        self.push_text(&self.text[at..]);
        Ok(())
    }

    /// The line of a tag that stands alone on it.
    fn alone(&self, from: usize, start: usize, end: usize) -> Option<(usize, usize)> {
        let is_blank = |text: &str| text.chars().all(|c| c == ' ' || c == '\t');
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let rest = &self.text[end..];
        let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let is_alone = line >= from
            && is_blank(&self.text[line..start])
            && is_blank(rest[..length].trim_end_matches(['\n', '\r']));
        is_alone.then_some((line, end + length))
    }

    fn push_text(&mut self, text: &str) {
        match self.nodes.last_mut() {
            _ if text.is_empty() => {}
            Some(Node::Text(before)) => before.push_str(text),
            _ => self.nodes.push(Node::Text(text.to_owned())),
        }
    }

    fn tag(&mut self, tag: &str, at: usize) -> Result<(), ParseProblem> {
        let words: Vec<&str> = tag.split_whitespace().collect();
        match words.as_slice() {
            ["item"] if self.blocks.iter().any(|open| open.condition.is_none()) => {
                self.nodes.push(Node::Item);
            }
            ["item"] => {
                let hint = Some("it stands between {{#each name}} and {{/each}}");
                return Err(problem(at, "`item` is there only in a loop", hint));
            }
            ["else"] => return self.otherwise(at),
            ["/if"] => return self.close("if", at),
            ["/each"] => return self.close("each", at),
            ["#if", name] => return self.open(name, Some(None), at),
            ["#if", name, "is", value] => {
                return self.open(name, Some(Some((*value).to_owned())), at);
            }
            ["#each", name] => return self.open(name, None, at),
            [">", name] => self.include(name, at),
            [name] if name.starts_with('>') => self.include(name.trim_start_matches('>'), at),
            [name] => {
                check_name(name, at)?;
                self.nodes.push(Node::Value { name: (*name).to_owned(), at });
            }
            _ => return Err(problem(at, format!("`{{{{{tag}}}}}` is no tag"), Some(TAGS))),
        }
        Ok(())
    }

    fn include(&mut self, reference: &str, at: usize) {
        self.nodes.push(Node::Include { reference: reference.to_owned(), at });
    }

    fn open(
        &mut self,
        name: &str,
        condition: Option<Option<String>>,
        at: usize,
    ) -> Result<(), ParseProblem> {
        check_name(name, at)?;
        if self.blocks.len() == DEEPEST {
            let hint = Some("move what is inside to a template of the layer `part`");
            return Err(problem(at, format!("blocks are deeper than {DEEPEST}"), hint));
        }
        if condition.is_none() && self.blocks.iter().any(|open| open.condition.is_none()) {
            let hint = Some("put the lists behind one another");
            return Err(problem(at, "a loop cannot be in a loop", hint));
        }
        let outside = std::mem::take(&mut self.nodes);
        let name = name.to_owned();
        self.blocks.push(Open { name, condition, at, outside, then: None });
        Ok(())
    }

    fn otherwise(&mut self, at: usize) -> Result<(), ParseProblem> {
        match self.blocks.last_mut() {
            Some(open @ Open { condition: Some(_), then: None, .. }) => {
                open.then = Some(std::mem::take(&mut self.nodes));
                Ok(())
            }
            _ => Err(problem(at, "`else` belongs to no condition", Some(TAGS))),
        }
    }

    fn close(&mut self, tag: &str, at: usize) -> Result<(), ParseProblem> {
        let Some(open) = self.blocks.pop_if(|open| open.tag() == tag) else {
            let message = match self.blocks.last() {
                Some(open) => format!("`/{tag}` ends a block `{}`", open.tag()),
                None => format!("`/{tag}` ends no block"),
            };
            return Err(problem(at, message, Some(TAGS)));
        };
        let inside = std::mem::replace(&mut self.nodes, open.outside);
        let (name, at) = (open.name, open.at);
        self.nodes.push(match (open.condition, open.then) {
            (Some(is), Some(then)) => Node::If { name, is, at, then, otherwise: inside },
            (Some(is), None) => Node::If { name, is, at, then: inside, otherwise: Vec::new() },
            (None, _) => Node::Each { name, at, body: inside },
        });
        Ok(())
    }
}

/// Whether a text is a name of a variable.
pub(crate) fn is_variable(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && characters.all(|c| c.is_ascii_alphanumeric() || c == '_') && name != "item"
}

fn check_name(name: &str, at: usize) -> Result<(), ParseProblem> {
    if is_variable(name) {
        return Ok(());
    }
    let hint = Some("variables have letters, digits and `_`; `item` is taken");
    Err(problem(at, format!("`{name}` is no name of a variable"), hint))
}

fn problem(at: usize, message: impl Into<String>, hint: Option<&'static str>) -> ParseProblem {
    ParseProblem { at, message: message.into(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Node {
        Node::Text(text.to_owned())
    }

    #[test]
    fn tags_are_found_in_texts() {
        let nodes = parse("a {{x}} \\{{b}} {{> part@2}}").unwrap();
        let value = Node::Value { name: "x".to_owned(), at: 2 };
        let include = Node::Include { reference: "part@2".to_owned(), at: 15 };
        assert_eq!(nodes, [text("a "), value, text(" {{b}} "), include]);
    }

    #[test]
    fn a_block_tag_takes_its_line_with_it() {
        let nodes =
            parse("a\n  {{#if x}}\nb\n{{else}}\nc\n{{/if}}\nd {{#if x}}e{{/if}}\n").unwrap();
        let [first, Node::If { then, otherwise, .. }, behind, Node::If { .. }, end] = &nodes[..]
        else {
            panic!("{nodes:?}");
        };
        assert_eq!((first, behind, end), (&text("a\n"), &text("d "), &text("\n")));
        assert_eq!((&then[..], &otherwise[..]), (&[text("b\n")][..], &[text("c\n")][..]));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (wrong, at) in [
            ("a {{x", 2),
            ("{{#if x}}", 0),
            ("ab{{/if}}", 2),
            ("{{#each x}}{{/if}}", 11),
            ("{{else}}", 0),
            ("{{#if x}}{{else}}{{else}}{{/if}}", 17),
            ("{{#each x}}{{else}}{{/each}}", 11),
            ("{{item}}", 0),
            ("{{a b}}", 0),
            ("{{}}", 0),
            ("{{1a}}", 0),
            ("{{#each x}}{{#each y}}{{/each}}{{/each}}", 11),
        ] {
            assert_eq!(parse(wrong).map_err(|problem| problem.at), Err(at), "{wrong}");
        }
        let deep = |depth: usize| "{{#if x}}".repeat(depth) + &"{{/if}}".repeat(depth);
        assert!(parse(&deep(DEEPEST)).is_ok());
        assert!(parse(&deep(DEEPEST + 1)).is_err());
    }
}
