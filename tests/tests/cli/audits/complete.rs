//! Whatever changes a vault leaves an event, and no command is forgotten.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

use offshoot_tests::scan::{Kind, scan};

use super::*;

/// Commands that change nothing of a vault. What leaves it is only read.
const READS: &[&str] = &[
    "agents cancel",
    "agents drop",
    "agents list",
    "agents resend",
    "agents resume",
    "agents show",
    "agents suspend",
    "agents tail",
    "approvals list",
    "approvals show",
    "approvals wait",
    "audit export",
    "audit head",
    "audit key",
    "audit log",
    "audit verify",
    "binding list",
    "cache list",
    "checkpoint list",
    "checkpoint show",
    "completions",
    "config get",
    "config show",
    "conflicts",
    "diff",
    "doctor",
    "execs",
    "fs cat",
    "fs export",
    "fs ls",
    "fs stat",
    "fs tree",
    "history",
    "integrate",
    "log",
    "logs",
    "man",
    "mcp servers",
    "models default",
    "models list",
    "models show",
    "op log",
    "policy check",
    "policy explain",
    "policy init",
    "policy replay",
    "policy test",
    "presets check",
    "presets list",
    "presets show",
    "providers check",
    "providers list",
    "ps",
    "recover list",
    "recover show",
    "registry serve",
    "sandbox show",
    "sessions list",
    "sessions replay",
    "sessions show",
    "show",
    "status",
    "timeline",
    "vault export",
    "vault info",
    "vault list",
    "version",
    "workspace list",
    "workspace show",
    "workspace tree",
];

/// Those of which nothing is left that could say so, or that only arrange anew what the vault holds.
const WITHOUT_EVENT: &[&str] = &["vault delete", "vault compact"];

