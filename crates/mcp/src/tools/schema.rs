//! The schemas of arguments and answers.

use offshoot_protocol::{Document, Kind};
use rmcp::model::JsonObject;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

/// The schema of arguments.
pub(super) fn input<T: JsonSchema>() -> JsonObject {
    object::<T>(SchemaSettings::draft2020_12().for_deserialize().into_generator())
}

/// The schema of an answer. It says nothing about what fields mean: the schemas of `offshoot --json` do, and a model need not read
/// them with every list of tools.
pub(super) fn output<T: JsonSchema>() -> JsonObject {
    let mut schema = object::<T>(SchemaSettings::draft2020_12().for_serialize().into_generator());
    schema.values_mut().for_each(strip);
    schema
}

/// The same for an answer in the frame that `--json` prints.
pub(super) fn framed<T: Kind>() -> JsonObject {
    output::<Document<T>>()
}

fn object<T: JsonSchema>(generator: SchemaGenerator) -> JsonObject {
    let mut schema = generator.into_root_schema_for::<T>();
    let mut schema = std::mem::take(schema.ensure_object());
    for key in ["$schema", "title", "description"] {
        schema.remove(key);
    }
    // Both have to be objects, also where several shapes fit.
    schema.insert("type".to_owned(), Value::String("object".to_owned()));
    schema.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    schema
}

/// Makes a plain list of words that stood one by one, each with its meaning.
fn list_words(schema: &mut JsonObject) {
    let Some(Value::Array(all)) = schema.get("oneOf") else { return };
    let words: Option<Vec<Value>> = all.iter().map(|one| one.get("const").cloned()).collect();
    let Some(words) = words else { return };
    schema.remove("oneOf");
    schema.insert("type".to_owned(), Value::String("string".to_owned()));
    schema.insert("enum".to_owned(), Value::Array(words));
}

/// Takes descriptions away.
fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // A property may have that name; a description is a text.
            if map.get("description").is_some_and(Value::is_string) {
                map.remove("description");
            }
            // Whether a number is signed is no help to a model either.
            for key in ["format", "minimum"] {
                if map.get("type").is_some() && map.get(key).is_some_and(|it| !it.is_object()) {
                    map.remove(key);
                }
            }
            map.values_mut().for_each(strip);
            list_words(map);
        }
        Value::Array(all) => all.iter_mut().for_each(strip),
        _ => {}
    }
}
