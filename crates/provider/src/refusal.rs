//! What errors of servers mean: by their codes, their words and the status of HTTP, in this order.

use serde_json::Value;

use crate::error::{ErrorKind, ProviderError, shown};

/// What a server says about an error.
pub(crate) struct Refusal<'a> {
    pub(crate) status: Option<u16>,
    /// Codes and types that it names.
    pub(crate) codes: &'a [Option<&'a str>],
    pub(crate) message: Option<&'a str>,
    /// What the codes of its interface mean.
    pub(crate) kinds: &'a [(&'a str, ErrorKind)],
}

/// Words that tell more than a code does. Servers have one code for all that is wrong with a request.
const WORDS: &[(&str, ErrorKind)] = &[
    ("prompt is too long", ErrorKind::ContextTooLong),
    ("context limit", ErrorKind::ContextTooLong),
    ("context length", ErrorKind::ContextTooLong),
    ("context window", ErrorKind::ContextTooLong),
    ("context size", ErrorKind::ContextTooLong),
    ("maximum number of tokens allowed", ErrorKind::ContextTooLong),
    ("credit balance is too low", ErrorKind::Budget),
    ("api key not valid", ErrorKind::Auth),
    ("content filtering policy", ErrorKind::Refused),
];

impl Refusal<'_> {
    /// The error, with the body as its words if there are none.
    pub(crate) fn error(&self, body: &Value) -> ProviderError {
        let said = self.message.map_or_else(|| body.to_string(), str::to_owned);
        let lower = said.to_lowercase();
        let code = self
            .codes
            .iter()
            .flatten()
            .find_map(|code| self.kinds.iter().find(|(known, _)| known == code))
            .map(|(_, kind)| *kind);
        let worded = WORDS.iter().find(|(words, _)| lower.contains(words)).map(|(_, kind)| *kind);
        let kind = match (code, worded) {
            // A code that leaves all open, or none.
            (None | Some(ErrorKind::BadRequest), Some(worded)) => worded,
            (Some(ErrorKind::RateLimited), Some(ErrorKind::Budget)) => ErrorKind::Budget,
            (Some(code), _) => code,
            (None, None) => self.status.map_or(ErrorKind::Overloaded, by_status),
        };
        let error = ProviderError::new(kind, shown(&said));
        let error = match self.status {
            Some(status) => error.with_status(status),
            None => error,
        };
        match hint(kind) {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

/// What a status of HTTP means.
pub(crate) fn by_status(status: u16) -> ErrorKind {
    match status {
        401 | 403 => ErrorKind::Auth,
        402 => ErrorKind::Budget,
        404 => ErrorKind::NotFound,
        413 => ErrorKind::ContextTooLong,
        408 | 425 | 500..=599 => ErrorKind::Overloaded,
        429 => ErrorKind::RateLimited,
        300..=399 => ErrorKind::BadRequest,
        400..=499 => ErrorKind::BadRequest,
        _ => ErrorKind::Protocol,
    }
}

/// What to do about an error.
pub(crate) fn hint(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::Auth => Some("check the key, and what it may be used for"),
        ErrorKind::NotFound => Some("check the name of the model and the base address"),
        ErrorKind::ContextTooLong => {
            Some("shorten the conversation, or use a model that reads more")
        }
        ErrorKind::Budget => Some("check the account's plan and credit"),
        _ => None,
    }
}

/// What a body says that is not JSON.
pub(crate) fn plain(status: u16, body: &[u8]) -> ProviderError {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let is_page = text.get(..1) == Some("<");
    let message = match (is_page, text.is_empty()) {
        (true, _) => match title(text) {
            Some(title) => format!("the server answered with a web page: {}", shown(&title)),
            None => "the server answered with a web page".to_owned(),
        },
        (_, true) => format!("the server answered HTTP {status} and nothing else"),
        _ => shown(text),
    };
    let kind = by_status(status);
    let error = ProviderError::new(kind, message).with_status(status);
    match hint(kind) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

fn title(page: &str) -> Option<String> {
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<title>")? + "<title>".len();
    let end = start + lower.get(start..)?.find("</title>")?;
    page.get(start..end).map(str::to_owned)
}
