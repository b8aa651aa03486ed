//! What handles do by themselves, so that no program that uses them has to.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use offshoot_engine::change::Change;
use offshoot_engine::exec::{Command, Event};
use offshoot_engine::gc;
use offshoot_engine::policy::PolicyDecision;
use offshoot_engine::{Offshoot, Options, Project, Topic};
use offshoot_needs::needs;
use offshoot_protocol::{ExecState, ExitCode};
use tempfile::TempDir;

type Told = Arc<Mutex<Vec<Topic>>>;

struct World {
    scratch: TempDir,
    project: Project,
    told: Told,
}

impl World {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("project");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("shared"), "shared\n").unwrap();
        let told = Told::default();
        let project = open(scratch.path(), &told).project(folder).unwrap();
        Self { scratch, project, told }
    }

    fn shared(&self) -> PathBuf {
        self.scratch.path().join("project/shared")
    }

    fn was_told(&self, topic: Topic) -> bool {
        self.told.lock().unwrap().contains(&topic)
    }
}

fn open(scratch: &Path, told: &Told) -> Offshoot {
    let environment = ["PATH"].map(|name| (name.into(), std::env::var_os(name).unwrap())).to_vec();
    let told = Arc::clone(told);
    let options = Options::new(environment)
        .registry(scratch.join("vaults"))
        .listener(move |notice| told.lock().unwrap().push(notice.topic));
    Offshoot::open(options).unwrap()
}

#[needs(UserNamespace)]
#[test]
fn a_command_in_a_new_workspace_has_what_is_in_the_folder_now() {
    let world = World::new();
    let kept = world.project.fork("kept").unwrap();
    fs::write(world.shared(), "later\n").unwrap();
    let ended = world.project.exec(["grep", "later", "shared"]).unwrap().wait();
    assert!(ended.is_success(), "{ended:?}");
    assert!(world.was_told(Topic::Refreshed));
    // A workspace that is there stays what it is.
    let ended = kept.exec(["grep", "shared", "shared"]).unwrap().wait();
    assert!(ended.is_success(), "{ended:?}");
}

#[needs(UserNamespace)]
#[test]
fn a_workspace_that_is_named_is_forked_if_there_is_none() {
    let world = World::new();
    let first = world.project.exec_in("fix", ["touch", "first"]).unwrap().wait();
    assert!(first.is_success(), "{first:?}");
    fs::write(world.shared(), "later\n").unwrap();
    let second = world.project.exec_in("fix", ["cat", "first", "shared"]).unwrap().wait();
    assert!(second.is_success(), "{second:?}");
    let fix = world.project.workspace("fix").unwrap();
    assert_eq!(fix.read("/shared").unwrap(), b"shared\n");
    assert_eq!(world.project.workspaces().unwrap().len(), 1);
}

#[test]
fn undo_of_a_fresh_fork_deletes_it() {
    let world = World::new();
    let fresh = world.project.fork("fresh").unwrap();
    fresh.undo().unwrap();
    assert_eq!(fresh.diff().unwrap_err().code, ExitCode::Conflict);
    assert_eq!(world.project.workspace("fresh").unwrap_err().code, ExitCode::NotFound);
    assert_eq!(world.project.workspaces().unwrap().len(), 0);
}

#[needs(UserNamespace)]
#[test]
fn a_workspace_in_use_is_told_in_the_envelope() {
    let world = World::new();
    let fix = world.project.fork("fix").unwrap();
    let first = fix.exec(Command::shell("echo ready; sleep 1000")).unwrap();
    assert!(first.events().any(|event| matches!(event, Event::Output { .. })));
    let busy = fix.exec(["touch", "new"]).unwrap().wait();
    assert_eq!(busy.result.state, ExecState::Failed, "{busy:?}");
    assert_eq!(busy.result.failed_in, Some(ExecState::Preparing), "{busy:?}");
    assert_eq!(busy.result.error.as_ref().unwrap().code(), ExitCode::Busy);
    // One that only reads is in nobody's way, and one that waits gets its turn.
    let reads = fix.exec(Command::new(["cat", "shared"]).read_only(true)).unwrap().wait();
    assert!(reads.is_success(), "{reads:?}");
    let waits = fix.exec(Command::new(["touch", "new"]).wait(Duration::from_secs(60))).unwrap();
    first.cancel();
    assert!(first.wait().result.interrupted);
    assert!(waits.wait().is_success(), "{:?}", waits.wait());
}

