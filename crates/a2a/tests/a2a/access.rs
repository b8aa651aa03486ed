//! Who may ask: tokens, hosts, origins, revisions, extensions, and the card.

use std::net::SocketAddr;
use std::sync::Arc;

use offshoot_a2a::{
    A2aAccess, A2aCard, A2aClient, A2aClientError, A2aClientOptions, A2aCode, A2aExtension,
    A2aMemoryTasks, A2aServer, A2aServerError, A2aServerOptions, A2aSkill, CARD_PATH,
};
use serde_json::json;

use crate::bench::{Actor, Bench, OTHER, TOKEN, card, options, quick, say, sent};
use crate::raw::{request, usual};

#[tokio::test]
async fn only_those_with_a_token_may_ask() {
    let bench = Bench::new().await;
    for line in [
        "POST /a2a/rpc",
        "GET /a2a/rest/tasks",
        "GET /a2a/rest/extendedAgentCard",
        "GET /anything",
        "POST /",
    ] {
        for token in [
            None,
            Some(""),
            Some("wrong"),
            Some("token-of-the-teste"),
            Some("token-of-the-tester2"),
        ] {
            let mut headers =
                vec![format!("host: {}", bench.address), "a2a-version: 1.0".to_owned()];
            headers.extend(token.map(|token| format!("authorization: Bearer {token}")));
            let raw = request(bench.address, line, &headers, b"{}").await;
            assert_eq!(raw.status, 401, "{line} {token:?}");
            assert_eq!(raw.header("www-authenticate"), Some("Bearer"));
        }
    }
    let client = A2aClient::connect(&bench.url(), quick("not-a-token-of-anybody")).await.unwrap();
    let refused = client.send(say("echo")).await.unwrap_err().to_string();
    assert!(refused.contains("401") && refused.contains("token"), "{refused}");
}

#[tokio::test]
async fn names_and_origins_are_checked() {
    let bench = Bench::new().await;
    let port = bench.address.port();
    let status = async |headers: &[String]| {
        request(bench.address, "GET /.well-known/agent-card.json", headers, b"").await.status
    };
    assert_eq!(status(&[format!("host: localhost:{port}")]).await, 200);
    for host in ["host: evil.example", "host: 127.0.0.1:1", "x: y", "host: a\r\nhost: localhost"] {
        assert!([400, 403].contains(&status(&[host.to_owned()]).await), "{host}");
    }
    let host = format!("host: {}", bench.address);
    let from = |origin: &str| [host.clone(), format!("origin: {origin}")];
    assert_eq!(status(&from(&format!("http://127.0.0.1:{port}"))).await, 200);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        assert_eq!(status(&from(origin)).await, 403, "{origin}");
    }
}

#[tokio::test]
async fn the_card_has_a_tag() {
    let bench = Bench::new().await;
    let host = format!("host: {}", bench.address);
    let line = format!("GET {CARD_PATH}");
    let raw = request(bench.address, &line, std::slice::from_ref(&host), b"").await;
    assert_eq!(raw.status, 200);
    let tag = raw.header("etag").unwrap().to_owned();
    assert!(raw.header("cache-control").unwrap().starts_with("max-age="));
    let told = raw.json();
    assert_eq!(told["supportedInterfaces"][0]["protocolBinding"], "JSONRPC");
    assert_eq!(told["supportedInterfaces"][1]["protocolVersion"], "1.0");
    assert_eq!(told["capabilities"]["streaming"], true);
    assert_eq!(told["capabilities"]["pushNotifications"], false);
    assert_eq!(told["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"], "Bearer");
    assert_eq!(told["securityRequirements"], json!([{"schemes": {"bearer": {"list": []}}}]));
    for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
        let headers = [host.clone(), format!("if-none-match: {known}")];
        let raw = request(bench.address, &line, &headers, b"").await;
        assert_eq!((raw.status, raw.body.as_str()), (304, ""), "{known}");
    }
    let headers = [host.clone(), "if-none-match: \"x\"".to_owned()];
    assert_eq!(request(bench.address, &line, &headers, b"").await.status, 200);
    let line = format!("POST {CARD_PATH}");
    assert_eq!(request(bench.address, &line, &[host], b"").await.status, 405);
    let mut client = bench.client().await;
    assert!(!client.refresh().await.unwrap());
}

