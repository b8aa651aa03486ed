//! Files that something on the host runs or obeys by itself stay in the workspace until somebody takes them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use offshoot_workspace::TrustedTable;
use serde_json::Value;

use super::{assert_captured, edit, fork, lines, read};

fn run(place: &Place, script: &str) {
    place.ok(["exec", "-w", "work", "--", "sh", "-euc", script]);
}

/// The paths that stay because something trusts them, in a document with such a list.
fn trusted(document: &Value, list: &str) -> Vec<String> {
    let held = document[list].as_array().unwrap().iter();
    let held = held.filter(|held| held["reason"] == "trusted");
    held.map(|held| held["path"].as_str().unwrap().to_owned()).collect()
}

/// A project with files, given by path and content, and a workspace.
fn project(files: &[(&str, &str)]) -> Place {
    let place = lines();
    files.iter().for_each(|(path, text)| place.write(path, text));
    place.ok(["init"]);
    fork(&place, "work");
    place
}

/// Everything that the table names is held back with its reason, wherever it lies, and comes only when it is taken.
#[test]
fn what_the_host_would_run_stays_until_it_is_taken() {
    let place = project(&[]);
    let rows: Vec<_> = TrustedTable::built_in().files().collect();
    let paths: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| format!("/d{at}/{}", row.pattern.replace("/**", "/x").replace('*', "x")))
        .collect();
    let files: Vec<String> = paths.iter().map(|path| format!("'.{path}'")).collect();
    run(
        &place,
        &format!(
            "for f in {}; do mkdir -p \"$(dirname \"$f\")\"; echo evil >\"$f\"; done; echo 2 >plain",
            files.join(" ")
        ),
    );
    let status = place.json(&["status", "-w", "work"]);
    assert_eq!(trusted(&status, "stays").len(), paths.len());
    let document = place.json(&["commit", "-w", "work"]);
    let held = document["held"].as_array().unwrap();
    for (path, row) in paths.iter().zip(&rows) {
        assert!(!place.project().join(&path[1..]).exists(), "{path}");
        let held = held.iter().find(|held| held["path"] == path.as_str());
        let held = held.unwrap_or_else(|| panic!("{path} is not held back"));
        assert_eq!(held["reason"], "trusted", "{held}");
        assert_eq!(held["kind"], row.kind.as_str(), "{held}");
        assert_eq!(held["detail"], row.why.as_str(), "{held}");
        assert_eq!(held["option"], "--allow trusted", "{held}");
    }
    assert_eq!(read(&place, "plain"), "2\n");
    assert_captured(&place);
    // What stays is offered again, and one can be taken without the others.
    let one = &paths[0][1..];
    place.ok(["commit", "-w", "work", "--take", one]);
    assert_eq!(read(&place, one), "evil\n");
    let left = trusted(&place.json(&["status", "-w", "work"]), "stays");
    assert_eq!(left.len(), paths.len() - 1);
    place.ok(["commit", "-w", "work", "--allow", "trusted"]);
    for path in &paths {
        assert_eq!(read(&place, &path[1..]), "evil\n", "{path}");
    }
    assert_captured(&place);
}

