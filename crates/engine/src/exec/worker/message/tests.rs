use std::os::unix::ffi::OsStringExt;

use std::sync::Arc;
use std::time::Duration;

use offshoot_protocol::{CheckpointMode, DriverChoice, Network};
use offshoot_sandbox::{Cancel, Stdin};
use offshoot_vault::CallKey;
use offshoot_workspace::{
    ApprovalWait, CommandLine, ExecutionRequest, ExecutionTimeout, ExecutionWorkspace,
};

use super::*;

fn odd() -> OsString {
    OsString::from_vec(b"odd \xff\n\"name\"".to_vec())
}

fn request() -> ExecutionRequest {
    ExecutionRequest {
        id: Id::random(),
        command: CommandLine::Argv(vec!["echo".into(), odd()]),
        cwd: Some(PathBuf::from(odd())),
        environment: vec![("NAME".into(), odd()), (odd(), "value".into())],
        set_by_caller: vec![odd()],
        stdin: Stdin::Bytes(b"not a part of it".to_vec()),
        has_stdin: true,
        terminal: None,
        mark_prompt: true,
        session: true,
        joins: true,
        record: true,
        timeout: ExecutionTimeout::Millis(u64::MAX),
        read_only: true,
        place: ExecutionWorkspace::Fork {
            from: Some("head".to_owned()),
            lifetime: Some(Duration::MAX),
        },
        checkpoint: CheckpointMode::Never,
        network: Some(Network::Proxy),
        allow: vec!["example.com:8443".to_owned()],
        sandbox: Some("strict".to_owned()),
        preset: Some("claude".to_owned()),
        show: vec!["/data".into()],
        driver: DriverChoice::Copy,
        verify: true,
        patch: true,
        wait: Some(Duration::MAX),
        keep: true,
        wait_approval: ApprovalWait::Forever,
        actor: Actor { user: "u".to_owned(), agent: Some("a".to_owned()), session: None },
        call: Some(CallKey { session: Id::random(), call: "call-1".to_owned() }),
        cancel: Some(Arc::new(Cancel::new().unwrap())),
    }
}

/// Everything but what it reads and who ends it.
fn rest(mut request: ExecutionRequest) -> String {
    request.stdin = Stdin::Empty;
    request.has_stdin = false;
    request.cancel = None;
    format!("{request:?}")
}

#[test]
fn requests_arrive_as_they_were_sent() {
    let mut other = request();
    other.command = CommandLine::Shell(odd());
    other.place = ExecutionWorkspace::Workspace("w".to_owned());
    other.timeout = ExecutionTimeout::None;
    (other.mark_prompt, other.session, other.joins, other.record) = (false, false, false, false);
    (other.read_only, other.verify, other.patch, other.keep) = (false, false, false, false);
    (other.cwd, other.wait) = (None, None);
    for request in [request(), other] {
        let mut sent = Vec::new();
        send(&mut sent, &StoredRequest::of(&request), b"behind\nit").unwrap();
        let mut from = &sent[..];
        let heard: StoredRequest = receive(&mut from, u64::MAX).unwrap().unwrap();
        assert_eq!(bytes(&mut from, 9).unwrap(), b"behind\nit");
        assert_eq!(rest(heard.into_request().unwrap()), rest(request));
        assert!(receive::<StoredRequest>(&mut from, u64::MAX).unwrap().is_none());
    }
}

/// Everything that a host says, as JSON.
fn said() -> Value {
    let text = |bytes: &[u8]| Text::new(bytes);
    let request = Request {
        version: VERSION,
        engine: Engine {
            directory: Some(text(b"/\xff")),
            registry: text(b"/registry"),
            overrides: vec!["exec.net=none".to_owned()],
            lenient_settings: true,
            open_files: Some(7),
            frees_space: true,
            actor: request().actor,
        },
        vault: VaultPlace { id: Id::random(), name: "v".to_owned(), directory: text(b"/v") },
        rules: vec![text(b"/plain"), text(b"/\xff")],
        caches: true,
        input: Input::Bytes(1),
        exec: StoredRequest::of(&request()),
    };
    serde_json::to_value(request).unwrap()
}

#[test]
fn a_request_with_something_unknown_in_it_is_refused() {
    let parse = |said: &Value| Request::parse(&serde_json::to_vec(said).unwrap());
    assert!(parse(&said()).is_ok(), "{:?}", parse(&said()));
    for place in [
        "",
        "/engine",
        "/engine/actor",
        "/engine/directory",
        "/vault",
        "/rules/1",
        "/exec",
        "/exec/actor",
        "/exec/command/argv/1",
        "/exec/cwd",
        "/exec/environment/0/1",
        "/exec/set_by_caller/0",
        "/exec/place/fork",
        "/exec/place/fork/lifetime",
        "/exec/wait",
    ] {
        let mut said = said();
        said.pointer_mut(place).unwrap()["never_write"] = true.into();
        let refused = parse(&said).unwrap_err();
        assert!(refused.contains("never_write"), "{place}: {refused}");
    }
}

#[test]
fn what_ends_in_the_middle_is_no_message() {
    assert!(receive::<Reply>(&mut &b"{\"sealing\""[..], 100).is_err());
    assert!(receive::<Reply>(&mut &b"\"sealing\""[..], 100).is_err());
    assert!(matches!(receive(&mut &b"\"sealing\"\n"[..], 100), Ok(Some(Reply::Sealing))));
    assert!(bytes(&mut &b"short"[..], 6).is_err());
    let longer = line(&mut &b"long line\n"[..], 4).unwrap_err();
    assert_eq!(longer.to_string(), "the line is longer than 4 bytes");
    assert!(line(&mut &b"long line\n"[..], 10).is_ok());
}
