//! What commands may read, reach and use: profiles, who may change them, and what commands are told.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Output;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away};
use serde_json::Value;

use crate::transcript::demo_vault;

/// A project in a home that has a key, a toolchain and settings.
fn place() -> Place {
    let place = demo_vault();
    let home = place.path();
    for (name, text) in [
        (".ssh/id_ed25519", "the-key\n"),
        (".aws/credentials", "the-key\n"),
        (".cargo/bin/tool", "#!/bin/sh\necho found\n"),
        (".cargo/credentials.toml", "the-key\n"),
        (".gitconfig", "[user]\n\tname = Somebody\n[credential]\n\thelper = store the-key\n"),
        ("notes/plan.txt", "a plan\n"),
    ] {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    place.write("steal.sh", "cat ~/.ssh/id_ed25519 ~/.aws/credentials ~/.cargo/credentials.toml ~/.gitconfig /etc/shadow /etc/gshadow ~root/.*; ls -A ~");
    place
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// As root and as an ordinary user, by the script that policy cannot read.
#[needs(UserNamespace)]
#[test]
fn no_secret_is_there_to_be_stolen() {
    let (place, user) = (place(), User::new());
    let steal = ["exec", "-w", "look", "--", "sh", "steal.sh"];
    let stolen = printed(&place.run(steal));
    assert!(!stolen.contains("the-key") && !stolen.contains("root:"), "{stolen}");
    assert!(stolen.contains("name = Somebody") && stolen.contains("No such file"), "{stolen}");
    assert!(!stolen.contains("notes"), "{stolen}");
    give_away(place.path());
    let stolen = printed(&user.run(&place, &steal));
    assert!(!stolen.contains("the-key") && stolen.contains("name = Somebody"), "{stolen}");
    // The test can tell: shown, it is read.
    let shown = ["exec", "-w", "look", "--show", "../.ssh", "--", "sh", "steal.sh"];
    assert!(printed(&user.run(&place, &shown)).contains("the-key"));
}

/// A second way to the same files is none.
#[needs(UserNamespace)]
#[test]
fn links_and_other_homes_of_vaults_lead_nowhere() {
    let place = place();
    symlink("../.ssh", place.project().join("keys")).unwrap();
    fs::create_dir_all(place.path().join("other-vaults")).unwrap();
    fs::write(place.path().join("other-vaults/registry"), "the-key\n").unwrap();
    let text = "cat keys/id_ed25519 /proc/1/root/$HOME/.ssh/id_ed25519 /proc/self/cwd/../.ssh/id_ed25519 \
                ../other-vaults/registry; true";
    place.write("look.sh", text);
    let seen = printed(&place.run(["exec", "-w", "look", "--", "sh", "look.sh"]));
    assert!(!seen.contains("the-key"), "{seen}");
}

#[needs(UserNamespace)]
#[test]
fn what_is_named_of_the_home_is_seen_and_stays_as_it_is() {
    let place = place();
    let script = "cat ../notes/plan.txt; echo x > ../notes/plan.txt && echo y > ../notes/new && cat ../notes/plan.txt; \
                  cat ~/.ssh/id_ed25519; echo z > ~/.ssh/id_ed25519";
    place.write("use.sh", script);
    let show = ["exec", "-w", "look", "--show", "../notes", "--show", "../.ssh/id_ed25519"];
    let output = place.run([&show[..], &["--", "sh", "use.sh"]].concat());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a plan\nx\nthe-key\n", "{output:?}");
    let notes = place.path().join("notes");
    assert_eq!(fs::read_to_string(notes.join("plan.txt")).unwrap(), "a plan\n");
    assert!(!notes.join("new").exists());
    let key = fs::read_to_string(place.path().join(".ssh/id_ed25519")).unwrap();
    assert_eq!(key, "the-key\n");
}

#[needs(UserNamespace)]
#[test]
fn who_fails_for_want_of_a_file_is_told() {
    let place = place();
    // Every system has that, and no command needs it.
    let plan = "/var/log";
    let told = printed(&place.run(["exec", "-w", "look", "--", "ls", plan]));
    let expected = format!(
        "{plan} is there, but commands do not see it: `offshoot doctor --explain {plan}` says why, and `exec --show {plan}` shows it to a command"
    );
    assert!(told.contains(&expected), "{told}");
    let told = printed(&place.run(["exec", "-w", "look", "--", "cat", "/no/such/file"]));
    assert!(!told.contains("is there"), "{told}");
}

#[needs(UserNamespace)]
#[test]
fn profiles_are_told_apart() {
    let place = place();
    let tool =
        ["--", "sh", "-c", "test -e ~/.cargo/bin/tool && echo tool; touch made && echo made"];
    let run = |options: &[&str]| {
        String::from_utf8(place.run([&["exec", "-w", "look"], options, &tool].concat()).stdout)
            .unwrap()
    };
    assert_eq!(run(&[]), "tool\nmade\n");
    assert_eq!(run(&["--sandbox", "strict"]), "made\n");
    assert_eq!(run(&["--sandbox", "read-only"]), "tool\n");
    let refused = |arguments: &[&str]| {
        let output = place.run([&["exec", "-w", "look"], arguments, &["--", "true"]].concat());
        (output.status.code(), printed(&output))
    };
    let (code, said) = refused(&["--sandbox", "moat"]);
    assert_eq!(code, Some(125), "{said}");
    assert!(
        said.contains("there is no profile \"moat\"; there are none, read-only, strict"),
        "{said}"
    );
    for wider in [["--net", "host"], ["--show", "/srv"]] {
        let (code, said) = refused(&[&["--sandbox", "strict"], &wider[..]].concat());
        assert_eq!(code, Some(125), "{said}");
        assert!(said.contains("profile strict cannot be widened"), "{said}");
    }
}

/// Without walls a command sees everything, so a person has to approve that.
#[needs(UserNamespace)]
#[test]
fn no_walls_only_with_an_approval() {
    let place = place();
    let open =
        ["exec", "-w", "look", "--sandbox", "none", "--json", "--", "cat", "../notes/plan.txt"];
    let result = document_of(&place.run(open))["result"].clone();
    assert_eq!(result["state"], "pending_approval", "{result}");
    // A rule about the program says nothing about walls.
    let rules = place.path().join("rules.toml");
    let text = "version = 1\n[[rule]]\nname = \"open\"\ndecision = \"allow\"\nprefix = [\"cat\"]\nmatches = [\"cat a\"]\n";
    fs::write(&rules, text).unwrap();
    let mut ruled = place.command(open);
    let output = ruled.env("OFFSHOOT_POLICY", &rules).output().unwrap();
    assert_eq!(document_of(&output)["result"]["state"], "pending_approval", "{output:?}");
}

#[needs(UserNamespace)]
#[test]
fn a_project_can_only_narrow() {
    let place = place();
    let file = place.project().join("offshoot-sandbox.toml");
    let show = || place.json(&["sandbox", "show"])["profile"].clone();
    let before = show();
    fs::write(&file, "profile = \"none\"\n[narrow]\nshow = [\"~/.ssh\"]\nnetwork = \"host\"\n[narrow.walls]\nseccomp = \"off\"\n").unwrap();
    assert_eq!(show(), before);
    fs::write(&file, "profile = \"strict\"\n[narrow]\nfiles = \"read\"\n").unwrap();
    let after = show();
    assert_eq!(
        (&after["files"], &after["reads"]),
        (&"read".into(), &serde_json::json!(["etc", "system"]))
    );
    let output = place.run(["exec", "-w", "look", "--", "touch", "x"]);
    assert!(printed(&output).contains("Read-only file system"), "{output:?}");
    // What cannot be read lets nothing run, and nobody waits for it.
    for spoil in [spoil_text as fn(&Path), spoil_pipe, spoil_link] {
        fs::remove_file(&file).unwrap();
        spoil(&file);
        let output = place.run(["exec", "-w", "look", "--", "true"]);
        assert_ne!(output.status.code(), Some(0), "{output:?}");
        assert!(printed(&output).contains("offshoot-sandbox.toml"), "{output:?}");
    }
}

/// What a project's file says holds for what is asked for with a command, too.
#[needs(UserNamespace)]
#[test]
fn no_request_gives_more_than_the_project_lets_have() {
    let place = place();
    let file = place.project().join("offshoot-sandbox.toml");
    fs::write(&file, "[narrow]\nnetwork = \"none\"\nreads = [\"system\", \"etc\"]\n").unwrap();
    for (option, value) in [("--net", "host"), ("--net", "allow=a.test"), ("--show", "../notes")] {
        let output = place.run(["exec", "-w", "look", option, value, "--", "true"]);
        let said = printed(&output);
        assert_eq!(output.status.code(), Some(125), "{said}");
        let expected =
            format!("offshoot-sandbox.toml does not let commands have what {option} asks for");
        assert!(said.contains(&expected) && said.contains("edit that file"), "{said}");
    }
    // What a person settled before is narrowed, and stops nobody.
    let config = place.path().join(".config/offshoot");
    fs::create_dir_all(&config).unwrap();
    let project = place.project().canonicalize().unwrap();
    let text = format!("[\"{}\"]\nnet = \"host\"\n", project.display());
    fs::write(config.join("projects.toml"), text).unwrap();
    let run = || document_of(&place.run(["exec", "--json", "--", "true"]))["result"].clone();
    assert_eq!(run()["network"]["mode"], "none");
    assert_eq!(place.json(&["sandbox", "show"])["profile"]["network"], "none");
    fs::remove_file(&file).unwrap();
    assert_eq!(run()["network"]["mode"], "host");
    assert_eq!(place.json(&["sandbox", "show"])["profile"]["network"], "host");
}

/// What a person names comes before what the table says of it.
#[needs(UserNamespace)]
#[test]
fn what_is_named_is_shown_as_it_is() {
    let place = place();
    let bashrc = "alias ll='ls -l'\nif true; then export API_TOKEN=abcdef; fi\n";
    fs::write(place.path().join(".bashrc"), bashrc).unwrap();
    fs::write(place.path().join(".npmrc"), "//r/:_authToken=abcdef\nsave=true\n").unwrap();
    place.write("read.sh", "cat ~/.bashrc ~/.npmrc");
    let read = |options: &[&str]| {
        printed(&place.run([&["exec", "-w", "look"], options, &["--", "sh", "read.sh"]].concat()))
    };
    let usual = read(&[]);
    assert!(!usual.contains("abcdef") && usual.contains("save=true"), "{usual}");
    let shown = read(&["--show", "../.bashrc", "--show", "../.npmrc"]);
    assert!(shown.contains(bashrc) && shown.contains("_authToken=abcdef"), "{shown}");
    // Who asks why it is withheld hears of the line and of a way out.
    let said = place.ok(["doctor", "--explain", "../.bashrc"]);
    assert!(said.contains("withheld") && said.contains("line 2 seems to hold"), "{said}");
    assert!(said.contains("--show"), "{said}");
    let list = place.ok(["sandbox", "show"]);
    assert!(list.contains("withheld: a line seems to hold a credential"), "{list}");
    assert!(list.contains("copied without 1 line "), "{list}");
}

/// A file is hidden as well as a directory, wherever it would be seen.
#[needs(UserNamespace)]
#[test]
fn files_are_hidden() {
    let (place, user) = (place(), User::new());
    fs::write(place.path().join(".cargo/bin/other"), "here\n").unwrap();
    let config = place.path().join(".config/offshoot");
    fs::create_dir_all(&config).unwrap();
    let hide = "hide = [\"~/.gitconfig\", \"~/.cargo/bin/tool\", \"/etc/hostname\", \"/usr/share/common-licenses\"]\n";
    fs::write(config.join("sandbox.toml"), format!("[profile.workspace]\n{hide}")).unwrap();
    place.write("look.sh", "cat ~/.gitconfig ~/.cargo/bin/tool /etc/hostname; ls /usr/share/common-licenses; cat ~/.cargo/bin/other; chmod 644 ~/.cargo/bin/tool");
    let look = ["exec", "-w", "look", "--", "sh", "look.sh"];
    for as_user in [false, true] {
        let output = match as_user {
            true => {
                give_away(place.path());
                user.run(&place, &look)
            }
            false => place.run(look),
        };
        assert_eq!(String::from_utf8_lossy(&output.stdout), "here\n", "{output:?}");
        let said = printed(&output);
        assert!(said.contains("tool: Permission denied"), "{said}");
        assert!(said.contains(".gitconfig: No such file"), "{said}");
    }
    // A part of the project cannot be hidden by a cover that a later command would be without.
    let hide = "hide = [\"~/project/greet.py\"]\n";
    fs::write(config.join("sandbox.toml"), format!("[profile.workspace]\n{hide}")).unwrap();
    let output = place.run(["exec", "-w", "look", "--", "true"]);
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    let said = printed(&output);
    assert!(said.contains("belongs to the project: name it in .offshootignore"), "{said}");
}

/// Programs of the search path are often links to where they were installed. What they lead to is there, and nothing beside it.
#[needs(UserNamespace)]
#[test]
fn programs_that_are_links_are_there() {
    let (place, user) = (place(), User::new());
    let program = "#!/bin/sh\necho \"$0\" runs\n";
    for path in [".local/share/claude/versions/2.1", "apps/foo/foo", "apps/bar/versions/3/bar"] {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, program).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    fs::write(place.path().join("apps/foo/secret"), "the-key\n").unwrap();
    fs::write(place.path().join("apps/bar/versions/3/data"), "data\n").unwrap();
    let bin = place.path().join(".local/bin");
    fs::create_dir_all(&bin).unwrap();
    for (name, target) in [
        ("claude", "../share/claude/versions/2.1"),
        ("foo", "../../apps/foo/foo"),
        ("bar", "../../apps/bar/versions/3/bar"),
        ("key", "../../.ssh/id_ed25519"),
    ] {
        symlink(target, bin.join(name)).unwrap();
    }
    place.write("try.sh", "claude; foo; bar; cat ~/apps/bar/versions/3/data; cat ~/apps/foo/secret ~/.local/bin/key; ls ~/.ssh; true");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for as_user in [false, true] {
        if as_user {
            give_away(place.path());
        }
        let mut command = match as_user {
            true => user.command(&place, &["exec", "-w", "look", "--", "sh", "try.sh"]),
            false => place.command(["exec", "-w", "look", "--", "sh", "try.sh"]),
        };
        let output = command.env("PATH", &path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said.matches(" runs\n").count(), 3, "{output:?}");
        assert!(said.contains("data\n") && !printed(&output).contains("the-key"), "{output:?}");
    }
}

/// Nothing is asked for in vain without a word.
#[needs(UserNamespace)]
#[test]
fn places_that_are_not_there_are_named() {
    let place = place();
    let output = place.run(["exec", "-w", "look", "--show", "../nodata", "--", "true"]);
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(printed(&output).contains("nodata: there is no such file"), "{output:?}");
    let config = place.path().join(".config/offshoot");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("sandbox.toml"), "[profile.workspace]\nshow = [\"~/nodata\"]\n").unwrap();
    place.ok(["exec", "-w", "look", "--", "true"]);
    let list = place.ok(["sandbox", "show"]);
    let line = list.lines().find(|line| line.contains("nodata  ")).unwrap_or_default();
    assert!(line.contains("absent"), "{list}");
}

/// Whoever asks why nothing runs is told.
#[test]
fn profiles_that_cannot_be_used_are_a_problem() {
    let place = place();
    let config = place.path().join(".config/offshoot");
    fs::create_dir_all(&config).unwrap();
    let file = config.join("sandbox.toml");
    let problem = || {
        let document = document_of(&place.run(["doctor", "--json"]));
        let checks = document["result"]["checks"].as_array().unwrap().clone();
        let found = checks.iter().find(|check| check["name"] == "sandbox profiles").cloned();
        found.map(|check| (check["state"].clone(), check["detail"].as_str().unwrap().to_owned()))
    };
    fs::write(&file, "[profile.mine]\nshwo = [\"/x\"]\n").unwrap();
    let (state, detail) = problem().unwrap();
    assert!(state == "problem" && detail.contains("sandbox.toml: line 2: "), "{detail}");
    fs::write(&file, "[profile.mine]\nnetwork = \"proxy\"\nallow = [\"https://x.test/\"]\n")
        .unwrap();
    let (_, detail) = problem().unwrap();
    assert!(detail.contains("sandbox.toml: profile mine: cannot allow"), "{detail}");
    fs::remove_file(&file).unwrap();
    assert_eq!(problem(), None);
}

/// A rule alone does not make a command see a file, nor does showing it make a rule.
#[needs(UserNamespace)]
#[test]
fn who_needs_a_rule_is_told_of_what_is_not_seen() {
    let place = place();
    let key = place.path().join(".aws/credentials").display().to_string();
    let said = printed(&place.run(["exec", "-w", "look", "--", "cat", &key]));
    assert!(said.contains("to allow it, add to") && said.contains("--show "), "{said}");
    let said = place.ok(["doctor", "--explain", &key]);
    assert!(said.contains("--show ") && said.contains("offshoot policy explain -- cat"), "{said}");
}

fn spoil_text(file: &Path) {
    fs::write(file, "profile = 7\n").unwrap();
}

fn spoil_pipe(file: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, file, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

fn spoil_link(file: &Path) {
    symlink("/dev/zero", file).unwrap();
}

#[test]
fn a_user_has_profiles_of_their_own() {
    let place = place();
    let directory = place.path().join(".config/offshoot");
    fs::create_dir_all(&directory).unwrap();
    let text = "default = \"mine\"\n[profile.mine]\nabout = \"with notes\"\nshow = [\"~/notes\"]\n";
    fs::write(directory.join("sandbox.toml"), text).unwrap();
    let shown = place.json(&["sandbox", "show"]).clone();
    assert_eq!(shown["profile"]["name"], "mine");
    let notes = place.path().join("notes").display().to_string();
    let seen = shown["seen"].as_array().unwrap().iter();
    let place_of = |seen: &&Value| seen["path"] == notes.as_str();
    assert_eq!(seen.clone().filter(place_of).count(), 1, "{shown}");
    let text = place.ok(["sandbox", "show"]);
    assert!(
        text.starts_with("mine  with notes\n") && text.contains("named by the profile"),
        "{text}"
    );
    fs::write(directory.join("sandbox.toml"), "[profile.mine]\nfrom = \"yours\"\n").unwrap();
    let error = place.json_error(&["sandbox", "show"], 2);
    assert!(
        error["message"].as_str().unwrap().contains("there is no profile \"yours\""),
        "{error}"
    );
}

/// Only a profile of the user's own takes limits away.
#[needs(UserNamespace)]
#[test]
fn limits_hold_unless_the_profile_says_otherwise() {
    let place = place();
    let directory = place.path().join(".config/offshoot");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("sandbox.toml"), "[profile.free]\nlimits = false\n").unwrap();
    let size = |options: &[&str]| {
        let start = ["exec", "-w", "look", "--json", "-c", "exec.max_file_size=64MiB"];
        let output = place.run([&start[..], options, &["--", "true"]].concat());
        document_of(&output)["result"]["sandbox"]["limits"]["file_size"].clone()
    };
    assert_eq!(size(&[]), 64 << 20);
    assert_eq!(size(&["--sandbox", "free"]), Value::Null);
}

#[test]
fn a_path_is_explained() {
    let place = place();
    let explain = |path: &str| {
        let path = place.path().join(path).display().to_string();
        let document = place.json(&["doctor", "--explain", &path]).clone();
        (document["visibility"].as_str().unwrap().to_owned(), document)
    };
    for (path, visibility) in [
        (".ssh/id_ed25519", "absent"),
        (".cargo/bin/tool", "shown"),
        (".cargo/credentials.toml", "absent"),
        (".gitconfig", "copied"),
        ("project/greet.py", "workspace"),
        ("/usr/bin/env", "shown"),
        ("/etc/shadow", "absent"),
        ("/run/some.sock", "private"),
    ] {
        let (seen, document) = explain(path);
        assert_eq!(seen, visibility, "{document}");
    }
    assert_eq!(explain(".gitconfig").1["left_out"], 2);
    assert_eq!(
        explain(".cargo/bin/tool").1["why"].as_str().unwrap().matches("toolchains: rust").count(),
        1
    );
    let vaults = place.home().display().to_string();
    assert_eq!(explain(&vaults).0, "hidden");
}
