//! What host and worker say to each other: a line of JSON each, some with bytes behind it.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_protocol::{ErrorBody, ExecEnvelopeDoc, Text};
use offshoot_sandbox::Stream;
use offshoot_store::Id;
use offshoot_vault::Actor;
use offshoot_workspace::StoredRequest;
use serde::de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::notice::Topic;

/// The version of all messages. Host and worker have the same or do not talk to each other: a restriction that one of them
/// does not know would not hold.
pub(super) const VERSION: u32 = 6;

/// No request is longer than this. The kernel takes 2 MiB of arguments and variables for one program, and JSON makes up to six
/// bytes of one.
pub(super) const LONGEST_REQUEST: u64 = 32 << 20;

/// What the host says later is one word.
pub(super) const LONGEST_ORDER: u64 = 256;

/// What every version of a request has.
#[derive(Debug, Deserialize)]
pub(super) struct Versioned {
    pub(super) version: u32,
}

/// The first message of the host. Once it is accepted, the bytes follow that the command reads, where there are any.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) version: u32,
    pub(super) engine: Engine,
    pub(super) vault: VaultPlace,
    /// Files of rules that hold for this command alone.
    pub(super) rules: Vec<Text>,
    /// Whether it gets the package caches of the vault.
    pub(super) caches: bool,
    pub(super) input: Input,
    /// What policy decides about it is no part of this: the worker asks.
    pub(super) exec: StoredRequest,
}

/// What the worker's engine is opened with, beside the variables, which are those of the process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Engine {
    pub(super) directory: Option<Text>,
    pub(super) registry: Text,
    pub(super) overrides: Vec<String>,
    pub(super) lenient_settings: bool,
    pub(super) open_files: Option<u64>,
    pub(super) frees_space: bool,
    pub(super) actor: Actor,
}

/// Which vault, and what the host calls it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct VaultPlace {
    pub(super) id: Id,
    pub(super) name: String,
    pub(super) directory: Text,
}

/// What the command reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Input {
    /// Nothing.
    Nothing,
    /// So many bytes, which follow when the request is accepted.
    Bytes(usize),
    /// What comes from the worker's standard input.
    Descriptor,
    /// What is typed at the terminal that is the worker's standard input.
    Terminal,
}

/// What the worker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// It takes the request. This or `Refused` is its first message.
    Accepted { version: u32 },
    /// It does not understand the request.
    Refused { version: u32, reason: String },
    /// People should know this.
    Notice { topic: Topic, text: String },
    /// Its workspace is in use by somebody else; it waits.
    Waiting { holder: String },
    /// The command runs, in the workspace of this name.
    Started {
        workspace: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    },
    /// It printed so many bytes, which are behind this.
    Output { stream: Printed, bytes: usize },
    /// It is over; what it changed is being taken and recorded.
    Sealing,
    /// A person has to decide about it.
    Pending { approval: Id },
    /// Its outcome.
    Finished { envelope: Box<ExecEnvelopeDoc> },
    /// It did not even come to an outcome of its own: settings or the vault cannot be read.
    Failed { error: ErrorBody },
}

/// Where the command printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Printed {
    Stdout,
    Stderr,
}

/// What the host says after its request. The end of what it says is a request to end, too.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// It is the command's turn: those that were asked for before it have the workspace, or do without. So much is left of the time
    /// that it may wait for others.
    Go { wait: Option<Duration> },
    /// The command is asked to end; said once more, it is killed.
    Cancel,
    /// So many bytes of output were read: there is room for as many more.
    Read { stream: Printed, bytes: usize },
}

impl Request {
    /// What a host wants; the reason where that cannot be understood.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let Unique(said) = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let found = Versioned::deserialize(&said).map_err(|error| error.to_string())?;
        if found.version != VERSION {
            return Err(format!("it has version {}", found.version));
        }
        exactly(&said)
    }
}

impl Order {
    /// What a host says after its request; the reason where that cannot be understood.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let Unique(said) = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        exactly(&said)
    }
}

/// What was said, where nothing in it has two values.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(value)) = from.next_element()? {
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut fields = serde_json::Map::new();
        while let Some((name, Unique(value))) = from.next_entry::<String, Unique>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format_args!("field `{name}` is there twice")));
            }
            fields.insert(name, value);
        }
        Ok(fields.into())
    }
}

/// What was said, where every bit of it was understood and nothing is missing.
fn exactly<T: Serialize + DeserializeOwned>(said: &Value) -> Result<T, String> {
    let message = T::deserialize(said).map_err(|error| error.to_string())?;
    // What is said back has all fields that were understood, also those of types that elsewhere take what they do not know.
    let understood = serde_json::to_value(&message).map_err(|error| error.to_string())?;
    difference(said, &understood).map_or(Ok(message), Err)
}

/// Where what was said is not what was understood.
fn difference(said: &Value, understood: &Value) -> Option<String> {
    match (said, understood) {
        (Value::Object(said), Value::Object(understood)) => {
            let missing = || understood.keys().find(|name| !said.contains_key(*name));
            let unknown = said.iter().find_map(|(name, value)| match understood.get(name) {
                Some(known) => difference(value, known),
                None => Some(format!("unknown field `{name}`")),
            });
            unknown.or_else(|| missing().map(|name| format!("missing field `{name}`")))
        }
        (Value::Array(said), Value::Array(understood)) => {
            said.iter().zip(understood).find_map(|(said, known)| difference(said, known))
        }
        (Value::Array(_), Value::Object(_)) => Some("a list in place of an object".to_owned()),
        _ => None,
    }
}

impl From<Stream> for Printed {
    fn from(stream: Stream) -> Self {
        match stream {
            Stream::Stdout => Self::Stdout,
            Stream::Stderr => Self::Stderr,
        }
    }
}

impl From<Printed> for Stream {
    fn from(printed: Printed) -> Self {
        match printed {
            Printed::Stdout => Self::Stdout,
            Printed::Stderr => Self::Stderr,
        }
    }
}

pub(super) fn path_text(path: &Path) -> Text {
    Text::new(path.as_os_str().as_bytes())
}

/// The path of a text; none where its base64 is none.
pub(super) fn path(text: &Text) -> Option<PathBuf> {
    text.to_bytes().map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
}

/// Says something, with the bytes that belong behind it, at once.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.reserve_exact(bytes.len() + 1);
    line.push(b'\n');
    line.extend_from_slice(bytes);
    to.write_all(&line)
}

/// The next line, of at most so many bytes; none where the other side has ended.
pub(super) fn line(from: &mut impl BufRead, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    from.take(most).read_until(b'\n', &mut line)?;
    let is_cut = line.len() as u64 == most;
    let invalid = |reason: String| Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if is_cut => invalid(format!("the line is longer than {most} bytes")),
        Some(_) => invalid("the line has no end".to_owned()),
    }
}

/// What the other side says next, in a line of at most so many bytes; none where it has ended.
pub(super) fn receive<T: DeserializeOwned>(
    from: &mut impl BufRead,
    most: u64,
) -> io::Result<Option<T>> {
    let Some(line) = line(from, most)? else { return Ok(None) };
    Ok(Some(serde_json::from_slice(&line)?))
}

/// The bytes behind a message.
pub(super) fn bytes(from: &mut impl Read, count: usize) -> io::Result<Vec<u8>> {
    let mut found = Vec::new();
    from.take(count as u64).read_to_end(&mut found)?;
    match found.len() == count {
        true => Ok(found),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests;