/// What is there already is held back when it is changed, made executable or deleted, as when it is new.
#[test]
fn changes_to_known_files_stay_as_well() {
    let place =
        project(&[(".envrc", "mine\n"), (".husky/pre-push", "mine\n"), (".npmrc", "mine\n")]);
    run(&place, "echo evil >>.envrc; chmod +x .husky/pre-push; rm .npmrc; echo 2 >plain");
    let document = place.json(&["commit", "-w", "work"]);
    assert_eq!(trusted(&document, "held"), ["/.envrc", "/.husky/pre-push", "/.npmrc"]);
    assert_eq!(
        (read(&place, ".envrc"), read(&place, ".npmrc")),
        ("mine\n".into(), "mine\n".into())
    );
    // Whoever is told can look, and then take it.
    let said = place.ok(["status", "-w", "work"]);
    assert!(said.contains("3 files that something on this machine would run or obey"), "{said}");
    assert!(said.contains("offshoot diff -w work /.envrc"), "{said}");
    assert!(said.contains("direnv runs it when a shell enters the folder"), "{said}");
    let shown = place.ok(["diff", "-w", "work", "/.envrc"]);
    assert!(shown.contains("+evil"), "{shown}");
    let listed = place.ok(["review", "-w", "work", "--list"]);
    assert!(listed.contains("stays: trusted, direnv runs it"), "{listed}");
    place.ok(["commit", "-w", "work", "--take", ".envrc", "--take", ".np*"]);
    assert_eq!(read(&place, ".envrc"), "mine\nevil\n");
    assert!(!place.project().join(".npmrc").exists());
    let document = place.json(&["commit", "-w", "work", "-n"]);
    assert_eq!(trusted(&document, "held"), ["/.husky/pre-push"]);
}

/// What interpreters run in place of a source is held back like the rest, and told of in one line: every run of a program may leave some.
#[test]
fn compiled_code_beside_sources_stays_and_is_told_together() {
    let place = project(&[("pkg/__pycache__/old.cpython-313.pyc", "mine\n")]);
    // Flags of 1: made from a source by its hash, which nobody is to check.
    let unchecked = "printf '\\363\\r\\r\\n\\001\\0\\0\\0' >pkg/__pycache__/app.cpython-313.pyc";
    run(
        &place,
        &format!(
            "{unchecked}; echo evil >>pkg/__pycache__/old.cpython-313.pyc; echo 1 >pkg/app.py"
        ),
    );
    let paths = ["/pkg/__pycache__/app.cpython-313.pyc", "/pkg/__pycache__/old.cpython-313.pyc"];
    let said = place.ok(["commit", "-w", "work"]);
    let line = "stays: 2 files (Python runs such files in place of their sources; --take PATH or --allow trusted commits them): /pkg/__pycache__/\n";
    assert!(said.contains(line) && !said.contains("something on this machine"), "{said}");
    assert_eq!(read(&place, "pkg/app.py"), "1\n");
    assert_eq!(read(&place, &paths[1][1..]), "mine\n");
    assert!(!place.project().join(&paths[0][1..]).exists());
    let document = place.json(&["commit", "-w", "work", "-n"]);
    assert_eq!(trusted(&document, "held"), paths);
    // With others, those are named one by one as ever.
    run(&place, "echo evil >.envrc");
    let said = place.ok(["status", "-w", "work"]);
    assert!(
        said.contains(line) && said.contains("1 file that something on this machine"),
        "{said}"
    );
    place.ok(["commit", "-w", "work", "--take", "pkg/__pycache__"]);
    assert_eq!(read(&place, &paths[1][1..]), "mine\nevil\n");
    assert!(place.project().join(&paths[0][1..]).exists());
    // What git ignores stays for that reason, as ever.
    run(&place, "echo '*.pyc' >.gitignore; echo 3 >pkg/__pycache__/new.pyc");
    let document = place.json(&["commit", "-w", "work"]);
    assert_eq!(trusted(&document, "held"), ["/.envrc"]);
}

