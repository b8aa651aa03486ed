//! Keys: where they go, and where not.

use offshoot_provider::{ApiKey, Endpoint, EndpointOptions, ErrorKind, Provider, Recorder};
use secrecy::SecretString;
use serde_json::json;

use crate::server::{Answer, Server};
use crate::support::{APIS, KEY, run};

#[test]
fn each_interface_has_its_header() {
    run(async {
        for api in &APIS {
            let server = Server::of(vec![Answer::events(api.stream)]).await;
            api.endpoint(&server).complete(&api.request()).await.unwrap();
            let seen = &server.seen()[0];
            let (name, value) = match api.provider {
                "anthropic" => ("x-api-key", KEY.to_owned()),
                "gemini" => ("x-goog-api-key", KEY.to_owned()),
                _ => ("authorization", format!("Bearer {KEY}")),
            };
            assert_eq!(seen.headers[name], value, "{}", api.provider);
            assert!(!seen.path.contains(KEY));
            let mut options = api.options(&server);
            options.key = None;
            Endpoint::new(options).unwrap().complete(&api.request()).await.unwrap();
            assert!(!server.seen()[1].headers.contains_key(name), "{}", api.provider);
        }
    });
}

#[test]
fn redirects_are_not_followed() {
    run(async {
        let other = Server::of(vec![Answer::events("")]).await;
        for status in [301, 302, 307, 308] {
            let answer = Answer::new(status, "text/html", "").header("location", &other.base());
            let server = Server::of(vec![answer]).await;
            let error = APIS[1].endpoint(&server).complete(&APIS[1].request()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BadRequest);
            assert!(error.to_string().contains(&other.base()), "{error}");
        }
        assert!(other.seen().is_empty());
    });
}

#[test]
fn no_error_and_no_record_has_a_key() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        for (number, api) in APIS.iter().enumerate() {
            let said = format!("Incorrect API key provided: {KEY}. {KEY}");
            let answers = vec![
                Answer::json(401, &json!({"error": {"message": said, "status": said}})),
                Answer::new(500, "text/plain", said.clone()),
                Answer::new(502, "text/html", format!("<title>{said}</title>")),
                Answer::events(format!("data: {{{said}\n\n")).header("request-id", KEY),
                Answer::new(307, "text/plain", "").header("location", &format!("http://x/{KEY}")),
            ];
            let count = answers.len();
            let server = Server::of(answers).await;
            let record = directory.path().join(format!("record-{number}"));
            let mut options = api.options(&server);
            options.recorder = Some(Recorder::create(&record).unwrap());
            let endpoint = Endpoint::new(options).unwrap();
            for _ in 0..count {
                let error = endpoint.complete(&api.request()).await.unwrap_err();
                assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
            }
            let text = std::fs::read_to_string(record).unwrap();
            assert!(text.contains("What is here?") && !text.contains(KEY), "{text}");
        }
    });
}

#[test]
fn a_key_is_not_given_away() {
    let options = |base: &str, key: bool, plain_http: bool| {
        let mut options = EndpointOptions::new("openai-chat");
        options.base = Some(base.to_owned());
        options.plain_http = plain_http;
        options.key = key.then(|| ApiKey::new(SecretString::from(KEY)).unwrap());
        Endpoint::new(options).err().map(|error| error.to_string())
    };
    assert!(options("http://192.0.2.1/v1", true, true).unwrap().contains("without TLS"));
    assert!(options("http://192.0.2.1/v1", false, false).unwrap().contains("in the clear"));
    assert_eq!(options("http://192.0.2.1/v1", false, true), None);
    assert_eq!(options("http://127.0.0.1/v1", true, false), None);
    let mut own = EndpointOptions::new("openai-chat");
    own.headers = vec![("Authorization".to_owned(), "Bearer x".to_owned())];
    assert!(Endpoint::new(own).err().unwrap().to_string().contains("has a credential"));
}
