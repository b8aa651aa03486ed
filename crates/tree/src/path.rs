//! Paths inside a vault: bytes, absolute, without `.` and `..`.

use std::fmt;
use std::sync::Arc;

use offshoot_text::characters::is_invisible;

/// A path inside a vault. `/` is the top directory. Copies share their names: lists of changes are copied whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VaultPath {
    names: Arc<[Vec<u8>]>,
}

/// The text is not a path inside a vault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} is not a path inside a vault: {why}")]
pub struct PathError {
    path: String,
    why: &'static str,
}

impl PathError {
    /// The same about what somebody typed, from which the path was made.
    #[must_use]
    pub fn of_typed(self, text: &[u8]) -> Self {
        Self { path: display_bytes(text), ..self }
    }
}

impl VaultPath {
    /// The top directory.
    pub fn top() -> Self {
        Self::default()
    }

    /// Reads a path as a person writes it: a leading `/` may be left out, `.` and empty parts are dropped, and
    /// `..` goes up but not past the top.
    pub fn parse(text: &[u8]) -> Result<Self, PathError> {
        let error = |why| PathError { path: display_bytes(text), why };
        let mut names: Vec<Vec<u8>> = Vec::new();
        for part in text.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => drop(names.pop().ok_or(error("it leads out of the vault"))?),
                name if is_name(name) => names.push(name.to_vec()),
                name if name.len() > 255 => return Err(error("a name is longer than 255 bytes")),
                _ => return Err(error("a name holds a NUL byte")),
            }
        }
        Ok(Self { names: names.into() })
    }

    /// The names from the top down.
    pub fn names(&self) -> &[Vec<u8>] {
        &self.names
    }

    /// Whether it is the top directory.
    pub fn is_top(&self) -> bool {
        self.names.is_empty()
    }

    /// The last name; `None` for the top directory.
    pub fn name(&self) -> Option<&[u8]> {
        self.names.last().map(Vec::as_slice)
    }

    /// The directory that it is in; `None` for the top directory.
    pub fn parent(&self) -> Option<Self> {
        let (_, parents) = self.names.split_last()?;
        Some(Self { names: parents.into() })
    }

    /// The path of a name in this directory.
    #[must_use]
    pub fn join(&self, name: &[u8]) -> Self {
        let names = self.names.iter().cloned().chain([name.to_vec()]);
        Self { names: names.collect() }
    }

    /// The path of something below this directory.
    #[must_use]
    pub fn concat(&self, below: &Self) -> Self {
        let names = self.names.iter().chain(below.names.iter());
        Self { names: names.cloned().collect() }
    }

    /// Whether it is `directory` or lies below it.
    pub fn is_within(&self, directory: &Self) -> bool {
        self.names.starts_with(&directory.names)
    }

    /// The bytes with a leading `/`.
    pub fn to_bytes(&self) -> Vec<u8> {
        if self.is_top() {
            return b"/".to_vec();
        }
        let mut bytes = Vec::with_capacity(self.names.iter().map(|name| name.len() + 1).sum());
        for name in self.names.iter() {
            bytes.push(b'/');
            bytes.extend_from_slice(name);
        }
        bytes
    }

    /// The bytes without the leading `/`; empty for the top directory.
    pub fn relative(&self) -> Vec<u8> {
        self.names.join(&b'/')
    }
}

impl fmt::Display for VaultPath {
    /// As a person reads it: quoted like git does where it holds control characters or is not UTF-8.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&display_bytes(&self.to_bytes()))
    }
}

/// Bytes as a person reads them: as they are where they are plain text, else quoted with escapes.
pub fn display_bytes(bytes: &[u8]) -> String {
    let plain = std::str::from_utf8(bytes).ok().filter(|text| !text.chars().any(needs_escape));
    match plain {
        Some(text) => text.to_owned(),
        None => quote(bytes),
    }
}

fn needs_escape(c: char) -> bool {
    // A name with a character that nobody sees looks like another name.
    c.is_control() || matches!(c, '"' | '\\' | '\u{2028}' | '\u{2029}') || is_invisible(c)
}

fn quote(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                c if needs_escape(c) => push_octal(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => out.push(c),
            }
        }
        push_octal(&mut out, chunk.invalid());
    }
    out.push('"');
    out
}

fn push_octal(out: &mut String, bytes: &[u8]) {
    out.extend(bytes.iter().map(|byte| format!("\\{byte:03o}")));
}

/// Whether bytes can be the name of an entry.
pub(crate) fn is_name(name: &[u8]) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && name != b"."
        && name != b".."
        && !name.iter().any(|&byte| byte == b'/' || byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &[u8]) -> String {
        VaultPath::parse(text).unwrap().to_string()
    }

    #[test]
    fn paths_are_read_as_people_write_them() {
        assert_eq!(parsed(b""), "/");
        assert_eq!(parsed(b"/"), "/");
        assert_eq!(parsed(b"a/b"), "/a/b");
        assert_eq!(parsed(b"//a/./b//../c/"), "/a/c");
        assert_eq!(parsed(b"-rf"), "/-rf");
    }

    #[test]
    fn paths_cannot_leave_the_vault() {
        for bad in [&b".."[..], b"/a/../..", b"a\0b", &[b'a'; 256]] {
            assert!(VaultPath::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn odd_names_are_shown_quoted() {
        assert_eq!(parsed(b"a b"), "/a b");
        assert_eq!(parsed("ä".as_bytes()), "/ä");
        assert_eq!(parsed(b"a\nb"), "\"/a\\nb\"");
        assert_eq!(parsed(b"a\xffb"), "\"/a\\377b\"");
        assert_eq!(parsed("a\u{202e}b".as_bytes()), "\"/a\\342\\200\\256b\"");
        assert_eq!(parsed(".env\u{200b}rc".as_bytes()), "\"/.env\\342\\200\\213rc\"");
    }

    #[test]
    fn no_name_has_a_character_that_nobody_sees() {
        let ranges = ['\u{200b}'..='\u{200f}', '\u{2028}'..='\u{202e}', '\u{2060}'..='\u{2069}'];
        let others = ['\u{ad}', '\u{feff}', '\u{fe0f}', '\u{e0041}', '\u{e0101}', '\u{3164}'];
        for c in ranges.into_iter().flatten().chain(others) {
            let shown = parsed(format!("/a{c}b").as_bytes());
            assert!(shown.starts_with('"') && !shown.contains(c), "{c:?} {shown:?}");
        }
    }
}
