//! Variables of templates and what they may be.

use serde::{Deserialize, Serialize};

use crate::value::PromptValue;

/// The longest text, unless something else is said.
pub(crate) const LONGEST_TEXT: usize = 64 * 1024;
/// The longest name.
const LONGEST_NAME: usize = 64;
/// The longest list, unless something else is said.
pub(crate) const LONGEST_LIST: usize = 1_000;

/// What a variable may be.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VariableKind {
    /// A word that cannot hold a sentence: letters, digits and `-_.@/:`.
    Name,
    /// Any text.
    Text {
        /// How many bytes it may have.
        max: usize,
    },
    /// A whole number.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// A finite number.
    Number {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// True or false.
    Boolean,
    /// Texts.
    List {
        /// How many there may be.
        max: usize,
    },
    /// One of several words.
    Enum {
        /// The words.
        values: Vec<String>,
    },
}

/// A variable as a template declares it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariableRule {
    /// What it may be.
    pub kind: VariableKind,
    /// It may be missing.
    pub optional: bool,
    /// What it is where it is missing.
    pub default: Option<PromptValue>,
    /// The label of the fence around it.
    pub fence: Option<String>,
}

impl VariableRule {
    /// Whether a prompt can be built without it.
    pub fn may_be_missing(&self) -> bool {
        self.optional || self.default.is_some()
    }

    /// Whether it could hold a sentence that nobody marked as data.
    pub(crate) fn speaks(&self) -> bool {
        let is_text = matches!(self.kind, VariableKind::Text { .. } | VariableKind::List { .. });
        is_text && self.fence.is_none()
    }

    /// What it has to be, for people.
    pub(crate) fn expected(&self) -> String {
        match &self.kind {
            VariableKind::Name => {
                format!("a name of 1 to {LONGEST_NAME} letters, digits and -_.@/:")
            }
            VariableKind::Text { max } => format!("a text of at most {max} bytes"),
            VariableKind::Integer { min, max } => match (*min, *max) {
                (i64::MIN, i64::MAX) => "a whole number".to_owned(),
                (min, max) => format!("a whole number from {min} to {max}"),
            },
            VariableKind::Number { min, max } if *min == f64::MIN && *max == f64::MAX => {
                "a number".to_owned()
            }
            VariableKind::Number { min, max } => format!("a number from {min} to {max}"),
            VariableKind::Boolean => "true or false".to_owned(),
            VariableKind::List { max } => format!("a list of at most {max} texts"),
            VariableKind::Enum { values } => format!("one of {}", values.join(", ")),
        }
    }

    /// Checks a value; or says what it is, without what it says.
    pub(crate) fn check(&self, value: &PromptValue) -> Result<(), String> {
        let found = || value.kind().to_owned();
        let is_right = match (&self.kind, value) {
            (VariableKind::Name, PromptValue::Text(text)) => {
                let is_known = |c: char| c.is_alphanumeric() || "-_.@/:".contains(c);
                match text.chars().count() {
                    1..=LONGEST_NAME if text.chars().all(is_known) => true,
                    1..=LONGEST_NAME => return Err("a text with other characters".to_owned()),
                    length => return Err(format!("a text of {length} characters")),
                }
            }
            (VariableKind::Text { max }, PromptValue::Text(text)) => {
                return within("a text", text.len(), *max, "bytes");
            }
            (VariableKind::Integer { min, max }, PromptValue::Integer(number)) => {
                match (min..=max).contains(&number) {
                    true => true,
                    false => return Err("beyond that".to_owned()),
                }
            }
            (VariableKind::Number { min, max }, PromptValue::Number(number)) => {
                return in_range(*number, *min, *max);
            }
            #[expect(clippy::cast_precision_loss, reason = "only whether it is in a range counts")]
            (VariableKind::Number { min, max }, PromptValue::Integer(number)) => {
                return in_range(*number as f64, *min, *max);
            }
            (VariableKind::Boolean, PromptValue::Boolean(_)) => true,
            (VariableKind::List { max }, PromptValue::List(texts)) => {
                let longest = texts.iter().map(String::len).max().unwrap_or_default();
                within("a list with a text", longest, LONGEST_TEXT, "bytes")?;
                return within("a list", texts.len(), *max, "texts");
            }
            (VariableKind::Enum { values }, PromptValue::Text(text)) => {
                match values.contains(text) {
                    true => true,
                    false => return Err("another text".to_owned()),
                }
            }
            _ => false,
        };
        if is_right { Ok(()) } else { Err(found()) }
    }
}

fn within(what: &str, length: usize, most: usize, unit: &str) -> Result<(), String> {
    match length <= most {
        true => Ok(()),
        false => Err(format!("{what} of {length} {unit}")),
    }
}

fn in_range(number: f64, min: f64, max: f64) -> Result<(), String> {
    match number.is_finite() && number >= min && number <= max {
        true => Ok(()),
        false => Err("beyond that".to_owned()),
    }
}

