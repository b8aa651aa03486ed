//! cargo: what was compiled in one exec is fresh in the next.

use std::path::Path;

use offshoot_needs::needs;

use crate::scene::{Scene, Who};

/// A scene with cargo and nothing in it yet.
pub(crate) fn tools() -> Scene {
    let mut scene = Scene::new(Who::Me);
    // The toolchain itself, since the program that stands for it in one's home would look for a
    // configuration there.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let tools = Path::new(&cargo).parent().unwrap().to_owned();
    let path = offshoot_machine::search_path();
    let dirs = std::iter::once(tools).chain(std::env::split_paths(&path));
    scene.set("PATH", std::env::join_paths(dirs).unwrap());
    // Its files carry the time of the build in their names.
    scene.set("CARGO_INCREMENTAL", "0");
    scene.set("CARGO_TERM_COLOR", "never");
    scene
}

pub(crate) fn project() -> Scene {
    let scene = tools();
    for (path, text) in [
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"base\", \"app\"]\n"),
        (
            "base/Cargo.toml",
            "[package]\nname = \"base\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
        ),
        ("base/src/lib.rs", BASE),
        (
            "app/Cargo.toml",
            "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nbase = { path = \"../base\" }\n",
        ),
        ("app/build.rs", BUILD),
        ("app/words.txt", "made by a build script\n"),
        ("app/src/main.rs", MAIN),
    ] {
        scene.place.write(path, text);
    }
    // The throw-away home begins as the home does.
    std::fs::create_dir(scene.place.path().join(".cargo")).unwrap();
    let settings = "[env]\nFROM_THE_HOME = \"seen\"\n";
    std::fs::write(scene.place.path().join(".cargo/config.toml"), settings).unwrap();
    scene.bind();
    scene
}

const BASE: &str = "\
/// Twice a number.
pub fn twice(number: u32) -> u32 {
    number * 2
}

#[test]
fn doubles() {
    assert_eq!(twice(2), 4);
}
";

const BUILD: &str = r#"fn main() {
    println!("cargo::rerun-if-changed=words.txt");
    let words = std::fs::read_to_string("words.txt").unwrap();
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    std::fs::write(out.join("words.rs"), format!("const WORDS: &str = {words:?};")).unwrap();
}
"#;

const MAIN: &str = r#"include!(concat!(env!("OUT_DIR"), "/words.rs"));
const HOME: &str = env!("FROM_THE_HOME");

fn main() {
    println!("{} {} {HOME}", base::twice(21), WORDS.trim());
}

#[test]
fn words() {
    assert!(WORDS.starts_with("made"));
}
"#;

/// How long things took is not the same twice; the order of two crates that do not wait for each
/// other is not either.
fn normal(text: &str) -> String {
    let cut = |line: &str| line.split(" target(s) in ").next().unwrap().to_owned();
    let cut = |line: &str| cut(line.split("; finished in ").next().unwrap());
    let mut lines: Vec<String> = text.lines().map(cut).collect();
    lines.sort();
    lines.join("\n")
}

#[needs(Overlay, UserNamespace, "cc")]
#[test]
fn fresh_stays_fresh() {
    let scene = project();
    let scripts = [
        "cargo build --offline; target/debug/app",
        "cargo build --offline; target/debug/app",
        "cargo test --offline --workspace",
        "cargo test --offline --workspace",
        "touch app/src/main.rs; cargo build --offline",
        "sed -i 's/number \\* 2/number * 3/' base/src/lib.rs; cargo run --offline -q",
        "echo other words > app/words.txt; cargo run --offline",
        "cargo build --offline; cargo metadata --offline --format-version 1 | wc -l",
    ];
    let said = scene.both(&scripts, normal);
    assert_eq!(said[0].out, "42 made by a build script seen\n");
    for fresh in [1, 3, 7] {
        assert!(!said[fresh].err.contains("Compiling"), "{}: {:?}", scripts[fresh], said[fresh]);
    }
    let rebuilt = &said[4].err;
    assert!(rebuilt.contains("Compiling app") && !rebuilt.contains("Compiling base"), "{rebuilt}");
    assert_eq!(said[5].out, "63 made by a build script seen\n");
    assert_eq!(said[6].out, "63 other words seen\n");
    // What cargo notes about times: its fingerprints, and what it knows of the compiler.
    scene.same_tree(|path| path.contains("/.fingerprint/") || path.contains(".rustc_info.json"));
    let home = scene.place.path().join(".cargo");
    assert_eq!(
        std::fs::read_dir(home)
            .unwrap()
            .filter(|e| e.as_ref().unwrap().file_name() == "config.toml")
            .count(),
        1
    );
}
