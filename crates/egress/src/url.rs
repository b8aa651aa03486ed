//! Addresses of pages, read strictly.

use crate::host::{Host, parse_authority};

/// Longer ones are refused.
const LONGEST: usize = 8 << 10;

/// The address of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) encrypted: bool,
    /// Path and query, from its slash on.
    pub(crate) path: String,
}

impl Url {
    /// Reads `http://HOST[:PORT]/PATH` or the same with https; what follows a `#` is left out.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.len() > LONGEST {
            return Err("it is too long");
        }
        if text.bytes().any(|byte| byte <= b' ' || byte >= 0x7f || byte == b'\\') {
            return Err("spaces, backslashes and letters beyond ASCII have to be encoded in it");
        }
        let (scheme, rest) = text.split_once("://").ok_or("it does not start with https://")?;
        let encrypted = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err("only http and https can be fetched"),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err("user names and passwords do not belong in it");
        }
        let (host, port) = parse_authority(authority).map_err(|_| "it names no host")?;
        let port = port.unwrap_or(if encrypted { 443 } else { 80 });
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self { host, port, encrypted, path: format!("{slash}{path}") })
    }

    /// What a reference means that was found there.
    pub(crate) fn join(&self, reference: &str) -> Result<Self, &'static str> {
        let reference = reference.split('#').next().unwrap_or_default();
        let scheme = if self.encrypted { "https" } else { "http" };
        let origin = format!("{scheme}://{}", self.host.with_port(self.port));
        let path = self.path.split('?').next().unwrap_or_default();
        let has_scheme = reference.split(['/', '?']).next().is_some_and(|it| it.contains(':'));
        let joined = match reference {
            absolute if has_scheme => absolute.to_owned(),
            other if other.starts_with("//") => format!("{scheme}:{other}"),
            path if path.starts_with('/') => format!("{origin}{path}"),
            query if query.starts_with('?') => format!("{origin}{path}{query}"),
            relative => {
                let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
                format!("{origin}{folder}{relative}")
            }
        };
        Self::parse(&joined)
    }

    /// As it is shown.
    pub(crate) fn text(&self) -> String {
        let (scheme, usual) = if self.encrypted { ("https", 443) } else { ("http", 80) };
        let with_port = self.host.with_port(self.port);
        let authority = match self.port == usual {
            true => with_port.strip_suffix(&format!(":{usual}")).unwrap_or(&with_port),
            false => &with_port,
        };
        format!("{scheme}://{authority}{}", self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_pages_are_read_in_one_way() {
        for (text, shown) in [
            ("https://Example.com", "https://example.com/"),
            ("http://example.com:8080/a?b#c", "http://example.com:8080/a?b"),
            ("https://example.com:443/?q", "https://example.com/?q"),
            ("https://[::1]:8443/", "https://[::1]:8443/"),
            ("http://example.com?q", "http://example.com/?q"),
        ] {
            assert_eq!(Url::parse(text).map(|url| url.text()), Ok(shown.to_owned()), "{text}");
        }
        for text in [
            "example.com",
            "file:///etc/passwd",
            "ftp://example.com/",
            "https://user@example.com/",
            "https://evil.com\\@example.com/",
            "https://exa mple.com/",
            "https://example.com/\r\nHost: other",
            "https:///path",
            "http://2130706433/",
            "http://127.1/",
        ] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn references_are_joined_to_where_they_stand() {
        let page = Url::parse("https://example.com/a/b?c").expect("it is one");
        for (reference, joined) in [
            ("/x", "https://example.com/x"),
            ("x?y=http://z", "https://example.com/a/x?y=http://z"),
            ("?x", "https://example.com/a/b?x"),
            ("//other.com/x", "https://other.com/x"),
            ("http://other.com:81/", "http://other.com:81/"),
        ] {
            let found = page.join(reference).map(|url| url.text());
            assert_eq!(found, Ok(joined.to_owned()), "{reference}");
        }
        assert!(page.join("file:///etc/passwd").is_err());
        assert!(page.join("javascript:alert(1)").is_err());
    }
}
