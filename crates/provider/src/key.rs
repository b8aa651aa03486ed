//! Credentials: where they come from.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fmt, io, thread};

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::error::{ErrorKind, ProviderError};

/// Longer credentials are none.
const LONGEST: usize = 16 * 1024;

/// So long a command may take.
const COMMAND_TIME: Duration = Duration::from_secs(10);

/// Where a credential comes from. A catalog writes it as `{ env = "NAME" }`, `{ file = "~/PATH" }` or `{ command = ["PROGRAM", "ARGUMENT"] }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// The caller has it. No catalog does.
    #[serde(skip)]
    Value(SecretString),
    /// A variable has it.
    #[serde(rename = "env")]
    Variable(String),
    /// A file has it. `~/` at its start is the home.
    File(PathBuf),
    /// A program prints it: its name and arguments.
    Command(Vec<String>),
}

impl KeySource {
    /// Whether there is something where it says, as far as can be told without running a program. What is there is not read.
    pub fn is_set(&self, lookup: impl Fn(&str) -> Option<OsString>) -> Option<bool> {
        match self {
            Self::Value(_) => Some(true),
            Self::Variable(name) => Some(lookup(name).is_some_and(|value| !value.is_empty())),
            Self::File(path) => Some(in_home(path, lookup).is_ok_and(|path| path.is_file())),
            Self::Command(_) => None,
        }
    }

    /// What is wrong with how it is written, before anything is looked at.
    pub(crate) fn mistake(&self) -> Option<&'static str> {
        match self {
            Self::Variable(name) if name.is_empty() || name.contains('=') => {
                Some("`env` is the name of a variable")
            }
            Self::File(path) if !path.is_absolute() && !path.starts_with("~") => {
                Some("`file` is an absolute path, or one that starts with ~/")
            }
            Self::Command(words) if words.first().is_none_or(String::is_empty) => {
                Some("`command` is a program and its arguments, each a text of its own")
            }
            _ => None,
        }
    }
}

/// A path whose `~` is the home.
fn in_home(path: &Path, lookup: impl Fn(&str) -> Option<OsString>) -> io::Result<PathBuf> {
    match path.strip_prefix("~") {
        Ok(rest) => {
            let home = lookup("HOME").filter(|home| !home.is_empty());
            let home = home.ok_or_else(|| io::Error::other("HOME is not set"))?;
            Ok(Path::new(&home).join(rest))
        }
        Err(_) => Ok(path.to_owned()),
    }
}

/// A credential for a provider. Nothing shows it: neither `Debug` nor errors nor records.
///
/// ```
/// use offshoot_provider::{ApiKey, KeySource};
///
/// let lookup = |name: &str| (name == "MY_KEY").then(|| "secret".into());
/// let key = ApiKey::from_source(&KeySource::Variable("MY_KEY".into()), lookup)?;
/// assert_eq!(format!("{key:?}"), "ApiKey(hidden)");
/// # Ok::<(), offshoot_provider::ProviderError>(())
/// ```
#[derive(Clone)]
pub struct ApiKey(SecretString);

impl ApiKey {
    /// A credential that the caller has.
    pub fn new(value: SecretString) -> Result<Self, ProviderError> {
        let text = value.expose_secret().trim();
        if text.is_empty() {
            return Err(unusable("it is empty".to_owned()));
        }
        // What no header has would be an error in every request.
        if text.len() > LONGEST || !text.bytes().all(|byte| (0x21..0x7f).contains(&byte)) {
            return Err(unusable("it has characters that no key has, or is too long".to_owned()));
        }
        Ok(Self(SecretString::from(text)))
    }

