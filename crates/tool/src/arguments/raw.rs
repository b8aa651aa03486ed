//! From what a model wrote to JSON.

use serde_json::{Map, Value};

use super::repair::Repair;
use crate::error::ToolRefusal;

/// More is refused.
const MOST_BYTES: usize = 4 << 20;
/// JSON in strings in strings is not looked into any further.
const MOST_WRAPPED: usize = 3;

/// Reads an object.
pub(super) fn read(raw: &str, repairs: &mut Vec<Repair>) -> Result<Value, ToolRefusal> {
    if raw.len() > MOST_BYTES {
        let message = format!("the arguments are too long: {} bytes", raw.len());
        let hint = format!("no more than {MOST_BYTES} bytes fit into one call");
        return Err(ToolRefusal { message, hint: Some(hint) });
    }
    if raw.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let mut value = parse(raw, repairs).map_err(|error| ToolRefusal {
        message: format!("the arguments are no JSON: {error}"),
        hint: Some("give one JSON object".to_owned()),
    })?;
    for _ in 0..MOST_WRAPPED {
        let Value::String(inner) = &value else { break };
        let mut within = Vec::new();
        let Ok(found) = parse(inner, &mut within) else { break };
        repairs.push(whole("the object was in a string"));
        repairs.append(&mut within);
        value = found;
    }
    match value {
        Value::Object(_) => Ok(value),
        Value::Null => Ok(Value::Object(Map::new())),
        other => Err(ToolRefusal {
            message: format!(
                "the arguments have to be an object, not {}",
                super::schema::kind(&other)
            ),
            hint: None,
        }),
    }
}

/// Reads JSON, also where it has mistakes that leave no doubt.
pub(super) fn parse(text: &str, repairs: &mut Vec<Repair>) -> Result<Value, serde_json::Error> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let mut made = Vec::new();
    let inner = match fenced(text) {
        Some(inner) => {
            made.push(whole("code fences were left out"));
            inner
        }
        None => text,
    };
    let (mended, commas, breaks) = mend(inner);
    if commas {
        made.push(whole("trailing commas were left out"));
    }
    if breaks {
        made.push(whole("line ends in strings were written as \\n"));
    }
    // The place of a mistake is told for what the model wrote.
    let value = serde_json::from_str(&mended).or_else(|_| serde_json::from_str(inner))?;
    repairs.append(&mut made);
    Ok(value)
}

/// What is between code fences.
fn fenced(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    // The word behind the fence names a language.
    let start = inner.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(0);
    Some(inner[start..].trim())
}

/// Leaves out commas before a closing bracket and escapes line ends in strings; whether either was there.
fn mend(text: &str) -> (String, bool, bool) {
    let (mut out, mut commas, mut breaks) = (String::with_capacity(text.len()), false, false);
    let (mut in_string, mut escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        if in_string {
            match letter {
                '\n' | '\r' | '\t' if !escaped => {
                    breaks = true;
                    out.push_str(match letter {
                        '\n' => "\\n",
                        '\r' => "\\r",
                        _ => "\\t",
                    });
                    continue;
                }
                '"' if !escaped => in_string = false,
                _ => {}
            }
            escaped = letter == '\\' && !escaped;
        } else if letter == '"' {
            in_string = true;
        } else if letter == ',' {
            let next = text[at + 1..].trim_start().chars().next();
            if matches!(next, Some('}' | ']') | None) {
                commas = true;
                continue;
            }
        }
        out.push(letter);
    }
    (out, commas, breaks)
}

fn whole(what: &str) -> Repair {
    Repair { path: String::new(), what: what.to_owned() }
}
