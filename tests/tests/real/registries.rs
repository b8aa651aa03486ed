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
struct Job {
    scene: Scene,
    script: String,
    /// What it prints if all went well.
    says: &'static str,
}

/// How a program comes to trust a registry that speaks TLS.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// By an option of its own, which names a certificate in the project.
    Option,
    /// By the variables that Offshoot sets, or not at all.
    Variables,
}

impl Trust {
    fn option(self, option: &str) -> &str {
        if self == Self::Option { option } else { "" }
    }
}

impl Job {
    /// Works with the registry allowed, fails without, and the envelope names what would allow it.
    fn check(&self, registry: &Registry) {
        let route = if registry.address().starts_with("https") { "connect" } else { "http" };
        let allow = format!("allow={}", registry.host());
        let allowed = exec(&self.scene, &allow, &self.script);
        self.went_well(&allowed);
        assert!(registry.asked() > 0);
        let network = &allowed["result"]["network"];
        let connections = network["connections"].as_array().unwrap();
        let same = |one: &Value| one["route"] == route && one["allowed"] == true;
        assert!(!connections.is_empty() && connections.iter().all(same), "{network:#}");
        assert_eq!(network["refused"], Value::Null, "{network:#}");
        let refused = exec(&self.scene, OTHER, &self.script);
        assert_eq!(refused["success"], false, "{refused:#}");
        assert_eq!(registry.asked(), 0, "{refused:#}");
        let first = &refused["result"]["network"]["refused"][0];
        assert_eq!(first["option"], format!("--net {allow}"), "{refused:#}");
    }

    /// Works where the proxy looks into TLS and adds what the registry wants to see.
    fn check_inspected(&self, registry: &Registry) {
        let home = self.scene.place.path();
        let trusted = home.join("trusted.pem");
        std::fs::write(&trusted, registry.authority().unwrap()).unwrap();
        let settings = home.join(".config/offshoot/sandbox.toml");
        std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
        let host = registry.host();
        let text = format!(
            "[tls]\ninspect = [\"{host}\"]\n[[credential]]\nhost = \"{host}\"\nheader = \"X-Key\"\n\
             value_from = {{ command = [\"echo\", \"hush\"] }}\n"
        );
        std::fs::write(settings, text).unwrap();
        self.scene.hand_over();
        let options = ["--net", &format!("allow={}", registry.host()), "--no-cache"];
        let mut command = self.scene.exec_command(&options, &["sh", "-euc", &self.script]);
        self.went_well(&envelope_of(&command.env("SSL_CERT_FILE", trusted).output().unwrap()));
        let heads = registry.heads();
        let has = |head: &String| head.to_lowercase().contains("x-key: hush");
        assert!(!heads.is_empty() && heads.iter().all(has), "{heads:?}");
    }

