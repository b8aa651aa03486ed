//! The JSON Schema of a document.

use schemars::{JsonSchema, schema_for};

use crate::document::{Document, Kind};

/// A schema and the name of its file.
#[derive(Clone, Debug)]
pub struct SchemaFile {
    /// The name of the file, such as `workspace.list.json`.
    pub name: String,
    /// The schema, as JSON text.
    pub text: String,
}

/// Makes the schema of one document.
pub(crate) type Schema = fn() -> SchemaFile;

/// The schema of what a command answers with.
pub(crate) fn of<T: Kind>() -> SchemaFile {
    framed::<Document<T>>(T::KIND)
}

/// The schema of a document with a frame of its own.
pub(crate) fn framed<T: JsonSchema>(kind: &str) -> SchemaFile {
    let mut schema = schema_for!(T).to_value();
    // Whether it keeps the order of its making depends on what else is compiled along.
    schema.sort_all_objects();
    let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    SchemaFile { name: format!("{kind}.json"), text: format!("{text}\n") }
}
