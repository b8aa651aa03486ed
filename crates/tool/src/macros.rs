//! What the code needs that `#[tool]` writes. Nothing here is for anybody else.

pub use futures::future::BoxFuture;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
pub use {schemars, serde, serde_json};

use crate::error::ToolError;

/// The schema of arguments: an object, without references where nothing refers to itself.
pub fn schema<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = Value::Object(std::mem::take(schema.ensure_object()));
    simplify(&mut schema);
    if let Value::Object(top) = &mut schema {
        for key in ["$schema", "title", "description"] {
            top.remove(key);
        }
        top.insert("type".to_owned(), Value::from("object"));
        top.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// The arguments as the function takes them. They fit the schema; what a type wants besides is told to the model.
pub fn arguments<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments)
        .map_err(|error| ToolError::refused(format!("the arguments do not fit: {error}")))
}

/// Leaves out what is no help to a model: how wide a number is, and that an optional may also be `null`, which counts as absent.
fn simplify(schema: &mut Value) {
    let Value::Object(map) = schema else {
        if let Value::Array(all) = schema {
            all.iter_mut().for_each(simplify);
        }
        return;
    };
    if map.get("type").is_some() && map.get("format").is_some_and(Value::is_string) {
        map.remove("format");
    }
    let required: Vec<Value> =
        map.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            if !required.iter().any(|it| it == name) {
                without_null(property);
            }
            simplify(property);
        }
    }
    for (key, value) in map.iter_mut() {
        if !matches!(key.as_str(), "properties" | "default" | "const" | "enum" | "examples") {
            simplify(value);
        }
    }
}

/// Takes `null` from what a property may be.
fn without_null(property: &mut Value) {
    let Value::Object(map) = property else { return };
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|it| it != "null");
        if let [one] = &types[..] {
            let one = one.clone();
            map.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(all)) = map.get_mut("enum") {
        all.retain(|it| !it.is_null());
    }
    if let Some(Value::Array(all)) = map.get_mut("anyOf") {
        all.retain(|it| it.get("type").is_none_or(|it| it != "null"));
        if let [Value::Object(one)] = &all[..] {
            let one = one.clone();
            map.remove("anyOf");
            for (key, value) in one {
                map.entry(key).or_insert(value);
            }
        }
    }
}
