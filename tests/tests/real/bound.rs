//! Several folders in one vault: a command sees each at its own path, changes them there, and the host's stay as they are.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use offshoot_needs::needs;
use offshoot_tests::scan::{CompareOptions, Scan, compare, scan};
use offshoot_tests::user::give_away;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scene::{Scene, WORKSPACE, Who, envelope_of};

#[path = "bound/home.rs"]
mod home;

const BOTH: [Who; 2] = [Who::Me, Who::Ordinary];

/// A project, a folder below the user's home, and one where commands otherwise find nothing private and nothing writable.
struct Bound {
    who: Who,
    scene: Scene,
    etc: PathBuf,
    far: TempDir,
}

impl Bound {
    fn new(who: Who) -> Self {
        let scene = Scene::new(who);
        let far = TempDir::with_prefix_in("bound-", env!("CARGO_TARGET_TMPDIR")).unwrap();
        let etc = scene.place.path().join("conf/etc");
        fs::create_dir_all(etc.join("full/inner")).unwrap();
        scene.place.write("src/code", "code\n");
        for folder in [&etc, far.path()] {
            fs::write(folder.join("app.conf"), "port = 1\n").unwrap();
            fs::write(folder.join("old"), "old\n").unwrap();
        }
        fs::write(etc.join("full/inner/file"), "deep\n").unwrap();
        fs::write(etc.join("secret"), "secret\n").unwrap();
        fs::set_permissions(etc.join("secret"), PermissionsExt::from_mode(0o600)).unwrap();
        let bound = Self { who, scene, etc, far };
        bound.hand_over();
        bound.scene.offshoot_ok(&["init"]);
        bound.scene.offshoot_ok(&["binding", "add", bound.etc.to_str().unwrap()]);
        let far = bound.far.path().to_str().unwrap();
        bound.scene.offshoot_ok(&["binding", "add", far, "--name", "far"]);
        bound.scene.offshoot_ok(&["workspace", "create", WORKSPACE]);
        bound
    }

    /// A script with the folders as `$ETC` and `$FAR`.
    fn script(&self, script: &str) -> String {
        format!("ETC={} FAR={}\n{script}", self.etc.display(), self.far.path().display())
    }

    /// Makes everything the own of whoever runs everything.
    fn hand_over(&self) {
        self.scene.hand_over();
        if self.who == Who::Ordinary {
            give_away(self.far.path());
        }
    }

    /// The folders on the host.
    fn folders(&self) -> [PathBuf; 3] {
        [self.scene.place.project(), self.etc.clone(), self.far.path().to_owned()]
    }

    fn scans(&self) -> [Scan; 3] {
        self.folders().map(|folder| scan(&folder).unwrap())
    }

    /// What the workspace holds of each folder.
    fn exported(&self) -> [Scan; 3] {
        let out = self.scene.place.path().join("out");
        let text = out.to_str().unwrap();
        self.scene.offshoot_ok(&["fs", "export", "-w", WORKSPACE, "/", text]);
        let bound = out.join(".offshoot/bound");
        let (etc, far) = (scan(&bound.join("etc")).unwrap(), scan(&bound.join("far")).unwrap());
        fs::remove_dir_all(out.join(".offshoot")).unwrap();
        let project = scan(&out).unwrap();
        fs::remove_dir_all(out).unwrap();
        [project, etc, far]
    }

    /// Runs a script in the workspace, which must leave the host alone, and then in the folders themselves.
    fn both(&self, options: &[&str], script: &str) {
        let script = self.script(script);
        let before = self.scans();
        let envelope = self.scene.exec(options, &["sh", "-euc", &script]);
        assert_eq!(envelope["success"], true, "{envelope:#}");
        assert_eq!(envelope["result"]["warnings"], json!([]), "{envelope:#}");
        same(&before, &self.scans(), &CompareOptions::default());
        let plain = self.scene.plainly(&script);
        assert_eq!(plain.code, Some(0), "{plain:?}");
        let options =
            CompareOptions { mtimes: false, directory_mtimes: false, ..CompareOptions::default() };
        same(&self.exported(), &self.scans(), &options);
    }
}

