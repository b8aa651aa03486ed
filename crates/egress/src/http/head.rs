//! Heads of HTTP/1 messages, read so strictly that nobody behind can read them differently.

use crate::host::{Host, parse_authority};

/// How many headers a message may have.
pub(super) const HEADERS: usize = 128;

/// How long the body of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// There is none.
    Empty,
    Length(u64),
    Chunked,
    /// All that comes until the connection ends; answers only.
    UntilClose,
}

/// Where a request is meant to go, by its first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `http://host:port/path`
    Absolute { host: Host, port: u16 },
    /// `/path` or `*`
    Origin,
    /// `host:port`, of CONNECT
    Authority { host: Host, port: u16 },
}

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) form: Form,
    /// Path and query.
    pub(crate) path: String,
    /// Those that are passed on.
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    /// What the `Host` header says.
    pub(crate) host: Option<(Host, Option<u16>)>,
    pub(crate) framing: Framing,
    /// Whether the client wants no further request on this connection.
    pub(crate) last: bool,
    /// Whether the client speaks HTTP/1.0, which knows no chunks.
    pub(crate) old: bool,
    /// Whether the client wants to go on with another protocol, the only one that is passed on.
    pub(crate) websocket: bool,
}

/// The head of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) reason: String,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    /// What `Content-Length` says.
    pub(crate) length: Option<u64>,
    pub(crate) chunked: bool,
    /// Whether the server ends the connection after it.
    pub(crate) last: bool,
}

/// Headers that concern one connection alone, and those that the proxy writes itself.
const OWN: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Where a head ends: behind its empty line. An error if a line ends in another way than by CR and LF.
pub(crate) fn end_of_head(bytes: &[u8], searched: usize) -> Result<Option<usize>, &'static str> {
    let from = searched.saturating_sub(3);
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b'\n' if at == 0 || bytes[at - 1] != b'\r' => {
                return Err("a line ends without a carriage return");
            }
            b'\n' if at >= 3 && bytes[at - 3..=at] == *b"\r\n\r\n" => return Ok(Some(at + 1)),
            b'\n' if at == 1 => return Err("it starts with an empty line"),
            b'\r' if bytes.get(at + 1).is_some_and(|next| *next != b'\n') => {
                return Err("a carriage return stands within a line");
            }
            0 => return Err("a zero byte stands in the head"),
            _ => {}
        }
    }
    Ok(None)
}

/// Reads the head of a request, with its empty line.
pub(crate) fn parse_request(bytes: &[u8]) -> Result<Request, &'static str> {
    check_lines(bytes)?;
    let mut space = [httparse::EMPTY_HEADER; HEADERS];
    let mut parsed = httparse::Request::new(&mut space);
    match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
        Ok(_) => return Err("the head does not end where it should"),
        Err(httparse::Error::TooManyHeaders) => return Err(TOO_MANY),
        Err(_) => return Err("this is not HTTP/1"),
    }
    let (Some(method), Some(target), Some(minor)) = (parsed.method, parsed.path, parsed.version)
    else {
        return Err("the first line is not whole");
    };
    let fields = Fields::read(parsed.headers)?;
    let host = match fields.host {
        Some(text) => Some(parse_authority(text).map_err(|_| "the Host header names no host")?),
        None if minor == 1 => return Err("the Host header is missing"),
        None => None,
    };
    let framing = match (fields.length, fields.encoding) {
        (Some(_), Some(_)) => return Err("it has both a length and chunks"),
        (Some(length), None) => Framing::Length(length),
        (None, Some(_)) if minor == 0 => return Err("HTTP/1.0 knows no chunks"),
        (None, Some(coding)) if coding.eq_ignore_ascii_case("chunked") => Framing::Chunked,
        (None, Some(_)) => return Err("its transfer encoding is not chunked"),
        (None, None) => Framing::Empty,
    };
    let (form, path) = parse_target(method, target)?;
    let websocket = fields.upgrade.is_some_and(|upgrade| upgrade.eq_ignore_ascii_case("websocket"))
        && fields.named.iter().any(|name| name == "upgrade");
    Ok(Request {
        method: method.to_owned(),
        form,
        path,
        last: minor == 0 || fields.named.iter().any(|name| name == "close"),
        headers: fields.passed_on(),
        host,
        framing,
        old: minor == 0,
        websocket,
    })
}

/// What is said of a message with too many headers.
pub(super) const TOO_MANY: &str = "it has too many headers";

/// Reads the head of an answer, with its empty line.
pub(crate) fn parse_response(bytes: &[u8]) -> Result<Response, &'static str> {
    let mut space = [httparse::EMPTY_HEADER; HEADERS];
    let mut parsed = httparse::Response::new(&mut space);
    match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
        Ok(_) => return Err("the head of the answer does not end where it should"),
        Err(httparse::Error::TooManyHeaders) => return Err("the answer has too many headers"),
        Err(_) => return Err("the answer is not HTTP/1"),
    }
    let (Some(status), Some(minor)) = (parsed.code, parsed.version) else {
        return Err("the first line of the answer is not whole");
    };
    if !(100..600).contains(&status) {
        return Err("the answer has a status that there is not");
    }
    let reason = parsed.reason.unwrap_or_default().to_owned();
    let fields = Fields::read(parsed.headers)?;
    let chunked = match fields.encoding {
        None => false,
        Some(coding) if coding.eq_ignore_ascii_case("chunked") && minor == 1 => true,
        Some(_) => return Err("the answer has a transfer encoding that is not chunked"),
    };
    if chunked && fields.length.is_some() {
        return Err("the answer has both a length and chunks");
    }
    Ok(Response {
        status,
        reason,
        length: fields.length,
        chunked,
        last: minor == 0 || fields.named.iter().any(|name| name == "close"),
        headers: fields.passed_on(),
    })
}

