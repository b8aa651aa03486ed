//! One value, as somebody wrote it and as it is once checked.

use std::time::Duration;

use serde_json::Value as Json;
use toml::de::DeValue;

use super::{duration, money, size};

/// What a key may be set to.
#[derive(Debug)]
pub(super) enum Kind {
    /// One of these words.
    Choice(fn() -> Vec<&'static str>),
    /// `true` or `false`.
    Boolean,
    /// A whole number between two others, both included.
    Integer { min: u64, max: u64 },
    /// A number of bytes, at most this.
    Size { max: u64 },
    /// A length of time between two others, both included.
    Duration { min_seconds: u64, max_seconds: u64 },
    /// Some of these names, with commas between them; or none.
    Names(fn() -> Vec<&'static str>),
    /// Rules of hosts, with commas between them; or none.
    Hosts,
    /// Names of accounts of this machine, with commas between them; or none.
    Accounts,
    /// Names of presets, with commas between them; or none.
    Presets,
    /// A language model, or nothing.
    Model,
    /// Language models, with commas between them; or none.
    Models,
    /// Names of servers whose tools can be called, with commas between them; or none.
    Servers,
    /// An amount of US dollars, at most so many millionths.
    Money { max: u64 },
    /// A command that a shell runs on this machine.
    Command,
}

/// A value as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Written {
    /// Text without a type, from the environment or a flag.
    Text(String),
    /// A string of a file.
    String(String),
    /// A number of a file, also one that no setting could hold.
    Integer(i128),
    /// A truth of a file.
    Boolean(bool),
    /// What no key takes: the name of its type.
    Other(&'static str),
}

impl Kind {
    /// The value in its one checked form, or nothing if it is not allowed. Sizes become a number of bytes, durations
    /// become text in one spelling.
    pub(super) fn check(&self, written: &Written) -> Option<Json> {
        match self {
            Self::Choice(words) => choice(&words(), written),
            Self::Boolean => written.boolean().map(Json::from),
            Self::Names(all) => {
                let text = written.text()?;
                let all = all();
                names(text).all(|name| all.contains(&name)).then(|| text.into())
            }
            Self::Hosts => {
                let text = written.text()?;
                offshoot_workspace::check_hosts(text).is_ok().then(|| text.into())
            }
            Self::Accounts => {
                let text = written.text()?;
                let plain = |c: char| c.is_alphanumeric() || "._-@".contains(c);
                names(text).all(|name| name.chars().all(plain)).then(|| text.into())
            }
            Self::Presets => {
                let text = written.text()?;
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                names(text).all(|name| name.chars().all(plain)).then(|| text.into())
            }
            Self::Servers => {
                let text = written.text()?;
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                names(text).all(|name| name.chars().all(plain)).then(|| text.into())
            }
            // Which models there are is known where they are asked.
            Self::Model => written.text().filter(|text| is_model(text)).map(Json::from),
            Self::Models => {
                let text = written.text()?;
                names(text).all(is_model).then(|| text.into())
            }
            Self::Money { max } => {
                let amount = match written {
                    Written::Integer(_) => written.integer()?.checked_mul(1_000_000)?,
                    _ => money::parse(written.text()?)?,
                };
                (amount <= *max).then(|| amount.into())
            }
            Self::Command => written.text().filter(|text| !text.contains('\0')).map(Json::from),
            Self::Integer { min, max } => {
                let number = written.integer()?;
                (*min..=*max).contains(&number).then(|| number.into())
            }
            Self::Size { max } => {
                let bytes = match written {
                    Written::Integer(_) => written.integer()?,
                    _ => size::parse(written.text()?)?,
                };
                (bytes <= *max).then(|| bytes.into())
            }
            Self::Duration { min_seconds, max_seconds } => {
                let length = duration::parse(written.text()?)?;
                let allowed = Duration::from_secs(*min_seconds)..=Duration::from_secs(*max_seconds);
                allowed.contains(&length).then(|| duration::format(length).into())
            }
        }
    }

    /// What is allowed, to complete "expected ...".
    pub(super) fn allowed(&self) -> String {
        match self {
            Self::Choice(words) => one_of(&words()),
            Self::Boolean => "true or false".to_owned(),
            Self::Names(all) => format!("names with commas between them, of: {}", all().join(", ")),
            Self::Hosts => {
                "hosts with commas between them, such as \"registries,example.com,*.example.org:8443\""
                    .to_owned()
            }
            Self::Accounts => "names of accounts with commas between them".to_owned(),
            Self::Presets => "names of presets with commas between them, such as \"claude,codex\"".to_owned(),
            Self::Servers => "names of servers in mcp.toml with commas between them, such as \"notes,search\"".to_owned(),
            Self::Model => "a model as PROVIDER/MODEL, such as \"ollama/qwen3\"".to_owned(),
            Self::Models => {
                "models with commas between them, such as \"openai/gpt-5,ollama/qwen3\"".to_owned()
            }
            Self::Money { max } => format!(
                "an amount of dollars as text, such as \"2.50\", at most \"{}\"",
                money::format(*max)
            ),
            Self::Command => "a command line as text".to_owned(),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Size { max } => format!(
                "a number of bytes or a size such as \"16MiB\", at most \"{}\"",
                size::format(*max)
            ),
            Self::Duration { min_seconds, max_seconds } => format!(
                "a duration with its unit such as \"90m\", from \"{}\" to \"{}\"",
                duration::format(Duration::from_secs(*min_seconds)),
                duration::format(Duration::from_secs(*max_seconds))
            ),
        }
    }

    /// A checked value as it would be written in a file.
    pub(super) fn to_toml(&self, checked: &Json) -> String {
        match (self, checked.as_u64()) {
            (Self::Size { .. }, Some(bytes)) => format!("\"{}\"", size::format(bytes)),
            (Self::Money { .. }, Some(amount)) => format!("\"{}\"", money::format(amount)),
            _ => checked.to_string(),
        }
    }
}

/// The names in a list with commas.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Whether a text can name a model: providers call theirs as they like, but in one word.
fn is_model(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == ',')
}

fn choice(words: &[&str], written: &Written) -> Option<Json> {
    let text = written.text()?;
    words.contains(&text).then(|| text.into())
}

fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("one of {}", quoted.join(", "))
}

