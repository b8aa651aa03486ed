use serde_json::json;

use super::*;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "all": {"type": "boolean"},
            "names": {"type": "array", "items": {"type": "string"}},
            "options": {
                "type": "object",
                "properties": {"deep": {"type": "boolean"}},
                "additionalProperties": false,
            },
            "mode": {"oneOf": [{"const": "read"}, {"const": "write"}]},
            "place": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/Range"}]},
            "maybe": {"type": ["string", "null"]},
        },
        "required": ["file_path"],
        "additionalProperties": false,
        "$defs": {
            "Range": {
                "type": "object",
                "properties": {"from": {"type": "integer"}},
                "required": ["from"],
            },
        },
    })
}

fn prepared(raw: &str) -> (Value, Vec<String>) {
    let found = prepare(&schema(), raw).unwrap_or_else(|error| panic!("{raw}: {}", error.text()));
    (found.value, found.repairs.iter().map(ToString::to_string).collect())
}

fn refused(raw: &str) -> String {
    match prepare(&schema(), raw) {
        Ok(found) => panic!("{raw} fits: {found:?}"),
        Err(error) => error.text(),
    }
}

#[test]
fn what_fits_stays_as_it_is() {
    for raw in [
        r#"{"file_path": "a"}"#,
        // Texts are never looked into, whatever they hold.
        r#"{"file_path": "5"}"#,
        r#"{"file_path": "[1, 2,]"}"#,
        r#"{"file_path": "{\"a\": 1}"}"#,
        r#"{"file_path": "```json\n{}\n```"}"#,
        r#"{"file_path": "a", "limit": 100, "all": false, "names": [], "mode": "read"}"#,
        r#"{"file_path": "a", "place": 4, "maybe": null}"#,
        r#"{"file_path": "a", "place": {"from": 4}}"#,
    ] {
        let (value, repairs) = prepared(raw);
        assert_eq!(value, serde_json::from_str::<Value>(raw).expect("it is JSON"), "{raw}");
        assert_eq!(repairs, [""; 0], "{raw}");
    }
}

#[test]
fn what_has_one_meaning_is_repaired_and_that_is_told() {
    let with = |more: Value| {
        let mut all = json!({"file_path": "a"});
        let Value::Object(more) = more else { panic!("it is an object") };
        all.as_object_mut().expect("it is an object").extend(more);
        all
    };
    for (raw, value, told) in [
        ("```json\n{\"file_path\": \"a\"}\n```", with(json!({})), "code fences"),
        ("```\n{\"file_path\": \"a\"}```", with(json!({})), "code fences"),
        (r#""{\"file_path\": \"a\"}""#, with(json!({})), "the object was in a string"),
        (r#"{"file_path": "a",}"#, with(json!({})), "trailing commas"),
        (r#"{"file_path": "a", "names": ["b", ], }"#, with(json!({"names": ["b"]})), "trailing"),
        ("{\"file_path\": \"a\nb\"}", json!({"file_path": "a\nb"}), "line ends"),
        (r#"{"file_path": "a", "limit": "5"}"#, with(json!({"limit": 5})), "`limit`: a number was"),
        (r#"{"file_path": "a", "limit": 5.0}"#, with(json!({"limit": 5})), "`limit`: a whole"),
        (r#"{"file_path": "a", "all": "True"}"#, with(json!({"all": true})), "`all`: a boolean"),
        (r#"{"file_path": "a", "names": "b"}"#, with(json!({"names": ["b"]})), "a list of one"),
        (
            r#"{"file_path": "a", "names": "[\"b\", \"c\",]"}"#,
            with(json!({"names": ["b", "c"]})),
            "`names`: JSON was in a string",
        ),
        (
            r#"{"file_path": "a", "names": [1]}"#,
            with(json!({"names": ["1"]})),
            "`names[0]`: a number was read as a string",
        ),
        (
            r#"{"file_path": "a", "options": "{\"deep\": \"true\"}"}"#,
            with(json!({"options": {"deep": true}})),
            "`options`: JSON was in a string; `options.deep`: a boolean",
        ),
        (
            r#"{"file_path": "a", "limit": null}"#,
            with(json!({})),
            "`limit`: null was read as absent",
        ),
        (r#"{"filePath": "a"}"#, with(json!({})), "`filePath`: was read as `file_path`"),
        (r#"{"file_path": "a", "mode": "READ"}"#, with(json!({"mode": "read"})), "`mode`"),
        (r#"{"file_path": "a", "place": "4"}"#, with(json!({"place": 4})), "`place`: a number"),
    ] {
        let (found, repairs) = prepared(raw);
        assert_eq!(found, value, "{raw}");
        let repairs = repairs.join("; ");
        assert!(repairs.contains(told), "{raw}: {repairs}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (raw, told) in [
        ("{}", "`file_path`: is missing"),
        ("", "`file_path`: is missing"),
        ("{", "no JSON"),
        ("[1]", "have to be an object, not an array"),
        (r#"{"file_pth": "a"}"#, "there is no such argument; did you mean `file_path`?"),
        (r#"{"file_path": "a", "zzz": 1}"#, "`zzz`: there is no such argument"),
        (r#"{"file_path": "a", "options": {"dep": true}}"#, "`options.dep`"),
        (r#"{"file_path": {"a": 1}}"#, "`file_path`: has to be of type string, not an object"),
        (r#"{"file_path": null}"#, "`file_path`: has to be of type string, not null"),
        (r#"{"file_path": "a", "limit": "many"}"#, "`limit`: has to be of type integer"),
        (r#"{"file_path": "a", "limit": 1.5}"#, "`limit`: has to be of type integer"),
        (r#"{"file_path": "a", "limit": 0}"#, "`limit`: has to be at least 1, not 0"),
        (r#"{"file_path": "a", "limit": 101}"#, "`limit`: has to be at most 100, not 101"),
        (r#"{"file_path": "a", "all": "yes"}"#, "`all`: has to be of type boolean"),
        (
            r#"{"file_path": "a", "mode": "wirte"}"#,
            "one of \"read\", \"write\", not \"wirte\"; did you mean \"write\"?",
        ),
        (r#"{"file_path": "a", "place": {"from": []}}"#, "`place.from`"),
        // Both names are there: nobody knows which one is meant.
        (r#"{"file_path": "a", "filePath": "b"}"#, "`filePath`: there is no such argument"),
    ] {
        let text = refused(raw);
        assert!(text.contains(told), "{raw}: {text}");
    }
    let all = refused(r#"{"limit": "x", "all": "x"}"#);
    assert!(
        all.contains("`limit`") && all.contains("`all`") && all.contains("`file_path`"),
        "{all}"
    );
    assert!(all.contains("hint: the arguments are: "), "{all}");
    assert!(all.contains("`all` (boolean), optional"), "{all}");
}

#[test]
fn arguments_have_bounds() {
    let long = format!(r#"{{"file_path": "{}"}}"#, "x".repeat(4 << 20));
    assert!(refused(&long).contains("too long"));
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert!(refused(&deep).contains("no JSON"));
    let wrong: Vec<String> = (0..50).map(|at| format!("\"x{at}\": 1")).collect();
    let text = refused(&format!("{{{}}}", wrong.join(",")));
    assert!(text.contains("and 43 more"), "{text}");
    let endless = json!({"$ref": "#"});
    assert!(prepare(&endless, "{}").is_ok());
}
