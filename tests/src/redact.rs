//! Takes out of an output what differs from run to run, and nothing else.

use std::path::Path;

use serde_json::Value;

use crate::product::Place;

/// Replaces ids, hashes, times and places by names; the same id gets the same name every time.
#[derive(Debug)]
pub struct Redactor {
    /// Paths and what stands for them, longest first.
    places: Vec<(String, String)>,
    /// The short forms of the ids seen, in the order of their first appearance.
    ids: Vec<String>,
    numbered: bool,
}

/// How many characters of an id its short form has.
const SHORT: usize = 12;

impl Redactor {
    /// For what is printed in a place.
    pub fn new(place: &Place) -> Self {
        let mut redactor = Self { places: Vec::new(), ids: Vec::new(), numbered: true };
        redactor.hide(plain(place.path()), "[place]");
        redactor.hide(plain(&place.home()), "[home]");
        redactor
    }

    /// For documents, where all ids look the same and the place is a user's home.
    pub fn of_document(place: &Place) -> Self {
        let mut redactor = Self { places: Vec::new(), ids: Vec::new(), numbered: false };
        redactor.hide(plain(place.path()), "~");
        redactor
    }

    /// Replaces some text wherever it stands.
    pub fn hide(&mut self, text: &str, name: &str) {
        self.places.push((text.to_owned(), name.to_owned()));
        self.places.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    }

    /// Text for people.
    pub fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (place, name) in &self.places {
            text = text.replace(place, name);
        }
        let text = without_times(&text);
        let text = without_catalog_size(&text);
        let text = without_unread(&text);
        let text = without_durations(&text);
        let text = without_sizes(&text);
        let text = without_date(&text);
        self.without_ids(&without_widths(&text))
    }

    /// A document for programs.
    pub fn json(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.json(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| match name.as_str() {
                    "total_bytes" if fields.contains_key("max_bytes") => {
                        (name.clone(), "[total_bytes]".into())
                    }
                    "bytes"
                        if ["count", "file", "used"]
                            .iter()
                            .any(|other| fields.contains_key(*other)) =>
                    {
                        (name.clone(), "[bytes]".into())
                    }
                    // Part of the machine's, and the kernel's version of it.
                    "memory" if fields.contains_key("tmpfs") => (name.clone(), "[memory]".into()),
                    "signature" => (name.clone(), "[signature]".into()),
                    "landlock_abi" => (name.clone(), "[landlock_abi]".into()),
                    // Ordinary users keep the groups that they have.
                    "restrictions" => {
                        let items = value.as_array().into_iter().flatten();
                        (
                            name.clone(),
                            items
                                .filter(|item| *item != "no_groups" && *item != "own_ids")
                                .cloned()
                                .collect(),
                        )
                    }
                    "freed_bytes" | "bytes_before" | "bytes_after" | "taken_bytes"
                    | "packs_bytes" | "longest_pause_us" => {
                        (name.clone(), format!("[{name}]").into())
                    }
                    "uid" | "gid" | "catalog_bytes" | "unchanged" | "duration_ms" | "total_ms"
                    | "elapsed_ms" | "user_ms" | "system_ms" | "max_resident_bytes"
                    | "written_bytes" | "pid" | "init_pid" | "running_ms" => {
                        (name.clone(), format!("[{name}]").into())
                    }
                    _ => (name.clone(), self.json(value)),
                });
                Value::Object(fields.collect())
            }
            other => other.clone(),
        }
    }

    fn without_ids(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
            let (before, from) = rest.split_at(start);
            let end = from.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(from.len());
            let (word, after) = from.split_at(end);
            out.push_str(before);
            out.push_str(&self.word(word));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn word(&mut self, word: &str) -> String {
        if word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return "[hash]".to_owned();
        }
        if !is_id(word) {
            return word.to_owned();
        }
        let kind = if word.len() == SHORT { "short" } else { "id" };
        if !self.numbered {
            return format!("[{kind}]");
        }
        let short = &word[..SHORT];
        let known = self.ids.iter().position(|seen| seen == short);
        let number = known.unwrap_or_else(|| {
            self.ids.push(short.to_owned());
            self.ids.len() - 1
        });
        format!("[{kind} {}]", number + 1)
    }
}

/// Tables without what fills their columns up, which depends on what was taken out of them. They start with a line of capitals.
fn without_widths(text: &str) -> String {
    let is_header = |line: &str| {
        let capitals = line.chars().all(|c| c.is_ascii_uppercase() || c == ' ');
        capitals && line.contains("  ") && !line.starts_with(' ')
    };
    let mut in_table = false;
    let lines = text.split_inclusive('\n').map(|line| {
        in_table = is_header(line.trim_end_matches('\n')) || (in_table && line != "\n");
        if in_table { narrow(line) } else { line.to_owned() }
    });
    lines.collect()
}

