//! What is decided at the door of a vault, which nobody has to open for it.

use std::path::PathBuf;

use offshoot_mount::DriverChoice;
use offshoot_policy::{Decision, Engine, EngineOptions, Layer, LayerSource, NamedText};
use offshoot_sandbox::{Network, Stdin};
use offshoot_workspace::{
    Answered, CheckpointMode, CommandLine, Door, ExecutionEnvelope, ExecutionPlace,
    ExecutionRequest, ExecutionTimeout, ProxyExecutionState,
};

use crate::support::Bench;

fn engine(rules: &str) -> Engine {
    let text = format!("version = 1\n{rules}");
    let toml = Some(NamedText { name: "test".to_owned(), text });
    let layers = vec![LayerSource { layer: Layer::User, toml, rego: None }];
    Engine::new(&EngineOptions { layers, ..EngineOptions::default() }).unwrap()
}

fn never() -> Engine {
    engine("[[rule]]\nname = \"never\"\ndecision = \"deny\"\nprefix = [\"cat\"]\n")
}

fn request(bench: &Bench, arguments: &[&str]) -> ExecutionRequest {
    ExecutionRequest {
        command: CommandLine::Argv(arguments.iter().map(Into::into).collect()),
        cwd: None,
        environment: Vec::new(),
        set_by_caller: Vec::new(),
        stdin: Stdin::Empty,
        has_stdin: false,
        terminal: None,
        mark_prompt: false,
        session: false,
        joins: false,
        record: true,
        timeout: ExecutionTimeout::default(),
        read_only: false,
        place: ExecutionPlace::Workspace("w".to_owned()),
        checkpoint: CheckpointMode::Auto,
        network: Network::None,
        driver: DriverChoice::Auto,
        verify: false,
        patch: false,
        wait: None,
        keep: false,
        actor: bench.actor.clone(),
        verdict: None,
    }
}

fn folder(bench: &Bench) -> [PathBuf; 1] {
    [bench.place.join("source")]
}

fn ask(bench: &Bench, policy: &Engine, request: ExecutionRequest) -> Answered {
    let folders = folder(bench);
    let door = Door { dir: bench.vault.dir(), name: "v", folders: &folders, home: None, policy };
    door.ask(request)
}

fn refused(answered: Answered) -> ExecutionEnvelope {
    match answered {
        Answered::Refused { envelope, .. } => *envelope,
        Answered::Let(request) => panic!("{request:?} was let in"),
    }
}

fn let_in(answered: Answered) -> ExecutionRequest {
    match answered {
        Answered::Let(request) => *request,
        Answered::Refused { envelope, .. } => panic!("{:?} was refused", envelope.request),
    }
}

#[test]
fn what_may_not_run_is_answered_and_recorded() {
    let bench = Bench::of(&[("a", "one\n")]);
    let envelope = refused(ask(&bench, &never(), request(&bench, &["cat", "a"])));
    assert_eq!(envelope.result.state, ProxyExecutionState::Denied);
    assert_eq!(envelope.result.mountpoint.as_deref(), Some(&*folder(&bench)[0]));
    assert_eq!(envelope.result.warnings, Vec::<String>::new());
    let record = bench.vault.exec(&envelope.result.id).unwrap().unwrap();
    assert_eq!((record.state.as_str(), record.command.as_str()), ("denied", "cat a"));
    assert_eq!(record.workspace, None, "there is no workspace w");
}

#[test]
fn what_may_run_is_decided_about_once() {
    let bench = Bench::of(&[("a", "one\n")]);
    let request = let_in(ask(&bench, &engine(""), request(&bench, &["cat", "a"])));
    let decision = request.verdict.as_ref().map(|verdict| verdict.decision);
    assert_eq!(decision, Some(Decision::Allow));
    // Who has been let in is not asked again.
    let_in(ask(&bench, &never(), request));
    assert_eq!(bench.vault.execs(None, None, 9).unwrap(), []);
}

/// What is wrong with it otherwise is told by whoever takes it up.
#[test]
fn what_is_no_request_is_not_decided_about() {
    let bench = Bench::of(&[("a", "one\n")]);
    let outside = ExecutionRequest { cwd: Some("..".into()), ..request(&bench, &["cat", "a"]) };
    for request in [request(&bench, &[]), outside] {
        assert!(let_in(ask(&bench, &never(), request)).verdict.is_none());
    }
}
