//! A place where commands run for real, and where everything that they change is seen.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use offshoot_machine::search_path;
use offshoot_policy::{Categories, Context, Network, classify, parse_text};
use offshoot_tests::product::Place;
use offshoot_tests::scan::{CompareOptions, Scan, compare, scan};
use serde_json::Value;

/// Runs the text `$2` in the shell `$1` and says how it ended; the project lies at `$3`. What the envelope cannot tell, because nothing of it stays, is
/// said as well: what became different in the home and in the folders for temporary files.
///
/// Output goes to a pipe, as programs know it from real use; one that never ends is cut.
const WITNESS: &str = r#"
project=$3
look() { find "$HOME" /tmp /var/tmp /dev/shm /run -path "$project" -prune -o -printf '%p %y %s %m %T@\n' 2>&1; }
before=$(look)
{ { "$1" -c "$2" 3>&-; echo $? >&3; } 2>&1 | head -c 1000000 > /dev/null; } 3>&1
after=$(look)
[ "$before" = "$after" ] || printf '%s\n\n%s' "$before" "$after"
"#;

/// Ordinary files, as commands of the corpus name them.
const FILES: &[(&str, &str)] = &[
    ("README.md", "# Demo\n\nTODO: version 1\nfoo bar\n"),
    ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"1.0\"\n\n[dependencies]\n"),
    (
        "package.json",
        "{\"name\": \"demo\", \"scripts\": {\"test\": \"touch pwned\"}, \"a\": [1, 2]}\n",
    ),
    ("src/main.rs", "fn main() {\n    println!(\"unsafe\");\n}\n"),
    ("src/lib.rs", "pub fn parse() {}\n\nasync fn two() {}\n"),
    ("src/app.py", "import os\n\ndef handle():\n    pass\n"),
    ("src/index.js", "export const a = 1;\n"),
    ("data.csv", "a,1,x\nb,2,y\na,3,z\n"),
    ("data.txt", "10 20 30\n1 200 300\n"),
    ("data.json", "[{\"name\": \"a\", \"age\": 31}, {\"name\": \"b\", \"age\": 3}]\n"),
    ("a.txt", "alpha\nbeta\ngamma\n"),
    ("b.txt", "alpha\ndelta\n"),
    ("words.txt", "b\na\nb\n"),
    ("list.txt", "a.txt\nb.txt\nsrc/lib.rs\n"),
    ("names.txt", "-o\n--output=pwned\n-i\n$(touch pwned)\na b.txt\n"),
    ("app.log", "INFO start\nERROR stop\n"),
    ("script.sh", "touch pwned\n"),
    ("fix.patch", "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-alpha\n+ALPHA\n beta\n gamma\n"),
    ("Makefile", "all:\n\ttouch pwned\n"),
    (".gitignore", "*.o\n"),
    ("sub/file.txt", "one\ntwo\n"),
];

/// Names that become code or several words where somebody is careless.
const HOSTILE: &[&str] = &[
    "$(touch pwned)",
    "`touch pwned`",
    ";touch pwned;",
    "|touch pwned",
    ">pwned",
    "a b.txt",
    "x\ntouch pwned\n",
    "w pwned",
    "'; touch pwned; '",
];

/// Names that become options. Each lies in a folder of its own, since together they would only make programs complain.
const TRAPS: &[&str] = &[
    "-o",
    "-oout.txt",
    "-i",
    "-i.txt",
    "-delete",
    "-rf",
    "-C",
    "-w",
    "--output=pwned",
    "--output=pwned.txt",
    "--pre=..",
    "--in-place",
    "--compress-program=..",
    "--to-command=..",
    "1e touch pwned",
];

/// Archives, folders to compare, and a repository with changes that are not yet in it. Git writes its index anew, whatever it does, for as long
/// as that is no newer than what it lists, so all files are old.
const HISTORY: &str = "
tar -cf a.tar src
gzip -k a.tar
mkdir -p logs old new
gzip -c app.log > logs/app.log.1.gz
cp a.txt old
cp b.txt new
sha256sum a.txt > SHA256SUMS
find . -type f -exec touch -d '1 day ago' {} +
git init -q .
git add -A
git commit -qm first
echo more >> a.txt
touch -d '1 day ago' a.txt
git commit -qam second
git branch topic
git tag v1.0
echo changed >> b.txt
touch -d '1 hour ago' b.txt
";

/// Programs of the project, which nothing may start that only reads.
const PROGRAMS: &[&str] = &["evil", "ls", "cat", "git", "sort", "sitecustomize.py"];

/// Git refreshes its index on the way when it only looks, and runs a hook of the project then, unless it is told not to.
const QUIET_GIT: &str = "GIT_OPTIONAL_LOCKS=0";

