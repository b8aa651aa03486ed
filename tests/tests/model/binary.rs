//! The real binary, which is slow and is what people use.

use std::path::{Path, PathBuf};

use offshoot_tests::product::{Place, document_of};
use offshoot_tests::rng::Rng;
use serde_json::Value;

use crate::action::{Action, Edit, Scope};
use crate::driver::{Driver, Ids, Seen, SeenTree, Trouble};
use crate::host;
use crate::tree::Kind;

/// A project with a vault.
pub(crate) struct Binary {
    place: Place,
    project: PathBuf,
}

impl Binary {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let place = Place::new();
        let project = place.project();
        host::build(&project, rng);
        place.ok(["init"]);
        Self { place, project }
    }

    fn json(&self, arguments: &[&str]) -> Result<Value, String> {
        let output = self.place.run(arguments.iter().copied().chain(["--json"]));
        let document = document_of(&output);
        if document["success"] == true {
            return Ok(document["result"].clone());
        }
        Err(format!("{arguments:?}: {document}"))
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().into_iter().flatten()
}

impl Driver for Binary {
    fn act(&mut self, action: &Action, ids: &Ids) -> Result<(), Trouble> {
        let (words, input) = words(action, ids);
        let output = self.place.run_with(&words, &input);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => Ok(()),
            // Nonsense, not there, in conflict.
            Some(2..=4) => Err(Trouble::Refused(error)),
            _ => Err(Trouble::Broken(format!("{words:?} ended with {}: {error}", output.status))),
        }
    }

    fn see(&mut self) -> Result<Seen, String> {
        let document = self.json(&["workspace", "list"])?;
        let mut workspaces: Vec<_> = list(&document, "workspaces")
            .map(|w| (text(&w["id"]), text(&w["name"]), text(&w["head"]), text(&w["base"])))
            .collect();
        workspaces.sort();
        let mut checkpoints = Vec::new();
        for (id, ..) in &workspaces {
            let document = self.json(&["checkpoint", "list", "-w", id])?;
            let all = list(&document, "checkpoints");
            checkpoints.extend(all.map(|c| (id.clone(), text(&c["name"]), text(&c["snapshot"]))));
        }
        checkpoints.sort();
        let log = self.json(&["op", "log", "-n", "100000"])?;
        let operations: Vec<String> = list(&log, "operations").map(|o| text(&o["id"])).collect();
        let head = self.json(&["show", "head"])?;
        Ok(Seen {
            head: text(&head["snapshot"]["id"]),
            workspaces,
            checkpoints,
            last_operation: operations.first().cloned().unwrap_or_default(),
            operations: operations.len(),
        })
    }

    fn tree(&mut self, snapshot: &str) -> Result<SeenTree, String> {
        let document = self.json(&["fs", "tree", "/", "--at", snapshot])?;
        let entries = list(&document, "entries").map(|entry| {
            let kind = match entry["kind"].as_str() {
                Some("file") => Kind::File(hash(&text(&entry["checksum"]))),
                Some("directory") => Kind::Directory,
                Some("symlink") => Kind::Symlink(text(&entry["target"]).into_bytes()),
                other => panic!("nobody made a {other:?}"),
            };
            let mode = u32::from_str_radix(&text(&entry["mode"]), 8).unwrap();
            (text(&entry["path"]).trim_start_matches('/').to_owned(), (kind, mode))
        });
        Ok(entries.collect())
    }

    fn reopen(&mut self) -> Result<(), String> {
        // Each command opens the vault.
        Ok(())
    }

    fn check(&mut self) -> Result<(), String> {
        self.json(&["vault", "check"]).map(drop)
    }

    fn export(&mut self, snapshot: &str, to: &Path) -> Result<(), String> {
        let to = to.display().to_string();
        self.json(&["fs", "export", "/", &to, "--at", snapshot]).map(drop)
    }

    fn project(&self) -> &Path {
        &self.project
    }
}

fn hash(hex: &str) -> [u8; 32] {
    *blake3::Hash::from_hex(hex).expect("checksums are BLAKE3").as_bytes()
}

/// The command line and what goes to its standard input.
fn words(action: &Action, ids: &Ids) -> (Vec<String>, Vec<u8>) {
    let mut input = Vec::new();
    let workspace = |number: &usize| vec!["-w".to_owned(), ids.workspaces[*number].clone()];
    let scoped = |scope: &Scope| match scope {
        Scope::Vault => vec!["--vault-wide".to_owned()],
        Scope::Workspace(number) => workspace(number),
    };
    let plain = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (mut words, more) = match action {
        Action::Fork { name, from } => {
            (plain(&["workspace", "create", name, "--from", &ids.reference(from)]), Vec::new())
        }
        Action::Edit { workspace: number, edit } => {
            if let Edit::Write { bytes, .. } = edit {
                input.clone_from(bytes);
            }
            (edit_words(edit, ids), workspace(number))
        }
        Action::Checkpoint { workspace: number, name } => {
            (plain(&["checkpoint", "create", name]), workspace(number))
        }
        Action::Restore { workspace: number, to } => {
            (plain(&["checkpoint", "restore", &ids.reference(to)]), workspace(number))
        }
        Action::DeleteCheckpoint { workspace: number, name } => {
            (plain(&["checkpoint", "delete", name]), workspace(number))
        }
        Action::Rename { workspace: number, name } => {
            (plain(&["workspace", "rename", &ids.workspaces[*number], name]), Vec::new())
        }
        Action::Delete { workspace: number } => {
            (plain(&["workspace", "delete", &ids.workspaces[*number]]), Vec::new())
        }
        Action::Discard { workspace: number, keep } => {
            (plain(if *keep { &["discard", "--keep"] } else { &["discard"] }), workspace(number))
        }
        Action::Undo(scope) => (plain(&["undo"]), scoped(scope)),
        Action::Redo(scope) => (plain(&["redo"]), scoped(scope)),
        Action::RestoreOperation { operation, scope } => {
            (plain(&["op", "restore", &ids.operations[*operation]]), scoped(scope))
        }
        Action::Import => (plain(&["init"]), Vec::new()),
    };
    words.extend(more);
    (words, input)
}

fn edit_words(edit: &Edit, ids: &Ids) -> Vec<String> {
    let slash = |path: &String| format!("/{path}");
    let flag = |set: bool, flag: &str| set.then(|| flag.to_owned());
    let mut words = vec!["fs".to_owned()];
    match edit {
        Edit::Write { path, parents, .. } => {
            words.extend(["write".to_owned(), slash(path)]);
            words.extend(flag(*parents, "-p"));
        }
        Edit::Mkdir { path, parents } => {
            words.extend(["mkdir".to_owned(), slash(path)]);
            words.extend(flag(*parents, "-p"));
        }
        Edit::Move { from, to } => words.extend(["mv".to_owned(), slash(from), slash(to)]),
        Edit::Copy { from, to, recursive } => {
            words.extend(["cp".to_owned(), slash(from), slash(to)]);
            words.extend(flag(*recursive, "-r"));
        }
        Edit::Remove { paths, recursive } => {
            words.push("rm".to_owned());
            words.extend(paths.iter().map(slash));
            words.extend(flag(*recursive, "-r"));
        }
        Edit::Revert { paths, at } => {
            words.push("revert".to_owned());
            words.extend(paths.iter().map(slash));
            words.extend(["--at".to_owned(), ids.reference(at)]);
        }
    }
    words
}
