//! Entries of JSON files: put in and taken out, with every other byte as it was.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

use super::edit::{Insertion, Piece};
use super::jsonc::{Child, Node, is_blank, parse};

/// An entry of a JSON file.
#[derive(Debug)]
pub(super) enum JsonEntry {
    /// The member that the last of these names names.
    Member { path: &'static [&'static str], value: Value },
    /// An item of the list that these names lead to. It is known by what the command of its hook ends with.
    Hook { path: &'static [&'static str], value: Value },
}

impl JsonEntry {
    fn path(&self) -> &'static [&'static str] {
        match self {
            Self::Member { path, .. } | Self::Hook { path, .. } => path,
        }
    }

    fn value(&self) -> &Value {
        match self {
            Self::Member { value, .. } | Self::Hook { value, .. } => value,
        }
    }

    /// The value of the entry in a text; none where it has none.
    pub(super) fn find(&self, text: &str) -> Result<Option<Value>, String> {
        if is_blank(text) {
            return Ok(None);
        }
        let root = parse(text)?;
        Ok(self.place(&root).map(|(_, child)| child.node.value()))
    }

    /// Whether a value is what is put in.
    pub(super) fn is_own(&self, value: &Value) -> bool {
        value == self.value()
    }

    /// The container and the child in it.
    fn place<'a>(&self, root: &'a Node) -> Option<(&'a Node, &'a Child)> {
        match self {
            Self::Member { path, .. } => {
                let (last, way) = path.split_last()?;
                let container = walk(root, way)?;
                Some((container, container.member(last)?))
            }
            Self::Hook { path, value } => {
                let list = walk(root, path).filter(|list| list.is_array())?;
                let command = hook_commands(value).into_iter().next()?;
                // The program may be at another place by now.
                let end = command.rfind(" hook ").map_or(command.as_str(), |at| &command[at..]);
                let is_ours = |other: &String| other.ends_with(end) && other.contains("offshoot");
                let mut items = list.children().iter();
                let found =
                    items.find(|item| hook_commands(&item.node.value()).iter().any(is_ours));
                Some((list, found?))
            }
        }
    }

    /// What puts the entry into a text that does not have it.
    pub(super) fn insertion(&self, text: &str) -> Result<Insertion, String> {
        let style = Style::of(text);
        if is_blank(text) {
            let whole = style.pretty(&self.nested(0), "")? + style.newline;
            let made = self.containers();
            return Ok(Insertion { pieces: vec![Piece { at: text.len(), text: whole }], made });
        }
        let root = parse(text)?;
        let mut container = &root;
        let mut depth = 0;
        let way = &self.path()[..self.containers()];
        while let Some(child) = way.get(depth).and_then(|key| container.member(key)) {
            container = &child.node;
            depth += 1;
        }
        let named = || match depth {
            0 => "it".to_owned(),
            _ => format!("\"{}\"", way[..depth].join(".")),
        };
        let in_list = matches!(self, Self::Hook { .. }) && depth == way.len();
        if in_list && !container.is_array() {
            return Err(format!("{} is not a list", named()));
        }
        if !in_list && !container.is_object() {
            return Err(format!("{} is not an object", named()));
        }
        let key = (!in_list).then(|| self.path()[depth]);
        let value = if in_list { self.value().clone() } else { self.nested(depth + 1) };
        let pieces = style.pieces(text, container, key, &value)?;
        Ok(Insertion { pieces, made: way.len() - depth })
    }

    /// How many objects and lists are around the entry, below the whole.
    fn containers(&self) -> usize {
        match self {
            Self::Member { path, .. } => path.len().saturating_sub(1),
            Self::Hook { path, .. } => path.len(),
        }
    }

    /// The entry with what is around it, from a depth on.
    fn nested(&self, from: usize) -> Value {
        let innermost = match self {
            Self::Hook { value, .. } => json!([value]),
            Self::Member { value, .. } => value.clone(),
        };
        let names = self.path().get(from..).unwrap_or_default();
        names.iter().rev().fold(innermost, |value, name| json!({ *name: value }))
    }

    /// The text without the entry, and without what was made around it and is empty now.
    pub(super) fn removed(&self, text: &str, made: usize) -> Result<String, String> {
        let root = parse(text)?;
        let Some((container, child)) = self.place(&root) else { return Ok(text.to_owned()) };
        let mut text = cut(text, container, child);
        for depth in (self.containers().saturating_sub(made)..self.containers()).rev() {
            let root = parse(&text)?;
            let (Some(parent), key) = (walk(&root, &self.path()[..depth]), self.path()[depth])
            else {
                break;
            };
            match parent.member(key) {
                Some(child) if is_hollow(&text, &child.node) => text = cut(&text, parent, child),
                _ => break,
            }
        }
        Ok(text)
    }
}

/// Whether a text has an object with nothing in it.
pub(super) fn is_empty_object(text: &str) -> bool {
    parse(text).is_ok_and(|root| root.is_object() && is_hollow(text, &root))
}

