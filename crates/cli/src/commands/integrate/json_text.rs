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
    /// A hook in an item of the list that these names lead to: what is put in is an item with it alone, but others may add theirs to that.
    /// It is known by the program that its command starts, and by what that ends with.
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

    /// The value of the entry in a text; none where it has none. A hook has that of an item with it alone.
    pub(super) fn find(&self, text: &str) -> Result<Option<Value>, String> {
        if is_blank(text) {
            return Ok(None);
        }
        let root = parse(text)?;
        Ok(self.place(&root).map(|place| place.value()))
    }

    /// Whether a value is what is put in.
    pub(super) fn is_own(&self, value: &Value) -> bool {
        value == self.value()
    }

    /// Whether a piece of text that was put in has this value of the entry: it is as it was written then.
    pub(super) fn was_written(&self, piece: &str, value: &Value) -> bool {
        let written = piece.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        let written = match written.starts_with('"') {
            true => format!("{{{written}}}"),
            false => written.to_owned(),
        };
        parse(&written).is_ok_and(|root| holds(&root, value))
    }

    /// Where the entry is.
    fn place<'a>(&self, root: &'a Node) -> Option<Place<'a>> {
        match self {
            Self::Member { path, .. } => {
                let (last, way) = path.split_last()?;
                let container = walk(root, way)?;
                Some(Place { container, child: container.member(last)?, item: None })
            }
            Self::Hook { path, .. } => {
                let list = walk(root, path).filter(|list| list.is_array())?;
                let all = || list.children().iter().flat_map(|item| hooks_of(list, item));
                // Of several that which is as it was put in.
                let as_written = all().find(|place| self.is_own(&place.value()));
                as_written.or_else(|| all().find(|place| self.is_ours(place)))
            }
        }
    }

    /// Whether a hook starts our program for the same agent. The program may be at another place by now.
    fn is_ours(&self, place: &Place<'_>) -> bool {
        let command = |hook: &Value| Some(hook.get("command")?.as_str()?.to_owned());
        let own = self.value().pointer("/hooks/0").and_then(command);
        let (Some(own), Some(other)) = (own, command(&place.child.node.value())) else {
            return false;
        };
        let Some(at) = own.rfind(" hook ") else { return own == other };
        let program =
            other.strip_suffix(&own[at..]).map(|start| start.trim_end_matches(['\'', '"']));
        let before = program.and_then(|program| program.strip_suffix("offshoot"));
        before.is_some_and(|before| before.is_empty() || before.ends_with(['/', ' ', '\'', '"']))
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
        let Some(place) = self.place(&root) else { return Ok(text.to_owned()) };
        let mut text = place.cut(text);
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

/// Where an entry is in a text.
struct Place<'a> {
    container: &'a Node,
    child: &'a Child,
    /// For a hook, the list of items and the item that it is in.
    item: Option<(&'a Node, &'a Child)>,
}

impl Place<'_> {
    fn value(&self) -> Value {
        let own = self.child.node.value();
        let Some((_, item)) = self.item else { return own };
        let mut value = json!({"hooks": [own]});
        if let Some(matcher) = item.node.member("matcher") {
            value["matcher"] = matcher.node.value();
        }
        value
    }

    /// The text without the entry: a hook takes its item along if nothing else is in that.
    fn cut(&self, text: &str) -> String {
        let is_alone = |item: &Child| {
            let other = |child: &Child| child.key != "hooks" && child.key != "matcher";
            self.container.children().len() == 1 && !item.node.children().iter().any(other)
        };
        match self.item.filter(|(_, item)| is_alone(item)) {
            Some((list, item)) => cut(text, list, item),
            None => cut(text, self.container, self.child),
        }
    }
}

/// The hooks of an item of a list of hooks.
fn hooks_of<'a>(list: &'a Node, item: &'a Child) -> impl Iterator<Item = Place<'a>> {
    let hooks = item.node.member("hooks").map(|hooks| &hooks.node);
    let hooks = hooks.filter(|hooks| hooks.is_array()).into_iter();
    hooks.flat_map(move |hooks| {
        let place = move |child| Place { container: hooks, child, item: Some((list, item)) };
        hooks.children().iter().map(place)
    })
}

/// Whether a value is somewhere in a text.
fn holds(node: &Node, value: &Value) -> bool {
    node.value() == *value || node.children().iter().any(|child| holds(&child.node, value))
}

/// Whether a text has an object with nothing in it.
pub(super) fn is_empty_object(text: &str) -> bool {
    parse(text).is_ok_and(|root| root.is_object() && is_hollow(text, &root))
}

/// Whether two texts have the same value; one with nothing in it has that of an empty object.
pub(super) fn means_the_same(one: &str, other: &str) -> bool {
    let value = |text: &str| match is_blank(text) {
        true => Ok(json!({})),
        false => parse(text).map(|root| root.value()),
    };
    value(one).is_ok_and(|one| value(other).is_ok_and(|other| one == other))
}

fn is_hollow(text: &str, node: &Node) -> bool {
    let inner = text.get(node.start + 1..node.end - 1);
    !matches!(node.kind, super::jsonc::NodeKind::Scalar(_))
        && inner.is_some_and(|inner| inner.trim().is_empty())
}

fn walk<'a>(root: &'a Node, way: &[&str]) -> Option<&'a Node> {
    way.iter().try_fold(root, |node, key| Some(&node.member(key)?.node))
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
