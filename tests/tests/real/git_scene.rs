//! A project in a git repository, bound to a vault, and questions about both.

use std::collections::BTreeMap;
use std::process::Output;

use offshoot_tests::scan::{Scan, printable, scan};

use crate::scene::{Scene, WORKSPACE, Who};

/// Ann, who works on the project, and her settings; nothing of whoever runs the tests.
pub(crate) const SETTINGS: &str =
    "[user]\nname = Ann\nemail = ann@example.org\n[init]\ndefaultBranch = main\n
    [gc]\nauto = 0\n[maintenance]\nauto = false\n[protocol \"file\"]\nallow = always\n";

/// A repository in the project folder, made by a script, and taken into a vault.
pub(crate) fn project(who: Who, history: &str) -> Scene {
    let mut scene = Scene::new(who);
    scene.set("GIT_CONFIG_NOSYSTEM", "1");
    std::fs::write(scene.place.path().join(".gitconfig"), SETTINGS).unwrap();
    scene.hand_over();
    scene.host(history);
    scene.bind();
    scene
}

/// Files of several kinds, some with names that are hard to write down.
pub(crate) const HISTORY: &str = "git init -q .
    echo one > a; seq 20 > b; mkdir -p d/e; echo c > d/c; echo '#!/bin/sh' > d/run; chmod +x d/run
    ln -s ../a d/link; printf x > \"$(printf 'd/\\377')\"; printf x > \"$(printf 'd/new\\nline')\"
    printf x > 'd/\"quoted\" \\ back'; echo '*.o' > .gitignore
    git add -A; git commit -qm first; echo more >> a; git commit -qam second";

impl Scene {
    /// Runs a script in the folder itself, which must succeed, and gives what it printed.
    pub(crate) fn host(&self, script: &str) -> String {
        let said = self.plainly(script);
        assert_eq!(said.code, Some(0), "{script}\n{said:#?}");
        said.out
    }

    /// Runs a script in the workspace, which must succeed.
    pub(crate) fn work(&self, script: &str) -> String {
        let said = self.inside(script);
        assert_eq!(said.code, Some(0), "{script}\n{said:#?}");
        said.out
    }

    /// Runs the product on the workspace.
    pub(crate) fn on_workspace(&self, arguments: &[&str]) -> Output {
        self.offshoot(&[arguments, &["-w", WORKSPACE]].concat()).output().unwrap()
    }

    /// Runs the product on the workspace, which must succeed.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.on_workspace(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the product on the workspace, which must fail with this code, and gives what it said about it.
    pub(crate) fn refused(&self, arguments: &[&str], code: i32) -> String {
        let output = self.on_workspace(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    /// Everything in the folder but what an export to `branch` may add to the repository: objects and the branch.
    pub(crate) fn untouched(&self, branch: &str) -> BTreeMap<String, String> {
        let Scan(nodes) = scan(&self.place.project()).unwrap();
        let own = [".git/refs/heads/", ".git/logs/refs/heads/"].map(|at| format!("{at}{branch}"));
        let may_change = |path: &str| {
            let objects =
                path.starts_with(".git/objects") || path.starts_with(".git/refs/offshoot");
            // The branch, and the directories that it lies in.
            objects || own.iter().any(|of| of.starts_with(path))
        };
        let told = nodes.iter().map(|(path, node)| (printable(path), format!("{node:?}")));
        told.filter(|(path, _)| !may_change(path)).collect()
    }

    /// Fails unless a commit has exactly the files of the workspace, but for what git does not see.
    pub(crate) fn same_files(&self, commit: &str) {
        let out = self.place.path().join("out");
        self.done(&["fs", "export", "/", out.to_str().unwrap()]);
        self.host(&format!(
            "rm -rf ../tree; mkdir ../tree; git archive {commit} | tar -x -C ../tree
             rm -rf ../out/.git ../out/.offshoot ../out/sub ../out/nested ../out/pipe ../tree/sub; find ../out -name '*.o' -delete
             find ../out ../tree -depth -type d -empty -delete; diff -r --no-dereference ../tree ../out
             (cd ../tree; find . -type f -perm -100 | sort) > ../x1
             (cd ../out; find . -type f -perm -100 | sort) > ../x2; diff ../x1 ../x2; rm -rf ../tree ../out"
        ));
        self.host("git fsck --strict --full");
    }
}
