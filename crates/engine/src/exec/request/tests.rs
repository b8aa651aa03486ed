//! What policy let through runs where, how and when it was let through, and nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_needs::needs;
use offshoot_protocol::{ExecState, ExitCode};
use offshoot_workspace::{
    Cleared, ExecutionEnvelope, ExecutionWorkspace, ProxyRuntime, RuntimeOptions,
};

use super::explain;
use crate::exec::Command;
use crate::{Offshoot, Options, Project};

/// A project that commands can be cleared for.
struct Site {
    folder: PathBuf,
    project: Project,
    options: RuntimeOptions,
}

impl Site {
    fn new(scratch: &Path, name: &str) -> Self {
        let folder = scratch.join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("file"), "text\n").unwrap();
        let environment = ["PATH"].map(|name| (name.into(), std::env::var_os(name).unwrap()));
        let options = Options::new(environment.to_vec()).registry(scratch.join("vaults"));
        let project = Offshoot::open(options).unwrap().project(&folder).unwrap();
        let options = runtime_options(&project, &[]);
        Self { folder, project, options }
    }

    fn runtime(&self) -> ProxyRuntime<'_> {
        ProxyRuntime::new(self.project.vault(), self.project.name(), &self.options)
    }

    /// A command that policy lets run: it leaves a file.
    fn cleared(&self) -> Cleared {
        let place = ExecutionWorkspace::Workspace("w".to_owned());
        let command = Command::new(["touch", "made"]);
        let request = self.project.engine().request(command, place, None, None);
        self.runtime().clear(request).unwrap()
    }
}

fn runtime_options(project: &Project, rules: &[PathBuf]) -> RuntimeOptions {
    let rules = project.opened().rules(rules).unwrap();
    project.engine().runtime_options(rules, false, None, explain)
}

/// Nothing ran, and no workspace was made for it.
fn assert_stale(ended: &ExecutionEnvelope, project: &Project) {
    let result = &ended.result;
    assert_eq!(result.state, ExecState::Failed);
    assert_eq!(result.failed_in, Some(ExecState::Deciding));
    assert_eq!(result.exit_code, None);
    let error = result.error.as_ref().unwrap();
    assert_eq!(error.code(), ExitCode::Conflict, "{error:?}");
    assert!(error.message.contains("policy"), "{error:?}");
    assert_eq!(project.vault().workspaces().unwrap().len(), 0);
}

#[needs(UserNamespace)]
#[test]
fn what_was_cleared_runs() {
    let scratch = tempfile::tempdir().unwrap();
    let site = Site::new(scratch.path(), "one");
    let ended = site.runtime().run(site.cleared(), &mut ());
    assert!(ended.is_success(), "{ended:?}");
    assert_eq!(ended.result.changes.len(), 1);
}

#[test]
fn a_clearance_of_another_vault_does_not_run() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, two) = (Site::new(scratch.path(), "one"), Site::new(scratch.path(), "two"));
    assert_stale(&two.runtime().run(one.cleared(), &mut ()), &two.project);
}

#[test]
fn a_clearance_under_other_rules_does_not_run() {
    let scratch = tempfile::tempdir().unwrap();
    let site = Site::new(scratch.path(), "one");
    let rules = scratch.path().join("rules.toml");
    let text = "version = 1\n[[rule]]\nname = \"no-touch\"\ndecision = \"deny\"\nprefix = [\"touch\"]\nmatches = [\"touch a\"]\n";
    fs::write(&rules, text).unwrap();
    let cleared = site.cleared();
    let options = runtime_options(&site.project, &[rules]);
    let strict = ProxyRuntime::new(site.project.vault(), site.project.name(), &options);
    assert_stale(&strict.run(cleared, &mut ()), &site.project);
}

#[test]
fn a_clearance_for_folders_that_were_moved_does_not_run() {
    let scratch = tempfile::tempdir().unwrap();
    let site = Site::new(scratch.path(), "one");
    let cleared = site.cleared();
    fs::rename(&site.folder, scratch.path().join("moved")).unwrap();
    assert_stale(&site.runtime().run(cleared, &mut ()), &site.project);
}
