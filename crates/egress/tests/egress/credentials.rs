//! Headers that the command never holds: for their host, over https, and in no report.

use std::sync::{Arc, Mutex};

use offshoot_egress::{Credential, Credentials, Host, Secret};

use crate::support::{Proxy, Server};
use crate::tls::{ask, authority, greet, https, inspecting};

pub(crate) const HUSH: &str = "Bearer hush-hush";

pub(crate) fn credential(host: &str, plain_http: bool) -> Credentials {
    let host = Host::parse(host).unwrap();
    let header = "authorization".to_owned();
    let value = Secret::new(HUSH);
    Credentials::new(vec![Credential { host, port: None, header, value, plain_http }]).unwrap()
}

#[test]
fn a_credential_replaces_what_the_command_sends_and_stays_with_its_host() {
    let (server, trusted) = https(&["a.test", "b.test"]);
    let port = server.port;
    let told = Arc::new(Mutex::new(String::new()));
    let proxy =
        Proxy::with(&format!("a.test:{port},b.test:{port},{}", server.listed()), |options, _| {
            inspecting(options, &trusted);
            options.credentials = credential("a.test", false);
            let told = Arc::clone(&told);
            options.listener = Some(Arc::new(move |connection| {
                told.lock().unwrap().push_str(&format!("{connection:?}"));
            }));
            assert!(!format!("{options:?}").contains("hush"));
        });
    for (name, expected) in [("a.test", true), ("b.test", false)] {
        let mut client = proxy.client();
        assert_eq!(client.tunnel(&format!("{name}:{port}")), 200);
        let mut stream = greet(client.stream, name, authority(&proxy));
        let text = ask(&mut stream, &format!("{name}:{port}"), "/", "AUTHORIZATION: mine\r\n");
        assert_eq!(text.contains(HUSH), expected, "{text}");
        assert_eq!(text.contains("mine"), !expected, "{text}");
    }
    let report = proxy.finish();
    assert_eq!(report.connections.len(), 2);
    assert!(!format!("{report:?}").contains("hush"));
    assert!(!serde_json::to_string(&report).unwrap().contains("hush"));
    let told = told.lock().unwrap();
    assert!(told.contains("a.test") && !told.contains("hush"), "{told}");
}

#[test]
fn no_credential_is_sent_in_plain_text_unasked() {
    let server = Server::echo();
    let port = server.port;
    for plain_http in [false, true] {
        let proxy = Proxy::with(&format!("a.test:{port},{}", server.listed()), |options, _| {
            options.credentials = credential("a.test", plain_http);
        });
        let (status, text) = proxy.client().get(&format!("http://a.test:{port}/"));
        assert_eq!(status, 200);
        assert_eq!(text.contains(HUSH), plain_http, "{text}");
    }
}

#[test]
fn plain_requests_go_on_as_https_where_a_rule_says_so() {
    let (server, trusted) = https(&["a.test"]);
    let port = server.port;
    let rules = format!(r#"[{{"host":"a.test:{port}","upgrade":true}},"{}"]"#, server.listed());
    let proxy = Proxy::with("", |options, _| {
        options.rules = serde_json::from_str(&rules).unwrap();
        options.roots = Some(vec![trusted.clone()]);
        options.credentials = credential("a.test", false);
    });
    let mut client = proxy.client();
    for _ in 0..2 {
        let (status, text) = client.get(&format!("http://a.test:{port}/x"));
        assert_eq!(status, 200, "{text}");
        assert!(text.starts_with("GET /x HTTP/1.1") && text.contains(HUSH), "{text}");
    }
    // In a tunnel too, on the connection that was made for it.
    let mut client = proxy.client();
    assert_eq!(client.tunnel(&format!("a.test:{port}")), 200);
    client.send(format!("GET /y HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n"));
    assert!(client.answer().1.contains(HUSH));
    assert_eq!(server.connections.load(std::sync::atomic::Ordering::Relaxed), 2);
    drop(client);
    assert!(!format!("{:?}", proxy.finish()).contains("hush"));
}
