//! Programs as people have them: curl, git and Python through the proxy.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use offshoot_egress::Route;
use offshoot_needs::needs;

use crate::support::{Proxy, Server, ok, read_request};
use crate::tls::{https, inspecting};

/// A program that uses the proxy as its environment says, and nothing of whoever runs the tests.
fn program(name: &str, proxy: &Proxy) -> Command {
    let mut command = Command::new(name);
    let url = format!("http://{}", proxy.at);
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    for variable in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy"] {
        command.env(variable, &url);
    }
    command
}

fn run(command: &mut Command) -> (bool, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    (status.success(), text)
}

#[needs("curl")]
#[test]
fn curl_by_every_door() {
    let server = Server::answering(|head| ok(head.lines().next().unwrap()));
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let url = format!("http://a.test:{port}/x");
    let (good, text) = run(program("curl", &proxy).args(["-sS", &url]));
    assert!(good && text == "GET /x HTTP/1.1", "{text}");
    let (good, text) = run(program("curl", &proxy).args(["-sS", "--proxytunnel", &url]));
    assert!(good && text == "GET /x HTTP/1.1", "{text}");
    let socks = format!("socks5h://{}", proxy.at);
    let (good, text) = run(program("curl", &proxy).args(["-sS", "--proxy", &socks, &url]));
    assert!(good && text == "GET /x HTTP/1.1", "{text}");
    // With an address that it looked up itself, which the proxy does not take for the name.
    let refused = format!("http://b.test:{port}/");
    let (_, text) = run(program("curl", &proxy).args(["-sS", &refused]));
    assert_eq!(text, format!("offshoot: b.test:{port} is not allowed\n"));
    let (good, text) = run(program("curl", &proxy).args(["-sS", "--proxy", &socks, &refused]));
    assert!(!good, "{text}");
    let routes: Vec<Route> = proxy.ends().into_iter().map(|end| end.0).collect();
    assert_eq!(routes, [Route::Http, Route::Connect, Route::Socks, Route::Http, Route::Socks]);
}

#[needs("curl")]
#[test]
fn curl_uploads_and_follows_redirects_within_the_rules() {
    let server = Server::new(|mut stream| {
        while let Some((head, body)) = read_request(&mut stream) {
            let host = head.split("Host: ").nth(1).unwrap().split("\r\n").next().unwrap();
            let answer = match head.split(' ').nth(1).unwrap() {
                "/away" => "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n".to_owned(),
                "/near" => format!("HTTP/1.1 302 Found\r\nLocation: http://{host}/end\r\nContent-Length: 0\r\n\r\n"),
                _ => ok(&format!("{} bytes", body.len())),
            };
            std::io::Write::write_all(&mut stream, answer.as_bytes()).unwrap();
        }
    });
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, vec![b'x'; 3 << 20]).unwrap();
    let upload = format!("@{}", file.display());
    let url = format!("http://a.test:{port}");
    let (_, text) =
        run(program("curl", &proxy).args(["-sS", "--data-binary", &upload, &format!("{url}/put")]));
    assert_eq!(text, format!("{} bytes", 3 << 20));
    let (_, text) = run(program("curl", &proxy).args(["-sSL", &format!("{url}/near")]));
    assert_eq!(text, "0 bytes");
    let (_, text) = run(program("curl", &proxy).args(["-sSL", &format!("{url}/away")]));
    assert_eq!(text, "offshoot: 169.254.169.254:80 is not allowed\n");
}

#[needs("curl")]
#[test]
fn curl_trusts_the_authority_that_it_is_given() {
    let (server, trusted) = https(&["a.test"]);
    let port = server.port;
    let proxy = Proxy::with(&format!("a.test:{port},{}", server.listed()), |options, _| {
        inspecting(options, &trusted);
    });
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("authority.pem");
    fs::write(&file, proxy.inspect.as_ref().unwrap().certificate()).unwrap();
    let url = format!("https://a.test:{port}/x");
    let (good, text) = run(program("curl", &proxy).args(["-sS", "--cacert"]).arg(&file).arg(&url));
    assert!(good && text.starts_with("GET /x HTTP/1.1"), "{text}");
    let (good, text) = run(program("curl", &proxy).args(["-sS", &url]));
    assert!(!good, "{text}");
}

#[needs("python3")]
#[test]
fn python_by_its_own_library() {
    let server = Server::answering(|_| ok("hello"));
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let script = "import sys, urllib.request, urllib.error\n\
                  for url in sys.argv[1:]:\n\
                  \x20try: print(urllib.request.urlopen(url, timeout=20).read().decode())\n\
                  \x20except urllib.error.HTTPError as error: print(error.code)\n";
    let urls = ["a", "b"].map(|host| format!("http://{host}.test:{port}/"));
    let (good, text) = run(program("python3", &proxy).args(["-c", script]).args(urls));
    assert!(good && text == "hello\n403\n", "{text}");
}

#[needs("git")]
#[test]
fn git_clones_what_is_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let git = |arguments: &[&str], dir: &Path| {
        let mut command = Command::new("git");
        command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("HOME", directory.path()).current_dir(dir);
        for (key, value) in [
            ("AUTHOR_NAME", "a"),
            ("AUTHOR_EMAIL", "a@a"),
            ("COMMITTER_NAME", "a"),
            ("COMMITTER_EMAIL", "a@a"),
        ] {
            command.env(format!("GIT_{key}"), value);
        }
        let (good, text) = run(command.args(arguments));
        assert!(good, "{arguments:?}: {text}");
    };
    fs::create_dir(at("source")).unwrap();
    git(&["init", "-q", "."], &at("source"));
    fs::write(at("source/file"), "content\n".repeat(1000)).unwrap();
    git(&["add", "."], &at("source"));
    git(&["commit", "-qm", "first"], &at("source"));
    git(&["clone", "-q", "--bare", "source", "bare.git"], directory.path());
    git(&["update-server-info"], &at("bare.git"));
    // The plain protocol of git over HTTP: nothing but files.
    let root = directory.path().to_owned();
    let server = Server::new(move |mut stream| {
        while let Some((head, _)) = read_request(&mut stream) {
            let path = head.split(' ').nth(1).unwrap().split('?').next().unwrap();
            let answer = match fs::read(root.join(path.trim_start_matches('/'))) {
                Ok(bytes) => [
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", bytes.len())
                        .into_bytes(),
                    bytes,
                ]
                .concat(),
                Err(_) => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
            };
            std::io::Write::write_all(&mut stream, &answer).unwrap();
        }
    });
    let port = server.port;
    let proxy = Proxy::new(&format!("git.test:{port},{}", server.listed()));
    let clone = |host: &str, to: &str| {
        let mut command = program("git", &proxy);
        command.env("HOME", directory.path()).current_dir(directory.path());
        run(command.args(["clone", "-q", &format!("http://{host}:{port}/bare.git"), to]))
    };
    let (good, text) = clone("git.test", "clone");
    assert!(good, "{text}");
    assert_eq!(fs::read(at("clone/file")).unwrap(), fs::read(at("source/file")).unwrap());
    let (good, text) = clone("evil.test", "other");
    assert!(!good && text.contains("403"), "{text}");
    assert_eq!(proxy.finish().refused[0].host.to_string(), "evil.test");
}