/// A command as `--help` lists it, how it is run, and the event that it leaves.
type Change = (&'static str, &'static [&'static str], &'static str);

/// In this order: each finds what the ones before it left.
const CHANGES: &[Change] = &[
    ("workspace create", &["workspace", "create", "a"], "workspace create"),
    ("fs write", &["fs", "write", "/a", "-w", "a"], "fs write"),
    ("fs cp", &["fs", "cp", "/a", "/b", "-w", "a"], "fs cp"),
    ("fs mv", &["fs", "mv", "/b", "/c", "-w", "a"], "fs mv"),
    ("fs mkdir", &["fs", "mkdir", "/d", "-w", "a"], "fs mkdir"),
    ("fs import", &["fs", "import", "src", "/e", "-w", "a"], "fs import"),
    ("fs rm", &["fs", "rm", "/c", "-w", "a"], "fs rm"),
    ("fs revert", &["fs", "revert", "/a", "-w", "a"], "fs revert"),
    ("checkpoint create", &["checkpoint", "create", "one", "-w", "a"], "checkpoint create"),
    ("snapshot create", &["snapshot", "create", "a"], "checkpoint create"),
    ("exec", &["exec", "-w", "a", "--", "sh", "-c", "echo x > x"], "exec"),
    ("sessions rename", &["sessions", "rename", "talk", "words"], "session rename"),
    ("sessions export", &["sessions", "export", "words"], "session export"),
    ("sessions fork", &["sessions", "fork", "words", "--to", "forked"], "session fork"),
    ("sessions delete", &["sessions", "delete", "words", "-w", "behind"], "session delete"),
    ("checkpoint restore", &["checkpoint", "restore", "one", "-w", "a"], "checkpoint restore"),
    ("checkpoint delete", &["checkpoint", "delete", "one", "-w", "a"], "checkpoint delete"),
    ("undo", &["undo", "-w", "a"], "undo"),
    ("redo", &["redo", "-w", "a"], "redo"),
    // The restore, with its files: back, and forth again.
    ("undo", &["undo", "-w", "a"], "undo"),
    ("undo", &["undo", "-w", "a"], "undo"),
    ("redo", &["redo", "-w", "a"], "redo"),
    ("redo", &["redo", "-w", "a"], "redo"),
    ("op restore", &["op", "restore", "OPERATION", "-w", "a"], "op restore"),
    ("merge", &["merge", "fix", "--into", "a"], "merge"),
    ("run", &["run", "-w", "a", "--", "sh", "-c", "echo y > y"], "exec"),
    ("review", &["review", "--drop", "/y", "-w", "a"], "review"),
    ("commit", &["commit", "-w", "a", "-m", "Work"], "commit"),
    // The same of the folder.
    ("undo", &["undo", "-w", "a"], "undo"),
    ("redo", &["redo", "-w", "a"], "redo"),
    ("pull", &["pull", "-w", "behind"], "pull"),
    ("export", &["export", "--git", "branch", "-w", "dirty"], "export"),
    ("workspace rename", &["workspace", "rename", "a", "z"], "workspace rename"),
    ("workspace delete", &["workspace", "delete", "z"], "workspace delete"),
    ("vault gc", &["vault", "gc", "--keep-operations", "0", "--keep-age", "0s"], "gc"),
    ("vault pack", &["vault", "pack"], "vault pack"),
    ("discard", &["discard", "dirty", "--keep"], "discard"),
    ("binding add", &["binding", "add", "../beside"], "binding add"),
    ("binding move", &["binding", "move", "beside", "../moved"], "binding move"),
    ("binding remove", &["binding", "remove", "beside"], "binding remove"),
    ("config set", &["config", "set", "exec.timeout", "5m"], "config set"),
    ("config unset", &["config", "unset", "exec.timeout"], "config unset"),
    ("gc", &["gc", "--keep-operations", "0", "--keep-age", "0s"], "gc"),
    ("vault rename", &["vault", "rename", "project", "other"], "vault rename"),
    ("audit rotate", &["audit", "rotate"], "audit rotate"),
    ("audit prune", &["audit", "prune", "--before", "0s", "--yes"], "audit prune"),
];

/// Those of which it takes more than a command to see that: see the tests below; `approvals` has tests of its own.
const ELSEWHERE: &[&str] = &[
    "acp",
    "agent chat",
    "agent run",
    "agent serve",
    "agents answer",
    "agents call",
    "approvals approve",
    "approvals deny",
    "cache clear",
    "init",
    "kill",
    "mcp call",
    "mcp forget",
    "mcp tools",
    "mcp trust",
    "recover drop",
    "recover keep",
    "resolve",
    "sessions resume",
    "vault check",
    "vault create",
    "vault import",
];

/// No command that changes something is without its event, and no new one is forgotten.
#[needs(UserNamespace, "git")]
#[test]
fn whatever_changes_something_leaves_an_event() {
    let known: BTreeSet<&str> = [READS, WITHOUT_EVENT, ELSEWHERE]
        .concat()
        .into_iter()
        .chain(CHANGES.iter().map(|(name, ..)| *name))
        .collect();
    let place = demo_vault();
    let all = crate::help::names(&place);
    let all: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    let forgotten: Vec<&&str> = all.difference(&known).collect();
    assert!(forgotten.is_empty(), "say what these leave in the audit log: {forgotten:?}");
    let gone: Vec<&&str> = known.difference(&all).collect();
    assert!(gone.is_empty(), "there are no such commands: {gone:?}");
    prepare(&place);
    for (name, words, kind) in CHANGES {
        let before = head(&place);
        let seq: u64 = before.split_once(':').unwrap().0.parse().unwrap();
        let words: Vec<String> = words.iter().map(|word| named(&place, word)).collect();
        let workspace = workspace_of(&words);
        let earlier = workspace.map(|name| (seen(&place, name), files_of(&place.project())));
        let output = place.run_with(&words, b"text\n");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let events = log(&place, &["-n", "100"]);
        let new = events.iter().filter(|event| event["seq"].as_u64().unwrap() > seq);
        let new: Vec<&Value> = new.collect();
        let found = new.iter().find(|event| event["event"] == *kind);
        let event = found.unwrap_or_else(|| panic!("{name}: {new:#?}"));
        holds(name, event);
        if let Some((name, (Some(inside), outside))) = workspace.zip(earlier)
            && let Some(inside_now) = seen(&place, name)
        {
            let outside_now = files_of(&place.project());
            let both = match outside == outside_now {
                true => (inside, inside_now),
                false => (outside, outside_now),
            };
            lists_what_is_seen(event, &both);
        }
    }
    // Whatever is recorded can be asked for.
    for kind in BTreeSet::from_iter(kinds(&log(&place, &["-n", "1000"]))) {
        assert!(!log(&place, &["--kind", &kind]).is_empty(), "{kind}");
    }
    place.ok(["audit", "verify"]);
    place.ok(["vault", "check"]);
}

/// Files by their paths: what each is, its permission bits, and the hash of what it holds.
type Files = BTreeMap<String, (Kind, u32, Option<String>)>;

/// What a scan finds that knows nothing of vaults. What git keeps for itself is left out.
fn files_of(directory: &std::path::Path) -> Files {
    let found = scan(directory).unwrap().0.into_iter();
    let hex = |hash: [u8; 32]| hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let files = found.map(|(path, node)| {
        let path = format!("/{}", String::from_utf8(path).unwrap());
        (path, (node.kind, node.mode, node.hash.map(hex)))
    });
    files.filter(|(path, _)| path != "/" && !is_git(path)).collect()
}

fn is_git(path: &str) -> bool {
    path == "/.git" || path.starts_with("/.git/")
}

/// The same of what is in a workspace, if it is there.
fn seen(place: &Place, workspace: &str) -> Option<Files> {
    let out = place.path().join("seen");
    let words = ["fs", "export", "/", out.to_str().unwrap(), "-w", workspace];
    if !place.run(words).status.success() {
        return None;
    }
    let files = files_of(&out);
    fs::remove_dir_all(out).unwrap();
    Some(files)
}

/// The workspace that a command names.
fn workspace_of(words: &[String]) -> Option<&str> {
    let option = words.iter().position(|word| word == "-w" || word == "--into");
    match option {
        Some(at) => Some(&words[at + 1]),
        None => (words[0] == "discard").then_some(&words[1]),
    }
}

/// An event lists the files that a scan before and after finds to be others, with their hashes.
fn lists_what_is_seen(event: &Value, (before, after): &(Files, Files)) {
    let all = before.keys().chain(after.keys());
    let changed: BTreeSet<&str> =
        all.filter(|path| before.get(*path) != after.get(*path)).map(String::as_str).collect();
    let files = event["details"]["files"]["changed"].as_array();
    let files: Vec<&Value> = files.into_iter().flatten().collect();
    let mut listed = BTreeSet::new();
    for file in files.iter().filter(|file| file["kind"] != "metadata") {
        let path = file["path"].as_str().unwrap();
        let from = file["from"].as_str();
        listed.extend([path].into_iter().chain(from).filter(|path| !is_git(path)));
        let sides =
            [(&file["before"], before, from.unwrap_or(path)), (&file["after"], after, path)];
        for (side, files, path) in sides {
            let hash = files.get(path).and_then(|(_, _, hash)| hash.as_deref());
            if let Some(hash) = hash.filter(|_| !side.is_null()) {
                assert_eq!(side["checksum"], hash, "{path}: {event:#}");
            }
        }
    }
    assert_eq!(listed, changed, "{event:#}");
}

/// Whatever moves a file back or forth is found by its path.
#[needs(UserNamespace)]
#[test]
fn what_is_taken_back_is_found_by_its_path() {
    let place = demo_vault();
    let write = |workspace: &str, text: &str| {
        place.ok_with(["fs", "write", "/a.txt", "-w", workspace], text.as_bytes())
    };
    write("fix", "one\n");
    place.ok(["undo", "-w", "fix"]);
    place.ok(["redo", "-w", "fix"]);
    place.ok(["checkpoint", "create", "one", "-w", "fix"]);
    write("fix", "two\n");
    place.ok(["checkpoint", "restore", "one", "-w", "fix"]);
    place.ok(["commit", "-w", "fix", "-m", "Work"]);
    place.ok(["undo", "-w", "fix"]);
    assert!(!place.project().join("a.txt").exists());
    place.ok(["redo", "-w", "fix"]);
    write("fix", "three\n");
    place.ok(["discard", "fix", "--keep"]);
    let found = log(&place, &["--path", "/a.txt"]);
    let expected = [
        "fs write",
        "undo",
        "redo",
        "fs write",
        "checkpoint restore",
        "commit",
        "undo",
        "redo",
        "fs write",
        "discard",
    ];
    assert_eq!(kinds(&found), expected, "{found:#?}");
    let sizes = |event: &Value| {
        let file = &event["details"]["files"]["changed"][0];
        assert_eq!(file["ref"], Value::Null, "{event:#}");
        [&file["before"]["size"], &file["after"]["size"]].map(Value::as_u64)
    };
    let sizes: Vec<[Option<u64>; 2]> = found.iter().map(sizes).collect();
    let (none, four, six) = (None, Some(4), Some(6));
    let (comes, goes) = ([none, four], [four, none]);
    let stays = [four, four];
    assert_eq!(
        sizes,
        [comes, goes, comes, stays, stays, comes, goes, comes, [four, six], [six, four]]
    );
    let story = place.ok(["timeline", "-w", "fix"]);
    assert!(story.contains("deleted /a.txt"), "{story}");
    place.ok(["audit", "verify"]);
}

/// Where several workspaces are moved at once, each file says in which.
#[test]
fn a_restore_of_everything_says_where_each_file_is() {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    let log_of = place.json(&["op", "log"]);
    let then = log_of["operations"][0]["id"].as_str().unwrap().to_owned();
    for workspace in ["fix", "other"] {
        place.ok_with(["fs", "write", "/a.txt", "-w", workspace], b"one\n");
    }
    place.ok(["op", "restore", &then, "--vault-wide"]);
    let found = log(&place, &["--kind", "op restore"]);
    let files = found[0]["details"]["files"]["changed"].as_array().unwrap();
    let refs: BTreeSet<&str> = files.iter().map(|file| file["ref"].as_str().unwrap()).collect();
    assert!(refs.len() == 2 && refs.iter().all(|it| it.starts_with("workspace ")), "{found:#?}");
    assert!(files.iter().all(|file| file["path"] == "/a.txt" && file["kind"] == "deleted"));
    place.ok(["audit", "verify"]);
}

/// What else than its kind is in an event.
fn holds(name: &str, event: &Value) {
    let details = &event["details"];
    let files = || {
        let all = details["files"]["changed"].as_array().unwrap();
        all.iter().map(|file| format!("{} {}", file["kind"], file["path"])).collect::<String>()
    };
    match name {
        "run" => {
            assert_eq!(details["command"], "sh -c 'echo y > y'", "{event:#}");
            assert_eq!(
                (&details["state"], &details["exit_code"]),
                (&"completed".into(), &0.into())
            );
            assert_eq!(files(), "\"added\" \"/y\"", "{event:#}");
        }
        "review" => {
            assert_eq!(event["workspace"], "a", "{event:#}");
            assert_eq!(files(), "\"deleted\" \"/y\"", "{event:#}");
        }
        "vault gc" | "gc" => {
            let summary = event["summary"].as_str().unwrap();
            assert!(summary.starts_with("collect garbage: ") || details["checkpoints"].is_array());
        }
        "vault pack" => {
            let summary = event["summary"].as_str().unwrap();
            assert!(summary.starts_with("pack the contents of "), "{event:#}");
        }
        _ => {}
    }
}

/// What the commands of the list find.
fn prepare(place: &Place) {
    for folder in ["beside", "moved"] {
        fs::create_dir(place.path().join(folder)).unwrap();
        fs::write(place.path().join(folder).join("file"), "text\n").unwrap();
    }
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(words).current_dir(place.project()).env_clear();
        command.envs(place.environment());
        assert!(command.output().unwrap().status.success(), "git {words:?}");
    };
    git(&["init", "-q"]);
    git(&["config", "user.email", "a@example.org"]);
    git(&["config", "user.name", "A"]);
    place.ok_with(["fs", "write", "/from-fix", "-w", "fix"], b"fix\n");
    for workspace in ["behind", "dirty"] {
        place.ok(["workspace", "create", workspace]);
    }
    place.ok_with(["fs", "write", "/dirt", "-w", "dirty"], b"dirt\n");
    place.ok(["sessions", "create", "talk", "-w", "behind"]);
}

