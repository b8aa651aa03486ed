//! Pages that the house fetches itself, through the same rules.

use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use offshoot_egress::{
    EgressOptions, NameLookup, NetRules, Page, PageError, PageRequest, Refusal, fetch_page,
};

use crate::support::{Names, Server};
use crate::tls::https;

fn fetch(rules: &str, names: &Arc<Names>, request: &PageRequest) -> Result<Page, PageError> {
    fetch_with(rules, names, request, |_| {})
}

fn fetch_with(
    rules: &str,
    names: &Arc<Names>,
    request: &PageRequest,
    change: impl FnOnce(&mut EgressOptions),
) -> Result<Page, PageError> {
    let mut options = EgressOptions::new(NetRules::parse(rules).unwrap());
    options.lookup = Arc::clone(names) as Arc<dyn NameLookup>;
    change(&mut options);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(fetch_page(options, request))
}

fn refusal(rules: &str, names: &Arc<Names>, url: &str) -> Refusal {
    match fetch(rules, names, &PageRequest::new(url)) {
        Err(PageError::Refused { refusal, .. }) => refusal,
        other => panic!("{url}: {other:?}"),
    }
}

#[test]
fn a_name_leads_to_no_private_address_whatever_the_resolver_says() {
    let names = Arc::new(Names::default());
    names.set("page.example", &[&["169.254.169.254"], &["93.184.216.34", "10.0.0.1"]]);
    for _ in 0..2 {
        let refused = refusal("page.example", &names, "https://page.example/");
        assert!(matches!(refused, Refusal::Address(_)), "{refused:?}");
    }
    let asked = names.asked.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(asked, 2, "each connection asks once");
    assert_eq!(refusal("other.example", &names, "http://page.example/"), Refusal::NotAllowed);
    assert_eq!(names.asked.load(std::sync::atomic::Ordering::Relaxed), asked, "nobody is asked");
}

#[test]
fn a_page_has_its_time() {
    // It accepts and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/");
    let request = PageRequest { time: Duration::from_millis(200), ..PageRequest::new(url) };
    let started = Instant::now();
    let error = fetch(&format!("127.0.0.1:{port}"), &Arc::default(), &request);
    assert!(matches!(error, Err(PageError::Time(_))), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn the_certificate_of_a_server_is_checked() {
    let (server, certificate) = https(&["a.test"]);
    let (_, other) = https(&["a.test"]);
    let port = server.at.port();
    let rules = format!("a.test:{port},127.0.0.1:{port}");
    let request = PageRequest::new(format!("https://a.test:{port}/path"));
    let with = |roots: Vec<u8>| {
        fetch_with(&rules, &Arc::default(), &request, |options| options.roots = Some(vec![roots]))
    };
    let page = with(certificate).unwrap();
    assert_eq!((page.status, page.url), (200, request.url.clone()));
    match with(other) {
        Err(PageError::Refused { refusal: Refusal::Upstream(_), .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_more_of_a_page_is_read_than_is_wanted() {
    let server = Server::new(|mut stream| {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut sent = stream.write_all(head);
        // It never ends by itself.
        while sent.is_ok() {
            sent = stream.write_all(b"5\r\nhello\r\n");
        }
    });
    let port = server.at.port();
    let request = PageRequest { most: 12, ..PageRequest::new(format!("http://127.0.0.1:{port}/")) };
    let page = fetch(&format!("127.0.0.1:{port}"), &Arc::default(), &request).unwrap();
    assert_eq!((&*page.body, page.is_cut), (&b"hellohellohe"[..], true));
}
