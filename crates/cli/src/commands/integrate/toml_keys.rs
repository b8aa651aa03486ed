//! Single settings of a TOML file, which may stand in tables of the user's.

use serde_json::{Map, Value};

use super::edit::{Insertion, Piece};
use super::toml_text::parsed;

/// Settings, each with its table, its name and its value: a text or whether it is so. The table may be none.
#[derive(Debug)]
pub(super) struct TomlKeys(pub(super) &'static [(&'static str, &'static str, &'static str)]);

impl TomlKeys {
    /// All that there are, if they are all there or one has another value. Those that are there and the same are the user's own.
    pub(super) fn find(&self, text: &str) -> Result<Option<Value>, String> {
        let whole = parsed(text)?;
        let mut found = Map::new();
        for (table, name, _) in self.0 {
            let table = match *table {
                "" => Some(&whole),
                table => whole.get(table).and_then(toml::Value::as_table),
            };
            if let Some(value) = table.and_then(|table| table.get(*name)) {
                found.insert((*name).to_owned(), value.to_string().into());
            }
        }
        let is_same = self.0.iter().all(|(_, name, value)| {
            found.get(*name).is_none_or(|found| found.as_str() == Some(value))
        });
        Ok((!is_same || found.len() == self.0.len()).then(|| found.into()))
    }

    pub(super) fn is_own(&self, found: &Value) -> bool {
        self.0.iter().all(|(_, name, value)| found[*name].as_str() == Some(value))
    }

    /// What is missing goes to the beginning, where no table has begun, or behind the heading of its table.
    pub(super) fn insertion(&self, text: &str) -> Result<Insertion, String> {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let whole = parsed(text)?;
        let mut first = String::new();
        let mut pieces = Vec::new();
        for (table, name, value) in self.0 {
            let inside = whole.get(*table);
            let is_there = match *table {
                "" => whole.contains_key(*name),
                _ => inside.is_some_and(|inside| inside.get(*name).is_some()),
            };
            match (is_there, *table) {
                (true, _) => {}
                (false, "") => first.push_str(&format!("{name} = {value}{newline}")),
                (false, table) if inside.is_none() => {
                    first.push_str(&format!("{table}.{name} = {value}{newline}"));
                }
                (false, table) => {
                    let at = behind_heading(text, table).ok_or_else(|| {
                        format!("{table} is written in a way that takes no further line; add {name} = {value} to it by hand")
                    })?;
                    let text = format!("{name} = {value}{newline}");
                    pieces.push(Piece { at, text });
                }
            }
        }
        if !first.is_empty() {
            let at = text.len() - text.trim_start_matches('\u{feff}').len();
            pieces.push(Piece { at, text: first });
        }
        pieces.sort_by_key(|piece| piece.at);
        Ok(Insertion { pieces, made: 0 })
    }

    /// Without the lines of these pieces, wherever they are now.
    pub(super) fn removed(&self, text: &str, pieces: &[Piece]) -> String {
        let own: Vec<&str> = pieces.iter().flat_map(|piece| piece.text.lines()).collect();
        let is_own = |line: &&str| own.contains(&line.trim_end_matches(['\r', '\n']));
        text.split_inclusive('\n').filter(|line| !is_own(line)).collect()
    }
}

/// Where the line behind `[table]` begins.
fn behind_heading(text: &str, table: &str) -> Option<usize> {
    let heading = format!("[{table}]");
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let bare = line.split('#').next().unwrap_or_default().trim();
        if bare == heading && line.ends_with('\n') {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::edit::{put_in, taken_out};
    use super::*;

    const KEYS: TomlKeys = TomlKeys(&[("", "mode", "\"open\""), ("features", "daemon", "false")]);

    #[test]
    fn settings_go_in_and_out_and_nothing_else_changes() {
        for text in [
            "",
            "\n",
            "a = 1",
            "\u{feff}a = 1\n",
            "# mine\r\na = 1\r\n\r\n[features] # more\r\nx = true\r\n[z]\r\n",
            "[features]\nx = 1\n",
            "[a]\nb = \"[features]\"\n",
            "mode = \"open\" # my own\n",
            "[features]\ndaemon = false\n",
        ] {
            assert_eq!(KEYS.find(text).unwrap(), None, "{text}");
            let (with, recorded) = put_in(text, &KEYS.insertion(text).unwrap().pieces);
            assert!(KEYS.find(&with).unwrap().is_some_and(|found| KEYS.is_own(&found)), "{with}");
            assert_eq!(taken_out(&with, &recorded).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_somebody_set_is_theirs() {
        for text in ["mode = \"read-only\"\n", "[features]\ndaemon = true\n"] {
            let found = KEYS.find(text).unwrap();
            assert!(found.is_some_and(|found| !KEYS.is_own(&found)), "{text}");
        }
        assert!(KEYS.insertion("features = { x = 1 }\n").is_err());
        // Lines that moved are found again.
        let text = "x = 1\nmode = \"open\"\n# mine\n[features]\ndaemon = false\ny = 2\n";
        let pieces = ["mode = \"open\"\n", "daemon = false\n"];
        let pieces = pieces.map(|text| Piece { at: 0, text: text.to_owned() });
        assert_eq!(KEYS.removed(text, &pieces), "x = 1\n# mine\n[features]\ny = 2\n");
    }
}