impl Written {
    pub(super) fn from_toml(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::String(text.to_string()),
            DeValue::Boolean(truth) => Self::Boolean(*truth),
            DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
                .map_or(Self::Other("integer"), Self::Integer),
            other => Self::Other(other.type_str()),
        }
    }

    /// For a message: quoted and shortened, so that no file can draw on the terminal with it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) | Self::String(text) => super::error::quoted(text),
            Self::Integer(number) => number.to_string(),
            Self::Boolean(truth) => truth.to_string(),
            Self::Other(kind) => format!("a TOML {kind}"),
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::String(text) => Some(text),
            _ => None,
        }
    }

    fn integer(&self) -> Option<u64> {
        match self {
            Self::Integer(number) => u64::try_from(*number).ok(),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    fn boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(truth) => Some(*truth),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Written {
        Written::Text(text.to_owned())
    }

    fn string(text: &str) -> Written {
        Written::String(text.to_owned())
    }

    #[test]
    fn a_file_must_use_the_right_type_and_text_is_read_as_what_is_needed() {
        let integer = Kind::Integer { min: 0, max: 9 };
        assert_eq!(integer.check(&Written::Integer(9)), Some(9.into()));
        assert_eq!(integer.check(&text("9")), Some(9.into()));
        assert_eq!(integer.check(&string("9")), None);
        assert_eq!(Kind::Boolean.check(&text("false")), Some(false.into()));
        assert_eq!(Kind::Boolean.check(&Written::Boolean(true)), Some(true.into()));
        assert_eq!(Kind::Boolean.check(&string("false")), None);
        assert_eq!(Kind::Boolean.check(&text("yes")), None);
    }

    #[test]
    fn both_ends_of_a_range_are_in_it() {
        let integer = Kind::Integer { min: 1, max: 3 };
        for (number, fits) in [(-1, false), (0, false), (1, true), (3, true), (4, false)] {
            assert_eq!(integer.check(&Written::Integer(number)).is_some(), fits, "{number}");
        }
        let time = Kind::Duration { min_seconds: 1, max_seconds: 60 };
        for (length, fits) in [("999ms", false), ("1s", true), ("1m", true), ("61s", false)] {
            assert_eq!(time.check(&string(length)).is_some(), fits, "{length}");
        }
        let bytes = Kind::Size { max: 1024 };
        for (length, fits) in [("0", true), ("1KiB", true), ("1025", false)] {
            assert_eq!(bytes.check(&string(length)).is_some(), fits, "{length}");
        }
    }

    #[test]
    fn a_checked_value_has_one_form() {
        let bytes = Kind::Size { max: 1 << 30 };
        for written in [string("1MiB"), text("1 mib"), Written::Integer(1 << 20)] {
            assert_eq!(bytes.check(&written), Some((1 << 20).into()));
        }
        assert_eq!(bytes.to_toml(&(1 << 20).into()), "\"1MiB\"");
        let amount = Kind::Money { max: 5_000_000 };
        for written in [string("2.50"), text("$2.5")] {
            assert_eq!(amount.check(&written), Some(2_500_000.into()));
        }
        assert_eq!(amount.check(&Written::Integer(2)), Some(2_000_000.into()));
        assert_eq!(amount.check(&string("5.01")), None);
        assert_eq!(amount.to_toml(&2_500_000.into()), "\"2.50\"");
        assert!(Kind::Models.check(&string("openai/gpt-5, ollama/qwen3:8b")).is_some());
        assert_eq!(Kind::Models.check(&string("two words")), None);
        assert_eq!(Kind::Model.check(&string("one,two")), None);
        let time = Kind::Duration { min_seconds: 0, max_seconds: 86_400 };
        assert_eq!(time.check(&string("90m")), Some("1h 30m".into()));
        assert_eq!(time.check(&Written::Integer(90)), None);
    }
}
