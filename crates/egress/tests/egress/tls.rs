//! Looking into TLS: certificates on the fly, servers that are checked, and requests like any other.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use offshoot_egress::{EgressOptions, Inspection, NetRules, Refusal, Route};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};

use crate::support::{Client, Proxy, Server, echo_one};

/// A server of https with a certificate of its own for names.
pub(crate) fn https(names: &[&str]) -> (Server, Vec<u8>) {
    let key = KeyPair::generate().unwrap();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    let der = certificate.der().to_vec();
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .unwrap();
    let config = Arc::new(config);
    let server = Server::new(move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        while echo_one(&mut stream).is_some() {}
    });
    (server, der)
}

/// TLS to a server on a stream, trusting one certificate.
pub(crate) fn greet(
    stream: TcpStream,
    name: &str,
    trusted: CertificateDer<'static>,
) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let name = ServerName::try_from(name.to_owned()).unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
}

pub(crate) fn inspecting(options: &mut EgressOptions, trusted: &[u8]) {
    let hosts = NetRules::parse("a.test,b.test").unwrap();
    options.inspect = Some(Arc::new(Inspection::new(hosts).unwrap()));
    options.roots = Some(vec![trusted.to_vec()]);
}

/// The certificate of the proxy.
pub(crate) fn authority(proxy: &Proxy) -> CertificateDer<'static> {
    let inspect = proxy.inspect.as_ref().unwrap();
    CertificateDer::from_pem_slice(inspect.certificate().as_bytes()).unwrap()
}

/// A request on a stream; the whole answer.
pub(crate) fn ask(stream: &mut (impl Read + Write), host: &str, path: &str, more: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream.flush().unwrap();
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
    }
    let head = String::from_utf8(text).unwrap();
    let length = head.split("Content-Length: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

fn tunnel(proxy: &Proxy, to: &str) -> TcpStream {
    let mut client: Client = proxy.client();
    assert_eq!(client.tunnel(to), 200);
    client.stream
}

#[test]
fn without_an_authority_tls_goes_through_untouched() {
    let (server, trusted) = https(&["a.test"]);
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let mut stream = greet(tunnel(&proxy, &format!("a.test:{port}")), "a.test", trusted.into());
    let text = ask(&mut stream, &format!("a.test:{port}"), "/x", "");
    assert!(text.contains("GET /x HTTP/1.1"), "{text}");
    drop(stream);
    std::thread::sleep(std::time::Duration::from_millis(50));
    let report = proxy.finish();
    assert_eq!((report.connections.len(), &report.connections[0].path), (1, &None));
}

#[test]
fn with_an_authority_requests_are_looked_at() {
    let (server, trusted) = https(&["a.test"]);
    let port = server.port;
    let rules = format!(
        r#"[{{"host":"a.test:{port}","methods":["GET"],"paths":["/pub/*"]}},"{}"]"#,
        server.listed()
    );
    let proxy = Proxy::with("", |options, _| {
        options.rules = serde_json::from_str(&rules).unwrap();
        inspecting(options, &trusted);
    });
    let host = format!("a.test:{port}");
    let mut stream = greet(tunnel(&proxy, &host), "a.test", authority(&proxy));
    for path in ["/pub/1", "/pub/2"] {
        let text = ask(&mut stream, &host, path, "");
        assert!(
            text.starts_with("HTTP/1.1 200") && text.contains(&format!("GET {path} ")),
            "{text}"
        );
    }
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    assert!(ask(&mut stream, &host, "/private", "").starts_with("HTTP/1.1 403"));
    assert!(ask(&mut stream, "other.test", "/pub/1", "").starts_with("HTTP/1.1 403"));
    let report = proxy.finish();
    let told: Vec<_> = report
        .connections
        .iter()
        .map(|one| (one.route, one.path.as_deref().unwrap_or_default(), one.refusal.is_some()))
        .collect();
    let connect = Route::Connect;
    let expected = [
        (connect, "/pub/1", false),
        (connect, "/pub/2", false),
        (connect, "/private", true),
        (connect, "/pub/1", true),
    ];
    assert_eq!(told, expected);
    assert_eq!(server.connections.load(std::sync::atomic::Ordering::Relaxed), 1);
}

/// The others keep their own certificates, and what cannot be looked into cannot be held to paths.
#[test]
fn only_the_hosts_that_are_listed_are_looked_into() {
    let (server, trusted) = https(&["c.test", "d.test"]);
    let port = server.port;
    let rules = format!(
        r#"["c.test:{port}", {{"host":"d.test:{port}","paths":["/pub/*"]}}, "{}"]"#,
        server.listed()
    );
    let proxy = Proxy::with("", |options, _| {
        options.rules = serde_json::from_str(&rules).unwrap();
        inspecting(options, &trusted);
    });
    let host = format!("c.test:{port}");
    let mut stream = greet(tunnel(&proxy, &host), "c.test", trusted.clone().into());
    assert!(ask(&mut stream, &host, "/x", "").contains("GET /x HTTP/1.1"));
    let mut closed = Client { stream: tunnel(&proxy, &format!("d.test:{port}")) };
    assert_eq!(closed.send(crate::tunnels::greeting("d.test")).rest(), "");
    drop(stream);
    assert!(proxy.ends().iter().any(|end| end.2 == Some(Refusal::Opaque)));
}

#[test]
fn a_server_with_a_wrong_certificate_is_not_trusted() {
    let (server, _) = https(&["a.test"]);
    let (_, other) = https(&["a.test"]);
    let (wrong_name, trusted) = https(&["b.test"]);
    for (server, roots) in [(&server, &other), (&wrong_name, &trusted)] {
        let port = server.port;
        let proxy = Proxy::with(&format!("a.test:{port},{}", server.listed()), |options, _| {
            inspecting(options, roots);
        });
        let host = format!("a.test:{port}");
        let mut stream = greet(tunnel(&proxy, &host), "a.test", authority(&proxy));
        let text = ask(&mut stream, &host, "/", "Authorization: hush\r\n");
        assert!(text.starts_with("HTTP/1.1 502"), "{text}");
        let report = proxy.finish();
        assert!(matches!(report.connections[0].refusal, Some(Refusal::Upstream(_))), "{report:?}");
    }
}

#[test]
fn a_client_that_does_not_trust_the_authority_is_recorded() {
    let (server, trusted) = https(&["a.test"]);
    let port = server.port;
    let proxy = Proxy::with(&format!("a.test:{port},{}", server.listed()), |options, _| {
        inspecting(options, &trusted);
    });
    let stream = tunnel(&proxy, &format!("a.test:{port}"));
    let mut stream = greet(stream, "a.test", trusted.clone().into());
    assert!(stream.write_all(b"GET / HTTP/1.1\r\n\r\n").is_err() || stream.read(&mut [0]).is_err());
    drop(stream);
    crate::support::eventually("a record", || !proxy.egress().report().connections.is_empty());
    assert!(matches!(proxy.ends()[0].2, Some(Refusal::Malformed(_))));
}

#[test]
fn another_name_in_the_greeting_is_refused_with_an_authority_too() {
    let (server, trusted) = https(&["a.test", "b.test"]);
    let port = server.port;
    let proxy =
        Proxy::with(&format!("a.test:{port},b.test:{port},{}", server.listed()), |options, _| {
            inspecting(options, &trusted);
        });
    let mut client = Client { stream: tunnel(&proxy, &format!("a.test:{port}")) };
    assert_eq!(client.send(crate::tunnels::greeting("b.test")).rest(), "");
    assert!(matches!(proxy.ends()[0].2, Some(Refusal::Disagrees(_))));
}
