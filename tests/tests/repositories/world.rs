//! The real binary and the real git, in a folder and in workspaces.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use offshoot_tests::product::{Place, document_of, with_json};
use serde_json::Value;

/// Git with somebody's name and nobody's settings.
const PRELUDE: &str = "git() { command git -c user.name=Ann -c user.email=ann@example.org -c gc.auto=0 \
    -c init.defaultBranch=main -c advice.detachedHead=false -c core.editor=true \
    -c merge.conflictStyle=merge \"$@\"; }\n";
/// Who makes git commits with `commit --git`.
pub(crate) const AUTHOR: &str = "Ann <ann@example.org>";

/// Where somebody works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Folder,
    Workspace(&'static str),
}

/// A folder with a repository, and a vault of it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) place: Place,
}

/// What a command gave.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    pub(crate) fn is_well(&self) -> bool {
        self.code == Some(0)
    }
}

impl World {
    /// A folder that a script fills, and workspaces of it.
    pub(crate) fn new(script: &str, workspaces: &[&'static str]) -> Self {
        let world = Self { place: Place::new() };
        world.ok(Side::Folder, script);
        world.place.ok(["init"]);
        for workspace in workspaces {
            world.place.ok(["workspace", "create", workspace]);
        }
        world
    }

    /// Runs a script on one side.
    pub(crate) fn sh(&self, side: Side, script: &str) -> Said {
        let script = format!("{PRELUDE}{script}");
        let output = match side {
            Side::Folder => {
                let mut command = Command::new("sh");
                command.env_clear().envs(self.place.environment()).env("GIT_CONFIG_NOSYSTEM", "1");
                command.current_dir(self.place.project()).args(["-c", &script]);
                command.output().unwrap()
            }
            Side::Workspace(name) => {
                let arguments = ["exec", "-q", "-w", name, "--", "sh", "-c", &script];
                self.place.command(arguments).env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap()
            }
        };
        Said::of(&output)
    }

    /// Runs a script that must succeed, and gives what it printed.
    pub(crate) fn ok(&self, side: Side, script: &str) -> String {
        let said = self.sh(side, &format!("set -e\n{script}"));
        assert!(said.is_well(), "{side:?}: {script}\n{said:#?}");
        said.out
    }

    /// Runs the product.
    pub(crate) fn product(&self, arguments: &[&str]) -> Said {
        Said::of(&self.place.run(arguments))
    }

    /// Runs the product with `--json`, whatever comes of it.
    pub(crate) fn document(&self, arguments: &[&str]) -> Value {
        document_of(&self.place.run(with_json(arguments)))
    }

    /// Runs the product, which must succeed, and gives what it printed.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let said = self.product(arguments);
        assert!(said.is_well(), "{arguments:?}: {said:#?}");
        said.out
    }

    /// Runs commands in the folder as they were printed for a person there, whose editor writes one line.
    pub(crate) fn typed(&self, commands: &str) -> Said {
        let binary = offshoot_tests::product::binary().display();
        let editor = "export GIT_EDITOR=\"sed -i '1i typed'\"";
        self.ok(Side::Folder, "git config user.name Ann; git config user.email ann@example.org");
        let product = format!("offshoot() {{ '{binary}' \"$@\"; }}");
        self.sh(Side::Folder, &format!("{editor}\n{product}\n{commands}"))
    }

    /// All commits that refs, logs of refs and checkouts of a side reach.
    pub(crate) fn reachable(&self, side: Side) -> Result<BTreeSet<String>, String> {
        let said = self.sh(
            side,
            "git rev-list --all --reflog HEAD 2>/dev/null || git rev-list --all --reflog",
        );
        match said.is_well() {
            true => Ok(said.out.lines().map(str::to_owned).collect()),
            false => Err(format!("{side:?}: {said:#?}")),
        }
    }

    /// What a side is, as people and git see it: files, what is checked out and staged, and all refs. Objects and logs only grow.
    pub(crate) fn state(&self, side: Side) -> String {
        self.ok(
            side,
            "git --no-optional-locks status --porcelain=v2 --branch
             git for-each-ref --format='%(objectname) %(refname) %(symref)'
             cat .git/HEAD; git ls-files -s -v
             find . -path ./.git -prune -o -type f -print | LC_ALL=C sort | xargs -d '\\n' -r sha1sum",
        )
    }

    /// What is wrong with a side's repository.
    pub(crate) fn damage(&self, side: Side) -> Option<String> {
        let said = self.sh(
            side,
            "git fsck --full --strict --no-dangling || exit 1
             find .git -path .git/objects -prune -o -path .git/rr-cache -prune -o -type f -print0 |
                 xargs -0 grep -lE '^(<<<<<<<|=======|>>>>>>>)' && exit 2
             for at in .git .git/worktrees/*; do
                 test -e $at/HEAD || continue
                 grep -qE '^(ref: refs/|[0-9a-f]{40}$)' $at/HEAD || { echo bad HEAD in $at; exit 3; }
             done
             git --no-optional-locks status --porcelain > /dev/null",
        );
        let bad = |line: &&str| {
            ["error", "missing", "broken", "bad ", "invalid"].iter().any(|word| line.contains(word))
        };
        let told = said.out.lines().chain(said.err.lines()).find(bad);
        (!said.is_well() || told.is_some()).then(|| format!("{side:?} is damaged: {said:#?}"))
    }

    /// Fails where git's own word about the folder's files is not what a plain comparison says.
    pub(crate) fn status_is_true(&self) -> Result<(), String> {
        let said = self.sh(
            Side::Folder,
            "set -e
             t=$(mktemp -d); trap 'rm -r $t' EXIT
             git ls-files -u | grep -q . && exit 0
             if git rev-parse -q --verify HEAD > /dev/null; then git ls-tree -r HEAD | sed '/^160000/d; s/ blob / /' > $t/head; else : > $t/head; fi
             git ls-files -s | sed '/^160000/d; s/ 0\t/\t/' > $t/index
             { cut -f2 $t/head; cut -f2 $t/index; } | sort -u > $t/all
             while IFS= read -r f; do
                 test -f \"$f\" || continue
                 m=100644; test -x \"$f\" && m=100755
                 printf '%s %s\t%s\\n' $m $(git hash-object --no-filters \"$f\") \"$f\"
             done < $t/all > $t/work
             while IFS= read -r f; do
                 a=$(grep -F \"\t$f\" $t/head | grep -x \".*\t$f\" || true)
                 b=$(grep -F \"\t$f\" $t/index | grep -x \".*\t$f\" || true)
                 c=$(grep -F \"\t$f\" $t/work | grep -x \".*\t$f\" || true)
                 test \"$a\" = \"$b\" && test \"$b\" = \"$c\" || printf '%s\\n' \"$f\"
             done < $t/all > $t/expected
             git --no-optional-locks status --porcelain -uno --no-renames --ignore-submodules=all | cut -c4- | sort > $t/told
             sort $t/expected > $t/sorted
             diff $t/sorted $t/told",
        );
        match said.is_well() {
            true => Ok(()),
            false => Err(format!("git status says something else than the files: {said:#?}")),
        }
    }
}