/// Of a file that everybody changes all the time, only what package managers run by themselves counts.
#[test]
fn install_scripts_stay_and_other_changes_come() {
    let scripts = |scripts: &str| format!("{{\"name\": \"x\", \"scripts\": {{{scripts}}}}}\n");
    let before = scripts("\"test\": \"jest\", \"prepare\": \"husky\"");
    let place = project(&[("package.json", &before), ("web/package.json", "{}\n")]);
    let held = |text: &str, path: &str| {
        run(&place, &format!("cat >{path} <<'EOF'\n{text}\nEOF"));
        let held = trusted(&place.json(&["commit", "-w", "work", "-n"]), "held");
        run(&place, &format!("cat >{path} <<'EOF'\n{}EOF", read(&place, path)));
        held
    };
    for text in [
        scripts("\"test\": \"vitest\", \"lint\": \"x\", \"prepare\": \"husky\""),
        scripts("\"test\": \"jest\""),
        "{\"dependencies\": {\"postinstall\": \"1\"}}".to_owned(),
    ] {
        assert!(held(&text, "package.json").is_empty(), "{text}");
    }
    for text in [
        scripts("\"prepare\": \"husky; evil\""),
        scripts("\"postinstall\": \"evil\", \"prepare\": \"husky\""),
        "{ not JSON }".to_owned(),
    ] {
        assert_eq!(held(&text, "package.json"), ["/package.json"], "{text}");
    }
    for name in ["preinstall", "install", "postinstall", "prepare"] {
        let text = scripts(&format!("\"{name}\": \"evil\""));
        assert_eq!(held(&text, "web/package.json"), ["/web/package.json"], "{text}");
    }
    run(&place, "rm web/package.json; echo '{\"version\": \"2\"}' >package.json");
    place.ok(["commit", "-w", "work"]);
    assert_eq!(read(&place, "package.json"), "{\"version\": \"2\"}\n");
    assert!(!place.project().join("web/package.json").exists());
}

/// A link in the place of a trusted directory, and what a trusted link of the project leads to.
#[needs(Overlay, UserNamespace)]
#[test]
fn links_do_not_lead_around() {
    let place = lines();
    place.write("scripts/env.sh", "mine\n");
    place.write("agents/rules.md", "mine\n");
    symlink("scripts/env.sh", place.project().join(".envrc")).unwrap();
    symlink("agents", place.project().join(".claude")).unwrap();
    place.ok(["init"]);
    fork(&place, "work");
    run(
        &place,
        "echo evil >scripts/env.sh; echo evil >agents/settings.json; mkdir evil; echo evil >evil/tasks.json; \
         ln -s evil .vscode; ln -s ../evil agents/deep",
    );
    let document = place.json(&["commit", "-w", "work"]);
    let held = [
        "/.vscode",
        "/agents/deep",
        "/agents/settings.json",
        "/evil/tasks.json",
        "/scripts/env.sh",
    ];
    assert_eq!(trusted(&document, "held"), held);
    assert_eq!(read(&place, "scripts/env.sh"), "mine\n");
    assert!(!place.project().join(".vscode").exists());
    assert!(!place.project().join(".claude/settings.json").exists());
}

/// Whatever a trusted name reaches through links of the folder is trusted: at any depth, over several links, by paths from the top of the
/// host, and from git's own directory.
#[needs(Overlay, UserNamespace)]
#[test]
fn what_links_of_the_folder_reach_stays() {
    let place = lines();
    let reached = [
        "shared/vscode/tasks.json",
        "scripts/absolute.sh",
        "conf/tasks.json",
        "claude/commands/a.md",
        "s2/push.sh",
        "chain/end",
        "scripts/pre-commit.sh",
        "scripts/info/attributes",
        "around/env.sh",
    ];
    reached.iter().for_each(|path| place.write(path, "mine\n"));
    place.write("scripts/other.sh", "mine\n");
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    place.write(".git/hooks/x.sample", "no hook\n");
    let top = place.project().to_owned();
    let name = top.file_name().unwrap().to_str().unwrap();
    for (link, target) in [
        ("pkg/.vscode", "../shared/vscode".to_owned()),
        ("pkg/.envrc", top.join("scripts/absolute.sh").to_str().unwrap().to_owned()),
        (".zed/tasks.json", "../conf/tasks.json".to_owned()),
        (".claude/commands", "../claude/commands".to_owned()),
        (".husky/pre-push", "../s2/push.sh".to_owned()),
        (".tool-versions", "chain/one/end".to_owned()),
        ("chain/one", "two".to_owned()),
        ("chain/two", ".".to_owned()),
        (".git/hooks/pre-commit", "../../scripts/pre-commit.sh".to_owned()),
        (".git/info", "../scripts/info".to_owned()),
        (".env", format!("../{name}/around/env.sh")),
    ] {
        let link = top.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, link).unwrap();
    }
    place.ok(["init"]);
    fork(&place, "work");
    run(
        &place,
        &format!("for f in {} scripts/other.sh; do echo evil >>$f; done", reached.join(" ")),
    );
    let document = place.json(&["commit", "-w", "work"]);
    let held = trusted(&document, "held");
    for path in reached {
        assert!(held.contains(&format!("/{path}")), "{path}: {held:?}");
        assert_eq!(read(&place, path), "mine\n", "{path}");
    }
    assert_eq!(read(&place, "scripts/other.sh"), "mine\nevil\n");
    place.ok(["commit", "-w", "work", "--take", "scripts/pre-commit.sh"]);
    assert_eq!(read(&place, "scripts/pre-commit.sh"), "mine\nevil\n");
}

