use std::os::unix::ffi::OsStringExt;

use offshoot_sandbox::Cancel;
use std::sync::Arc;

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
        network: Network::Host,
        driver: DriverChoice::Copy,
        verify: true,
        patch: true,
        wait: Some(Duration::MAX),
        keep: true,
        actor: Actor { user: "u".to_owned(), agent: Some("a".to_owned()), session: None },
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
        send(&mut sent, &Wanted::of(&request), b"behind\nit").unwrap();
        let mut from = &sent[..];
        let heard: Wanted = receive(&mut from).unwrap().unwrap();
        assert_eq!(bytes(&mut from, 9).unwrap(), b"behind\nit");
        assert_eq!(rest(heard.into_request().unwrap()), rest(request));
        assert!(receive::<Wanted>(&mut from).unwrap().is_none());
    }
}

#[test]
fn a_request_with_something_unknown_in_it_is_refused() {
    let mut wanted = serde_json::to_value(Wanted::of(&request())).unwrap();
    assert!(serde_json::from_value::<Wanted>(wanted.clone()).is_ok());
    let mut other = wanted.clone();
    other["never_write"] = true.into();
    assert!(serde_json::from_value::<Wanted>(other).is_err());
    wanted["place"] = serde_json::json!({"fork": {"from": null, "lifetime": null}});
    assert!(serde_json::from_value::<Wanted>(wanted.clone()).is_ok());
    wanted["place"]["fork"]["read_only"] = true.into();
    assert!(serde_json::from_value::<Wanted>(wanted).is_err());
}

#[test]
fn what_ends_in_the_middle_is_no_message() {
    assert!(receive::<Reply>(&mut &b"{\"sealing\""[..]).is_err());
    assert!(receive::<Reply>(&mut &b"\"sealing\""[..]).is_err());
    assert!(matches!(receive(&mut &b"\"sealing\"\n"[..]), Ok(Some(Reply::Sealing))));
    assert!(bytes(&mut &b"short"[..], 6).is_err());
    assert!(line(&mut &b"long line\n"[..], 4).is_err());
}
