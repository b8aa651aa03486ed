//! What `#[tool]` makes of a function.

use std::collections::BTreeMap;
use std::time::Duration;

use offshoot_tool::{
    CallContext, CallLimits, CallOutcome, Capability, Effects, Tool, ToolError, ToolRegistry, tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::support::{World, run};

/// Where something is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Side {
    Left,
    Right,
}

/// A place.
#[derive(Debug, Deserialize, JsonSchema)]
struct Place {
    /// Its line.
    line: u32,
    side: Side,
}

/// Put a mark
/// at some places.
///
/// Nothing else is changed.
#[tool(
    effects = "change",
    capability = "edit, marks",
    version = 3,
    timeout_seconds = 7,
    output_bytes = 900
)]
async fn put_mark(
    /// The word.
    #[default("mark")]
    word: String,
    context: CallContext,
    /// Where.
    places: Vec<Place>,
    /// On which side, if not on theirs.
    side: Option<Side>,
    /// By name.
    #[default]
    named: BTreeMap<String, i64>,
    /// How often.
    r#type: Option<u8>,
) -> Result<String, ToolError> {
    match word.as_str() {
        "refused" => Err(ToolError::refused("no such mark").hint("take another")),
        "fatal" => Err(ToolError::fatal("the disk is gone")),
        word => {
            let places: Vec<String> =
                places.iter().map(|it| format!("{}{:?}", it.line, it.side)).collect();
            Ok(format!("{word} {places:?} {side:?} {named:?} {:?} {}", r#type, context.call()))
        }
    }
}

/// Say hello.
#[tool(effects = "read", name = "hello", timeout_seconds = 0)]
async fn say_hello() -> &'static str {
    "hello"
}

#[test]
fn the_signature_becomes_a_spec() {
    let contract = PutMark.contract();
    assert_eq!((contract.name.as_str(), contract.version), ("put_mark", 3));
    assert_eq!(contract.description, "Put a mark at some places.\n\nNothing else is changed.");
    assert_eq!(contract.effects, Effects::Changes);
    assert_eq!(contract.capabilities, [Capability::EDIT, Capability::new("marks")]);
    assert_eq!(contract.limits, CallLimits { time: Some(Duration::from_secs(7)), output: 900 });
    let sides = json!(["left", "right"]);
    let expected = json!({
        "type": "object",
        "properties": {
            "word": {"type": "string", "description": "The word.", "default": "mark"},
            "places": {
                "type": "array",
                "description": "Where.",
                "items": {
                    "type": "object",
                    "description": "A place.",
                    "properties": {
                        "line": {"type": "integer", "description": "Its line.", "minimum": 0},
                        "side": {"type": "string", "description": "Where something is.", "enum": sides},
                    },
                    "required": ["line", "side"],
                },
            },
            "side": {
                "type": "string",
                "description": "On which side, if not on theirs.",
                "enum": sides,
            },
            "named": {
                "type": "object",
                "description": "By name.",
                "additionalProperties": {"type": "integer"},
                "default": {},
            },
            "type": {"type": "integer", "description": "How often.", "minimum": 0, "maximum": 255},
        },
        "required": ["places"],
        "additionalProperties": false,
    });
    assert_eq!(contract.schema, expected, "{:#}", contract.schema);
    let contract = SayHello.contract();
    assert_eq!((contract.name.as_str(), contract.limits.time), ("hello", None));
    assert_eq!(contract.schema["properties"], json!({}));
}

#[test]
fn a_call_reaches_the_function_and_its_errors_the_loop() {
    run(async {
        let mut world = World::new();
        world.registry = ToolRegistry::new();
        world.registry.add(PutMark).unwrap();
        world.registry.add(SayHello).unwrap();
        assert_eq!(world.text("hello", json!({})).await, "hello");
        let places = json!([{"line": "4", "side": "LEFT"}]);
        let text = world.text("put_mark", json!({"places": places, "type": 2})).await;
        assert!(text.starts_with("note: the arguments were repaired: "), "{text}");
        assert!(text.contains("mark [\"4Left\"] None {} Some(2)"), "{text}");
        let refused = world.refused("put_mark", json!({"places": [], "word": "refused"})).await;
        assert_eq!(refused, "no such mark\nhint: take another");
        let fatal = world.outcome("put_mark", json!({"places": [], "word": "fatal"})).await;
        let CallOutcome::Fatal(fatal) = fatal else { panic!("{fatal:?}") };
        assert_eq!(fatal.message, "the disk is gone");
        // The function is there as well.
        assert_eq!(say_hello().await, "hello");
    });
}
