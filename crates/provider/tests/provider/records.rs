//! Records, and answers from them.

use std::sync::Arc;

use offshoot_provider::{
    Block, Endpoint, EndpointOptions, ErrorKind, Message, Provider, Recorder, Replayer,
};

use crate::server::{Answer, End, Server};
use crate::support::{APIS, Api, events, run};

fn replaying(api: &Api, replayer: &Replayer) -> Endpoint {
    let mut options = EndpointOptions::new(api.provider);
    options.transport = Some(Arc::new(replayer.clone()));
    Endpoint::new(options).unwrap()
}

#[test]
fn a_record_is_replayed_exactly() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        for api in &APIS {
            let mut pieces = Answer::events("");
            // Pieces that end within a character are kept as bytes.
            pieces.pieces =
                api.stream.as_bytes().chunks(7).map(bytes::Bytes::copy_from_slice).collect();
            let broken = Answer::events(api.stream.split_at(400).0).end(End::Cut);
            let limited = Answer::new(429, "text/plain", "slow").header("retry-after", "7");
            let server = Server::of(vec![pieces, broken, limited]).await;
            let path = directory.path().join(api.provider);
            let mut options = api.options(&server);
            options.recorder = Some(Recorder::create(&path).unwrap());
            let endpoint = Endpoint::new(options).unwrap();
            let mut recorded = Vec::new();
            for _ in 0..3 {
                recorded.push(events(&endpoint, &api.request()).await);
            }
            assert!(recorded[1].1.is_some() && recorded[2].1.is_some());
            let replayer = Replayer::open(&path).unwrap();
            let endpoint = replaying(api, &replayer);
            for expected in recorded {
                assert_eq!(events(&endpoint, &api.request()).await, expected, "{}", api.provider);
            }
            assert_eq!(replayer.left(), 0);
            let (_, error) = events(&endpoint, &api.request()).await;
            assert!(error.unwrap().to_string().contains("all recorded requests were asked"));
            assert!(Recorder::create(&path).is_err(), "a record is not written over");
        }
    });
}

#[test]
fn a_request_that_was_not_recorded_is_told() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record");
        let api = &APIS[1];
        let server = Server::of(vec![Answer::events(api.stream)]).await;
        let mut options = api.options(&server);
        options.recorder = Some(Recorder::create(&path).unwrap());
        Endpoint::new(options).unwrap().complete(&api.request()).await.unwrap();
        let replayer = Replayer::open(&path).unwrap();
        let mut other = api.request();
        other.messages[0] = Message::user([Block::text("What else?")]);
        let error = replaying(api, &replayer).complete(&other).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest);
        let text = error.to_string();
        assert!(text.contains("at /messages/1/content, the request has \"What else?\""), "{text}");
        assert!(text.contains("the recorded one (0) \"What is here?\""), "{text}");
        let error = replaying(&APIS[0], &replayer).complete(&APIS[0].request()).await.unwrap_err();
        assert!(
            error.to_string().contains("to POST /v1/messages, the recorded one (0) to POST /chat"),
            "{error}"
        );
        assert_eq!(replayer.left(), 1);
    });
}

#[test]
fn a_stream_that_was_dropped_has_no_end() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record");
        let api = &APIS[1];
        let first: String = api.stream.split_inclusive("\n\n").take(5).collect();
        let server = Server::of(vec![Answer::events(first).end(End::Hang)]).await;
        let mut options = api.options(&server);
        options.recorder = Some(Recorder::create(&path).unwrap());
        let endpoint = Endpoint::new(options).unwrap();
        let mut stream = endpoint.stream(&api.request());
        futures::StreamExt::next(&mut stream).await.unwrap().unwrap();
        drop(stream);
        let replayer = Replayer::open(&path).unwrap();
        let (events, error) = events(&replaying(api, &replayer), &api.request()).await;
        assert!(!events.is_empty());
        assert!(error.unwrap().to_string().contains("the recorded caller did not read on"));
    });
}

#[test]
fn what_is_no_record_is_told() {
    for (text, what) in [
        ("", "it is empty"),
        ("{}", "has no version"),
        ("{\"offshoot_provider_record\":2}", "version 2 is not known"),
        ("{\"offshoot_provider_record\":1}\nx", "line 2 cannot be read"),
        ("{\"offshoot_provider_record\":1}\n{\"n\":0,\"x\":1}", "unknown field"),
        ("{\"offshoot_provider_record\":1}\n{\"chunk\":\"x\"}", "names no exchange"),
        ("{\"offshoot_provider_record\":1}\n{\"n\":4,\"chunk\":\"x\"}", "without a request"),
    ] {
        let error = Replayer::parse(text).err().unwrap();
        assert!(error.to_string().contains(what), "{error}");
    }
}
