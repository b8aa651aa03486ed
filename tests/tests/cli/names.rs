//! File names that are hard to pass on: each goes through every command, and no terminal obeys it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Output;

use offshoot_tests::product::{Place, document_of};
use serde_json::Value;

use crate::transcript::demo_vault;

const NAMES: &[&[u8]] = &[
    b"not\xff\xfeutf8",
    b"-rf",
    b"--json",
    b"new\nline",
    b"\"quoted\" 'twice'",
    b"\x1b[31mred\x1b[0m\x1b]0;title\x07",
    b"tab\tand\rreturn",
    b" blanks around ",
    b"back\\slash",
    b"\xc2\x9b31m",
    "\u{202e}gnp.exe".as_bytes(),
    "größe 日本".as_bytes(),
    b"$HOME;`id`&*?",
];

fn os(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

/// The exact bytes of a text in a document.
fn bytes_of(text: &Value) -> Vec<u8> {
    match text {
        Value::String(text) => text.clone().into_bytes(),
        raw => decode(raw["base64"].as_str().unwrap_or_else(|| panic!("{raw}"))),
    }
}

fn decode(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |byte| DIGITS.iter().position(|digit| digit == byte).unwrap() as u32;
    let mut out = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group.iter().fold(0, |bits, byte| bits << 6 | digit(byte));
        let bits = bits << (6 * (4 - group.len()));
        out.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    out
}

/// Nothing that a terminal would obey, whatever the names are.
#[track_caller]
fn assert_harmless(output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(bytes).unwrap_or_else(|_| panic!("{output:?}"));
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(bad), "{output:?}");
    }
}

struct Run<'a>(&'a Place);

impl Run<'_> {
    /// `offshoot OPTIONS -- PATHS`, for people.
    fn people(&self, options: &[&str], paths: &[&OsStr]) -> Output {
        let output = self.0.run(arguments(options, paths));
        assert!(output.status.success(), "{options:?} {paths:?}: {output:?}");
        assert_harmless(&output);
        output
    }

    /// The same for programs; gives the result.
    fn programs(&self, options: &[&str], paths: &[&OsStr]) -> Value {
        let options: Vec<&str> = options.iter().copied().chain(["--json"]).collect();
        let output = self.0.run(arguments(&options, paths));
        let document = document_of(&output);
        assert!(output.status.success(), "{options:?} {paths:?}: {document}");
        document["result"].clone()
    }
}

