//! A registry of packages on the loopback interface.

mod backend;
mod tls;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, RwLock};

use tls::Certified;

/// What all connections of a registry share.
#[derive(Debug, Default)]
struct Shelf {
    files: RwLock<BTreeMap<String, Vec<u8>>>,
    /// Paths that lead to other addresses.
    moved: RwLock<BTreeMap<String, String>>,
    /// A directory of git repositories, which are served below `/git/`.
    repositories: RwLock<Option<PathBuf>>,
    /// The heads of all requests since they were last looked at.
    heads: Mutex<Vec<String>>,
}

/// A server of files that remembers what is asked for. It goes with the process that started it.
#[derive(Debug)]
pub struct Registry {
    address: String,
    shelf: Arc<Shelf>,
    authority: Option<String>,
}

impl Registry {
    /// Starts one without any package, where programs look for servers of their own.
    pub fn start() -> Self {
        Self::serve("127.0.0.1", None)
    }

    /// Starts one at another address of this machine, which no variable excepts from proxies.
    pub fn start_elsewhere(host: &str) -> Self {
        Self::serve(host, None)
    }

    /// Starts one that speaks TLS, with a certificate for its address or `localhost`.
    pub fn start_tls(host: &str) -> Self {
        Self::serve(host, Some(Certified::new(host)))
    }

    fn serve(host: &str, certified: Option<Certified>) -> Self {
        let bound = if host == "localhost" { "127.0.0.1" } else { host };
        let listener = TcpListener::bind((bound, 0)).expect("a port of the loopback interface");
        let port = listener.local_addr().expect("it has an address").port();
        let scheme = if certified.is_some() { "https" } else { "http" };
        let authority = certified.as_ref().map(|certified| certified.authority.clone());
        let shelf: Arc<Shelf> = Arc::default();
        let served = shelf.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shelf = served.clone();
                let config = certified.as_ref().map(|certified| certified.config.clone());
                std::thread::spawn(move || match config {
                    Some(config) => tls::accept(config, stream, |stream| answer(stream, &shelf)),
                    None => answer(stream, &shelf),
                });
            }
        });
        Self { address: format!("{scheme}://{host}:{port}"), shelf, authority }
    }

    /// Where it is, without a slash at the end.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Host and port.
    pub fn host(&self) -> &str {
        self.address.split_once("://").map_or("", |(_, host)| host)
    }

    /// Its port.
    pub fn port(&self) -> &str {
        self.host().rsplit(':').next().unwrap_or_default()
    }

    /// The certificate (PEM) by which its own can be checked, if it speaks TLS.
    pub fn authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// How much was asked for since the last time.
    pub fn asked(&self) -> usize {
        self.heads().len()
    }

    /// The heads of the requests since the last time.
    pub fn heads(&self) -> Vec<String> {
        std::mem::take(&mut self.shelf.heads.lock().expect("nobody panics while adding"))
    }

    /// Sends whoever asks for a path elsewhere.
    pub fn redirect(&self, path: &str, to: &str) {
        let mut moved = self.shelf.moved.write().expect("nobody panics while serving");
        moved.insert(path.to_owned(), to.to_owned());
    }

    /// Serves the git repositories of a directory below `/git/`.
    pub fn add_repositories(&self, directory: &Path) {
        let mut own = self.shelf.repositories.write().expect("nobody panics while serving");
        *own = Some(directory.to_owned());
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

    /// Adds a file.
    pub fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        let mut files = self.shelf.files.write().expect("nobody panics while serving");
        files.insert(path.to_owned(), content.into());
    }
}

fn answer(stream: impl Read + Write, shelf: &Shelf) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        // Whoever leaves, or does not trust the certificate, asks for nothing.
        let Ok(1..) = reader.read_line(&mut head) else { return };
    }
    shelf.heads.lock().expect("nobody panics while adding").push(head.clone());
    let path = head.split(' ').nth(1).unwrap_or_default();
    let repositories = shelf.repositories.read().expect("nobody panics while adding").clone();
    let answer = match repositories {
        Some(directory) if path.starts_with("/git/") => {
            backend::answer(&head, &mut reader, &directory)
        }
        _ => file(path, shelf),
    };
    // Whoever does not wait for the answer does not want it.
    let stream = reader.get_mut();
    drop(stream.write_all(&answer).and_then(|()| stream.flush()));
}

/// The whole answer to a request for a file.
fn file(path: &str, shelf: &Shelf) -> Vec<u8> {
    let moved = shelf.moved.read().expect("nobody panics while adding");
    let files = shelf.files.read().expect("nobody panics while adding");
    let (status, body) = match files.get(path) {
        Some(body) => ("200 OK".to_owned(), body.as_slice()),
        None => match moved.get(path) {
            Some(to) => (format!("302 Found\r\nLocation: {to}"), &b""[..]),
            None => ("404 Not Found".to_owned(), &b"no such file"[..]),
        },
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
    [head.as_bytes(), body].concat()
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
