//! JSON with comments and trailing commas, read with the place of everything in it: so that a file can be changed and the rest of it
//! stays byte for byte.

use serde_json::{Map, Value};

/// Deeper than any settings; nothing overflows.
const DEEPEST: usize = 100;

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: NodeKind,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    Object(Vec<Child>),
    Array(Vec<Child>),
    Scalar(Value),
}

/// A member of an object, or an item of a list, which has no key.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) key: String,
    /// Where its key starts, or the item.
    pub(super) start: usize,
    pub(super) node: Node,
    /// Where the comma behind it is.
    pub(super) comma: Option<usize>,
}

impl Node {
    pub(super) fn children(&self) -> &[Child] {
        match &self.kind {
            NodeKind::Object(children) | NodeKind::Array(children) => children,
            NodeKind::Scalar(_) => &[],
        }
    }

    /// The member of this name; of several the last, as programs read it.
    pub(super) fn member(&self, key: &str) -> Option<&Child> {
        match &self.kind {
            NodeKind::Object(members) => members.iter().rev().find(|member| member.key == key),
            _ => None,
        }
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self.kind, NodeKind::Object(_))
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self.kind, NodeKind::Array(_))
    }

    pub(super) fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar(value) => value.clone(),
            NodeKind::Array(items) => items.iter().map(|item| item.node.value()).collect(),
            NodeKind::Object(members) => {
                let pairs = members.iter().map(|one| (one.key.clone(), one.node.value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}

/// Whether nothing is in a text: no byte, or a mark of its encoding and spaces.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

/// Reads a whole text. The error says the line and what is wrong there.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { text, at };
    let read = reader.whole();
    read.map_err(|what| {
        let read = text.get(..reader.at.min(text.len())).unwrap_or_default();
        format!("line {}: {what}", read.matches('\n').count() + 1)
    })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn whole(&mut self) -> Result<Node, String> {
        self.skip()?;
        let node = self.node(0)?;
        self.skip()?;
        match self.peek() {
            None => Ok(node),
            Some(_) => Err("something follows after the end of the value".to_owned()),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Passes spaces and comments.
    fn skip(&mut self) -> Result<(), String> {
        loop {
            let rest = self.rest();
            let spaces = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let rest = &rest[spaces..];
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").ok_or("a comment has no end")? + 2
            } else {
                0
            };
            self.at += spaces + comment;
            if comment == 0 {
                return Ok(());
            }
        }
    }

    fn node(&mut self, depth: usize) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err("values are nested too deeply".to_owned());
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => NodeKind::Object(self.children(b'}', depth)?),
            Some(b'[') => NodeKind::Array(self.children(b']', depth)?),
            _ => NodeKind::Scalar(self.scalar()?),
        };
        Ok(Node { start, end: self.at, kind })
    }

    fn children(&mut self, close: u8, depth: usize) -> Result<Vec<Child>, String> {
        let mut children: Vec<Child> = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(children);
            }
            if children.last().is_some_and(|last| last.comma.is_none()) {
                return Err("a comma or the end of the list is missing".to_owned());
            }
            let start = self.at;
            let key = if close == b'}' { self.key()? } else { String::new() };
            let node = self.node(depth + 1)?;
            self.skip()?;
            let comma = (self.peek() == Some(b',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
            children.push(Child { key, start, node, comma });
        }
    }

    fn key(&mut self) -> Result<String, String> {
        let Value::String(key) = self.scalar()? else {
            return Err("a name in quotes is missing".to_owned());
        };
        self.skip()?;
        if self.peek() != Some(b':') {
            return Err("a colon is missing".to_owned());
        }
        self.at += 1;
        self.skip()?;
        Ok(key)
    }

    fn scalar(&mut self) -> Result<Value, String> {
        let rest = self.rest();
        let length = match rest.as_bytes().first() {
            None => return Err("the text ends too early".to_owned()),
            Some(b'"') => string_length(rest).ok_or("a text has no end")?,
            Some(_) => {
                let other = |c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c));
                rest.find(other).unwrap_or(rest.len())
            }
        };
        let value = serde_json::from_str(&rest[..length]);
        let value = value.map_err(|_| "this is not a value".to_owned())?;
        self.at += length;
        Ok(value)
    }
}

/// How long the text in quotes is that something starts with.
fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_commas_at_the_end_are_read() {
        let text = "\u{feff}// a\n{ \"a\": [1, /* , */ 2,], \"b\\\"\": {\"c\": null}, // }\n}\n";
        assert_eq!(parse(text).unwrap().value(), json!({"a": [1, 2], "b\"": {"c": null}}));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line) in [
            ("{\n\"a\": 1\n\"b\": 2}", "line 3"),
            ("{\"a\": }", "line 1"),
            ("{\"a\": \"b}", "line 1"),
            ("{} x", "line 1"),
            ("{a: 1}", "line 1"),
            ("/* x", "line 1"),
            ("[1,,2]", "line 1"),
            ("{\"a\" 1}", "line 1"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(line), "{text}: {error}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