    fn went_well(&self, envelope: &Value) {
        let said = envelope["result"]["stdout"].as_str().unwrap_or_default();
        assert!(envelope["success"] == true && said.ends_with(self.says), "{envelope:#}");
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

fn git(who: Who, registry: &Registry, trust: Trust) -> Job {
    let scene = Scene::new(who);
    scene.place.write("ca.pem", registry.authority().unwrap_or_default());
    scene.bind();
    let (address, option) = (registry.address(), trust.option("-c http.sslCAInfo=ca.pem"));
    let script =
        format!("git {option} clone -q {address}/git/repository.git copy && cat copy/file");
    Job { scene, script, says: "cloned\n" }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn git_clones_from_the_host_that_is_allowed() {
    let repositories = repository();
    for who in [Who::Me, Who::Ordinary] {
        for (registry, trust) in [
            (Registry::start_elsewhere(ELSEWHERE), Trust::Variables),
            (Registry::start_tls(ELSEWHERE), Trust::Option),
        ] {
            registry.add_repositories(repositories.path());
            git(who, &registry, trust).check(&registry);
        }
        let registry = Registry::start_tls(ELSEWHERE);
        registry.add_repositories(repositories.path());
        git(who, &registry, Trust::Variables).check_inspected(&registry);
    }
}

fn cargo(registry: &Registry, trust: Trust) -> Job {
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
    scene.set("CARGO_NET_RETRY", "0");
    scene.bind();
    let script = format!("cargo run -q {}", trust.option("--config http.cainfo=\\\"ca.pem\\\""));
    Job { scene, script, says: "42\n" }
}

#[needs(Overlay, UserNamespace, "cc")]
#[test]
fn cargo_builds_from_the_registry_that_is_allowed() {
    let registry = Registry::start_elsewhere(ELSEWHERE);
    cargo(&registry, Trust::Variables).check(&registry);
}

#[needs(Overlay, UserNamespace, "cc")]
#[test]
fn cargo_builds_over_tls() {
    let registry = Registry::start_tls(ELSEWHERE);
    cargo(&registry, Trust::Option).check(&registry);
    cargo(&registry, Trust::Variables).check_inspected(&registry);
}

fn npm(who: Who, registry: &Registry, trust: Trust) -> Job {
    let mut scene = Scene::new(who);
    scene.npm_project(registry);
    scene.place.write("ca.pem", registry.authority().unwrap_or_default());
    scene.bind();
    let option = trust.option("--cafile ca.pem");
    let script = format!("npm install {option} && node -p 'require(\"low\")'");
    Job { scene, script, says: "42\n" }
}

#[needs(Overlay, UserNamespace, "node", "npm")]
#[test]
fn npm_installs_from_the_registry_that_is_allowed() {
    for who in [Who::Me, Who::Ordinary] {
        let registry = Registry::start_elsewhere(ELSEWHERE);
        npm(who, &registry, Trust::Variables).check(&registry);
    }
}

#[needs(Overlay, UserNamespace, "node", "npm")]
#[test]
fn npm_installs_over_tls() {
    let registry = Registry::start_tls(ELSEWHERE);
    npm(Who::Ordinary, &registry, Trust::Option).check(&registry);
    // Node takes a server without a name for this one, if it asks by a proxy, and would not find that in the proxy's certificate.
    let registry = Registry::start_tls("localhost");
    npm(Who::Ordinary, &registry, Trust::Variables).check_inspected(&registry);
}

fn pip(who: Who, registry: &Registry, trust: Trust) -> Job {
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
    if registry.authority().is_none() {
        scene.set("PIP_TRUSTED_HOST", registry.host());
    }
    scene.place.write("wheel.py", WHEEL);
    scene.place.write("ca.pem", registry.authority().unwrap_or_default());
    scene.bind();
    scene.host("python3 wheel.py");
    let wheel = std::fs::read(scene.place.project().join(FILE)).unwrap();
    scene.host(&format!("rm {FILE}"));
    registry.add_pip("greet", FILE, wheel);
    let option = trust.option("--cert ca.pem");
    let script = format!(
        "python3 -m pip install -q {option} --target out greet && PYTHONPATH=out python3 -c 'import greet; greet.main()'"
    );
    Job { scene, script, says: "hello from a wheel\n" }
}

#[needs(Overlay, UserNamespace, "python3", "pip3")]
#[test]
fn pip_installs_from_the_index_that_is_allowed() {
    for who in [Who::Me, Who::Ordinary] {
        let registry = Registry::start_elsewhere(ELSEWHERE);
        pip(who, &registry, Trust::Variables).check(&registry);
    }
}

#[needs(Overlay, UserNamespace, "python3", "pip3")]
#[test]
fn pip_installs_over_tls() {
    let registry = Registry::start_tls(ELSEWHERE);
    pip(Who::Ordinary, &registry, Trust::Option).check(&registry);
    pip(Who::Ordinary, &registry, Trust::Variables).check_inspected(&registry);
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