fn arguments<'a>(options: &[&'a str], paths: &[&'a OsStr]) -> Vec<&'a OsStr> {
    let options = options.iter().map(|option| OsStr::new(*option));
    options.chain([OsStr::new("--")]).chain(paths.iter().copied()).collect()
}

#[test]
fn every_name_goes_through_every_command() {
    let place = demo_vault();
    let run = Run(&place);
    let out = place.path().join("out");
    fs::create_dir(&out).unwrap();
    for (index, name) in NAMES.iter().enumerate() {
        // Without a leading slash, so that names with dashes look like options.
        let path = os(name);
        let copy = os(&[name, &b".copy"[..]].concat());
        let moved = os(&[name, &b".moved"[..]].concat());
        let content = format!("content {index}\n");
        let written =
            place.run_with(arguments(&["fs", "write", "-w", "fix"], &[&path]), content.as_bytes());
        assert!(written.status.success(), "{written:?}");
        assert_harmless(&written);
        let cat = run.people(&["fs", "cat"], &[&path]);
        assert_eq!(cat.stdout, content.as_bytes());
        run.people(&["fs", "ls", "-l"], &[&path]);
        run.people(&["fs", "stat"], &[&path]);
        run.people(&["fs", "cp", "-w", "fix"], &[&path, &copy]);
        run.people(&["fs", "mv", "-w", "fix"], &[&copy, &moved]);
        run.people(&["history"], &[&path]);
        run.people(&["diff", "--name-status"], &[&path]);
        let target = out.join(&path);
        run.people(&["fs", "export"], &[&path, target.as_os_str()]);
        assert_eq!(fs::read(&target).unwrap(), content.as_bytes());
        run.people(&["fs", "import", "-w", "fix"], &[target.as_os_str(), &copy]);

        let full = [&b"/"[..], name].concat();
        let stat = run.programs(&["fs", "stat"], &[&path]);
        assert_eq!(
            (bytes_of(&stat["path"]), bytes_of(&stat["name"])),
            (full.clone(), name.to_vec())
        );
        let cat = run.programs(&["fs", "cat"], &[&path]);
        assert_eq!((bytes_of(&cat["path"]), &cat["content"]), (full.clone(), &content.into()));
        let history = run.programs(&["history"], &[&path]);
        assert_eq!(bytes_of(&history["path"]), full);
        let diff = run.programs(&["diff", "--patch"], &[&path]);
        assert_eq!(bytes_of(&diff["changes"][0]["path"]), full);
        run.people(&["fs", "rm", "-w", "fix"], &[&moved, &copy]);
    }
    let list = run.programs(&["fs", "ls"], &[]);
    let mut listed: Vec<Vec<u8>> =
        list["entries"].as_array().unwrap().iter().map(|entry| bytes_of(&entry["name"])).collect();
    listed.retain(|name| NAMES.contains(&name.as_slice()));
    listed.sort();
    let mut names: Vec<Vec<u8>> = NAMES.iter().map(|name| name.to_vec()).collect();
    names.sort();
    assert_eq!(listed, names);
    for options in [
        &["fs", "ls"][..],
        &["fs", "tree"],
        &["status"],
        &["diff", "--stat"],
        &["diff", "--name-status"],
        &["diff", "--name-only"],
        &["show", "fix"],
        &["log"],
        &["op", "log", "-n", "500"],
    ] {
        assert_harmless(&place.run(options));
        document_of(&place.run(options.iter().copied().chain(["--json"])));
    }
}

#[test]
fn errors_about_names_are_harmless() {
    let place = demo_vault();
    for name in NAMES {
        let path = os(name);
        for options in [&["fs", "cat"][..], &["fs", "rm", "-w", "fix"], &["fs", "ls"], &["history"]]
        {
            let output = place.run(arguments(options, &[&path]));
            assert_eq!(output.status.code(), Some(3), "{output:?}");
            assert_harmless(&output);
        }
        let host = place.path().join("nowhere").join(&path);
        let options = ["fs", "import", "-w", "fix"];
        let output = place.run(arguments(&options, &[host.as_os_str(), OsStr::new("/x")]));
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert_harmless(&output);
        let output = place.run(arguments(&["init"], &[host.as_os_str()]));
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert_harmless(&output);
    }
}

#[test]
fn folders_may_be_called_anything() {
    for name in NAMES {
        let place = Place::new();
        let folder = place.path().join(os(name));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(os(name)), "x").unwrap();
        let run = |arguments: &[&str]| {
            let output = place.command(arguments).current_dir(&folder).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            output
        };
        for arguments in [
            &["init"][..],
            &["init"],
            &["vault", "list"],
            &["vault", "info"],
            &["fs", "ls"],
            &["op", "log"],
            &["doctor"],
        ] {
            assert_harmless(&run(arguments));
        }
        let info = document_of(&run(&["vault", "info", "--json"]));
        let bound = bytes_of(&info["result"]["vault"]["bindings"][0]);
        assert_eq!(bound, folder.canonicalize().unwrap().as_os_str().as_bytes());
    }
}

/// What somebody says about a change is shown to somebody else.
#[test]
fn words_of_others_are_harmless() {
    let place = demo_vault();
    let words = "evil\x1b[2J\x1b]0;title\x07\r\u{9b}31m\u{202e}\nnext";
    let mut command = place.command(["checkpoint", "create", "one", "-w", "fix", "-m", words]);
    let output = command.env("USER", words).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut command = place.command(["fs", "mkdir", "/made", "-w", "fix"]);
    assert!(command.env("USER", words).output().unwrap().status.success());
    for arguments in [
        &["checkpoint", "list"][..],
        &["checkpoint", "show", "one"],
        &["log"],
        &["op", "log"],
        &["show", "fix"],
        &["history", "/made"],
    ] {
        assert_harmless(&place.run(arguments));
    }
    let listed = place.json(&["checkpoint", "list"]);
    assert_eq!(listed["checkpoints"][0]["reason"], words);
    for words in ["a\x1b[2Jb", "a\nb"] {
        assert_harmless(&place.run(["show", words]));
        assert_harmless(&place.run(["workspace", "create", words]));
    }
}