/// Looks at the lines themselves: no folded ones, and nothing between a name and its colon.
fn check_lines(bytes: &[u8]) -> Result<(), &'static str> {
    if end_of_head(bytes, 0)? != Some(bytes.len()) {
        return Err("the head does not end where it should");
    }
    let lines =
        bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    for line in lines.skip(1) {
        if line.first().is_some_and(|byte| *byte == b' ' || *byte == b'\t') {
            return Err("a header goes on in a second line");
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            if line.is_empty() {
                continue;
            }
            return Err("a header has no colon");
        };
        let (name, value) = line.split_at(colon);
        if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
            return Err("a header has a name with spaces or other characters that no name has");
        }
        if value.iter().any(|byte| *byte < 0x20 && *byte != b'\t' || *byte == 0x7f) {
            return Err("a header has control characters");
        }
    }
    Ok(())
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Headers, with those that matter to the proxy.
struct Fields<'a> {
    all: Vec<(&'a str, &'a [u8])>,
    host: Option<&'a str>,
    length: Option<u64>,
    encoding: Option<&'a str>,
    upgrade: Option<&'a str>,
    /// What the `Connection` headers list, in lower case.
    named: Vec<String>,
}

impl<'a> Fields<'a> {
    fn read(headers: &[httparse::Header<'a>]) -> Result<Self, &'static str> {
        let mut fields = Fields {
            all: Vec::with_capacity(headers.len()),
            host: None,
            length: None,
            encoding: None,
            upgrade: None,
            named: Vec::new(),
        };
        let once = |slot: &mut Option<&'a str>, value, problem| match slot.replace(value) {
            None => Ok(()),
            Some(_) => Err(problem),
        };
        for header in headers {
            fields.all.push((header.name, header.value));
            let text = || {
                let text =
                    std::str::from_utf8(header.value).map_err(|_| "a header is not readable");
                text.map(|text| text.trim_matches([' ', '\t']))
            };
            match header.name.to_ascii_lowercase().as_str() {
                "host" => once(&mut fields.host, text()?, "it has two Host headers")?,
                "transfer-encoding" => {
                    once(&mut fields.encoding, text()?, "it has two transfer encodings")?;
                }
                "upgrade" => once(&mut fields.upgrade, text()?, "it has two Upgrade headers")?,
                "connection" => {
                    let names = text()?.split(',').map(|name| name.trim().to_ascii_lowercase());
                    fields.named.extend(names);
                }
                "content-length" => {
                    let text = text()?;
                    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                    let length = if digits { text.parse().ok() } else { None };
                    let length = length.ok_or("its length is not a number")?;
                    if fields.length.replace(length).is_some() {
                        return Err("it has two lengths");
                    }
                }
                _ => {}
            }
        }
        Ok(fields)
    }

    fn passed_on(&self) -> Vec<(String, Vec<u8>)> {
        let kept = |(name, _): &&(&str, &[u8])| {
            let name = name.to_ascii_lowercase();
            !OWN.contains(&name.as_str()) && !self.named.contains(&name)
        };
        let owned = |(name, value): &(&str, &[u8])| ((*name).to_owned(), value.to_vec());
        self.all.iter().filter(kept).map(owned).collect()
    }
}

fn parse_target(method: &str, target: &str) -> Result<(Form, String), &'static str> {
    if target.contains('#') || !target.is_ascii() {
        return Err("the target has characters that no target has");
    }
    if method == "CONNECT" {
        let (host, port) = parse_authority(target).map_err(|_| "CONNECT names no host")?;
        let port = port.ok_or("CONNECT names no port")?;
        return Ok((Form::Authority { host, port }, String::new()));
    }
    if target.starts_with('/') || target == "*" && method == "OPTIONS" {
        return Ok((Form::Origin, target.to_owned()));
    }
    let Some((scheme, rest)) = target.split_once("://") else {
        return Err("the target is neither a path nor a URL");
    };
    if scheme.eq_ignore_ascii_case("https") {
        return Err("a proxy reaches https URLs by CONNECT");
    }
    if !scheme.eq_ignore_ascii_case("http") {
        return Err("the proxy knows only http URLs");
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err("the URL has a user in it");
    }
    let (host, port) = parse_authority(authority).map_err(|_| "the URL names no host")?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok((Form::Absolute { host, port: port.unwrap_or(80) }, format!("{slash}{path}")))
}

/// Writes a head: its first line, its headers and how long its body is.
pub(super) struct HeadWriter(Vec<u8>);

impl HeadWriter {
    pub(super) fn new(first: &str) -> Self {
        Self([first.as_bytes(), b"\r\n"].concat())
    }

    pub(super) fn header(&mut self, name: &str, value: &[u8]) {
        for part in [name.as_bytes(), b": ", value, b"\r\n"] {
            self.0.extend_from_slice(part);
        }
    }

    pub(super) fn framing(&mut self, framing: Framing) {
        match framing {
            Framing::Empty | Framing::UntilClose => {}
            Framing::Chunked => self.header("Transfer-Encoding", b"chunked"),
            Framing::Length(length) => {
                self.header("Content-Length", length.to_string().as_bytes());
            }
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.0.extend_from_slice(b"\r\n");
        self.0
    }
}

#[cfg(test)]
mod tests;
