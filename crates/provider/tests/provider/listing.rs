//! Which models a server has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use offshoot_provider::{
    Endpoint, EndpointOptions, ErrorKind, ModelCatalog, ModelId, Recorder, Replayer,
};
use serde_json::json;

use crate::server::{Answer, End, Server};
use crate::support::{APIS, KEY, run};

fn names(listed: &[ModelId]) -> Vec<&str> {
    listed.iter().map(ModelId::as_str).collect()
}

fn list() -> Answer {
    Answer::json(
        200,
        &json!({
            "data": [{"id": "one"}, {"other": "x"}, {"id": "two"}],
            "models": [{"name": "models/one"}, {"name": "two"}],
        }),
    )
}

#[test]
fn each_interface_lists_its_models() {
    run(async {
        for (api, path) in APIS.iter().zip([
            "/v1/models?limit=1000",
            "/models",
            "/models",
            "/v1beta/models?pageSize=1000",
        ]) {
            let server = Server::of(vec![list()]).await;
            let listed = api.endpoint(&server).models().await.unwrap();
            assert_eq!(names(&listed), ["one", "two"], "{}", api.provider);
            let seen = server.seen();
            assert_eq!((seen[0].method.as_str(), seen[0].path.as_str()), ("GET", path));
            assert!(!seen[0].headers.contains_key("content-type"));
            let keys = ["x-api-key", "authorization", "x-goog-api-key"];
            assert!(keys.iter().any(|name| seen[0].headers.contains_key(*name)));
            assert_eq!(
                seen[0].headers.contains_key("anthropic-version"),
                api.provider == "anthropic"
            );
            assert_eq!(seen.len(), 1);
        }
    });
}

#[test]
fn a_server_that_lists_to_anybody_is_asked_about_the_key() {
    run(async {
        let answers = |seen: &crate::server::Seen, _: usize| match seen.path.as_str() {
            "/key" if seen.headers.get("authorization").is_some_and(|key| key == "Bearer good") => {
                Answer::json(200, &json!({"data": {}}))
            }
            "/key" => Answer::json(401, &json!({"error": {"message": "no such key"}})),
            _ => list(),
        };
        let server = Server::new(answers).await;
        let base = server.base();
        let listed = |key: Option<&'static str>| {
            let catalog = Arc::new(ModelCatalog::built_in());
            let lookup = |_: &str| key.map(Into::into);
            let options = catalog.endpoint(&"openrouter".into(), Some(&base), lookup).unwrap();
            Endpoint::new(options).unwrap().models()
        };
        assert_eq!(names(&listed(Some("good")).await.unwrap()), ["one", "two"]);
        assert_eq!(listed(Some("bad")).await.unwrap_err().kind(), ErrorKind::Auth);
        assert!(listed(None).await.is_ok());
    });
}

#[test]
fn what_is_no_list_is_told_with_who_was_asked() {
    run(async {
        let api = &APIS[1];
        let said = format!("no key {KEY}");
        for (answer, kind, what) in [
            (Answer::json(401, &json!({"error": {"message": said}})), ErrorKind::Auth, "[key]"),
            (Answer::json(404, &json!({"error": "nothing here"})), ErrorKind::NotFound, "nothing"),
            (Answer::json(200, &json!({"data": 1})), ErrorKind::Protocol, "no list of models"),
            (Answer::new(200, "text/html", "<html>"), ErrorKind::Protocol, "is no JSON"),
            (list().end(End::Cut), ErrorKind::Network, ""),
        ] {
            let server = Server::of(vec![answer]).await;
            let error = api.endpoint(&server).models().await.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            let text = error.to_string();
            assert!(text.starts_with("openai-chat: ") && text.contains(what), "{text}");
            assert!(!text.contains(KEY), "{text}");
        }
        let mut options = EndpointOptions::new(api.provider);
        options.base = Some("http://127.0.0.1:1".to_owned());
        let error = Endpoint::new(options).unwrap().models().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Network);
    });
}

#[test]
fn a_server_that_hangs_is_not_waited_for() {
    run(async {
        let server = Server::of(vec![list().end(End::Hang)]).await;
        let mut options = APIS[1].options(&server);
        options.times.total = Some(Duration::from_millis(200));
        let started = Instant::now();
        let error = Endpoint::new(options).unwrap().models().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    });
}

#[test]
fn lists_are_recorded_and_replayed() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record");
        let server = Server::of(vec![list()]).await;
        let mut options = APIS[0].options(&server);
        options.recorder = Some(Recorder::create(&path).unwrap());
        Endpoint::new(options).unwrap().models().await.unwrap();
        let replayer = Replayer::open(&path).unwrap();
        let mut options = EndpointOptions::new(APIS[0].provider);
        options.transport = Some(Arc::new(replayer));
        let listed = Endpoint::new(options).unwrap().models().await.unwrap();
        assert_eq!(names(&listed), ["one", "two"]);
    });
}
