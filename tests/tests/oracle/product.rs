//! What is judged: the real binary, or something that does what it should by the simplest means.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use offshoot_tests::oracle::changes::{Change, changes};
use offshoot_tests::oracle::tree::Plan;
use offshoot_tests::product::Place;
use offshoot_tests::scan::{Kind, Scan, scan};

use crate::case::Setting;
use crate::envelope;
use crate::user::User;

/// What came of a command.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) stdout: String,
    pub(crate) changes: Vec<Change>,
}

/// Something that runs commands on workspaces of one tree.
pub(crate) trait Product {
    /// Makes a workspace.
    fn fork(&mut self, workspace: &str) -> Result<(), String>;
    /// Runs a command in a workspace.
    fn exec(&mut self, workspace: &str, words: &[&str]) -> Result<Answer, String>;
    /// What is in a workspace, as seen from outside.
    fn state(&mut self, workspace: &str) -> Result<Scan, String>;
    /// The folder that the tree came from, which no command may change.
    fn host(&self) -> PathBuf;
}

/// A folder that belongs to a user, with one more for the tree.
pub(crate) fn place_of(plan: &Plan, user: User) -> Place {
    let place = Place::new();
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    chown(place.path(), Some(user.uid), Some(user.uid)).unwrap();
    plan.build(&place.project(), user.uid, user.uid).unwrap();
    place
}

/// The real binary, with a vault of its own.
pub(crate) struct Real<'a> {
    place: Place,
    setting: Setting<'a>,
    exports: u64,
}

impl<'a> Real<'a> {
    pub(crate) fn new(plan: &Plan, setting: Setting<'a>) -> Result<Self, String> {
        let place = place_of(plan, setting.user);
        let real = Self { place, setting, exports: 0 };
        real.json(&["init", "--json", "."])?;
        Ok(real)
    }

    fn command(&self, words: &[&str]) -> Command {
        let Setting { tools, user, .. } = self.setting;
        let mut command = user.command(&tools.offshoot);
        command.env_clear().envs(self.place.environment()).current_dir(self.place.project());
        command.args(words);
        command
    }

    fn json(&self, words: &[&str]) -> Result<serde_json::Value, String> {
        let output = self.command(words).output().unwrap();
        let document = readable(&output)?;
        if document["success"] == true {
            Ok(document["result"].clone())
        } else {
            Err(format!("{words:?}: {document}"))
        }
    }
}

/// The document on standard output; a crash or a message in its place is an error like any other.
pub(crate) fn readable(output: &Output) -> Result<serde_json::Value, String> {
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let streams = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        format!("{error}: {}: {}{}", output.status, streams[0], streams[1])
    })
}

impl Product for Real<'_> {
    fn fork(&mut self, workspace: &str) -> Result<(), String> {
        self.json(&["workspace", "create", workspace, "--json"]).map(drop)
    }

    fn exec(&mut self, workspace: &str, words: &[&str]) -> Result<Answer, String> {
        let broker = format!("exec.broker={}", self.setting.broker);
        let options =
            ["-c", "diff.renames=false", "-c", &broker, "exec", "--json", "-w", workspace];
        // The programs of the oracle lie where no command looks by itself.
        let show: Vec<&str> = words.iter().copied().filter(|word| word.starts_with('/')).collect();
        let show: Vec<&str> = show.iter().flat_map(|path| ["--show", path]).collect();
        let rest = [&["--timeout", "600s", "--"], words].concat();
        let result = self.json(&[&options[..], &show, &rest].concat())?;
        let answer = envelope::answer(&result)?;
        let exec = result["exec"].as_str().ok_or("no id")?;
        let log = ["audit", "log", "--json", "--kind", "exec", "--exec", exec];
        let event = readable(&self.command(&log).output().unwrap())?;
        envelope::compare_audited(&event["result"]["details"]["files"], &answer.changes)?;
        Ok(answer)
    }

    fn state(&mut self, workspace: &str) -> Result<Scan, String> {
        self.exports += 1;
        // What comes next works on merged layers, every other time.
        if self.exports.is_multiple_of(2) {
            self.json(&["vault", "compact", "--all", "--json", "-w", workspace])?;
        }
        let to = self.place.path().join(format!("export-{}", self.exports));
        let words = ["fs", "export", "--json", "-w", workspace, "/", to.to_str().unwrap()];
        self.json(&words)?;
        let state = scan(&to).map_err(|error| error.to_string());
        fs::remove_dir_all(&to).map_err(|error| format!("{}: {error}", to.display()))?;
        state
    }

    fn host(&self) -> PathBuf {
        self.place.project()
    }
}

/// Plain copies, and full scans before and after.
pub(crate) struct Simple {
    place: Place,
    plan: Plan,
    user: User,
}

impl Simple {
    pub(crate) fn new(plan: &Plan, user: User) -> Self {
        Self { place: place_of(plan, user), plan: plan.clone(), user }
    }

    fn copy(&self, workspace: &str) -> PathBuf {
        self.place.path().join(workspace)
    }
}

impl Product for Simple {
    fn fork(&mut self, workspace: &str) -> Result<(), String> {
        let copy = self.copy(workspace);
        fs::create_dir(&copy).unwrap();
        self.plan.build(&copy, self.user.uid, self.user.uid).map_err(|error| error.to_string())
    }

    fn exec(&mut self, workspace: &str, words: &[&str]) -> Result<Answer, String> {
        let copy = self.copy(workspace);
        let before = scan(&copy).map_err(|error| error.to_string())?;
        let stdout = run_plainly(self.user, &copy, words)?;
        remove_sockets(&copy).map_err(|error| error.to_string())?;
        let after = scan(&copy).map_err(|error| error.to_string())?;
        Ok(Answer { stdout, changes: changes(&before, &after) })
    }

    fn state(&mut self, workspace: &str) -> Result<Scan, String> {
        scan(&self.copy(workspace)).map_err(|error| error.to_string())
    }

    fn host(&self) -> PathBuf {
        self.place.project()
    }
}

/// Takes away what a workspace does not keep either, and leaves no trace of it.
pub(crate) fn remove_sockets(top: &Path) -> io::Result<()> {
    let sockets = scan(top)?.0.into_iter().filter(|(_, node)| node.kind == Kind::Socket);
    for (path, _) in sockets {
        let path = top.join(OsStr::from_bytes(&path));
        let parent = File::open(path.parent().expect("a socket lies in a directory"))?;
        let time = parent.metadata()?.modified()?;
        fs::remove_file(&path)?;
        parent.set_modified(time)?;
    }
    Ok(())
}

/// Runs a command in a directory, with the rights that it would have in a sandbox, and gives what it printed.
pub(crate) fn run_plainly(user: User, directory: &Path, words: &[&str]) -> Result<String, String> {
    let (program, words) = words.split_first().expect("a command has a name");
    let mut command = user.confined(Path::new(program));
    let output = command.args(words).current_dir(directory).output().unwrap();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("on a plain directory: {}: {errors}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}