/// Who puts a link on the way to a trusted name decides what is found there, so it stays, however long ago what it leads to came home.
#[needs(Overlay, UserNamespace)]
#[test]
fn links_on_the_way_stay() {
    let place = lines();
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    let settings =
        "[include]\npath = ../cfg/local\n[core]\nhooksPath = dev/hooks\n[alias]\nx = !tools/x.sh\n";
    place.write(".git/config", settings);
    place.write("v1/vscode/tasks.json", "mine\n");
    fs::create_dir(place.project().join(".git/hooks")).unwrap();
    for (link, target) in [
        (".vscode", "shared/vscode"),
        ("shared", "v1"),
        (".git/hooks/pre-push", "../../scripts/push"),
        (".envrc", "conf/env"),
    ] {
        symlink(target, place.project().join(link)).unwrap();
    }
    place.ok(["init"]);
    fork(&place, "work");
    let files = "local hooks/pre-commit x.sh vscode/tasks.json push env";
    run(
        &place,
        &format!("mkdir -p new/hooks new/vscode; for f in {files}; do echo evil >new/$f; done"),
    );
    place.ok(["commit", "-w", "work"]);
    assert_eq!(read(&place, "new/env"), "evil\n");
    let links =
        "for l in cfg conf dev plain scripts tools; do ln -s new $l; done; ln -sfn new shared";
    run(&place, links);
    let document = place.json(&["commit", "-w", "work"]);
    let held = ["/cfg", "/conf", "/dev", "/scripts", "/shared", "/tools"];
    assert_eq!(trusted(&document, "held"), held);
    assert_eq!(read(&place, ".vscode/tasks.json"), "mine\n");
    assert!(place.project().join("plain").is_symlink() && !place.project().join("cfg").exists());
}

/// `..` behind a link is what lies above the place that it leads to.
#[needs(Overlay, UserNamespace)]
#[test]
fn dots_behind_links_are_followed_as_the_kernel_does() {
    let place = lines();
    for path in ["deep/shared/vs/tasks.json", "deep/er/k", "p/deep/er/k", "q/k", "k/f"] {
        place.write(path, "mine\n");
    }
    for (link, target) in [
        ("x", "deep/er"),
        (".vscode", "x/../shared/vs"),
        ("p/z", "deep/er"),
        ("p/y", "z/../../../k/f"),
    ] {
        symlink(target, place.project().join(link)).unwrap();
    }
    place.ok(["init"]);
    fork(&place, "work");
    run(
        &place,
        "echo evil >deep/shared/vs/tasks.json; mkdir -p a/b/c; ln -s ../../../k a/b/c/d; \
         ln -s a/b/c/d/../../.bashrc notes; ln -s a/b/c/d/../k/f fine; ln -sfn ../q p/z",
    );
    let document = place.json(&["commit", "-w", "work"]);
    // The last makes another one lead out of the folder.
    assert_eq!(trusted(&document, "held"), ["/deep/shared/vs/tasks.json", "/notes", "/p/z"]);
    assert_eq!(read(&place, ".vscode/tasks.json"), "mine\n");
    assert_eq!(read(&place, "fine"), "mine\n");
}

