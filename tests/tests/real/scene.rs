//! A project in which the same scripts run twice: in a workspace, and then in the folder itself.
//!
//! The workspace comes first. It must leave the folder as it is, and programs see it at the
//! folder's own path, so that both runs start from the same files under the same names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use offshoot_machine::search_path;
use offshoot_tests::awkward;
use offshoot_tests::product::{Place, binary};
use offshoot_tests::registry::Registry;
use offshoot_tests::scan::{CompareOptions, Scan, compare, printable, scan};
use offshoot_tests::schema;
use offshoot_tests::user::{User, give_away};
use serde_json::Value;

/// Who runs everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Whoever runs the tests.
    Me,
    /// Somebody who is not root.
    Ordinary,
}

/// What a run said: how it ended, and its output and errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A project with a vault, and who works on it.
pub(crate) struct Scene {
    pub(crate) place: Place,
    user: Option<User>,
    variables: Vec<(String, OsString)>,
}

/// The workspace of a scene.
pub(crate) const WORKSPACE: &str = "real";

impl Scene {
    pub(crate) fn new(who: Who) -> Self {
        let user = (who == Who::Ordinary).then(User::new);
        let variables = vec![("PATH".to_owned(), search_path())];
        Self { place: Place::new(), user, variables }
    }

    /// Makes the project one that installs a package of a registry with npm.
    pub(crate) fn npm_project(&mut self, registry: &Registry) {
        registry.add_npm("low", "module.exports = 42;\n", self.place.path());
        for (name, value) in [
            ("npm_config_audit", "false"),
            ("npm_config_fund", "false"),
            ("npm_config_update_notifier", "false"),
            ("npm_config_fetch_retries", "0"),
        ] {
            self.set(name, value);
        }
        self.set("npm_config_registry", format!("{}/", registry.address()));
        self.place.write("package.json", r#"{"name": "app", "dependencies": {"low": "^1.0.0"}}"#);
    }

    /// Gives every run a variable.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.push((name.to_owned(), value.into()));
    }

    /// Makes what was written so far the own of whoever runs everything.
    pub(crate) fn hand_over(&self) {
        if self.user.is_some() {
            give_away(self.place.path());
        }
    }

    /// Puts the files of the project into a vault, with a workspace.
    pub(crate) fn bind(&self) {
        self.hand_over();
        self.offshoot_ok(&["init"]);
        self.offshoot_ok(&["workspace", "create", WORKSPACE]);
    }

