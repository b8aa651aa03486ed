//! A registry of packages on the loopback interface.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

type Files = BTreeMap<String, Vec<u8>>;

/// A server of files that counts what is asked for. It goes with the process that started it.
#[derive(Debug)]
pub struct Registry {
    address: String,
    files: Arc<RwLock<Files>>,
    asked: Arc<AtomicUsize>,
}

impl Registry {
    /// Starts one without any package.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of the loopback interface");
        let address = listener.local_addr().expect("it has an address");
        let files: Arc<RwLock<Files>> = Arc::default();
        let asked: Arc<AtomicUsize> = Arc::default();
        let (served, counted) = (files.clone(), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (files, asked) = (served.clone(), counted.clone());
                std::thread::spawn(move || answer(stream, &files, &asked));
            }
        });
        Self { address: format!("http://{address}"), files, asked }
    }

    /// Where it is, without a slash at the end.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// How much was asked for since the last time.
    pub fn asked(&self) -> usize {
        self.asked.swap(0, Ordering::SeqCst)
    }

    /// Adds a package for npm, version 1.0.0, with one file. `scratch` is an existing folder.
    pub fn add_npm(&self, name: &str, code: &str, scratch: &Path) {
        let manifest = format!(r#"{{"name": "{name}", "version": "1.0.0", "main": "main.js"}}"#);
        let files = [("package.json", manifest.as_str()), ("main.js", code)];
        self.put(&format!("/{name}.tgz"), packed(scratch, "package", &files));
        let tarball = format!("{}/{name}.tgz", self.address);
        let text = format!(
            r#"{{"name":"{name}","dist-tags":{{"latest":"1.0.0"}},"versions":{{"1.0.0":{{
            "name":"{name}","version":"1.0.0","main":"main.js","dist":{{"tarball":"{tarball}"}}}}}}}}"#
        );
        self.put(&format!("/{name}"), text);
    }

    /// Adds a package for cargo, version 0.1.0, with a library. Its name has at least four letters.
    pub fn add_cargo(&self, name: &str, code: &str, scratch: &Path) {
        let manifest =
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        let files = [("Cargo.toml", manifest.as_str()), ("src/lib.rs", code)];
        let package = packed(scratch, &format!("{name}-0.1.0"), &files);
        let sum = sha256(&package, scratch);
        let line = format!(
            r#"{{"name":"{name}","vers":"0.1.0","deps":[],"cksum":"{sum}","features":{{}},"yanked":false}}"#
        );
        self.put("/config.json", format!(r#"{{"dl": "{}/dl"}}"#, self.address));
        self.put(&format!("/{}/{}/{name}", &name[..2], &name[2..4]), format!("{line}\n"));
        self.put(&format!("/dl/{name}/0.1.0/download"), package);
    }

    /// Adds a project for Maven, version 1.0 of the group `here`, that others can have as their parent.
    pub fn add_maven(&self, name: &str) {
        let project = format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>here</groupId><artifactId>{name}</artifactId>\
             <version>1.0</version><packaging>pom</packaging></project>"
        );
        self.put(&format!("/here/{name}/1.0/{name}-1.0.pom"), project);
    }

    /// Adds a package for pip, of which there is this wheel.
    pub fn add_pip(&self, name: &str, file: &str, wheel: Vec<u8>) {
        let page = format!(
            "<!DOCTYPE html><html><body><a href=\"/wheels/{file}\">{file}</a></body></html>"
        );
        self.put(&format!("/simple/{name}/"), page);
        self.put(&format!("/wheels/{file}"), wheel);
    }

    fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        let mut files = self.files.write().expect("nobody panics while serving");
        files.insert(path.to_owned(), content.into());
    }
}

fn answer(mut stream: TcpStream, files: &RwLock<Files>, asked: &AtomicUsize) {
    let reader = stream.try_clone().expect("a socket has two ends");
    let mut lines = BufReader::new(reader).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    // The head ends with an empty line.
    let _head = lines.by_ref().find(String::is_empty);
    asked.fetch_add(1, Ordering::SeqCst);
    let path = first.split(' ').nth(1).unwrap_or_default();
    let files = files.read().expect("nobody panics while adding");
    let (status, body) = match files.get(path) {
        Some(body) => ("200 OK", body.as_slice()),
        None => ("404 Not Found", &b"no such file"[..]),
    };
    let length = body.len();
    // Pip reads an index only if it is a page, and keeps only what may be kept, from a time that it knows.
    let kind = match path {
        _ if path.ends_with('/') => "Content-Type: text/html\r\n",
        _ if path.ends_with(".whl") => {
            "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\nCache-Control: max-age=9999999999\r\n"
        }
        _ => "",
    };
    let head =
        format!("HTTP/1.1 {status}\r\n{kind}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    // Whoever does not wait for the answer does not want it.
    drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)));
}

/// A compressed archive of files in a folder.
fn packed(scratch: &Path, folder: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let top = scratch.join("packing");
    for (path, text) in files {
        let path = top.join(folder).join(path);
        std::fs::create_dir_all(path.parent().expect("files lie in folders")).expect("folders");
        std::fs::write(path, text).expect("a file of a package");
    }
    let output = Command::new("tar").arg("-C").arg(&top).args(["-czf", "-", folder]).output();
    let output = output.expect("tar runs");
    assert!(output.status.success(), "{output:?}");
    std::fs::remove_dir_all(top).expect("the folder goes again");
    output.stdout
}

fn sha256(bytes: &[u8], scratch: &Path) -> String {
    let file = scratch.join("sum");
    std::fs::write(&file, bytes).expect("a file to sum");
    let output = Command::new("sha256sum").arg(&file).output().expect("sha256sum runs");
    std::fs::remove_file(file).expect("the file goes again");
    String::from_utf8(output.stdout).expect("a sum is text")[..64].to_owned()
}