/// Links that double at every step: nobody can say where they end, so everything stays.
#[needs(Overlay, UserNamespace)]
#[test]
fn ways_without_end_hold_everything() {
    let place = lines();
    for at in 0..30 {
        let next = at + 1;
        symlink(format!("l{next}/../l{next}"), place.project().join(format!("l{at}"))).unwrap();
    }
    place.ok(["init"]);
    fork(&place, "work");
    run(&place, "echo 2 >plain");
    assert_eq!(trusted(&place.json(&["commit", "-w", "work"]), "held"), [""; 0]);
    symlink("l0", place.project().join(".envrc")).unwrap();
    run(&place, "echo 2 >other");
    assert_eq!(trusted(&place.json(&["commit", "-w", "work"]), "held"), ["/other"]);
}

/// What the host obeys of a home stays where the folder is a part of it, and where a link of the home leads into the folder.
#[needs(Overlay, UserNamespace)]
#[test]
fn parts_of_the_home_stay() {
    let place = lines();
    place.write("offs/config.toml", "");
    let home = place.path();
    fs::create_dir_all(home.join(".config")).unwrap();
    symlink(place.project().join("offs"), home.join(".config/offshoot")).unwrap();
    symlink(place.project().join("dots"), home.join(".dots")).unwrap();
    symlink(".dots/bashrc", home.join(".bashrc")).unwrap();
    place.ok(["init"]);
    fork(&place, "work");
    run(
        &place,
        "echo evil >offs/config.toml; mkdir dots; echo evil >dots/bashrc; echo evil >dots/other; echo evil >bashrc",
    );
    let document = place.json(&["commit", "-w", "work"]);
    assert_eq!(trusted(&document, "held"), ["/dots/bashrc", "/offs/config.toml"]);
    assert!(place.project().join("dots/other").exists() && place.project().join("bashrc").exists());
    // What a link of the home leads over is decided in the folder.
    run(&place, "rm -r dots; ln -s offs dots");
    let document = place.json(&["commit", "-w", "work"]);
    assert!(trusted(&document, "held").contains(&"/dots".to_owned()), "{document}");
}

/// A folder that is a part of the home by itself.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_part_of_the_home_as_the_project_is_held() {
    let place = Place::new();
    let config = place.path().join(".config");
    fs::create_dir_all(config.join("mine")).unwrap();
    fs::write(config.join("mine/a"), "1\n").unwrap();
    place.command(["init"]).current_dir(&config).output().unwrap();
    let script = "mkdir -p offshoot git fish; echo evil >offshoot/sandbox.toml; echo evil >git/config; echo evil >fish/config.fish; echo 2 >mine/a";
    let mut exec = place.command(["exec", "-w", "work", "--", "sh", "-euc", script]);
    let ran = exec.current_dir(&config).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let commit =
        place.command(["commit", "-w", "work", "--json"]).current_dir(&config).output().unwrap();
    let document = &document_of(&commit)["result"];
    let held = ["/fish/config.fish", "/git/config", "/offshoot/sandbox.toml"];
    assert_eq!(trusted(document, "held"), held);
    assert_eq!(fs::read_to_string(config.join("mine/a")).unwrap(), "2\n");
}