fn named(place: &Place, word: &str) -> String {
    match word {
        "OPERATION" => {
            let log = place.json(&["op", "log", "-w", "a"]);
            let all = log["operations"].as_array().unwrap();
            all[all.len() - 2]["id"].as_str().unwrap().to_owned()
        }
        other => other.to_owned(),
    }
}

#[needs(UserNamespace)]
#[test]
fn what_takes_more_than_a_command_leaves_an_event_too() {
    let place = demo_vault();
    let has = |kind: &str| {
        let events = log(&place, &["--kind", kind, "-n", "1000"]);
        assert!(!events.is_empty(), "{kind}: {:?}", kinds(&log(&place, &["-n", "1000"])));
        events
    };
    has("vault create");
    // Two who wrote the same file.
    place.ok(["workspace", "create", "other"]);
    for (workspace, text) in [("fix", &b"one\n"[..]), ("other", b"two\n")] {
        place.ok_with(["fs", "write", "/README.md", "-w", workspace], text);
    }
    place.run(["merge", "other", "--into", "fix"]);
    place.ok(["resolve", "/README.md", "--ours", "-w", "fix"]);
    has("resolve");
    // One that is ended, and two that are cut short.
    let start = |script: &str| {
        let mut command = place.command(["exec", "-q", "-w", "fix", "--", "sh", "-c", script]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let running = loop {
            let running = place.json(&["ps"])["running"].clone();
            if let Some(exec) = running[0]["exec"].as_str() {
                break exec.to_owned();
            }
        };
        (child, running)
    };
    let (mut child, exec) = start("sleep 100");
    place.ok(["kill", &exec, "--now"]);
    child.wait().unwrap();
    assert_eq!(has("kill")[0]["details"]["exec"], exec);
    for decision in ["keep", "drop"] {
        let (mut child, exec) = start("echo x > x; sleep 100");
        thread::sleep(Duration::from_millis(500));
        child.kill().unwrap();
        child.wait().unwrap();
        place.ok(["recover", decision, &exec]);
        assert_eq!(has(&format!("recover {decision}"))[0]["details"]["exec"], exec);
        let about = kinds(&log(&place, &["--exec", &exec]));
        assert_eq!(about[0], "exec_started", "{about:?}");
    }
    fs::create_dir(place.path().join(".npm")).unwrap();
    place.write("fetch", "eval \"$1\"\n");
    place.ok(["exec", "-w", "cached", "--", "sh", "fetch", "echo x > ~/.npm/x"]);
    place.ok(["cache", "clear"]);
    has("cache clear");
    // A vault that arrives in another home.
    place.ok(["vault", "export", "../project.vault"]);
    let home = place.path().join("elsewhere");
    let home = home.to_str().unwrap();
    place.ok(["--home", home, "vault", "import", "../project.vault"]);
    let arrived = log(&place, &["--home", home, "--vault", "project", "--kind", "vault import"]);
    assert_eq!(arrived[0]["actor"]["user"], "tester", "{arrived:#?}");
}

/// A repair is recorded with what was lost.
#[needs(UserNamespace)]
#[test]
fn a_repair_leaves_an_event() {
    let place = demo_vault();
    let vaults = fs::read_dir(place.home().join("vaults")).unwrap();
    let vault =
        vaults.map(|entry| entry.unwrap().path()).find(|path| path.join("catalog.db").exists());
    let vault = vault.unwrap();
    let length = fs::metadata(vault.join("catalog.db-wal")).unwrap().len();
    place.ok(["workspace", "create", "lost"]);
    let lost = place.json(&["op", "log"])["operations"][0]["id"].as_str().unwrap().to_owned();
    let wal = fs::File::options().write(true).open(vault.join("catalog.db-wal")).unwrap();
    wal.write_all_at(b"noise", length + 50).unwrap();
    fs::remove_file(vault.join("catalog.db-shm")).unwrap();
    place.json(&["vault", "check", "--repair"]);
    let events = log(&place, &["--kind", "vault repair"]);
    assert_eq!(events[0]["details"]["acknowledged"], lost.as_str(), "{events:#?}");
    assert_eq!(events[0]["summary"], "accept the loss of acknowledged operations");
    place.ok(["audit", "verify"]);
}
