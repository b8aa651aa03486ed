//! What holds calls back: capabilities, policy, time, output, versions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use offshoot_engine::id::Id;
use offshoot_tool::{
    CallContext, CallEnding, CallLimits, CallOutcome, CallPolicy, CallVerdict, Capabilities,
    Capability, Effects, FullTextError, FullTexts, RegistryError, ResultId, TextPart, Tool,
    ToolContract, ToolError, ToolHost, ToolOutput, ToolRegistry,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{World, run};

/// A tool that does what a test wants, and counts its calls.
struct Made {
    contract: ToolContract,
    does: Does,
    calls: Arc<AtomicUsize>,
}

#[derive(Clone, Copy)]
enum Does {
    Says(&'static str),
    Prints(usize),
    /// Waits for ever, whatever its token says.
    Hangs,
    /// Waits for its token, and says what came of it.
    Ends,
    Panics,
}

impl Made {
    fn new(name: &str, version: u32, effects: Effects, does: Does) -> Self {
        let limits = CallLimits { time: Some(Duration::from_millis(100)), output: 1_000 };
        let contract = ToolContract {
            name: name.to_owned(),
            version,
            description: "A tool.".to_owned(),
            schema: json!({"type": "object", "properties": {}}),
            effects,
            capabilities: Vec::new(),
            limits,
        };
        Self { contract, does, calls: Arc::default() }
    }
}

impl Tool for Made {
    fn contract(&self) -> &ToolContract {
        &self.contract
    }

    fn call(
        &self,
        _arguments: Value,
        context: CallContext,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let does = self.does;
        async move {
            match does {
                Does::Says(text) => Ok(text.into()),
                Does::Prints(bytes) => Ok("line of ten\n".repeat(bytes / 12).into()),
                Does::Hangs => std::future::pending().await,
                Does::Ends => {
                    context.token().cancelled().await;
                    Ok("ended in time".into())
                }
                Does::Panics => panic!("a tool that is broken"),
            }
        }
        .boxed()
    }
}

/// A world with one tool of a test.
fn with(tool: Made) -> World {
    let mut world = World::new();
    world.registry = ToolRegistry::new();
    world.registry.add(tool).unwrap();
    world
}

#[test]
fn a_capability_that_is_missing_refuses_the_call() {
    run(async {
        let world = World::new();
        let context = |all: Capabilities| {
            let name = Id::random().to_string();
            CallContext::new(Arc::clone(&world.host), name).capabilities(all)
        };
        let write = r#"{"path": "x", "content": "x"}"#;
        let few = Capabilities::of([Capability::FILES]);
        for all in [Capabilities::none(), few.clone()] {
            let refused = world.registry.call("write_file", write, context(all)).await;
            let text = &refused.result().unwrap().text;
            assert!(text.contains("write_file needs the capability edit"), "{text}");
        }
        world.refused("read_file", json!({"path": "x"})).await;
        for contract in world.registry.contracts() {
            let outcome =
                world.registry.call(&contract.name, "{}", context(Capabilities::none())).await;
            let text = &outcome.result().unwrap().text;
            let needs_one = !contract.capabilities.is_empty();
            assert_eq!(text.contains("which this agent lacks"), needs_one, "{}", contract.name);
            assert!(needs_one || contract.name == "read_result", "{}", contract.name);
        }
        let names: Vec<&str> = world
            .registry
            .contracts_for(&few)
            .iter()
            .map(|contract| contract.name.as_str())
            .collect();
        assert_eq!(names, ["diff", "find_files", "grep", "list_files", "read_file", "read_result"]);
    });
}

struct Careful;

impl CallPolicy for Careful {
    fn judge(&self, contract: &ToolContract, arguments: &Value) -> CallVerdict {
        match (contract.effects, arguments["path"].as_str()) {
            (Effects::Reads, _) => CallVerdict::Allow,
            (_, Some("secret")) => CallVerdict::Deny {
                reason: "secrets stay".to_owned(),
                instead: Some("write another file".to_owned()),
            },
            _ => CallVerdict::Ask { reason: "it changes a file".to_owned() },
        }
    }
}

#[test]
fn the_policy_of_calls_judges_every_call() {
    run(async {
        let world = World::with(|host: ToolHost| host.policy(Arc::new(Careful)));
        world.text("read_file", json!({"path": "README.md"})).await;
        let denied = world.refused("write_file", json!({"path": "secret", "content": "x"})).await;
        assert_eq!(denied, "denied: secrets stay\nhint: write another file");
        let write = json!({"path": "other", "content": "x"});
        let CallOutcome::NeedsApproval(needed) = world.outcome("write_file", write.clone()).await
        else {
            panic!("nobody was asked")
        };
        assert_eq!((needed.reason.as_str(), needed.approval), ("it changes a file", None));
        world.refused("read_file", json!({"path": "other"})).await;
        let approved = world.context().approved(true);
        let done = world.registry.call("write_file", &write.to_string(), approved.clone()).await;
        assert!(!done.result().unwrap().failed);
        // Nobody can agree to what is denied.
        let secret = json!({"path": "secret", "content": "x"}).to_string();
        let denied = world.registry.call("write_file", &secret, approved).await;
        assert!(denied.result().unwrap().failed);
    });
}

#[test]
fn the_time_of_a_call_is_limited() {
    run(async {
        let world = with(Made::new("slow", 1, Effects::Reads, Does::Hangs));
        let started = Instant::now();
        let result = world.result("slow", json!({})).await;
        assert_eq!((result.ending, result.failed), (CallEnding::TimedOut, true));
        assert_eq!(result.text, "timed out after 0.1 s");
        assert!(started.elapsed() < Duration::from_secs(8));
        let world = with(Made::new("slow", 1, Effects::Changes, Does::Ends));
        let result = world.result("slow", json!({})).await;
        assert_eq!((result.ending, result.failed), (CallEnding::TimedOut, false));
        assert_eq!(result.text, "ended in time", "who changes something says what came of it");
    });
}

#[test]
fn a_tool_that_changes_something_and_does_not_end_may_have_taken_effect() {
    run(async {
        let world = with(Made::new("stuck", 1, Effects::Changes, Does::Hangs));
        let token = CancellationToken::new();
        let context = world.context().cancel(token.clone());
        token.cancel();
        let started = Instant::now();
        let outcome = world.registry.call("stuck", "{}", context).await;
        let result = outcome.result().unwrap();
        assert_eq!(result.ending, CallEnding::Cancelled);
        assert!(result.text.contains("it may have taken effect"), "{}", result.text);
        assert!(started.elapsed() >= Duration::from_secs(9));
    });
}

#[test]
fn a_tool_that_panics_is_fatal_and_no_more() {
    run(async {
        let world = with(Made::new("broken", 1, Effects::Reads, Does::Panics));
        let outcome = world.outcome("broken", json!({})).await;
        let CallOutcome::Fatal(fatal) = outcome else { panic!("{outcome:?}") };
        assert_eq!(fatal.message, "broken panicked");
    });
}

#[test]
fn what_is_left_out_of_a_text_is_told_and_kept() {
    run(async {
        let mut world = with(Made::new("chatty", 1, Effects::Reads, Does::Prints(12_000)));
        let brief = Made::new("brief", 1, Effects::Reads, Does::Prints(900));
        world.registry.add(brief).unwrap();
        assert_eq!(world.result("brief", json!({})).await.full, None);
        let result = world.result("chatty", json!({})).await;
        let id = result.full.unwrap();
        assert!(result.text.len() <= 1_000, "{}", result.text.len());
        let says = format!("bytes left out; read_result with id \"{id}\" and offset ");
        assert!(result.text.contains(&says), "{}", result.text);
        world.registry = ToolRegistry::builtin();
        let part = world.text("read_result", json!({"id": id.as_str(), "limit": 30})).await;
        assert!(
            part.starts_with("[bytes 0 to 30 of 12000; offset 30 has more]\nline of"),
            "{part}"
        );
        let gone = world.refused("read_result", json!({"id": "r-none"})).await;
        assert!(gone.contains("there is no full text r-none"), "{gone}");
    });
}

struct Full;

impl FullTexts for Full {
    fn keep(&self, _text: &str) -> Result<ResultId, FullTextError> {
        Err(FullTextError("no room".to_owned()))
    }

    fn read(&self, _: &ResultId, _: usize, _: usize) -> Result<Option<TextPart>, FullTextError> {
        Ok(None)
    }
}

#[test]
fn a_text_that_cannot_be_kept_names_no_place() {
    run(async {
        let mut world = World::with(|host| host.full_texts(Arc::new(Full)));
        let tool = Made::new("chatty", 1, Effects::Reads, Does::Prints(12_000));
        world.registry.add(tool).unwrap();
        let result = world.result("chatty", json!({})).await;
        assert_eq!(result.full, None);
        assert!(result.text.contains("and not kept: no room]"), "{}", result.text);
    });
}

#[test]
fn the_newest_version_is_called_unless_another_is_pinned() {
    run(async {
        let mut world = with(Made::new("greet", 2, Effects::Reads, Does::Says("two")));
        let add = |registry: &mut ToolRegistry, version, says| {
            registry.add(Made::new("greet", version, Effects::Reads, Does::Says(says)))
        };
        add(&mut world.registry, 1, "one").unwrap();
        assert_eq!(world.text("greet", json!({})).await, "two");
        assert_eq!(world.registry.contracts().count(), 1);
        world.registry.pin("greet", 1).unwrap();
        assert_eq!(world.text("greet", json!({})).await, "one");
        let (name, version) = ("greet".to_owned(), 1);
        let taken = RegistryError::Taken { name: name.clone(), version };
        assert_eq!(add(&mut world.registry, 1, "other"), Err(taken));
        let missing = RegistryError::Missing { name, version: 7 };
        assert_eq!(world.registry.pin("greet", 7), Err(missing));
        assert!(world.registry.remove("greet") && !world.registry.remove("greet"));
        let wrong = Made::new("no such name", 1, Effects::Reads, Does::Hangs);
        assert!(matches!(world.registry.add(wrong), Err(RegistryError::Name { .. })));
        let mut wrong = Made::new("list", 1, Effects::Reads, Does::Hangs);
        wrong.contract.schema = json!({"type": "array"});
        assert!(matches!(world.registry.add(wrong), Err(RegistryError::Schema { .. })));
    });
}

/// Agents spawn calls.
#[test]
fn a_call_may_move_between_threads() {
    fn is_send(_: &impl Send) {}
    let world = World::new();
    is_send(&world.registry.call("read_file", "{}", world.context()));
}

#[test]
fn wrong_names_and_arguments_call_nothing() {
    run(async {
        let tool = Made::new("greet", 1, Effects::Reads, Does::Says("hello"));
        let calls = Arc::clone(&tool.calls);
        let world = with(tool);
        let unknown = world.refused("gret", json!({})).await;
        assert_eq!(unknown, "there is no tool \"gret\"\nhint: did you mean greet?");
        world.refused("greet", json!([])).await;
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        world.text("greet", json!({})).await;
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    });
}
