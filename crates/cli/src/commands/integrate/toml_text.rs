//! Tables of TOML files: put at the end, and taken out.

use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

use super::edit::{Insertion, Piece};

/// A table of a TOML file, `section.name`, of texts and lists of texts.
#[derive(Debug)]
pub(super) struct TomlEntry {
    pub(super) section: &'static str,
    pub(super) name: &'static str,
    pub(super) value: Value,
}

impl TomlEntry {
    pub(super) fn find(&self, text: &str) -> Result<Option<Value>, String> {
        let table = parsed(text)?;
        let found = table.get(self.section).and_then(|section| section.get(self.name));
        found
            .map(|found| serde_json::to_value(found).map_err(|error| error.to_string()))
            .transpose()
    }

    pub(super) fn is_own(&self, value: &Value) -> bool {
        *value == self.value
    }

    /// Whether a piece of text that was put in has this value of the entry: it is as it was written then.
    pub(super) fn was_written(&self, piece: &str, value: &Value) -> bool {
        self.find(piece).is_ok_and(|found| found.as_ref() == Some(value))
    }

    pub(super) fn insertion(&self, text: &str) -> Result<Insertion, String> {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut added = String::new();
        if !text.is_empty() && !text.ends_with('\n') {
            added.push_str(newline);
        }
        if !text.trim().is_empty() {
            added.push_str(newline);
        }
        added.push_str(&self.block().replace('\n', newline));
        let with = format!("{text}{added}");
        // A section that is written in one line takes no table behind it.
        if parsed(&with).is_err() || self.find(&with)?.is_none_or(|found| !self.is_own(&found)) {
            let block = self.block();
            return Err(format!(
                "{} is written in a way that takes no further table; write it as tables, or add this by hand:\n{block}",
                self.section
            ));
        }
        let pieces = vec![Piece { at: text.len(), text: added }];
        Ok(Insertion { pieces, made: 0 })
    }

    pub(super) fn removed(&self, text: &str) -> Result<String, String> {
        let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            format!("it cannot be read: {}", error.message())
        })?;
        let section = document.get_mut(self.section).and_then(Item::as_table_like_mut);
        let removed = section.and_then(|section| section.remove(self.name));
        // Comments before our table are no part of it.
        let own = removed.as_ref().and_then(Item::as_table);
        let before = own.and_then(|own| own.decor().prefix()).and_then(|prefix| prefix.as_str());
        if let Some(before) = before.filter(|before| before.contains('#')) {
            let after = own.and_then(Table::position).unwrap_or_default();
            put_before_next(&mut document, after, before);
        }
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Ok(document.to_string().replace("\r\n", "\n").replace('\n', newline))
    }

    fn block(&self) -> String {
        let mut block = format!("[{}.{}]\n", self.section, self.name);
        for (key, value) in self.value.as_object().into_iter().flatten() {
            // Texts and lists of them are written alike in both.
            block.push_str(&format!("{key} = {value}\n"));
        }
        block
    }
}

/// Puts comments before the first table behind a place, or at the end.
fn put_before_next(document: &mut DocumentMut, after: isize, comments: &str) {
    fn next(table: &Table, after: isize) -> Option<isize> {
        let own = table.position().filter(|at| *at > after && !table.is_implicit());
        let below = table.iter().flat_map(|(_, item)| match item {
            Item::Table(table) => next(table, after),
            Item::ArrayOfTables(tables) => {
                tables.iter().filter_map(|table| next(table, after)).min()
            }
            _ => None,
        });
        own.into_iter().chain(below).min()
    }
    fn put(table: &mut Table, at: isize, comments: &str) {
        if table.position() == Some(at) && !table.is_implicit() {
            let before = table.decor().prefix().and_then(|prefix| prefix.as_str());
            let before = format!("{comments}{}", before.unwrap_or_default());
            table.decor_mut().set_prefix(before);
        }
        for (_, item) in table.iter_mut() {
            match item {
                Item::Table(table) => put(table, at, comments),
                Item::ArrayOfTables(tables) => {
                    tables.iter_mut().for_each(|table| put(table, at, comments));
                }
                _ => {}
            }
        }
    }
    match next(document.as_table(), after) {
        Some(at) => put(document.as_table_mut(), at, comments),
        None => {
            let trailing = document.trailing().as_str().unwrap_or_default();
            let trailing = format!("{comments}{trailing}");
            document.set_trailing(trailing);
        }
    }
}

pub(super) fn parsed(text: &str) -> Result<toml::Table, String> {
    text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        format!("line {line}: {}", error.message())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::edit::{put_in, taken_out};
    use super::*;

    fn entry() -> TomlEntry {
        let value = json!({"args": ["mcp"], "command": "offshoot"});
        TomlEntry { section: "mcp_servers", name: "offshoot", value }
    }

    #[test]
    fn a_table_goes_in_and_out_and_nothing_else_changes() {
        for text in [
            "",
            "\n",
            "model = \"x\"",
            "# mine\nmodel = \"x\" # this\n\n[ui]\n",
            "[mcp_servers.b]\r\ncommand = \"b\"\r\n",
            "[mcp_servers]\nb = { command = \"b\" }\n",
        ] {
            let insertion = entry().insertion(text).unwrap();
            let (with, recorded) = put_in(text, &insertion.pieces);
            assert!(entry().find(&with).unwrap().is_some_and(|found| entry().is_own(&found)));
            assert_eq!(taken_out(&with, &recorded).as_deref(), Some(text));
            let out = entry().removed(&with).unwrap();
            assert_eq!(out.trim_end(), text.trim_end());
        }
    }

    #[test]
    fn what_was_added_to_the_table_goes_with_it() {
        let text = "# a\n[x]\ny = 1 # b\n";
        let (with, _) = put_in(text, &entry().insertion(text).unwrap().pieces);
        let with =
            with + "\n[mcp_servers.offshoot.tools.exec]\napproval_mode = \"approve\"\n\n[z]\n";
        assert_eq!(entry().removed(&with).unwrap(), "# a\n[x]\ny = 1 # b\n\n[z]\n");
    }

    #[test]
    fn comments_and_sections_of_others_stay() {
        for (before, after) in [
            ("# a\n[mcp_servers]\n", "\n# more\n[z]\n"),
            ("a = 1\n\n# the end\n", ""),
            ("a = 1\n\n# mine\n", "\n[z]\n\n[[list]]\n"),
        ] {
            let (with, _) = put_in(before, &entry().insertion(before).unwrap().pieces);
            let with = with.replace("[\"mcp\"]", "[\"mcp\", \"--net\"]") + after;
            let out = entry().removed(&with).unwrap();
            let expected = format!("{before}{after}");
            let lines = |text: &'_ str| -> Vec<String> {
                text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
            };
            assert_eq!(lines(&out), lines(&expected), "{with}");
        }
    }

    #[test]
    fn what_takes_no_table_is_not_written_into() {
        let error = entry().insertion("mcp_servers = { b = { command = \"b\" } }\n").unwrap_err();
        assert!(error.contains("[mcp_servers.offshoot]\nargs = [\"mcp\"]\n"), "{error}");
        assert!(entry().find("a = \n").unwrap_err().starts_with("line 1"));
    }
}