/// A folder that is a place which the host obeys, or lies in one, also behind a link: all of it is obeyed.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_place_that_is_obeyed_as_the_project_is_held() {
    for at in [".config/fish", ".config/fish/conf.d", ".local/bin", "dots/fish"] {
        let place = Place::new();
        let folder = place.path().join(at);
        fs::create_dir_all(&folder).unwrap();
        if at.starts_with("dots") {
            fs::create_dir_all(place.path().join(".config")).unwrap();
            symlink(&folder, place.path().join(".config/fish")).unwrap();
        }
        fs::write(folder.join("a"), "1\n").unwrap();
        let run = |words: &[&str]| {
            let ran = place.command(words).current_dir(&folder).output().unwrap();
            assert!(ran.status.success(), "{at}: {ran:?}");
            ran
        };
        run(&["init"]);
        run(&["exec", "-w", "work", "--", "sh", "-euc", "echo evil >ls; mkdir d; echo evil >d/x"]);
        let document = document_of(&run(&["commit", "-w", "work", "--json"]));
        assert_eq!(trusted(&document["result"], "held"), ["/d/x", "/ls"], "{at}");
        assert!(!folder.join("ls").exists(), "{at}");
        // Whoever looked at it takes it.
        run(&["commit", "-w", "work", "--take", "ls"]);
        assert!(folder.join("ls").exists(), "{at}");
    }
}

/// Links that the folder gets or loses while workspaces are at work.
#[test]
fn links_that_come_and_go_count_as_they_are() {
    let place = project(&[("tasks/a.json", "mine\n"), ("more/b.json", "mine\n")]);
    let held = |expected: &[&str]| {
        for path in ["tasks/a.json", "more/b.json"] {
            edit(&place, "work", path, "evil\n");
        }
        for _ in ["read from the tree", "remembered"] {
            let document = place.json(&["commit", "-w", "work", "--dry-run"]);
            assert_eq!(trusted(&document, "held"), expected, "{document}");
        }
    };
    let at = |path: &str| place.project().join(path);
    held(&[]);
    symlink("tasks", at(".vscode")).unwrap();
    held(&["/tasks/a.json"]);
    fs::create_dir(at("deep")).unwrap();
    symlink("../more", at("deep/.vscode")).unwrap();
    held(&["/more/b.json", "/tasks/a.json"]);
    fs::remove_file(at(".vscode")).unwrap();
    held(&["/more/b.json"]);
    fs::remove_file(at("deep/.vscode")).unwrap();
    symlink("../other", at("deep/.vscode")).unwrap();
    held(&[]);
}

