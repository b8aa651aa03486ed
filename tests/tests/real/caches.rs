//! Package managers with a registry on the loopback interface: what was downloaded once is there without a network.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use serde_json::Value;

use crate::cargo;
use crate::scene::{Scene, WORKSPACE, Who};

type Files = BTreeMap<String, Vec<u8>>;

/// A server of files that counts what is asked for. It goes with the process of the tests.
struct Registry {
    address: String,
    files: Arc<RwLock<Files>>,
    asked: Arc<AtomicUsize>,
}

impl Registry {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let files: Arc<RwLock<Files>> = Arc::default();
        let asked: Arc<AtomicUsize> = Arc::default();
        let (served, counted) = (files.clone(), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (files, asked) = (served.clone(), counted.clone());
                std::thread::spawn(move || answer(stream.unwrap(), &files, &asked));
            }
        });
        Self { address, files, asked }
    }

    fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        self.files.write().unwrap().insert(path.to_owned(), content.into());
    }

    /// How much was asked for since the last time.
    fn asked(&self) -> usize {
        self.asked.swap(0, Ordering::SeqCst)
    }
}

fn answer(mut stream: TcpStream, files: &RwLock<Files>, asked: &AtomicUsize) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    for line in lines {
        if line.is_empty() {
            break;
        }
    }
    asked.fetch_add(1, Ordering::SeqCst);
    let path = first.split(' ').nth(1).unwrap_or_default();
    let files = files.read().unwrap();
    let (status, body) = match files.get(path) {
        Some(body) => ("200 OK", body.as_slice()),
        None => ("404 Not Found", &b"no such file"[..]),
    };
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    // Whoever does not wait for the answer does not want it.
    drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)));
}

/// A compressed archive of files in a folder.
fn packed(scene: &Scene, folder: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let top = scene.place.path().join("packing");
    for (path, text) in files {
        let path = top.join(folder).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let output = Command::new("tar").arg("-C").arg(&top).args(["-czf", "-", folder]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    std::fs::remove_dir_all(top).unwrap();
    output.stdout
}

fn sha256(bytes: &[u8], folder: &Path) -> String {
    let file = folder.join("sum");
    std::fs::write(&file, bytes).unwrap();
    let output = Command::new("sha256sum").arg(&file).output().unwrap();
    std::fs::remove_file(file).unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

fn succeeded(envelope: &Value) {
    assert_eq!(envelope["success"], true, "{envelope:#}");
}

/// In a workspace of its own.
fn fresh(scene: &Scene, options: &[&str], command: &[&str]) -> Value {
    let output = scene.exec_command(options, command).output().unwrap();
    crate::scene::envelope_of(&output)
}

#[test]
fn cargo_builds_offline_what_it_built_before() {
    let Some(mut scene) = cargo::tools() else { return };
    let registry = Registry::start();
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let source = "pub fn number() -> u32 { 42 }\n";
    let package = packed(&scene, "tiny-0.1.0", &[("Cargo.toml", manifest), ("src/lib.rs", source)]);
    let sum = sha256(&package, scene.place.path());
    let address = &registry.address;
    registry.put("/config.json", format!("{{\"dl\": \"{address}/dl\"}}"));
    let line = format!(
        "{{\"name\":\"tiny\",\"vers\":\"0.1.0\",\"deps\":[],\"cksum\":\"{sum}\",\"features\":{{}},\"yanked\":false}}\n"
    );
    registry.put("/ti/ny/tiny", line);
    registry.put("/dl/tiny/0.1.0/download", package);
    scene.place.write(
        ".cargo/config.toml",
        format!(
            "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nregistry = \"sparse+{address}/\"\n"
        ),
    );
    scene.place.write(
        "Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ntiny = \"0.1\"\n",
    );
    scene.place.write("src/main.rs", "fn main() { println!(\"{}\", tiny::number()); }\n");
    scene.set("CARGO_NET_RETRY", "0");
    scene.bind();
    let build = ["cargo", "run", "-q"];
    succeeded(&scene.exec(&["--net", "host"], &build));
    assert!(registry.asked() > 0);
    // Without a network, with the lock file but nothing compiled: all sources come from the cache.
    let again = scene.exec(&[], &["sh", "-c", "rm -rf target; cargo run -q --offline"]);
    succeeded(&again);
    assert_eq!(again["result"]["stdout"], "42\n", "{again:#}");
    // Another workspace has no lock file either.
    let other = fresh(&scene, &[], &["cargo", "run", "-q", "--offline"]);
    assert_eq!(other["result"]["stdout"], "42\n", "{other:#}");
    assert_eq!(registry.asked(), 0);
    // It is the cache that did it.
    scene.offshoot_ok(&["cache", "clear", "cargo"]);
    let without = fresh(&scene, &[], &["cargo", "run", "-q", "--offline"]);
    assert_eq!(without["success"], false, "{without:#}");
    assert!(!scene.place.path().join(".cargo/registry").exists(), "the host's own was written");
}

#[test]
fn npm_installs_offline_what_it_installed_before() {
    let Some(mut scene) = Scene::new(Who::Ordinary, &["npm", "node", "tar"]) else { return };
    let registry = Registry::start();
    let manifest = r#"{"name": "low", "version": "1.2.3", "main": "low.js"}"#;
    let source = "module.exports = 42;\n";
    let package = packed(&scene, "package", &[("package.json", manifest), ("low.js", source)]);
    let address = &registry.address;
    registry.put(
        "/low",
        format!(
            "{{\"name\":\"low\",\"dist-tags\":{{\"latest\":\"1.2.3\"}},\"versions\":{{\"1.2.3\":\
             {{\"name\":\"low\",\"version\":\"1.2.3\",\"main\":\"low.js\",\
             \"dist\":{{\"tarball\":\"{address}/low.tgz\"}}}}}}}}"
        ),
    );
    registry.put("/low.tgz", package);
    for (name, value) in [
        ("npm_config_audit", "false"),
        ("npm_config_fund", "false"),
        ("npm_config_update_notifier", "false"),
        ("npm_config_fetch_retries", "0"),
    ] {
        scene.set(name, value);
    }
    scene.set("npm_config_registry", format!("{address}/"));
    scene.place.write("package.json", r#"{"name": "app", "dependencies": {"low": "^1.0.0"}}"#);
    scene.bind();
    let install = "npm install && node -p 'require(\"low\")'";
    succeeded(&scene.exec(&["--net", "host"], &["sh", "-c", install]));
    assert!(registry.asked() > 0);
    let offline = "npm install --offline && node -p 'require(\"low\")'";
    let other = fresh(&scene, &[], &["sh", "-c", offline]);
    succeeded(&other);
    assert!(other["result"]["stdout"].as_str().unwrap().ends_with("42\n"), "{other:#}");
    assert_eq!(registry.asked(), 0);
    scene.offshoot_ok(&["cache", "clear", "npm"]);
    let without = fresh(&scene, &[], &["sh", "-c", offline]);
    assert_eq!(without["success"], false, "{without:#}");
    assert!(!scene.place.path().join(".npm").exists(), "the host's own was written");
    scene.offshoot_ok(&["vault", "check", "-w", WORKSPACE]);
}