/// A variable as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawVariable {
    #[serde(rename = "type")]
    kind: String,
    values: Option<Vec<String>>,
    min: Option<toml::Value>,
    max: Option<toml::Value>,
    default: Option<toml::Value>,
    #[serde(default)]
    optional: bool,
    fence: Option<String>,
}

const TYPES: &str = "name, text, integer, number, boolean, list, enum";

impl RawVariable {
    /// Checks a declaration; or says what is wrong with it.
    pub(crate) fn rule(&self) -> Result<VariableRule, String> {
        let kind = self.variable_kind()?;
        let limits = [("min", &self.min), ("max", &self.max)];
        for (key, _) in limits.iter().filter(|(_, limit)| limit.is_some()) {
            let has = match kind {
                VariableKind::Integer { .. } | VariableKind::Number { .. } => true,
                VariableKind::Text { .. } | VariableKind::List { .. } => *key == "max",
                VariableKind::Name | VariableKind::Boolean | VariableKind::Enum { .. } => false,
            };
            if !has {
                return Err(format!("`{}` has no `{key}`", self.kind));
            }
        }
        if self.values.is_some() && !matches!(kind, VariableKind::Enum { .. }) {
            return Err("only an enum has `values`".to_owned());
        }
        let is_label = |label: &String| {
            (1..=64).contains(&label.len())
                && label.chars().all(|c| c.is_ascii_alphanumeric() || " -_".contains(c))
        };
        if self.fence.as_ref().is_some_and(|label| !is_label(label)) {
            return Err("a label has 1 to 64 letters, digits, spaces, - and _".to_owned());
        }
        let fenced = matches!(kind, VariableKind::Text { .. } | VariableKind::List { .. });
        if self.fence.is_some() && !fenced {
            return Err("only a text or a list has a fence".to_owned());
        }
        if self.optional && self.default.is_some() {
            return Err("what has a default is not `optional`".to_owned());
        }
        let default = match &self.default {
            None => None,
            Some(value) => Some(value.clone().try_into::<PromptValue>().map_err(|_| {
                "a default is true, false, a number, a text or a list of texts".to_owned()
            })?),
        };
        let rule =
            VariableRule { kind, optional: self.optional, default, fence: self.fence.clone() };
        if let Some(Err(found)) = rule.default.as_ref().map(|value| rule.check(value)) {
            return Err(format!("the default has to be {}; it is {found}", rule.expected()));
        }
        Ok(rule)
    }

    fn variable_kind(&self) -> Result<VariableKind, String> {
        let size = |usual: usize| match &self.max {
            None => Ok(usual),
            Some(toml::Value::Integer(max)) if *max > 0 => {
                usize::try_from(*max).map_err(|error| error.to_string())
            }
            Some(_) => Err("`max` is a whole number from 1".to_owned()),
        };
        let whole = |limit: &Option<toml::Value>, usual: i64| match limit {
            None => Ok(usual),
            Some(toml::Value::Integer(limit)) => Ok(*limit),
            Some(_) => Err("`min` and `max` of an integer are whole numbers".to_owned()),
        };
        #[expect(clippy::cast_precision_loss, reason = "a limit so large is none")]
        let number = |limit: &Option<toml::Value>, usual: f64| match limit {
            None => Ok(usual),
            Some(toml::Value::Integer(limit)) => Ok(*limit as f64),
            Some(toml::Value::Float(limit)) if limit.is_finite() => Ok(*limit),
            Some(_) => Err("`min` and `max` are numbers".to_owned()),
        };
        let kind = match self.kind.as_str() {
            "name" => VariableKind::Name,
            "text" => VariableKind::Text { max: size(LONGEST_TEXT)? },
            "integer" => VariableKind::Integer {
                min: whole(&self.min, i64::MIN)?,
                max: whole(&self.max, i64::MAX)?,
            },
            "number" => VariableKind::Number {
                min: number(&self.min, f64::MIN)?,
                max: number(&self.max, f64::MAX)?,
            },
            "boolean" => VariableKind::Boolean,
            "list" => VariableKind::List { max: size(LONGEST_LIST)? },
            "enum" => VariableKind::Enum { values: self.words()? },
            other => return Err(format!("`{other}` is none of {TYPES}")),
        };
        let is_empty = match &kind {
            VariableKind::Integer { min, max } => min > max,
            VariableKind::Number { min, max } => min > max,
            _ => false,
        };
        if is_empty { Err("`min` is above `max`".to_owned()) } else { Ok(kind) }
    }

    fn words(&self) -> Result<Vec<String>, String> {
        let values = self.values.clone().unwrap_or_default();
        let is_word = |word: &String| {
            (1..=64).contains(&word.len())
                && word.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c))
        };
        if values.is_empty() || !values.iter().all(is_word) {
            return Err("an enum has `values`, each of letters, digits and -_.".to_owned());
        }
        Ok(values)
    }
}