fn is_hollow(text: &str, node: &Node) -> bool {
    let inner = text.get(node.start + 1..node.end - 1);
    !matches!(node.kind, super::jsonc::NodeKind::Scalar(_))
        && inner.is_some_and(|inner| inner.trim().is_empty())
}

fn walk<'a>(root: &'a Node, way: &[&str]) -> Option<&'a Node> {
    way.iter().try_fold(root, |node, key| Some(&node.member(key)?.node))
}

/// The commands of an item of a list of hooks.
fn hook_commands(item: &Value) -> Vec<String> {
    let hooks = item.get("hooks").and_then(Value::as_array);
    let commands = hooks.into_iter().flatten().filter_map(|hook| hook.get("command")?.as_str());
    commands.map(str::to_owned).collect()
}

/// Takes a child out, with the space before it and one comma.
fn cut(text: &str, container: &Node, child: &Child) -> String {
    let children = container.children();
    let before = children.iter().rfind(|other| other.start < child.start);
    let comma = child.comma.or_else(|| before.and_then(|before| before.comma));
    let start = text[..child.start].trim_end().len();
    let mut ranges = vec![(start, child.node.end)];
    ranges.extend(comma.map(|comma| (comma, comma + 1)));
    ranges.sort_unstable();
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end) in ranges {
        // The comma before the child may stand in the space before it.
        if start >= at {
            kept.push_str(&text[at..start]);
        }
        at = at.max(end);
    }
    kept.push_str(&text[at..]);
    kept
}

/// How a text is laid out.
struct Style<'a> {
    newline: &'a str,
    /// What one level is indented by.
    unit: String,
    has_lines: bool,
}

impl Style<'_> {
    fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = parse(text).ok().and_then(|root| {
            let first = root.children().first()?.start;
            own_line(text, first).filter(|indent| !indent.is_empty()).map(str::to_owned)
        });
        let has_lines = is_blank(text) || text.trim().contains('\n') || text.trim() == "{}";
        Self { newline, unit: first.unwrap_or_else(|| "  ".to_owned()), has_lines }
    }

    /// A value over several lines, all but the first indented.
    fn pretty(&self, value: &Value, indent: &str) -> Result<String, String> {
        let mut out = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut serializer = Serializer::with_formatter(&mut out, formatter);
        value.serialize(&mut serializer).map_err(|error| error.to_string())?;
        let text = String::from_utf8(out).map_err(|error| error.to_string())?;
        Ok(text.replace('\n', &format!("{}{indent}", self.newline)))
    }

    /// What adds a child at the end of an object or list.
    fn pieces(
        &self,
        text: &str,
        container: &Node,
        key: Option<&str>,
        value: &Value,
    ) -> Result<Vec<Piece>, String> {
        let label = key.map(|key| format!("{}: ", json!(key))).unwrap_or_default();
        let inside = container.end - 1;
        let content_end = text[..inside].trim_end().len();
        let Some(last) = container.children().last() else {
            let around = line_indent(text, container.start);
            if !self.has_lines {
                return Ok(vec![Piece { at: content_end, text: format!("{label}{value}") }]);
            }
            let indent = format!("{around}{}", self.unit);
            let mut added = format!("{}{indent}{label}", self.newline);
            added.push_str(&self.pretty(value, &indent)?);
            if !text[content_end..inside].contains('\n') {
                added.push_str(&format!("{}{around}", self.newline));
            }
            return Ok(vec![Piece { at: content_end, text: added }]);
        };
        let has_lines = text[container.start..last.start].contains('\n');
        let mut pieces = Vec::new();
        if last.comma.is_none() {
            pieces.push(Piece { at: last.node.end, text: ",".to_owned() });
        }
        if !has_lines {
            let at = last.comma.map_or(last.node.end, |comma| comma + 1);
            pieces.push(Piece { at, text: format!(" {label}{value}") });
            return Ok(joined(pieces));
        }
        let around = || format!("{}{}", line_indent(text, container.start), self.unit);
        let indent = own_line(text, last.start).map_or_else(around, str::to_owned);
        let added = format!("{}{indent}{label}{}", self.newline, self.pretty(value, &indent)?);
        pieces.push(Piece { at: content_end, text: added });
        Ok(joined(pieces))
    }
}

/// Pieces for one place are one.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut all: Vec<Piece> = Vec::new();
    for piece in pieces {
        match all.last_mut().filter(|last| last.at == piece.at) {
            Some(last) => last.text.push_str(&piece.text),
            None => all.push(piece),
        }
    }
    all
}

/// The spaces that the line of a place starts with.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The same where nothing else stands before the place.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind('\n')? + 1;
    let before = &text[start..at];
    before.chars().all(|c| c == ' ' || c == '\t').then_some(before)
}

#[cfg(test)]
#[path = "json_text_tests.rs"]
mod tests;