    /// A program as whoever runs everything, with the variables of the scene.
    fn program(&self, program: impl Into<OsString>) -> Command {
        let mut command = match &self.user {
            Some(user) => user.program(&self.place, program.into()),
            None => {
                let mut command = Command::new(program.into());
                command.env_clear().envs(self.place.environment());
                command.current_dir(self.place.project()).stdin(Stdio::null());
                command
            }
        };
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// A command of the product.
    pub(crate) fn offshoot(&self, arguments: &[&str]) -> Command {
        let path = self.user.as_ref().map_or_else(|| binary().to_owned(), User::binary);
        let mut command = self.program(path);
        command.args(arguments);
        command
    }

    /// Runs the product, which must succeed, and gives what it printed.
    pub(crate) fn offshoot_ok(&self, arguments: &[&str]) -> String {
        let output = self.offshoot(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A command of `exec --json` with options of its own; every variable of the scene is passed on.
    pub(crate) fn exec_command(&self, options: &[&str], command: &[&str]) -> Command {
        let mut arguments = vec!["exec", "--json"];
        for (name, _) in &self.variables {
            arguments.extend(["-e", name]);
        }
        arguments.extend(options);
        arguments.push("--");
        arguments.extend(command);
        self.offshoot(&arguments)
    }

    /// Runs a command in the workspace and gives its envelope.
    pub(crate) fn exec(&self, options: &[&str], command: &[&str]) -> Value {
        let options = [&["-w", WORKSPACE], options].concat();
        envelope_of(&self.exec_command(&options, command).output().unwrap())
    }

    /// Runs a script in the workspace and gives what it said.
    pub(crate) fn inside(&self, script: &str) -> Said {
        self.inside_with(&[], script)
    }

    /// The same with options.
    pub(crate) fn inside_with(&self, options: &[&str], script: &str) -> Said {
        let envelope = self.exec(options, &["sh", "-euc", script]);
        let result = &envelope["result"];
        assert!(result["error"].is_null(), "{script}\n{envelope:#}");
        assert_eq!(result["warnings"], serde_json::json!([]), "{script}\n{envelope:#}");
        let text = |name: &str| match &result[name] {
            Value::String(text) => text.clone(),
            other => other["lossy"].as_str().expect("a text").to_owned(),
        };
        let code = result["exit_code"].as_i64().map(|code| i32::try_from(code).unwrap());
        Said { code, out: text("stdout"), err: text("stderr") }
    }

    /// Runs a script in the folder itself.
    pub(crate) fn plainly(&self, script: &str) -> Said {
        let output = self.program("sh").args(["-euc", script]).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Runs a command in a copy of the folder, which goes again.
    pub(crate) fn plainly_in_a_copy(&self, command: &[&str]) -> Said {
        let copy = self.place.path().join("copy");
        let (from, to) = (self.place.project(), copy.to_str().unwrap());
        let copied = self.program("cp").args(["-a", from.to_str().unwrap(), to]).status().unwrap();
        assert!(copied.success(), "{copied}");
        let run = self.program(command[0]).args(&command[1..]).current_dir(&copy).output().unwrap();
        remove(&copy);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said { code: run.status.code(), out: text(&run.stdout), err: text(&run.stderr) }
    }

    /// Runs scripts, all of which must succeed and say the same in both runs: first all in the
    /// workspace, an exec each, then all in the folder. `normal` takes out what differs by nature.
    /// Gives what was said in the workspace.
    pub(crate) fn both(&self, scripts: &[&str], normal: impl Fn(&str) -> String) -> Vec<Said> {
        let before = scan(&self.place.project()).unwrap();
        let inside: Vec<Said> = scripts.iter().map(|script| self.inside(script)).collect();
        let after = scan(&self.place.project()).unwrap();
        let touched = compare(&before, &after, &CompareOptions::default());
        assert!(touched.is_empty(), "the folder was touched:\n{}", touched.join("\n"));
        for (script, said) in scripts.iter().zip(&inside) {
            let plain = self.plainly(script);
            assert_eq!(plain.code, Some(0), "plainly: {script}\n{plain:#?}");
            assert_eq!(said.code, Some(0), "in the workspace: {script}\n{said:#?}");
            assert_eq!(normal(&said.out), normal(&plain.out), "output of {script}\n{said:#?}");
            assert_eq!(normal(&said.err), normal(&plain.err), "errors of {script}");
        }
        inside
    }

    /// What the workspace holds now.
    pub(crate) fn exported(&self) -> Scan {
        let out = self.place.path().join("out");
        self.offshoot_ok(&["fs", "export", "-w", WORKSPACE, "/", out.to_str().unwrap()]);
        let scan = scan(&out).unwrap();
        remove(&out);
        scan
    }

    /// The workspace must hold what the folder holds, but for the paths that `differs` names. Times
    /// are left out, since the two runs are at two times.
    pub(crate) fn same_tree(&self, differs: impl Fn(&str) -> bool) {
        let keep = |mut scan: Scan| {
            scan.0.retain(|path, _| !differs(&printable(path)));
            scan
        };
        let inside = keep(self.exported());
        let plain = keep(scan(&self.place.project()).unwrap());
        let options =
            CompareOptions { mtimes: false, directory_mtimes: false, ..CompareOptions::default() };
        let differences = compare(&inside, &plain, &options);
        assert!(differences.is_empty(), "workspace, folder:\n{}", differences.join("\n"));
        self.offshoot_ok(&["vault", "check"]);
    }

    /// A path of the project.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.place.project().join(path)
    }
}

/// Removes a folder, also where modes in it lock its owner out.
fn remove(folder: &Path) {
    awkward::clear(folder).unwrap();
    std::fs::remove_dir(folder).unwrap();
}

/// The one envelope on standard output, which must be as `docs/schema` says and agree with itself and
/// the exit code.
pub(crate) fn envelope_of(output: &Output) -> Value {
    let text = std::str::from_utf8(&output.stdout).expect("JSON is UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(text.lines().count(), 1, "{}: not one line: {text}{errors}", output.status);
    let envelope: Value = serde_json::from_str(text).expect("a JSON document");
    let result = &envelope["result"];
    assert_eq!(envelope["kind"], "exec", "{envelope:#}");
    let problems = schema::problems(&envelope);
    assert!(problems.is_empty(), "{envelope:#}\n{}", problems.join("\n"));
    let good =
        result["exit_code"] == 0 && result["error"].is_null() && result["timed_out"] == false;
    assert_eq!(envelope["success"], good, "{envelope:#}");
    assert_eq!(output.status.success(), good, "{}: {envelope:#}", output.status);
    envelope
}

/// For output that is the same as it is.
pub(crate) fn exactly(text: &str) -> String {
    text.to_owned()
}
