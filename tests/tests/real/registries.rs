//! Package managers with one registry allowed, which they reach by the network proxy and which they do not reach without it.

use std::process::Command;

use offshoot_needs::needs;
use offshoot_tests::registry::Registry;
use serde_json::Value;

use crate::cargo;
use crate::python::WHEEL;
use crate::scene::{Scene, Who, envelope_of};

/// An address that no variable excepts from the proxy.
const ELSEWHERE: &str = "127.0.0.2";
/// A rule that allows a host which nobody asks for.
const OTHER: &str = "allow=example.invalid";

/// What a command does with a registry.
struct Job<'a> {
    registry: &'a Registry,
    script: &'a str,
    /// What it prints if all went well.
    says: &'a str,
    /// The route that its connections are recorded with.
    route: &'a str,
}

impl Job<'_> {
    /// Works with the registry allowed, fails without, and the envelope names what would allow it.
    fn check(&self, scene: &Scene) {
        let allow = format!("allow={}", self.registry.host());
        let allowed = exec(scene, &allow, self.script);
        let said = allowed["result"]["stdout"].as_str().unwrap_or_default();
        assert!(allowed["success"] == true && said.ends_with(self.says), "{allowed:#}");
        assert!(self.registry.asked() > 0);
        let network = &allowed["result"]["network"];
        let connections = network["connections"].as_array().unwrap();
        let same = |one: &Value| one["route"] == self.route && one["allowed"] == true;
        assert!(!connections.is_empty() && connections.iter().all(same), "{network:#}");
        assert_eq!(network["refused"], Value::Null, "{network:#}");
        let refused = exec(scene, OTHER, self.script);
        assert_eq!(refused["success"], false, "{refused:#}");
        assert_eq!(self.registry.asked(), 0, "{refused:#}");
        let first = &refused["result"]["network"]["refused"][0];
        assert_eq!(first["option"], format!("--net {allow}"), "{refused:#}");
    }
}

/// A script in a workspace of its own, with caches that nothing was kept in.
fn exec(scene: &Scene, net: &str, script: &str) -> Value {
    let options = ["--net", net, "--no-cache"];
    envelope_of(&scene.exec_command(&options, &["sh", "-euc", script]).output().unwrap())
}

/// A bare repository with one file, in a directory of repositories.
fn repository() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(&directory).args(["-c", "user.name=a", "-c", "user.email=a@b.test"]);
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    git(&["init", "-q", "work"]);
    std::fs::write(directory.path().join("work/file"), "cloned\n").unwrap();
    git(&["-C", "work", "add", "file"]);
    git(&["-C", "work", "commit", "-qm", "one"]);
    git(&["clone", "-q", "--bare", "work", "repository.git"]);
    directory
}