/// What the person's own settings name counts in a folder without a repository as well, since repositories elsewhere obey them. Git is not
/// started where there is neither.
#[needs("git")]
#[test]
fn settings_of_the_person_count_without_a_repository() {
    let place = project(&[("hk/known", "1\n"), ("lib/known", "1\n")]);
    edit(&place, "work", "hk/pre-commit", "evil\n");
    let (path, bin) = (std::env::var("PATH").unwrap(), place.path().join("bin"));
    let (git, mark) = (bin.join("git"), place.path().join("mark"));
    fs::create_dir(&bin).unwrap();
    let script = format!(": > {}; PATH='{path}' exec git \"$@\"", mark.display());
    fs::write(&git, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    let held = || {
        fs::remove_file(&mark).ok();
        let mut status = place.command(["status", "-w", "work", "--json"]);
        let status = status.env("PATH", format!("{}:{path}", bin.display())).output().unwrap();
        let document = &document_of(&status)["result"];
        let stays = match document["stays"].is_null() {
            true => Vec::new(),
            false => trusted(document, "stays"),
        };
        (stays, mark.exists())
    };
    let hook = || vec!["/hk/pre-commit".to_owned()];
    // What the system names is not ours to say.
    let is_asked = fs::exists("/etc/gitconfig").unwrap();
    assert_eq!(held(), (Vec::new(), is_asked));
    let at = |path: &str| place.path().join(path);
    fs::write(at(".gitconfig"), "[user]\nname = somebody\n").unwrap();
    assert_eq!(held(), (Vec::new(), is_asked));
    let named = format!("[core] hooksPath = {}/hk\n", place.project().display());
    fs::write(at(".gitconfig"), &named).unwrap();
    assert_eq!(held(), (hook(), true));
    fs::write(at("more"), "[core]\nhooksPath = hk\n").unwrap();
    fs::write(at(".gitconfig"), "[include]\npath = more\n").unwrap();
    assert_eq!(held(), (hook(), true));
    fs::remove_file(at(".gitconfig")).unwrap();
    fs::create_dir_all(at(".config/git")).unwrap();
    fs::write(at(".config/git/config"), &named).unwrap();
    assert_eq!(held(), (hook(), true));
    fs::remove_file(at(".config/git/config")).unwrap();
    assert_eq!(held(), (Vec::new(), is_asked));
    // A repository above the folder, and one that a change lies in.
    fs::create_dir(at(".git")).unwrap();
    assert_eq!(held(), (Vec::new(), true));
    fs::remove_dir(at(".git")).unwrap();
    edit(&place, "work", "lib/known", "2\n");
    assert_eq!(held(), (Vec::new(), is_asked));
    edit(&place, "work", "lib/.git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(held(), (Vec::new(), true));
}

/// New links that leave the folder are named, and stay until somebody takes them.
#[needs(Overlay, UserNamespace)]
#[test]
fn links_that_leave_the_folder_stay() {
    let place = project(&[("src/a", "1\n")]);
    let inside = place.project().join("src/a");
    run(
        &place,
        &format!(
            "ln -s /etc/passwd out; mkdir d; ln -s ../.. d/up; ln -s ../src d/in; ln -s gone d/nowhere; ln -s {} d/here",
            inside.display()
        ),
    );
    let document = place.json(&["commit", "-w", "work"]);
    assert_eq!(trusted(&document, "held"), ["/d/up", "/out"]);
    let at = |path: &str| place.project().join(path).symlink_metadata().is_ok();
    assert!(at("d/in") && at("d/nowhere") && at("d/here") && !at("out") && !at("d/up"));
    place.ok(["commit", "-w", "work", "--take", "out"]);
    assert!(at("out"));
}

/// A directory of hooks that is a link, and links that lead into themselves.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_linked_directory_of_hooks_stays() {
    let place = lines();
    place.write("scripts/hooks/pre-commit", "mine\n");
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    symlink("../scripts/hooks", place.project().join(".git/hooks")).unwrap();
    symlink("loop", place.project().join("loop")).unwrap();
    symlink("loop/x", place.project().join(".envrc")).unwrap();
    place.ok(["init"]);
    fork(&place, "work");
    run(
        &place,
        "echo evil >>scripts/hooks/pre-commit; echo evil >scripts/hooks/post-merge; echo 2 >plain",
    );
    let document = place.json(&["commit", "-w", "work"]);
    let held = ["/scripts/hooks/post-merge", "/scripts/hooks/pre-commit"];
    assert_eq!(trusted(&document, "held"), held);
    assert_eq!(read(&place, "plain"), "2\n");
}

/// Rules and settings of Offshoot itself never come unsaid, whatever is done to them.
#[needs(Overlay, UserNamespace)]
#[test]
fn rules_and_settings_of_offshoot_stay() {
    for (script, path) in [
        ("rm offshoot-policy.toml", "/offshoot-policy.toml"),
        ("mv offshoot-policy.toml elsewhere", "/offshoot-policy.toml"),
        ("echo >offshoot-policy.toml", "/offshoot-policy.toml"),
        ("rm offshoot-policy.toml; mkfifo offshoot-policy.toml", "/offshoot-policy.toml"),
        ("ln -sf /dev/zero offshoot-policy.toml", "/offshoot-policy.toml"),
        ("rm offshoot-policy.toml; mkdir offshoot-policy.toml", "/offshoot-policy.toml"),
        ("echo >offshoot-policy.rego", "/offshoot-policy.rego"),
        ("echo >offshoot.toml", "/offshoot.toml"),
        ("rm .offshootignore", "/.offshootignore"),
        ("echo /lines >.offshootignore", "/.offshootignore"),
        ("mv .offshoot gone", "/.offshoot/sandbox.toml"),
        ("echo >.offshoot/sandbox.toml", "/.offshoot/sandbox.toml"),
        ("mv .offshoot gone; ln -s gone .offshoot", "/.offshoot/sandbox.toml"),
    ] {
        let place = lines();
        let known = [
            ("offshoot-policy.toml", "version = 1\n"),
            (".offshootignore", "/kept-out\n"),
            (".offshoot/sandbox.toml", "[mine]\n"),
        ];
        known.iter().for_each(|(path, text)| place.write(path, text));
        place.ok(["init"]);
        fork(&place, "work");
        run(&place, &format!("{script}; echo 2 >plain"));
        let document = place.json(&["commit", "-w", "work"]);
        assert!(trusted(&document, "held").contains(&path.to_owned()), "{script}: {document}");
        let held = document["held"].as_array().unwrap().iter();
        let mut held = held.filter(|held| held["path"] == path);
        assert!(held.all(|held| held["kind"] == "rules"), "{script}: {document}");
        for (path, text) in known {
            let found = place.project().join(path).symlink_metadata().unwrap();
            assert!(found.is_file(), "{script}: {path}");
            assert_eq!(read(&place, path), text, "{script}");
        }
        assert!(!place.project().join("offshoot.toml").exists());
        assert_eq!(read(&place, "plain"), "2\n", "{script}");
        place.ok(["status", "-w", "work"]);
    }
}

/// In repositories below the project, in their modules and working trees, and one at a time.
#[test]
fn parts_of_git_directories_are_taken_by_name() {
    let place = project(&[(".git/HEAD", "ref: refs/heads/main\n"), (".git/config", "[core]\n")]);
    let hooks = [
        ".git/hooks/pre-commit",
        ".git/modules/lib/hooks/post-checkout",
        ".git/modules/a/modules/b/config",
        ".git/worktrees/w/modules/lib/config",
        ".git/worktrees/w/config.worktree",
        ".git/info/attributes",
    ];
    let names = hooks.join(" ");
    run(&place, &format!("for f in {names}; do mkdir -p $(dirname $f); echo evil >$f; done"));
    let document = place.json(&["commit", "-w", "work"]);
    let held = document["held"].as_array().unwrap();
    for hook in hooks {
        let path = format!("/{hook}");
        assert!(
            held.iter().any(|held| held["path"] == path.as_str() && held["reason"] == "git"),
            "{hook}"
        );
        assert!(!place.project().join(hook).exists(), "{hook}");
    }
    place.ok(["commit", "-w", "work", "--take", hooks[0]]);
    assert_eq!(read(&place, hooks[0]), "evil\n");
    assert!(hooks[1..].iter().all(|hook| !place.project().join(hook).exists()));
    assert_eq!(fs::read_to_string(place.project().join(".git/config")).unwrap(), "[core]\n");
}

/// A file that the folder moved to where the host runs it does not come there by the merge.
#[test]
fn moves_of_the_folder_do_not_lead_around() {
    let text: String = (1..30).map(|line| format!("echo {line}\n")).collect();
    let place = project(&[("scripts/pre-commit", &text)]);
    edit(&place, "work", "/scripts/pre-commit", format!("{text}evil\n"));
    fs::create_dir(place.project().join(".husky")).unwrap();
    let (from, to) = ("scripts/pre-commit", ".husky/pre-commit");
    fs::rename(place.project().join(from), place.project().join(to)).unwrap();
    place.ok(["pull", "--head"]);
    let error = place.json_error(&["commit", "-w", "work"], 4);
    assert!(error["message"].as_str().unwrap().contains("/.husky/pre-commit"), "{error}");
    assert_eq!(read(&place, to), text);
    place.ok(["pull", "-w", "work"]);
    let document = place.json(&["commit", "-w", "work"]);
    assert_eq!(trusted(&document, "held"), ["/.husky/pre-commit"]);
    assert_eq!(read(&place, to), text);
    place.ok(["commit", "-w", "work", "--take", to]);
    assert_eq!(read(&place, to), format!("{text}evil\n"));
}