    /// Reads a credential. `lookup` knows the variables. A command may take ten seconds, and blocks meanwhile.
    pub fn from_source(
        source: &KeySource,
        lookup: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ProviderError> {
        match source {
            KeySource::Value(value) => Self::new(value.clone()),
            KeySource::Variable(name) => {
                let value = lookup(name)
                    .ok_or_else(|| unusable(format!("the variable {name} is not set")))?;
                let value = value
                    .into_string()
                    .map_err(|_| unusable(format!("the variable {name} is no text")))?;
                Self::named(value, || format!("the variable {name}"))
            }
            KeySource::File(path) => {
                let place = || format!("the file {}", path.display());
                let value = in_home(path, lookup).and_then(|path| read_file(&path));
                let value = value.map_err(|error| unusable(format!("{}: {error}", place())))?;
                Self::named(value, place)
            }
            KeySource::Command(words) => {
                let place = || format!("the command {}", words.first().map_or("", String::as_str));
                let value =
                    run(words).map_err(|error| unusable(format!("{}: {error}", place())))?;
                Self::named(value, place)
            }
        }
    }

    fn named(value: String, place: impl Fn() -> String) -> Result<Self, ProviderError> {
        Self::new(SecretString::from(value)).map_err(|error| {
            unusable(format!("{} does not have it: {}", place(), error.details().message))
        })
    }

    /// The credential itself: for the header of a request, and to be taken out of texts.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(hidden)")
    }
}

fn unusable(what: String) -> ProviderError {
    ProviderError::new(ErrorKind::Auth, format!("the key cannot be used: {what}"))
}

fn read_file(path: &Path) -> io::Result<String> {
    use std::io::Read;
    let file = std::fs::File::open(path)?;
    // A pipe would have us wait.
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("is no ordinary file"));
    }
    let mut text = String::new();
    file.take(LONGEST as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

/// What a program prints.
fn run(words: &[String]) -> io::Result<String> {
    use std::io::Read;
    let (program, arguments) =
        words.split_first().ok_or_else(|| io::Error::other("names no program"))?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let output = child.stdout.take().ok_or_else(|| io::Error::other("has no output"))?;
    let reader = thread::spawn(move || {
        let mut text = String::new();
        output.take(LONGEST as u64 + 1).read_to_string(&mut text).map(|_| text)
    });
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if started.elapsed() > COMMAND_TIME {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::other("took too long, and was killed"));
        }
        thread::sleep(Duration::from_millis(5));
    };
    if !status.success() {
        return Err(io::Error::other(format!("failed with {status}")));
    }
    while !reader.is_finished() {
        // Something that the program left behind holds its output open.
        if started.elapsed() > COMMAND_TIME {
            return Err(io::Error::other("does not close its output"));
        }
        thread::sleep(Duration::from_millis(5));
    }
    reader.join().map_err(|_| io::Error::other("its output cannot be read"))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: KeySource) -> Result<String, ProviderError> {
        let lookup = |name: &str| (name == "KEY").then(|| OsString::from(" sk-123\n"));
        ApiKey::from_source(&source, lookup).map(|key| key.expose().to_owned())
    }

    fn command(words: &[&str]) -> KeySource {
        KeySource::Command(words.iter().map(|&word| word.to_owned()).collect())
    }

    #[test]
    fn keys_come_from_everywhere() {
        assert_eq!(read(KeySource::Value(SecretString::from("sk-123"))).unwrap(), "sk-123");
        assert_eq!(read(KeySource::Variable("KEY".to_owned())).unwrap(), "sk-123");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "sk-file\n").unwrap();
        assert_eq!(read(KeySource::File(file.path().to_owned())).unwrap(), "sk-file");
        assert_eq!(read(command(&["echo", "sk-printed"])).unwrap(), "sk-printed");
    }

    #[test]
    fn what_is_no_key_is_told_without_showing_it() {
        let wrong = [
            KeySource::Value(SecretString::from("")),
            KeySource::Value(SecretString::from("two words")),
            KeySource::Value(SecretString::from("line\nbreak")),
            KeySource::Variable("OTHER".to_owned()),
            KeySource::File(PathBuf::from("/nowhere/key")),
            KeySource::File(PathBuf::from("/dev/null")),
            command(&[]),
            command(&["false"]),
            command(&["sh", "-c", "echo 'two words'"]),
        ];
        for source in wrong {
            let error = read(source).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Auth);
            assert!(!format!("{error} {error:?}").contains("two"), "{error}");
        }
    }

    #[test]
    fn nothing_shows_a_key() {
        let source = KeySource::Value(SecretString::from("sk-123"));
        let key = ApiKey::from_source(&source, |_| None).unwrap();
        assert!(!format!("{source:?} {key:?}").contains("sk-123"));
    }
}
