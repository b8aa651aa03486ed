//! Where a case happens: a project in a vault with a few workspaces, and what each of them must hold.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use offshoot_tests::product;
use serde_json::Value;
use tempfile::TempDir;

use super::script::{Script, plant};
use super::tally::Tally;
use super::tree::{self, Tree, differences, explain};

/// The workspaces that each case starts with.
pub(crate) const WORKSPACES: [&str; 3] = ["w0", "w1", "w2"];

/// A project, the home of its vault, and a plain copy of each workspace beside.
pub(crate) struct Site {
    folder: TempDir,
    home: PathBuf,
    pub(crate) tally: Arc<Tally>,
}

/// An exec that was started.
pub(crate) struct Started {
    pub(crate) workspace: &'static str,
    script: Script,
    /// What the workspace held at the start and after each step.
    trees: Vec<Tree>,
    pub(crate) child: Child,
}

/// An exec that is over.
pub(crate) struct Finished {
    workspace: &'static str,
    script: Script,
    trees: Vec<Tree>,
    /// The envelope, if there was one.
    pub(crate) envelope: Option<Value>,
}

impl Finished {
    /// Whether it came to its end without an error of Offshoot.
    pub(crate) fn is_whole(&self) -> bool {
        self.envelope.as_ref().is_some_and(|envelope| envelope["result"]["error"].is_null())
    }

    /// Whether it was to change anything.
    pub(crate) fn changes(&self) -> bool {
        self.trees.first() != self.trees.last()
    }

    /// Whether the envelope promised that the changes are there.
    fn promised(&self) -> bool {
        let result = |name: &str| self.envelope.as_ref().map(|envelope| &envelope["result"][name]);
        result("durability").is_some_and(|word| word == "flushed")
            && result("error").is_some_and(Value::is_null)
            && result("interrupted").is_some_and(|it| it == false)
    }
}

impl Site {
    /// A new vault in a home, with its workspaces.
    pub(crate) fn new(home: &Path, tally: &Arc<Tally>) -> Self {
        let site = Self::bare(home, tally);
        site.ok(&["init"]).unwrap();
        for workspace in WORKSPACES {
            site.ok(&["workspace", "create", workspace]).unwrap();
            copy(&site.project(), &site.mirror(workspace));
        }
        site
    }

    fn bare(home: &Path, tally: &Arc<Tally>) -> Self {
        let folder = crate::scene::temporary();
        let site = Self { folder, home: home.to_owned(), tally: Arc::clone(tally) };
        fs::create_dir(site.project()).unwrap();
        plant(&site.project());
        site
    }

