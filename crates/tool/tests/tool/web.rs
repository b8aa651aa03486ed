//! Fetching pages, by the rules of the network proxy.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use serde_json::json;

use crate::support::{World, run};

/// A server on loopback that answers so many requests; `{port}` in an answer is its own.
fn server(answers: &[(&'static str, String)]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answers: Vec<_> = answers.to_vec();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                head.push(byte[0]);
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default();
            let found = answers.iter().find(|(at, _)| *at == path);
            let answer =
                found.map_or("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", |it| &it.1);
            let answer = answer.replace("{port}", &port.to_string());
            // A client that has enough goes away.
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    port
}

fn page(content_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

fn redirect(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
}

#[test]
fn an_allowed_page_is_read_as_text() {
    run(async {
        let html = "<h1>Title</h1><p>One &amp; two</p><script>no</script>";
        let port = server(&[
            ("/page", page("text/html; charset=utf-8", html)),
            ("/plain?q=1", page("text/plain", "<b>")),
            ("/image", page("image/png", "x")),
            ("/moved", redirect("/page")),
            ("/endless", redirect("/endless")),
            ("/away", redirect("http://127.0.0.2:{port}/page")),
            ("/name", redirect("http://elsewhere.example/")),
            ("/file", redirect("file:///etc/passwd")),
            ("/large", page("text/plain", &"x".repeat(3 << 20))),
        ]);
        let world = World::with(|host| host.hosts(vec![format!("127.0.0.1:{port}")]));
        let url = |path: &str| json!({"url": format!("http://127.0.0.1:{port}{path}")});
        let text = world.text("fetch_url", url("/page")).await;
        assert_eq!(text, format!("200 http://127.0.0.1:{port}/page\n\n# Title\n\nOne & two"));
        let raw = json!({"url": format!("http://127.0.0.1:{port}/page"), "raw": true});
        assert!(world.text("fetch_url", raw).await.ends_with("</script>"));
        assert!(world.text("fetch_url", url("/plain?q=1")).await.ends_with("<b>"));
        assert!(world.text("fetch_url", url("/moved")).await.contains("# Title"));
        assert!(world.refused("fetch_url", url("/image")).await.contains("image/png, and no text"));
        assert!(world.refused("fetch_url", url("/none")).await.starts_with("404 "));
        let endless = world.refused("fetch_url", url("/endless")).await;
        assert!(endless.contains("5 redirects"), "{endless}");
        let away = world.refused("fetch_url", url("/away")).await;
        assert!(away.contains("127.0.0.2") && away.contains("not allowed"), "{away}");
        let name = world.refused("fetch_url", url("/name")).await;
        let allows = "hint: a person allows it with --net allow=elsewhere.example";
        assert!(name.contains(allows), "{name}");
        let file = world.refused("fetch_url", url("/file")).await;
        assert!(file.contains("only http and https"), "{file}");
        let large = world.result("fetch_url", url("/large")).await;
        assert!(large.text.contains("there is more: the page is too long"), "{}", large.text.len());
        assert!(large.full.is_some());
    });
}

#[test]
fn nothing_is_reached_that_nobody_named() {
    run(async {
        let port = server(&[("/", page("text/plain", "secret"))]);
        let url = json!({"url": format!("http://127.0.0.1:{port}/")});
        let world = World::new();
        let text = world.refused("fetch_url", url.clone()).await;
        assert!(text.contains("is not allowed"), "{text}");
        // A range that holds all addresses lists none that is special.
        let world = World::with(|host| host.hosts(vec![format!("0.0.0.0/0:{port}")]));
        let text = world.refused("fetch_url", url).await;
        assert!(text.contains("leads to") && !text.contains("secret"), "{text}");
        let port = json!({"url": "http://127.0.0.1:1/"});
        let world = World::with(|host| host.hosts(vec!["127.0.0.1".to_owned()]));
        assert!(world.refused("fetch_url", port).await.contains("not allowed"), "the port counts");
        assert!(world.refused("fetch_url", json!({"url": "docs.rs"})).await.contains("https://"));
    });
}
