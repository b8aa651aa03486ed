//! Tables of TOML files: put at the end, and taken out.

use serde_json::Value;
use toml_edit::{DocumentMut, Item};

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
        let mut is_last = false;
        if let Some(section) = document.get_mut(self.section).and_then(Item::as_table_like_mut) {
            section.remove(self.name);
            is_last = section.is_empty();
        }
        if is_last {
            document.remove(self.section);
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

fn parsed(text: &str) -> Result<toml::Table, String> {
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
    fn what_takes_no_table_is_not_written_into() {
        let error = entry().insertion("mcp_servers = { b = { command = \"b\" } }\n").unwrap_err();
        assert!(error.contains("[mcp_servers.offshoot]\nargs = [\"mcp\"]\n"), "{error}");
        assert!(entry().find("a = \n").unwrap_err().starts_with("line 1"));
    }
}
