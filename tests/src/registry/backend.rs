//! Git repositories over HTTP, by the program that git has for web servers.

use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// The whole answer to a request below `/git/`.
pub(super) fn answer(head: &str, body: &mut impl BufRead, repositories: &Path) -> Vec<u8> {
    let header = |name: &str| {
        head.lines().find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let mut words = head.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let content = content(body, header("content-length"), header("transfer-encoding"));
    let mut backend = Command::new("git");
    backend.arg("http-backend").env("GIT_HTTP_EXPORT_ALL", "1");
    backend.env("GIT_PROJECT_ROOT", repositories).env("REQUEST_METHOD", method);
    backend.env("PATH_INFO", path.trim_start_matches("/git")).env("QUERY_STRING", query);
    // The repositories may be somebody else's by now.
    backend.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "safe.directory");
    backend.env("GIT_CONFIG_VALUE_0", "*").env("CONTENT_LENGTH", content.len().to_string());
    for (name, header_name) in [
        ("CONTENT_TYPE", "content-type"),
        ("HTTP_CONTENT_ENCODING", "content-encoding"),
        ("GIT_PROTOCOL", "git-protocol"),
    ] {
        backend.envs(header(header_name).map(|value| (name, value)));
    }
    let backend = backend.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut backend = backend.expect("git runs");
    let mut input = backend.stdin.take().expect("it is piped");
    // It says itself what is wrong with what it was sent.
    drop(input.write_all(&content));
    drop(input);
    let said = backend.wait_with_output().expect("git ends").stdout;
    let status =
        said.strip_prefix(b"Status: ").map(|rest| rest.split(|byte| *byte == b'\r').next());
    let status = status.flatten().unwrap_or(b"200 OK");
    [b"HTTP/1.1 ", status, b"\r\nConnection: close\r\n", &said].concat()
}

fn content(body: &mut impl BufRead, length: Option<String>, coding: Option<String>) -> Vec<u8> {
    let mut content = Vec::new();
    if coding.is_some() {
        loop {
            let mut size = String::new();
            let Ok(1..) = body.read_line(&mut size) else { return content };
            let size = u64::from_str_radix(size.trim(), 16).expect("a size");
            body.take(size).read_to_end(&mut content).expect("a chunk");
            body.read_line(&mut String::new()).expect("the end of a chunk");
            if size == 0 {
                return content;
            }
        }
    }
    let length = length.map_or(0, |length| length.parse().expect("a length"));
    body.take(length).read_to_end(&mut content).expect("a body");
    content
}