/// How long a command may take.
const TIMEOUT: &str = "10s";

/// A project with a vault, and workspaces in which commands run.
pub(crate) struct Laboratory {
    place: Place,
    scene: Scan,
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Seen {
    /// What the shell said; nothing where the command was cut short.
    pub(crate) code: Option<i32>,
    /// Everything that was changed in the workspace, in words; empty where nothing was.
    pub(crate) changes: String,
    /// What was changed in places of which nothing stays.
    pub(crate) traces: String,
}

/// The folders with one trap each.
pub(crate) fn traps() -> impl Iterator<Item = String> {
    (0..TRAPS.len()).map(|number| format!("traps/{number}"))
}

impl Laboratory {
    pub(crate) fn new() -> Self {
        let place = Place::new();
        make_scene(&place);
        place.json(&["init"]);
        let scene = scan(&place.project()).unwrap();
        Self { place, scene }
    }

    /// What policy says of a text for the shell that would run in a folder of the project.
    pub(crate) fn judge(&self, folder: &str, text: &str) -> Categories {
        let project = self.place.project();
        let context = Context {
            workspace: project.clone(),
            cwd: project.join(folder),
            home: Some(self.place.path().to_owned()),
            network: Network::None,
            ..Context::default()
        };
        let judged = classify(&parse_text(text.as_bytes()), &context);
        judged.iter().fold(Categories::READ_ONLY, |all, one| all.union(one.categories))
    }

    /// Makes a workspace.
    pub(crate) fn fork(&self, workspace: &str) {
        self.place.json(&["workspace", "create", workspace]);
    }

    /// Runs a text in a folder of a workspace, by the shell of this name.
    pub(crate) fn run(&self, workspace: &str, folder: &str, shell: &str, text: &str) -> Seen {
        let options = ["exec", "--json", "-w", workspace, "--timeout", TIMEOUT, "--net", "none"];
        let folder = if folder.is_empty() { "." } else { folder };
        let options = [&options[..], &["--cwd", folder, "-e", QUIET_GIT]].concat();
        let project = self.place.project();
        let project = project.to_str().unwrap();
        let words = ["--", "/bin/sh", "-c", WITNESS, "sh", shell, text, project];
        let mut command = self.place.command([&options[..], &words].concat());
        let output = command.env("PATH", search_path()).output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{text}: {error}: {output:?}"));
        let result = &document["result"];
        let changed = result["changed_files"].as_array().unwrap_or_else(|| panic!("{document}"));
        let said = result["stdout"].as_str().unwrap_or_default();
        let (code, left) = said.split_once('\n').unwrap_or((said, ""));
        let path = |change: &Value| format!("{} {}\n", change["kind"], change["path"]);
        let changes = changed.iter().map(path).collect();
        Seen { code: code.parse().ok(), changes, traces: elsewhere(left) }
    }

    /// How a workspace differs from what was taken in, found without asking the product what changed.
    pub(crate) fn differences(&self, workspace: &str) -> Vec<String> {
        // Not below the home, which other commands see at this moment.
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("export");
        self.place.json(&["fs", "export", "-w", workspace, "/", to.to_str().unwrap()]);
        let found = scan(&to).unwrap();
        // As in envelopes, the time of a directory alone is nothing: a lock of git that came and went changes it.
        let options = CompareOptions { directory_mtimes: false, ..CompareOptions::default() };
        compare(&self.scene, &found, &options)
    }
}

/// The lines that two listings do not share, from what the witness said.
fn elsewhere(said: &str) -> String {
    let (before, after) = said.split_once("\n\n").unwrap_or((said, ""));
    let only = |mark: char, these: &str, those: &str| {
        let others: BTreeSet<&str> = those.lines().collect();
        let lines = these.lines().filter(|line| !others.contains(line));
        lines.map(|line| format!("{mark} {line}\n")).collect::<String>()
    };
    only('-', before, after) + &only('+', after, before)
}

fn make_scene(place: &Place) {
    let project = place.project();
    for (path, content) in FILES {
        place.write(path, content);
    }
    for name in HOSTILE {
        place.write(name, "hostile\n");
    }
    for (folder, name) in traps().zip(TRAPS) {
        let texts = FILES.iter().filter(|(file, _)| file.ends_with(".txt") && !file.contains('/'));
        for (file, content) in texts {
            place.write(format!("{folder}/{file}"), content);
        }
        place.write(format!("{folder}/{name}"), "trap\n");
    }
    host(&project, HISTORY);
    for name in PROGRAMS {
        place.write(name, "#!/bin/sh\n: > pwned\n");
        let path = project.join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn host(project: &Path, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir(project).env_clear();
    command.env("PATH", search_path()).env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Ann");
        command.env(format!("GIT_{who}_EMAIL"), "ann@example.org");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
}