#[track_caller]
fn same(one: &[Scan; 3], other: &[Scan; 3], options: &CompareOptions) {
    for (one, other) in one.iter().zip(other) {
        let differences = compare(one, other, options);
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}

const EDITS: &str = r#"
echo more >> $ETC/app.conf; echo new > $ETC/new; rm $ETC/old; chmod 640 $ETC/secret
mkdir -p $ETC/d/e; ln -s ../app.conf $ETC/d/link; ln $ETC/app.conf $ETC/d/hard
sed -i s/1/2/ $FAR/app.conf; mv $FAR/old $FAR/older; echo there > src/code
test "$(cat $ETC/d/link)" = "$(cat $ETC/app.conf)"; touch $ETC/d/hard
test "$(stat -c %i $ETC/app.conf)" = "$(stat -c %i $ETC/d/hard)"
"#;

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn each_folder_is_changed_at_its_own_path_and_the_hosts_are_not() {
    for who in BOTH {
        for driver in ["overlay", "copy"] {
            let bound = Bound::new(who);
            bound.both(&["--driver", driver], EDITS);
            bound.both(&["--driver", driver], "mv $FAR/older $ETC/; cat $ETC/older > src/copied");
            bound.scene.offshoot_ok(&["vault", "check"]);
        }
    }
}

/// The broker knows all places of the workspace.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn directories_are_renamed_in_every_folder() {
    for who in BOTH {
        let bound = Bound::new(who);
        let script = r#"cd $ETC && python3 - <<'END'
import os, errno
os.rename("full", "moved")
os.rename("moved/inner", "inner")
os.mkdir("moved/empty")
os.rename("inner", "moved/empty")
os.link("app.conf", "second")
assert os.stat("app.conf").st_ino == os.stat("second").st_ino
assert os.path.samefile("moved/empty/file", os.getcwd() + "/moved/empty/file")
END
"#;
        bound.both(&[], script);
        let script = bound.script(
            r#"ETC=$ETC FAR=$FAR python3 - <<'END'
import os, errno
etc, far = os.environ["ETC"], os.environ["FAR"]
def error(call, *paths):
    try:
        call(*paths)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
print(error(os.rename, etc + "/moved", "moved"), error(os.rename, "src/code", far + "/code"))
print(error(os.link, "src/code", etc + "/code"), error(os.rename, etc, etc + "2"))
print(error(os.rmdir, ".offshoot"), error(os.mkdir, ".offshoot/x"), os.listdir(".offshoot"))
END
"#,
        );
        let said = bound.scene.inside(&script);
        let expected = "EXDEV EXDEV\nEXDEV EBUSY\nEBUSY EROFS []\n";
        assert_eq!((said.out.as_str(), said.err.as_str()), (expected, ""), "{who:?}");
    }
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_command_starts_where_its_caller_stands() {
    for who in BOTH {
        let bound = Bound::new(who);
        let full = bound.etc.join("full");
        let from = |folder: &Path, options: &[&str]| {
            let options = [&["-w", WORKSPACE], options].concat();
            let command = ["sh", "-c", "pwd; touch here"];
            let mut command = bound.scene.exec_command(&options, &command);
            envelope_of(&command.current_dir(folder).output().unwrap())
        };
        let envelope = from(&full, &[]);
        assert_eq!(envelope["result"]["stdout"], format!("{}\n", full.display()));
        assert_eq!(paths(&envelope), ["/.offshoot/bound/etc/full/here"]);
        let envelope = from(bound.far.path(), &["--vault", "project"]);
        assert_eq!(paths(&envelope), ["/.offshoot/bound/far/here"]);
        let envelope = from(&full, &["--read-only"]);
        assert!(envelope["result"]["stderr"].as_str().unwrap().contains("Read-only"), "{envelope}");
        assert!(!full.join("here").exists());
        // Without a workspace the main line is brought up to date with all folders, from whichever.
        fs::write(bound.etc.join("late"), "late").unwrap();
        let mut command = bound.scene.exec_command(&[], &["cat", "late"]);
        let envelope = envelope_of(&command.current_dir(&bound.etc).output().unwrap());
        assert_eq!(envelope["result"]["stdout"], "late", "{envelope:#}");
    }
}

fn paths(envelope: &Value) -> Vec<&str> {
    let changed = envelope["result"]["changed_files"].as_array().unwrap();
    changed.iter().map(|change| change["path"].as_str().unwrap()).collect()
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_folder_that_is_not_there_is_said_and_not_shown() {
    let bound = Bound::new(Who::Me);
    let extra = bound.scene.place.path().join("extra");
    fs::create_dir(&extra).unwrap();
    fs::write(extra.join("file"), "host").unwrap();
    bound.scene.offshoot_ok(&["binding", "add", extra.to_str().unwrap()]);
    let script = format!("cat {0}/file; echo x > {0}/file && cat {0}/file", extra.display());
    let envelope = bound.scene.exec(&[], &["sh", "-c", &script]);
    let warning = format!(
        "{} is not part of workspace real and its changes are not kept; `offshoot pull -w real` brings it in",
        extra.display()
    );
    assert_eq!(envelope["result"]["warnings"], json!([warning]), "{envelope:#}");
    assert_eq!(paths(&envelope), Vec::<&str>::new());
    assert_eq!(fs::read_to_string(extra.join("file")).unwrap(), "host");
    // Where nothing leads there, nobody is told.
    let to_it = ["cat", "../extra/file"];
    let to_none = ["cat", "../extras", "other"];
    for (command, expected) in [(&to_it[..], 1), (&to_none, 0), (&["true"], 0)] {
        let envelope = bound.scene.exec(&[], command);
        let warnings = envelope["result"]["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), expected, "{command:?}: {envelope:#}");
    }
    let moved = bound.scene.place.path().join("moved");
    fs::rename(&bound.etc, &moved).unwrap();
    let envelope = bound.scene.exec(&[], &["cat", ".offshoot/bound/etc/app.conf"]);
    let warnings = envelope["result"]["warnings"].to_string();
    assert!(warnings.contains("is gone and was not shown"), "{envelope:#}");
    let refused = bound.scene.exec_command(&[], &["true"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(125), "{refused:?}");
    bound.scene.offshoot_ok(&["binding", "move", "etc", moved.to_str().unwrap()]);
    let script = format!("cat {}/app.conf", moved.display());
    let envelope = bound.scene.exec(&[], &["sh", "-c", &script]);
    assert_eq!(envelope["result"]["stdout"], "port = 1\n", "{envelope:#}");
}

/// A directory of the project that has the name of the one that holds the other folders is the project's.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_directory_of_that_name_in_the_project_is_seen() {
    let bound = Bound::new(Who::Me);
    bound.scene.place.write(".offshoot/settings", "mine\n");
    bound.scene.offshoot_ok(&["init"]);
    bound.scene.offshoot_ok(&["workspace", "create", "later"]);
    let script = "cat .offshoot/settings; ls -A .offshoot/bound; echo x > .offshoot/more";
    let mut command = bound.scene.exec_command(&["-w", "later"], &["sh", "-euc", script]);
    let envelope = envelope_of(&command.output().unwrap());
    assert_eq!(envelope["result"]["stdout"], "mine\n", "{envelope:#}");
    assert_eq!(paths(&envelope), ["/.offshoot/more"]);
}

/// What stands for the other folders in the project is no change that git would see.
#[needs(Overlay, UserNamespace, "git", "python3")]
#[test]
fn git_sees_nothing_of_the_other_folders() {
    let bound = Bound::new(Who::Me);
    let script = "git init -q . && git add . && git status --porcelain --untracked-files=all";
    let said = bound.scene.inside(script);
    assert_eq!((said.out.as_str(), said.err.as_str()), ("A  src/code\n", ""));
}