#[test]
fn a_status_says_what_comes_home_and_what_is_new_in_the_folder() {
    let world = World::new();
    let fix = world.project.fork("fix").unwrap();
    let status = fix.status().unwrap();
    assert_eq!((status.changes().len(), status.behind), (0, 0));
    fix.write("/own", b"own\n").unwrap();
    fs::write(world.shared(), "later\n").unwrap();
    world.project.refresh().unwrap();
    let status = fix.status().unwrap();
    let changed: Vec<String> = status.brought().iter().map(|it| it.path.to_string()).collect();
    assert_eq!((changed, status.behind), (vec!["/own".to_owned()], 1));
    fix.pull().unwrap();
    assert_eq!(fix.status().unwrap().behind, 0);
    assert_eq!(fix.read("/shared").unwrap(), b"later\n");
}

#[test]
fn a_diff_leaves_out_what_the_command_line_folds() {
    let world = World::new();
    let fix = world.project.fork("fix").unwrap();
    for path in ["/own", "/target/debug/out", "/sub/.git/HEAD", "/ignored/cache"] {
        fix.write(path, b"own\n").unwrap();
    }
    fix.write("/.gitignore", b"ignored/\n").unwrap();
    let paths = |changes: Vec<Change>| -> Vec<String> {
        changes.iter().map(|change| change.path.to_string()).collect()
    };
    assert_eq!(paths(fix.diff().unwrap()), ["/.gitignore", "/own"]);
    let all = paths(fix.diff_all().unwrap());
    for folded in ["/target/debug/out", "/sub/.git/HEAD", "/ignored/cache"] {
        assert!(all.iter().any(|path| path == folded), "{all:?}");
    }
    let patch = String::from_utf8(fix.patch().unwrap()).unwrap();
    assert!(patch.contains("b/own") && !patch.contains("target"), "{patch}");
    let all = String::from_utf8(fix.patch_all().unwrap()).unwrap();
    assert!(all.contains("b/target/debug/out") && all.contains("b/sub/.git/HEAD"), "{all}");
}

#[test]
fn a_patch_has_binary_files_in_whole() {
    let world = World::new();
    let fix = world.project.fork("fix").unwrap();
    fix.write("/binary", b"\0one").unwrap();
    let patch = String::from_utf8(fix.patch().unwrap()).unwrap();
    assert!(patch.contains("GIT binary patch\nliteral 4\n"), "{patch}");
}

/// A part of a project may have rules of its own; those of the project hold all the same.
#[test]
fn the_rules_of_the_vaults_folder_always_count() {
    let world = World::new();
    let folder = world.scratch.path().join("project");
    let part = folder.join("part");
    fs::create_dir(&part).unwrap();
    let rule = |program: &str| {
        format!(
            "version = 1\n[[rule]]\nname = \"no\"\ndecision = \"deny\"\nprefix = [\"{program}\"]\n"
        )
    };
    fs::write(folder.join("offshoot-policy.toml"), rule("cat")).unwrap();
    fs::write(part.join("offshoot-policy.toml"), rule("touch")).unwrap();
    let here = open(world.scratch.path(), &Told::default()).project(&part).unwrap();
    for program in ["cat", "touch"] {
        let ended = here.exec([program, "shared"]).unwrap().wait();
        let decided = ended.result.decision.as_ref().map(|decided| decided.decision);
        assert_eq!(decided, Some(PolicyDecision::Deny), "{program}");
    }
}

#[test]
fn a_merge_lists_a_move_as_a_move() {
    let world = World::new();
    let (one, other) = (world.project.fork("one").unwrap(), world.project.fork("other").unwrap());
    let engine = world.project.engine();
    let path = |text: &[u8]| offshoot_engine::file::VaultPath::parse(text).unwrap();
    let record = other.record().unwrap();
    let files = engine.files(world.project.vault());
    files.rename(&record, &path(b"/shared"), &path(b"/moved")).unwrap();
    let outcome = one.merge(&[&other]).unwrap();
    let [change] = &outcome.changes[..] else { panic!("{:?}", outcome.changes) };
    assert_eq!(change.moved.as_ref().map(|(from, _)| from.to_string()).as_deref(), Some("/shared"));
}

#[test]
fn collecting_garbage_tells_of_nothing_that_a_dry_run_finds() {
    let world = World::new();
    let engine = world.project.engine();
    let options = gc::GcOptions { dry_run: true, ..gc::kept(&engine.settings().config) };
    world.told.lock().unwrap().clear();
    let planned = engine.collect(world.project.vault(), &options).unwrap();
    assert_eq!(planned.bytes_before, planned.bytes_after);
    assert!(world.told.lock().unwrap().is_empty());
}

#[test]
fn a_vault_is_made_renamed_and_deleted_by_name() {
    let world = World::new();
    let engine = world.project.engine();
    drop(engine.create_vault("empty", None).unwrap());
    engine.rename_vault("empty", "other").unwrap();
    assert!(engine.has_vault("other").unwrap() && !engine.has_vault("empty").unwrap());
    engine.delete_vault("other").unwrap();
    assert_eq!(engine.vault_names().unwrap(), ["project"]);
    assert!(engine.rename_vault("other", "third").is_err());
}
