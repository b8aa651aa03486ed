//! The checker of documents can say no.

use offshoot_tests::schema::{check, problems};
use serde_json::{Value, json};

fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "name": { "description": "Its name.", "$ref": "#/$defs/Text" },
            "count": { "type": "integer", "minimum": 0, "maximum": 9 },
            "maybe": { "type": ["boolean", "null"] },
            "pairs": {
                "type": "array",
                "items": {
                    "type": "array",
                    "prefixItems": [{ "type": "string" }, { "type": "number" }],
                    "minItems": 2,
                    "maxItems": 2
                }
            },
            "anything": true
        },
        "required": ["name"],
        "$defs": {
            "Text": {
                "anyOf": [
                    { "type": "string" },
                    { "type": "object", "properties": { "raw": { "type": "string" } }, "required": ["raw"] }
                ]
            },
            "Letter": { "oneOf": [{ "const": "a" }, { "enum": ["a", "b"] }] }
        }
    })
}

#[test]
fn what_fits_passes() {
    for value in [
        json!({ "name": "a" }),
        json!({ "name": { "raw": "a" }, "count": 9, "maybe": null, "anything": [1, {}] }),
        json!({ "name": "a", "pairs": [["x", 1.5], ["y", 2]], "maybe": true }),
    ] {
        assert_eq!(check(&value, &schema()), Vec::<String>::new(), "{value}");
    }
}

#[test]
fn what_does_not_fit_is_named() {
    for (value, part) in [
        (json!([]), "is no \"object\""),
        (json!({}), "the field name is missing"),
        (json!({ "name": 1 }), "/name: fits 0 of 2"),
        (json!({ "name": { "raw": 1 } }), "/name/raw"),
        (json!({ "name": "a", "count": 10 }), "/count: 10 is above 9"),
        (json!({ "name": "a", "count": -1 }), "/count: -1 is below 0"),
        (json!({ "name": "a", "count": 1.5 }), "/count: 1.5 is no"),
        (json!({ "name": "a", "maybe": "x" }), "/maybe"),
        (json!({ "name": "a", "pairs": [["x"]] }), "/pairs/0: fewer than 2"),
        (json!({ "name": "a", "pairs": [["x", 1, 2]] }), "/pairs/0: more than 2"),
        (json!({ "name": "a", "pairs": [["x", "y"]] }), "/pairs/0/1"),
        (json!({ "name": "a", "undocumented": 1 }), "the field undocumented is not in the schema"),
    ] {
        let found = check(&value, &schema());
        assert!(found.iter().any(|problem| problem.contains(part)), "{value}: {found:?}");
    }
    let mut letter = schema();
    letter["$ref"] = json!("#/$defs/Letter");
    letter.as_object_mut().unwrap().retain(|name, _| name.starts_with('$'));
    assert_eq!(check(&json!("b"), &letter), Vec::<String>::new());
    assert!(check(&json!("a"), &letter)[0].contains("fits 2 of 2"));
    assert!(check(&json!("c"), &letter)[0].contains("fits 0 of 2"));
}

#[test]
fn what_the_checker_does_not_know_is_no_success() {
    for (schema, part) in [
        (json!({ "pattern": "^a$" }), "the keyword pattern"),
        (json!({ "$ref": "#/$defs/Nowhere" }), "leads nowhere"),
        (json!(7), "not understood"),
    ] {
        let found = check(&json!("a"), &schema);
        assert!(found.iter().any(|problem| problem.contains(part)), "{schema}: {found:?}");
    }
}

#[test]
fn documents_are_held_against_the_schema_of_their_kind() {
    let document = |kind: &str, success: bool| json!({ "schema_version": 1, "kind": kind, "success": success, "result": { "name": "a" } });
    assert_eq!(problems(&document("vault.delete", true)), Vec::<String>::new());
    let mut odd = document("vault.delete", true);
    odd["success"] = json!("yes");
    assert!(problems(&odd)[0].contains("success"));
    assert!(problems(&document("no.such.kind", true))[0].contains("no schema"));
    assert!(problems(&json!({}))[0].contains("without a kind"));
    let mut newer = document("vault.delete", true);
    newer["schema_version"] = json!(2);
    assert!(problems(&newer)[0].contains("schema_version is 2"));
}