fn git(who: Who, registry: &Registry, options: &str) {
    let scene = Scene::new(who);
    scene.place.write("ca.pem", registry.authority().unwrap_or_default());
    scene.place.write("file", "a\n");
    scene.bind();
    let repositories = repository();
    registry.add_repositories(repositories.path());
    let address = registry.address();
    let script =
        format!("git {options} clone -q {address}/git/repository.git copy && cat copy/file");
    let route = if address.starts_with("https") { "connect" } else { "http" };
    Job { registry, script: &script, says: "cloned\n", route }.check(&scene);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn git_clones_from_the_host_that_is_allowed() {
    for who in [Who::Me, Who::Ordinary] {
        git(who, &Registry::start_elsewhere(ELSEWHERE), "");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn git_clones_over_tls() {
    for who in [Who::Me, Who::Ordinary] {
        git(who, &Registry::start_tls(ELSEWHERE), "-c http.sslCAInfo=ca.pem");
    }
}

fn cargo(registry: &Registry) {
    let mut scene = cargo::tools();
    registry.add_cargo("tiny", "pub fn number() -> u32 { 42 }\n", scene.place.path());
    let source = format!(
        "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nregistry = \"sparse+{}/\"\n",
        registry.address()
    );
    scene.place.write(".cargo/config.toml", source);
    scene.place.write(
        "Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ntiny = \"0.1\"\n",
    );
    scene.place.write("src/main.rs", "fn main() { println!(\"{}\", tiny::number()); }\n");
    scene.place.write("ca.pem", registry.authority().unwrap_or_default());
    let mut script = "cargo run -q";
    let mut route = "http";
    if registry.address().starts_with("https") {
        // It is not given to cargo on the command line, but as every program here gets its settings.
        script = "CARGO_HTTP_CAINFO=$PWD/ca.pem cargo run -q";
        route = "connect";
    }
    scene.set("CARGO_NET_RETRY", "0");
    scene.bind();
    Job { registry, script, says: "42\n", route }.check(&scene);
}

#[needs(Overlay, UserNamespace, "cc")]
#[test]
fn cargo_builds_from_the_registry_that_is_allowed() {
    cargo(&Registry::start_elsewhere(ELSEWHERE));
}

#[needs(Overlay, UserNamespace, "cc")]
#[test]
fn cargo_builds_over_tls() {
    cargo(&Registry::start_tls(ELSEWHERE));
}

fn npm(who: Who, registry: &Registry) {
    let mut scene = Scene::new(who);
    registry.add_npm("low", "module.exports = 42;\n", scene.place.path());
    for (name, value) in [
        ("npm_config_audit", "false"),
        ("npm_config_fund", "false"),
        ("npm_config_update_notifier", "false"),
        ("npm_config_fetch_retries", "0"),
    ] {
        scene.set(name, value);
    }
    scene.set("npm_config_registry", format!("{}/", registry.address()));
    scene.place.write("package.json", r#"{"name": "app", "dependencies": {"low": "^1.0.0"}}"#);
    scene.place.write("ca.pem", registry.authority().unwrap_or_default());
    scene.bind();
    let (mut install, mut route) = ("npm install && node -p 'require(\"low\")'", "http");
    if registry.address().starts_with("https") {
        install = "npm install --cafile ca.pem && node -p 'require(\"low\")'";
        route = "connect";
    }
    Job { registry, script: install, says: "42\n", route }.check(&scene);
}

#[needs(Overlay, UserNamespace, "node", "npm")]
#[test]
fn npm_installs_from_the_registry_that_is_allowed() {
    for who in [Who::Me, Who::Ordinary] {
        npm(who, &Registry::start_elsewhere(ELSEWHERE));
    }
}

#[needs(Overlay, UserNamespace, "node", "npm")]
#[test]
fn npm_installs_over_tls() {
    npm(Who::Ordinary, &Registry::start_tls(ELSEWHERE));
}

fn pip(who: Who, registry: &Registry) {
    const FILE: &str = "greet-1.0-py3-none-any.whl";
    let mut scene = Scene::new(who);
    scene.set("PIP_INDEX_URL", format!("{}/simple", registry.address()));
    for (name, value) in [
        ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
        ("PIP_RETRIES", "0"),
        ("PIP_ROOT_USER_ACTION", "ignore"),
    ] {
        scene.set(name, value);
    }
    let (mut options, mut route) = (format!("--trusted-host {}", registry.host()), "http");
    if registry.address().starts_with("https") {
        (options, route) = ("--cert ca.pem".to_owned(), "connect");
    }
    scene.place.write("wheel.py", WHEEL);
    scene.place.write("ca.pem", registry.authority().unwrap_or_default());
    scene.bind();
    scene.host("python3 wheel.py");
    let wheel = std::fs::read(scene.place.project().join(FILE)).unwrap();
    scene.host(&format!("rm {FILE}"));
    registry.add_pip("greet", FILE, wheel);
    let script = format!(
        "python3 -m pip install -q {options} --target out greet && PYTHONPATH=out python3 -c 'import greet; greet.main()'"
    );
    Job { registry, script: &script, says: "hello from a wheel\n", route }.check(&scene);
}

#[needs(Overlay, UserNamespace, "python3", "pip3")]
#[test]
fn pip_installs_from_the_index_that_is_allowed() {
    for who in [Who::Me, Who::Ordinary] {
        pip(who, &Registry::start_elsewhere(ELSEWHERE));
    }
}

#[needs(Overlay, UserNamespace, "python3", "pip3")]
#[test]
fn pip_installs_over_tls() {
    pip(Who::Ordinary, &Registry::start_tls(ELSEWHERE));
}

/// Programs that know of no proxy connect to what the name server made up, or to the address itself.
#[needs(Overlay, UserNamespace, "node", "python3")]
#[test]
fn programs_that_ignore_the_variables_reach_what_is_allowed() {
    let registry = Registry::start();
    registry.put("/hello", "hello\n");
    let port = registry.port();
    let node = format!(
        "node -e 'require(\"http\").get(\"http://localhost:{port}/hello\", r => r.pipe(process.stdout))'"
    );
    let raw = format!(
        "import socket; s = socket.create_connection((\"localhost\", {port})); s.sendall(b\"GET /hello HTTP/1.0\\r\\n\\r\\n\"); print(s.makefile().read(), end=\"\")"
    );
    for who in [Who::Me, Who::Ordinary] {
        let scene = Scene::new(who);
        scene.place.write("file", "a\n");
        scene.bind();
        for script in [node.clone(), format!("python3 -c '{raw}'")] {
            let allowed = exec(&scene, &format!("allow=localhost:{port}"), &script);
            let said = allowed["result"]["stdout"].as_str().unwrap();
            assert!(said.ends_with("hello\n"), "{allowed:#}");
            let connection = &allowed["result"]["network"]["connections"][0];
            assert_eq!(connection["route"], "direct", "{allowed:#}");
            assert_eq!(connection["host"], "localhost", "{allowed:#}");
            assert!(registry.asked() > 0);
            let refused = exec(&scene, OTHER, &script);
            assert_eq!(refused["success"], false, "{refused:#}");
            assert_eq!(registry.asked(), 0);
        }
    }
}