/// At most two blanks in a row.
fn narrow(line: &str) -> String {
    let mut out = String::new();
    for c in line.chars() {
        if !(c == ' ' && out.ends_with("  ")) {
            out.push(c);
        }
    }
    out
}

fn plain(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// An id in full or in short. Those of the years 2022 to 2039 start with 01 and a letter after f, so that none is a hash of git.
fn is_id(word: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit() || (c.is_ascii_lowercase() && !"ilou".contains(c));
    let is_of_now =
        word.strip_prefix("01").is_some_and(|rest| rest.starts_with(|c| ('g'..='z').contains(&c)));
    matches!(word.len(), SHORT | 26) && is_of_now && word.chars().all(is_digit)
}

/// Files of the tests are dated 2001; what is younger was made by the run.
fn without_times(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("20") {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let length = time_length(from);
        if length > 0 && &from[..4] > "2001" {
            out.push_str("[time]");
        } else {
            out.push_str(&from[..length.max(2)]);
        }
        rest = &from[length.max(2)..];
    }
    out.push_str(rest);
    out
}

/// The length of the time that a text starts with, such as `2026-01-31 23:59:59` or `2026-01-31T23:59:59.5Z`.
fn time_length(text: &str) -> usize {
    let shape = b"0000-00-00 00:00:00";
    let bytes = text.as_bytes();
    let fits = bytes.len() >= shape.len()
        && bytes.iter().zip(shape).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            b' ' => matches!(byte, b' ' | b'T'),
            mark => byte == mark,
        });
    if !fits {
        return 0;
    }
    let fraction = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'Z');
    shape.len() + bytes[shape.len()..].iter().take_while(|byte| fraction(byte)).count()
}

/// A file that was written a moment ago is read again, because it may have been written twice in that moment.
fn without_unread(text: &str) -> String {
    let Some((before, after)) = text.split_once(" not read again") else { return text.to_owned() };
    let before = before.rsplit_once(", ").map_or(before, |(before, _)| before);
    format!("{before}{after}")
}

/// How long a command took.
fn without_durations(text: &str) -> String {
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let lines = text.split_inclusive('\n').map(|line| {
        let Some((before, _)) = line.split_once(" ms in all") else {
            let ends = line.strip_suffix(" ms\n").and_then(|line| line.rsplit_once(", "));
            return match ends.filter(|(_, number)| is_number(number)) {
                Some((before, _)) => format!("{before}, [time]\n"),
                None => line.to_owned(),
            };
        };
        let mut words: Vec<&str> = before.split(' ').collect();
        words.retain(|word| word.is_empty() || !is_number(word));
        format!("{}[time]\n", words.join(" ").trim_end_matches("ms,"))
    });
    lines.collect()
}

/// The day on which something was collected.
fn without_date(text: &str) -> String {
    let words = "were collected by gc on ";
    let Some((before, after)) = text.split_once(words) else { return text.to_owned() };
    let rest = after.get("0000-00-00".len()..).unwrap_or_default();
    format!("{before}{words}[date]{rest}")
}

/// How much garbage there was and how large files of vaults are: both depend on how things are encoded.
fn without_sizes(text: &str) -> String {
    let speaks_of_it = ["would delete ", ": deleted ", "to packs; ", "imported: ", " written to "];
    let speaks_of_it = speaks_of_it.iter().any(|words| text.contains(words));
    if !text.starts_with("vault ") || !speaks_of_it {
        return text.to_owned();
    }
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        let (unit, rest) = words[at].split_at(
            words[at].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(words[at].len()),
        );
        let number = words[at - 1].trim_start_matches('(');
        let is_number =
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if matches!(unit, "B" | "KiB" | "MiB" | "ms") && is_number {
            let open = if words[at - 1].starts_with('(') { "(" } else { "" };
            words[at] = format!("{open}[size]{rest}");
            words[at - 1].clear();
        }
    }
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

/// How large the catalog and caches are depends on pages and numbers of inodes, which differ a little from run to run.
fn without_catalog_size(text: &str) -> String {
    let mut text = text.to_owned();
    for what in [" catalog, ", " for caches"] {
        let Some((before, after)) = text.split_once(what) else { continue };
        let mut words: Vec<&str> = before.split(' ').collect();
        words.truncate(words.len().saturating_sub(2));
        text = format!("{} [size]{what}{after}", words.join(" "));
    }
    text
}
