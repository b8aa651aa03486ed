//! Which paths of HTTP a rule allows.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Patterns of paths; none of them allow every path.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathGlobs {
    texts: Vec<String>,
    set: GlobSet,
}

impl PathGlobs {
    pub(super) fn new(texts: &[String]) -> Result<Self, String> {
        let mut builder = GlobSetBuilder::new();
        for text in texts {
            let wrong = |problem: &str| format!("the path \"{}\" {problem}", text.escape_debug());
            if !text.starts_with('/') {
                return Err(wrong("does not start with a slash"));
            }
            let glob =
                GlobBuilder::new(text).literal_separator(true).backslash_escape(false).build();
            builder.add(glob.map_err(|error| wrong(&format!("is no pattern: {}", error.kind())))?);
        }
        let set = builder.build().map_err(|error| error.kind().to_string())?;
        Ok(Self { texts: texts.to_vec(), set })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether a path fits one of the patterns. A path that a server may read differently than it stands there fits none.
    pub(super) fn fit(&self, path: &str) -> bool {
        self.is_empty() || plain(path).is_some_and(|path| self.set.is_match(path))
    }
}

impl PartialEq for PathGlobs {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}

impl Eq for PathGlobs {}

/// The path as every server reads it, or nothing if servers differ: dot segments, empty segments, encoded slashes,
/// backslashes, and whatever is encoded twice.
fn plain(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let value = digit(rest.next())? * 16 + digit(rest.next())?;
        let decoded = u8::try_from(value).ok()?;
        if matches!(decoded, b'/' | b'\\' | b'%') {
            return None;
        }
        bytes.push(decoded);
    }
    let decoded = String::from_utf8(bytes).ok()?;
    let segments = decoded.strip_prefix('/')?.split('/');
    let count = segments.clone().count();
    let odd = |(index, segment): (usize, &str)| {
        // Some servers cut a segment at a semicolon before they look whether it is a dot segment.
        let name = segment.split(';').next().unwrap_or_default();
        let empty = segment.is_empty() && index + 1 < count;
        empty
            || name == "."
            || name == ".."
            || segment.contains(|c: char| c.is_control() || c == '\\')
    };
    let any_odd = segments.enumerate().any(odd);
    (!any_odd).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(patterns: &[&str], path: &str) -> bool {
        let texts: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
        PathGlobs::new(&texts).unwrap().fit(path)
    }

    #[test]
    fn patterns_stand_for_parts_and_rests() {
        assert!(fit(&[], "/anything/../at/all"));
        assert!(fit(&["/a"], "/a"));
        assert!(fit(&["/a/*"], "/a/b"));
        assert!(!fit(&["/a/*"], "/a/b/c"));
        assert!(fit(&["/a/**"], "/a/b/c"));
        assert!(fit(&["/b", "/a/**"], "/a/b/"));
        assert!(fit(&["/a b"], "/a%20b"));
        assert!(!fit(&["/a"], "/b"));
        assert!(!fit(&["/a"], "/A"));
    }

    #[test]
    fn no_path_fits_that_servers_read_differently() {
        for path in [
            "/a/../b",
            "/a/..",
            "/a/./b",
            "/a/%2e%2e/b",
            "/a/.%2E/b",
            "/a%2fb",
            "/a/%5c..%5cb",
            "/a/..;x/b",
            "/a//b",
            "/a/b\\c",
            "/a/%252e%252e/b",
            "/a/%zz",
            "/a/%",
            "/a/%e",
            "/a/%00",
            "/a/%0d",
            "a/b",
            "",
            "*",
            "/a/%ff",
        ] {
            assert!(!fit(&["/a/**", "/**", "/*"], path), "{path}");
        }
    }

    #[test]
    fn patterns_that_mean_nothing_are_refused() {
        for text in ["a", "", "/[", "*"] {
            assert!(PathGlobs::new(&[text.to_owned()]).is_err(), "{text}");
        }
    }
}
