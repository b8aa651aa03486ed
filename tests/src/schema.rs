//! Checks JSON documents against `docs/schema`.
//!
//! Only the keywords that those files use are known; another one is an error, never a check left out. Beyond the
//! standard, a field that its schema does not name is an error too: it would be undocumented.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use serde_json::{Map, Value};

/// What is wrong with a document of the product, a line each; the schema is found by its kind.
pub fn problems(document: &Value) -> Vec<String> {
    let Some(kind) = document["kind"].as_str() else {
        return vec!["a document without a kind".to_owned()];
    };
    let Some(schema) = schema_of(kind) else {
        return vec![format!("kind {kind} has no schema in docs/schema")];
    };
    let mut problems = check(document, &schema);
    if document["schema_version"] != 1 {
        problems.push(format!("schema_version is {}", document["schema_version"]));
    }
    if kind == "error" && document["success"] != false {
        problems.push(format!("success is {} in kind {kind}", document["success"]));
    }
    problems
}

/// What about a value is not as the schema of that name in `docs/schema` says.
pub fn problems_of(name: &str, value: &Value) -> Vec<String> {
    match schema_of(name) {
        Some(schema) => check(value, &schema),
        None => vec![format!("{name} has no schema in docs/schema")],
    }
}

/// What is wrong with a value, by this schema.
pub fn check(value: &Value, schema: &Value) -> Vec<String> {
    let mut checker = Checker { whole: schema, problems: Vec::new() };
    checker.value(value, schema, "");
    checker.problems
}

fn schema_of(kind: &str) -> Option<Value> {
    static SCHEMAS: OnceLock<Mutex<HashMap<String, Option<Value>>>> = OnceLock::new();
    let read = || {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/schema");
        let text = std::fs::read_to_string(folder.join(format!("{kind}.json"))).ok()?;
        Some(serde_json::from_str(&text).expect("a schema is JSON"))
    };
    let mut schemas = SCHEMAS.get_or_init(Mutex::default).lock().expect("no reader panics");
    schemas.entry(kind.to_owned()).or_insert_with(read).clone()
}

/// Keywords that say nothing about what is allowed here.
const SILENT: [&str; 6] = ["$schema", "$defs", "title", "description", "default", "format"];

struct Checker<'a> {
    whole: &'a Value,
    problems: Vec<String>,
}

impl Checker<'_> {
    fn say(&mut self, at: &str, what: impl std::fmt::Display) {
        let at = if at.is_empty() { "/" } else { at };
        self.problems.push(format!("{at}: {what}"));
    }

    fn value(&mut self, value: &Value, schema: &Value, at: &str) {
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Object(keywords) => keywords,
            _ => return self.say(at, format!("the schema {schema} is not understood")),
        };
        for (keyword, argument) in keywords {
            self.keyword(value, keyword, argument, at);
        }
        if let (Value::Object(fields), Some(Value::Object(known))) =
            (value, keywords.get("properties"))
        {
            for name in fields.keys().filter(|name| !known.contains_key(*name)) {
                self.say(at, format!("the field {name} is not in the schema"));
            }
        }
    }

    fn keyword(&mut self, value: &Value, keyword: &str, argument: &Value, at: &str) {
        match keyword {
            _ if SILENT.contains(&keyword) => {}
            "$ref" => self.reference(value, argument, at),
            "type" => self.kind(value, argument, at),
            "const" if value == argument => {}
            "const" => self.say(at, format!("{value} is not {argument}")),
            "enum" if argument.as_array().is_some_and(|all| all.contains(value)) => {}
            "enum" => self.say(at, format!("{value} is none of {argument}")),
            "minimum" if value.as_f64() < argument.as_f64() && value.is_number() => {
                self.say(at, format!("{value} is below {argument}"));
            }
            "maximum" if value.as_f64() > argument.as_f64() => {
                self.say(at, format!("{value} is above {argument}"));
            }
            "minimum" | "maximum" => {}
            "properties" => self.properties(value, argument, at),
            "required" => self.required(value, argument, at),
            "items" => self.items(value, argument, at),
            "prefixItems" => self.prefix_items(value, argument, at),
            "minItems" if value.as_array().map(Vec::len) < length(argument) && value.is_array() => {
                self.say(at, format!("fewer than {argument} items"));
            }
            "maxItems" if value.as_array().map(Vec::len) > length(argument) => {
                self.say(at, format!("more than {argument} items"));
            }
            "minItems" | "maxItems" => {}
            "anyOf" => self.fitting(value, argument, at, |count| count >= 1),
            "oneOf" => self.fitting(value, argument, at, |count| count == 1),
            _ => self.say(at, format!("the schema has the keyword {keyword}, which is not known")),
        }
    }

    fn reference(&mut self, value: &Value, argument: &Value, at: &str) {
        let place = argument.as_str().and_then(|text| text.strip_prefix('#'));
        match place.and_then(|place| self.whole.pointer(place)) {
            Some(schema) => self.value(value, schema, at),
            None => self.say(at, format!("{argument} leads nowhere")),
        }
    }

    fn kind(&mut self, value: &Value, argument: &Value, at: &str) {
        let fits = |kind: &str| match kind {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "number" => value.is_number(),
            "integer" => value.is_i64() || value.is_u64(),
            _ => false,
        };
        let fit = match argument {
            Value::String(kind) => fits(kind),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(fits),
            _ => false,
        };
        if !fit {
            self.say(at, format!("{value} is no {argument}"));
        }
    }

    fn properties(&mut self, value: &Value, argument: &Value, at: &str) {
        let empty = Map::new();
        let fields = value.as_object().unwrap_or(&empty);
        for (name, schema) in argument.as_object().unwrap_or(&empty) {
            if let Some(field) = fields.get(name) {
                self.value(field, schema, &format!("{at}/{name}"));
            }
        }
    }

    fn required(&mut self, value: &Value, argument: &Value, at: &str) {
        let names = argument.as_array().into_iter().flatten().filter_map(Value::as_str);
        for name in names.filter(|name| value.is_object() && value.get(name).is_none()) {
            self.say(at, format!("the field {name} is missing"));
        }
    }

    fn items(&mut self, value: &Value, argument: &Value, at: &str) {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            self.value(item, argument, &format!("{at}/{index}"));
        }
    }

    fn prefix_items(&mut self, value: &Value, argument: &Value, at: &str) {
        let schemas = argument.as_array().into_iter().flatten();
        let items = value.as_array().into_iter().flatten();
        for (index, (item, schema)) in items.zip(schemas).enumerate() {
            self.value(item, schema, &format!("{at}/{index}"));
        }
    }

    fn fitting(
        &mut self,
        value: &Value,
        schemas: &Value,
        at: &str,
        enough: impl Fn(usize) -> bool,
    ) {
        let all = schemas.as_array().map_or(&[][..], Vec::as_slice);
        let mut found = Vec::new();
        let mut count = 0;
        for schema in all {
            let mut inner = Checker { whole: self.whole, problems: Vec::new() };
            inner.value(value, schema, at);
            count += usize::from(inner.problems.is_empty());
            found.extend(inner.problems);
        }
        if !enough(count) {
            let why = found.join("; ");
            self.say(at, format!("fits {count} of {} alternatives ({why})", all.len()));
        }
    }
}

fn length(argument: &Value) -> Option<usize> {
    argument.as_u64().and_then(|number| usize::try_from(number).ok())
}
