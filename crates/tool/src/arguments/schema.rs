//! What a JSON Schema wants, as far as schemas of arguments go.

use serde_json::{Map, Value};

/// References that lead on further are not followed.
const MOST_REFERENCES: usize = 8;

/// A schema within the one that has the definitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schema<'a> {
    root: &'a Value,
    at: &'a Value,
}

impl<'a> Schema<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root, at: root }
    }

    fn part(self, at: &'a Value) -> Self {
        Self { at, ..self }
    }

    /// Where its reference leads.
    pub(super) fn resolved(self) -> Self {
        let mut found = self;
        for _ in 0..MOST_REFERENCES {
            let reference = found.at.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(|it| it.strip_prefix('#'));
            let Some(target) = target.and_then(|it| self.root.pointer(it)) else { break };
            found = self.part(target);
        }
        found
    }

    /// Whether nothing fits.
    pub(super) fn is_never(self) -> bool {
        self.at == &Value::Bool(false)
    }

    /// The types that fit; any if there are none.
    pub(super) fn types(self) -> Vec<&'a str> {
        match self.at.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The values that fit, where they are listed: `enum`, `const`, or alternatives that are constants.
    pub(super) fn values(self) -> Option<Vec<&'a Value>> {
        if let Some(all) = self.at.get("enum").and_then(Value::as_array) {
            return Some(all.iter().collect());
        }
        if let Some(one) = self.at.get("const") {
            return Some(vec![one]);
        }
        let parts: Option<Vec<_>> = self.alternatives()?.into_iter().map(Self::values).collect();
        Some(parts?.concat())
    }

    /// The schemas of which one has to fit.
    pub(super) fn alternatives(self) -> Option<Vec<Self>> {
        let all = ["anyOf", "oneOf"].iter().find_map(|key| self.at.get(key)?.as_array())?;
        Some(all.iter().map(|at| self.part(at).resolved()).collect())
    }

    /// The schemas that have to fit besides.
    pub(super) fn all_of(self) -> Vec<Self> {
        let all = self.at.get("allOf").and_then(Value::as_array);
        all.into_iter().flatten().map(|at| self.part(at).resolved()).collect()
    }

    fn properties_map(self) -> Option<&'a Map<String, Value>> {
        self.at.get("properties").and_then(Value::as_object)
    }

    /// The names of properties.
    pub(super) fn properties(self) -> Vec<&'a str> {
        self.properties_map().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
    }

    pub(super) fn property(self, name: &str) -> Option<Self> {
        let found = self.properties_map().and_then(|all| all.get(name));
        found.map(|at| self.part(at).resolved())
    }

    pub(super) fn required(self) -> Vec<&'a str> {
        let all = self.at.get("required").and_then(Value::as_array);
        all.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// What further properties have to be.
    pub(super) fn further(self) -> Option<Self> {
        self.at.get("additionalProperties").map(|at| self.part(at).resolved())
    }

    pub(super) fn items(self) -> Option<Self> {
        self.at.get("items").map(|at| self.part(at).resolved())
    }

    /// A bound, such as `maximum`.
    pub(super) fn bound(self, key: &str) -> Option<f64> {
        self.at.get(key).and_then(Value::as_f64)
    }

    /// Its properties in words, for whoever got them wrong.
    pub(super) fn names(self) -> Option<String> {
        let required = self.required();
        let names = self.properties().into_iter().map(|name| {
            let types = self.property(name).map(Self::types).unwrap_or_default().join(" or ");
            let types = if types.is_empty() { String::new() } else { format!(" ({types})") };
            let optional = if required.contains(&name) { "" } else { ", optional" };
            format!("`{name}`{types}{optional}")
        });
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| names.join("; "))
    }
}

/// Whether a value is of a type.
pub(super) fn is_of(value: &Value, ty: &str) -> bool {
    match ty {
        "integer" => match value {
            Value::Number(number) => number.is_i64() || number.is_u64(),
            _ => false,
        },
        other => kind(value).ends_with(other),
    }
}

/// What a value is, in words that end with the name of its type.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