    /// The same project and mirrors with the vault in another home.
    pub(crate) fn moved(&self, home: &Path) -> Self {
        let folder = crate::scene::temporary();
        copy(self.folder.path(), folder.path());
        // The vault is bound to the folder by its path, and found by its name.
        Self { folder, home: home.to_owned(), tally: Arc::clone(&self.tally) }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn mirror(&self, workspace: &str) -> PathBuf {
        self.folder.path().join("mirror").join(workspace)
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// The vault's own directory.
    pub(crate) fn vault(&self) -> PathBuf {
        fs::canonicalize(self.home.join("names/project")).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(product::binary());
        command.env_clear().current_dir(self.project());
        command.env("HOME", self.folder.path()).env("OFFSHOOT_HOME", &self.home);
        command.env("USER", "tester").env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.args(["--vault", "project"]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let (first, rest) = arguments.split_first().unwrap();
        match *first {
            "init" => {
                let mut command = self.command(&[]);
                command = rebuild(&command, arguments);
                command.output().unwrap()
            }
            _ => self.command(&[&[*first], rest].concat()).output().unwrap(),
        }
    }

    /// The documents that a command prints, one in each line.
    pub(crate) fn lines(&self, arguments: &[&str]) -> Result<Vec<Value>, String> {
        let text = self.ok(&[arguments, &["--json"]].concat())?;
        let read = |line| serde_json::from_str(line).map_err(|error| format!("{error}: {line}"));
        text.lines().map(read).collect()
    }

    pub(crate) fn ok(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.run(arguments);
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.success() {
            true => Ok(out),
            false => {
                let err = String::from_utf8_lossy(&output.stderr);
                Err(format!("{arguments:?} ended with {}: {out}{err}", output.status))
            }
        }
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Result<Value, String> {
        let text = self.ok(&[arguments, &["--json"]].concat())?;
        let document: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        Ok(document["result"].clone())
    }

    /// Starts an exec, and does the same to a plain copy beside.
    pub(crate) fn start(&self, workspace: &'static str, script: Script) -> Started {
        let next = self.mirror(workspace).with_extension("next");
        drop(fs::remove_dir_all(&next));
        copy(&self.mirror(workspace), &next);
        let trees = script.run_plainly(&next);
        let text = script.text();
        let child = self.command(&["exec", "-w", workspace, "--json", "--shell", &text]).spawn();
        Started { workspace, script, trees, child: child.unwrap() }
    }

    /// Waits for an exec.
    pub(crate) fn finish(&self, started: Started) -> Finished {
        let Started { workspace, script, trees, child } = started;
        let output = child.wait_with_output().unwrap();
        let envelope = serde_json::from_slice(&output.stdout).ok();
        Finished { workspace, script, trees, envelope }
    }

    /// What a workspace, or any other state, holds now.
    pub(crate) fn state(&self, reference: &[&str]) -> Result<Tree, String> {
        let out = self.folder.path().join("out");
        drop(fs::remove_dir_all(&out));
        let to = out.to_str().unwrap();
        self.ok(&[&["fs", "export", "/", to], reference].concat())?;
        Ok(tree::read(&out))
    }

    /// The workspace holds what it held before or after the exec, and after it where the envelope said so. Gives whether it
    /// is after it.
    pub(crate) fn settle(&self, finished: &Finished) -> Result<bool, String> {
        let workspace = finished.workspace;
        let found = self.state(&["-w", workspace])?;
        let (before, after) = (&finished.trees[0], finished.trees.last().unwrap());
        let (mirror, next) =
            (self.mirror(workspace), self.mirror(workspace).with_extension("next"));
        if found == *after {
            let tally = &self.tally;
            Tally::add(if finished.promised() { &tally.promised } else { &tally.there });
            fs::remove_dir_all(&mirror).unwrap();
            fs::rename(&next, &mirror).unwrap();
        } else if found == *before && !finished.promised() {
            Tally::add(&self.tally.gone);
            fs::remove_dir_all(&next).unwrap();
        } else {
            let (promised, script) = (finished.promised(), finished.script.text());
            return Err(format!(
                "workspace {workspace} is neither before nor after (promised: {promised}):\nto before: {}\nto after: {}\n{script}\n{:?}",
                explain(&found, before),
                explain(&found, after),
                finished.envelope
            ));
        }
        Ok(found == *after)
    }

    /// Takes a workspace back by one exec that changed something, killed or not: it holds the state before or after that.
    pub(crate) fn settle_undo(&self, undone: &Finished, success: bool) -> Result<(), String> {
        let found = self.state(&["-w", undone.workspace])?;
        let (before, after) = (&undone.trees[0], undone.trees.last().unwrap());
        if found == *before {
            // The plain copy is made again by what is known to be there.
            let mirror = self.mirror(undone.workspace);
            fs::remove_dir_all(&mirror).unwrap();
            fs::create_dir_all(&mirror).unwrap();
            copy(&self.folder.path().join("out"), &mirror);
            return Ok(());
        }
        match found == *after && !success {
            true => Ok(()),
            false => Err(format!("undo left something else: {}", explain(&found, before))),
        }
    }

    /// The workspace holds what its plain copy does.
    pub(crate) fn compare(&self, workspace: &str) -> Result<(), String> {
        let (found, wanted) =
            (self.state(&["-w", workspace])?, tree::read(&self.mirror(workspace)));
        match found == wanted {
            true => Ok(()),
            false => Err(format!("workspace {workspace}: {}", explain(&found, &wanted))),
        }
    }

    /// What an interrupted exec left is what it had written at one moment: the state after some step, and of the next one
    /// only a part.
    pub(crate) fn compare_recovered(
        &self,
        finished: &Finished,
        checkpoint: &str,
    ) -> Result<(), String> {
        let reference = format!("{}@{checkpoint}", finished.workspace);
        let found = self.state(&["--at", &reference])?;
        let trees = &finished.trees;
        let fits = (0..trees.len()).any(|at| {
            let after = trees.get(at + 1).unwrap_or(&trees[at]);
            let touched = differences(&trees[at], after);
            let other = differences(&found, &trees[at]);
            other.iter().all(|name| is_part(name, &touched))
        });
        match fits {
            true => Ok(()),
            false => Err(format!(
                "what was recovered is of no one moment:\nto before: {}\nto after: {}\n{}",
                explain(&found, &trees[0]),
                explain(&found, trees.last().unwrap()),
                finished.script.text()
            )),
        }
    }

    pub(crate) fn exec_of<'f>(&self, finished: &'f [Finished], id: &str) -> Option<&'f Finished> {
        let note = self.note_command(id)?;
        finished.iter().find(|finished| finished.script.text() == note)
    }

    fn note_command(&self, id: &str) -> Option<String> {
        let shown = self.json(&["recover", "show", id]).ok()?;
        Some(shown["command"].as_str()?.to_owned())
    }
}

/// Whether a step that touches some names may be the reason for another: hard links of a name have its bytes too, and in
/// the middle of a step anything below or above a name may be there.
fn is_part(name: &str, touched: &[String]) -> bool {
    touched.iter().any(|other| {
        name == other
            || name.starts_with(&format!("{other}/"))
            || other.starts_with(&format!("{name}/"))
    })
}

/// The command without the name of a vault, which is only about to be made.
fn rebuild(command: &Command, arguments: &[&str]) -> Command {
    let mut plain = Command::new(command.get_program());
    plain.env_clear().args(arguments);
    plain.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    plain.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null());
    plain
}

/// Copies a directory as it is.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(status.success());
}