#[tokio::test]
async fn the_extended_card_is_for_those_whom_the_server_knows() {
    let mut with = options();
    let skill = A2aSkill { id: "s".into(), name: "secret".into(), ..A2aSkill::default() };
    with.extended_card = Some(card().with_skill(skill.clone()));
    let bench = Bench::with(with).await;
    for client in bench.both().await {
        assert_eq!(client.card().capabilities.extended_agent_card, Some(true));
        assert!(client.card().skills.is_empty());
        let extended = client.extended_card().await.unwrap();
        assert_eq!(extended.skills, std::slice::from_ref(&skill));
        assert_eq!(extended.supported_interfaces, bench.card.supported_interfaces);
    }
    // Where nobody shows a token nobody is known.
    let mut open = A2aServerOptions::loopback(A2aAccess::Open);
    open.extended_card = Some(card().with_skill(skill));
    let bench = Bench::with(open).await;
    let client = A2aClient::connect(&bench.url(), A2aClientOptions::default()).await.unwrap();
    assert_eq!(client.card().capabilities.extended_agent_card, Some(false));
    assert!(client.extended_card().await.is_err());
    assert!(client.card().security_requirements.is_empty());
    sent(&client, "echo").await;
}

#[tokio::test]
async fn the_revision_has_to_be_known() {
    let bench = Bench::new().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}).to_string();
    for (version, is_ok) in [
        (Some("1.0"), true),
        (Some(""), false),
        (None, false),
        (Some("0.3"), false),
        (Some("2.0"), false),
        (Some("1.0.0"), false),
        (Some("x"), false),
    ] {
        let mut headers = usual(bench.address);
        headers.retain(|header| !header.starts_with("a2a-version"));
        headers.extend(version.map(|version| format!("A2A-Version: {version}")));
        let raw = request(bench.address, "POST /a2a/rpc", &headers, body.as_bytes()).await;
        assert_eq!(raw.status, 200);
        let rest = request(bench.address, "GET /a2a/rest/tasks", &headers, b"").await;
        if is_ok {
            assert!(raw.json()["result"]["tasks"].is_array(), "{version:?}");
            assert_eq!(rest.status, 200);
        } else {
            assert_eq!(raw.code(), -32009, "{version:?}");
            let told = rest.json();
            assert_eq!((rest.status, &told["error"]["code"]), (400, &json!(400)));
            assert_eq!(told["error"]["details"][0]["reason"], "VERSION_NOT_SUPPORTED");
        }
    }
    let mut headers = usual(bench.address);
    headers.retain(|header| !header.starts_with("a2a-version"));
    let line = "GET /a2a/rest/tasks?A2A-Version=1.0&pageSize=3";
    assert_eq!(request(bench.address, line, &headers, b"").await.status, 200);
}

#[tokio::test]
async fn extensions_that_are_required_have_to_be_known() {
    let mut card = card();
    card.capabilities.extensions.push(A2aExtension {
        uri: "https://example.com/x/v1".to_owned(),
        required: true,
        ..A2aExtension::default()
    });
    let store = Arc::new(A2aMemoryTasks::default());
    let server = A2aServer::bind(options(), card, Actor::default(), store).await.unwrap();
    let url = format!("http://{}", server.address());
    let over = tokio_util::sync::CancellationToken::new();
    let serving = tokio::spawn(server.serve(over.clone()));
    let client = A2aClient::connect(&url, quick(TOKEN)).await.unwrap();
    let Err(A2aClientError::Fault(fault)) = client.send(say("echo")).await else { panic!() };
    assert_eq!(fault.code, A2aCode::ExtensionSupportRequired);
    assert_eq!(fault.details["uri"], "https://example.com/x/v1");
    let mut knows = quick(OTHER);
    knows.extensions = vec!["urn:y".to_owned(), "https://example.com/x/v1".to_owned()];
    sent(&A2aClient::connect(&url, knows).await.unwrap(), "echo").await;
    over.cancel();
    serving.await.unwrap();
}

#[tokio::test]
async fn other_machines_are_let_in_only_if_that_is_meant() {
    let store = Arc::new(A2aMemoryTasks::default());
    let anywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let bind = async |options: A2aServerOptions| {
        let card = A2aCard::new("a", "b", "1");
        A2aServer::bind(options, card, Actor::default(), store.clone()).await.err()
    };
    let mut wide = options();
    wide.address = anywhere;
    assert!(matches!(bind(wide).await, Some(A2aServerError::NotLoopback { .. })));
    let mut open = A2aServerOptions::loopback(A2aAccess::Open);
    open.address = anywhere;
    open.listen_anywhere = true;
    assert!(matches!(bind(open).await, Some(A2aServerError::OpenAnywhere { .. })));
    let short = A2aServerOptions::loopback(A2aAccess::tokens([("a", "short")]));
    assert!(matches!(bind(short).await, Some(A2aServerError::Token { .. })));
}

#[tokio::test]
async fn the_card_tells_the_address_that_clients_use() {
    let mut proxied = options();
    proxied.public_url = Some("https://agent.example/base/".to_owned());
    let bench = Bench::with(proxied).await;
    let told = &bench.card.supported_interfaces;
    assert_eq!(told[0].url, "https://agent.example/base/a2a/rpc");
    assert_eq!(told[1].url, "https://agent.example/base/a2a/rest");
}
