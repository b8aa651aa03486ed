//! Package managers with a registry on the loopback interface: what was downloaded once is there without a network.

use offshoot_needs::needs;
use offshoot_tests::registry::Registry;
use serde_json::Value;

use crate::cargo;
use crate::python::WHEEL;
use crate::scene::{Scene, Who, envelope_of};

fn succeeded(envelope: &Value) {
    assert_eq!(envelope["success"], true, "{envelope:#}");
}

/// In a workspace of its own.
fn fresh(scene: &Scene, options: &[&str], command: &[&str]) -> Value {
    envelope_of(&scene.exec_command(options, command).output().unwrap())
}

#[needs(Overlay, UserNamespace, "cc")]
#[test]
fn cargo_builds_offline_what_it_built_before() {
    let mut scene = cargo::tools();
    let registry = Registry::start();
    registry.add_cargo("tiny", "pub fn number() -> u32 { 42 }\n", scene.place.path());
    scene.place.write(
        ".cargo/config.toml",
        format!(
            "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nregistry = \"sparse+{}/\"\n",
            registry.address()
        ),
    );
    scene.place.write(
        "Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ntiny = \"0.1\"\n",
    );
    scene.place.write("src/main.rs", "fn main() { println!(\"{}\", tiny::number()); }\n");
    scene.set("CARGO_NET_RETRY", "0");
    scene.bind();
    succeeded(&scene.exec(&["--net", "host"], &["cargo", "run", "-q"]));
    assert!(registry.asked() > 0);
    // Without a network, with the lock file but nothing compiled: all sources come from the cache.
    let again = scene.exec(&[], &["sh", "-c", "rm -rf target; cargo run -q --offline"]);
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

#[needs(Overlay, UserNamespace, "node", "npm")]
#[test]
fn npm_installs_offline_what_it_installed_before() {
    let mut scene = Scene::new(Who::Ordinary);
    let registry = Registry::start();
    scene.npm_project(&registry);
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
}

#[needs(Overlay, UserNamespace, "mvn")]
#[test]
fn maven_reads_offline_what_it_downloaded_before() {
    let mut scene = Scene::new(Who::Ordinary);
    let registry = Registry::start();
    registry.add_maven("parent");
    // Java looks for the home in the list of users, which does not know the one of the test.
    let home = scene.place.path().display();
    let options =
        format!("-Duser.home={home} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto");
    scene.set("MAVEN_OPTS", options);
    scene.place.write(
        "settings.xml",
        format!(
            "<settings><mirrors><mirror><id>here</id><mirrorOf>*</mirrorOf><url>{}</url></mirror></mirrors></settings>",
            registry.address()
        ),
    );
    scene.place.write(
        "pom.xml",
        "<project><modelVersion>4.0.0</modelVersion><artifactId>app</artifactId><packaging>pom</packaging>\
         <parent><groupId>here</groupId><artifactId>parent</artifactId><version>1.0</version><relativePath/></parent></project>",
    );
    scene.bind();
    let validate = ["mvn", "-q", "-B", "-s", "settings.xml", "validate"];
    succeeded(&scene.exec(&["--net", "host"], &validate));
    assert!(registry.asked() > 0);
    let offline = [&validate[..], &["-o"]].concat();
    succeeded(&fresh(&scene, &[], &offline));
    assert_eq!(registry.asked(), 0);
    scene.offshoot_ok(&["cache", "clear", "maven"]);
    let without = fresh(&scene, &[], &offline);
    assert_eq!(without["success"], false, "{without:#}");
    assert!(!scene.place.path().join(".m2").exists(), "the host's own was written");
}

/// Pip asks for the list of files each time, and takes those that it has from its cache.
#[needs(Overlay, UserNamespace, "python3", "pip3")]
#[test]
fn pip_does_not_download_again_what_it_downloaded_before() {
    const FILE: &str = "greet-1.0-py3-none-any.whl";
    let mut scene = Scene::new(Who::Ordinary);
    let registry = Registry::start();
    scene.set("PIP_INDEX_URL", format!("{}/simple", registry.address()));
    // From hosts that it does not trust pip keeps nothing.
    scene.set("PIP_TRUSTED_HOST", registry.address().trim_start_matches("http://"));
    for (name, value) in [("PIP_DISABLE_PIP_VERSION_CHECK", "1"), ("PIP_RETRIES", "0")] {
        scene.set(name, value);
    }
    scene.place.write("wheel.py", WHEEL);
    scene.bind();
    scene.host("python3 wheel.py");
    let wheel = std::fs::read(scene.place.project().join(FILE)).unwrap();
    scene.host(&format!("rm {FILE}"));
    registry.add_pip("greet", FILE, wheel);
    let install = "python3 -m pip install -q --target out greet && PYTHONPATH=out python3 -c 'import greet; greet.main()'";
    let asked = |options: &[&str]| {
        let envelope = fresh(&scene, options, &["sh", "-c", install]);
        succeeded(&envelope);
        assert_eq!(envelope["result"]["stdout"], "hello from a wheel\n", "{envelope:#}");
        registry.asked()
    };
    assert_eq!(asked(&["--net", "host"]), 2, "the page and the wheel");
    assert_eq!(asked(&["--net", "host"]), 1, "the page alone");
    assert_eq!(asked(&["--net", "host", "--no-cache"]), 2);
    scene.offshoot_ok(&["cache", "clear", "pip"]);
    assert_eq!(asked(&["--net", "host"]), 2, "it was the cache that did it");
    assert!(!scene.place.path().join(".cache/pip").exists(), "the host's own was written");
}
