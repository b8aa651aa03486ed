//! What is read, and what is refused since somebody could read it differently.

use super::*;

fn request(text: &str) -> Result<Request, &'static str> {
    parse_request(text.as_bytes())
}

#[test]
fn ordinary_requests_are_read() {
    let head = request("GET http://A.test:8080/x?y HTTP/1.1\r\nHost: a.test:8080\r\nX: 1\r\n\r\n")
        .unwrap();
    assert_eq!(head.form, Form::Absolute { host: Host::parse("a.test").unwrap(), port: 8080 });
    assert_eq!((head.method.as_str(), head.path.as_str()), ("GET", "/x?y"));
    assert_eq!(head.headers, [("X".to_owned(), b"1".to_vec())]);
    assert_eq!(head.framing, Framing::Empty);
    assert!(!head.last && !head.old);

    let head = request(
        "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nConnection: close, X\r\nX: 1\r\n\r\n",
    );
    let head = head.unwrap();
    assert_eq!((head.form, head.framing), (Form::Origin, Framing::Length(5)));
    assert!(head.last && head.headers.is_empty());

    let head = request("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n").unwrap();
    assert_eq!(head.form, Form::Authority { host: Host::parse("a.test").unwrap(), port: 443 });

    let head = request("GET http://a.test?q HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!(head.path, "/?q");
    assert!(head.old && head.last);

    let head = request(
        "GET / HTTP/1.1\r\nHost: [::1]:80\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    assert!(head.unwrap().websocket);
    let head = request("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
        .unwrap();
    assert!(!head.websocket && head.headers.is_empty());
}

#[test]
fn smuggling_is_refused() {
    for headers in [
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n",
        "Content-Length: 1\r\nContent-Length: 1\r\n",
        "Content-Length: 1\r\ncontent-length: 2\r\n",
        "Content-Length: 1, 1\r\n",
        "Content-Length: +1\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 0x1\r\n",
        "Content-Length: \r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length : 1\r\n",
        "Content-Length\t: 1\r\n",
        " Content-Length: 1\r\n",
        "X: a\r\n b\r\n",
        "X: a\r\n\tb\r\n",
        "X: a\nY: b\r\n",
        "X: a\rY: b\r\n",
        "X: a\0\r\n",
        "X\r\n",
        ": x\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding:\u{b}chunked\r\n",
        "Host: b.test\r\n",
    ] {
        let text = format!("POST / HTTP/1.1\r\nHost: a.test\r\n{headers}\r\n");
        assert!(request(&text).is_err(), "{headers:?}");
    }
    let chunked = "POST / HTTP/1.0\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert!(request(chunked).is_err());
}

#[test]
fn odd_first_lines_are_refused() {
    for first in [
        "GET / HTTP/2.0",
        "GET /  HTTP/1.1",
        "GET\t/ HTTP/1.1",
        " GET / HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET /",
        "GET",
        "",
        "GET a.test HTTP/1.1",
        "GET https://a.test/ HTTP/1.1",
        "GET ftp://a.test/ HTTP/1.1",
        "GET http://u@a.test/ HTTP/1.1",
        "GET http://a.test@b.test/ HTTP/1.1",
        "GET http:///x HTTP/1.1",
        "GET http://127.1/ HTTP/1.1",
        "GET http://0x7f000001/ HTTP/1.1",
        "GET http://a.test:0/ HTTP/1.1",
        "GET http://a.test#b HTTP/1.1",
        "GET http://a.test\\@b.test/ HTTP/1.1",
        "CONNECT a.test HTTP/1.1",
        "CONNECT /x HTTP/1.1",
        "CONNECT http://a.test:80 HTTP/1.1",
        "GET * HTTP/1.1",
        "G(T / HTTP/1.1",
    ] {
        assert!(request(&format!("{first}\r\nHost: a.test\r\n\r\n")).is_err(), "{first:?}");
    }
    assert!(request("GET / HTTP/1.1\r\n\r\n").is_err(), "no Host");
    assert!(request("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").is_err(), "empty line before");
    assert!(request("GET / HTTP/1.1\r\nHost: a\r\n\r\nmore").is_err(), "more behind");
}

#[test]
fn too_many_headers_are_refused() {
    let headers = "X: y\r\n".repeat(HEADERS);
    assert_eq!(request(&format!("GET / HTTP/1.1\r\nHost: a\r\n{headers}\r\n")), Err(TOO_MANY));
}

#[test]
fn the_end_is_found_however_it_comes() {
    let text = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nrest";
    let end = text.len() - 4;
    let mut searched = 0;
    for length in 0..=text.len() {
        let found = end_of_head(&text[..length], searched).unwrap();
        assert_eq!(found, (length >= end).then_some(end), "{length}");
        if found.is_none() {
            searched = length;
        }
    }
    assert!(end_of_head(b"GET /\n", 0).is_err());
    assert!(end_of_head(b"\n", 0).is_err());
}

#[test]
fn answers_are_read() {
    let head = parse_response(
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX: y\r\nConnection: close\r\n\r\n",
    )
    .unwrap();
    assert_eq!((head.status, head.length, head.chunked, head.last), (200, Some(3), false, true));
    assert_eq!(head.headers, [("X".to_owned(), b"y".to_vec())]);
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
        "HTTP/1.1 999 OK\r\n\r\n",
        "SSH-2.0-x\r\n\r\n",
    ] {
        assert!(parse_response(text.as_bytes()).is_err(), "{text}");
    }
}
