//! What commands may read, reach and use: profiles, who may change them, and what commands are told.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

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
        (".nvm/versions/node/v22/etc/npmrc", "fund=Somebody\n//r.example/:_authToken=the-key\n"),
        (".oh-my-zsh/custom/work.zsh", "export A='\nGH_TOKEN=the-key\n'\n"),
        ("notes/plan.txt", "a plan\n"),
    ] {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    place.write("steal.sh", "cat ~/.ssh/id_ed25519 ~/.aws/credentials ~/.cargo/credentials.toml ~/.gitconfig ~/.nvm/versions/node/v22/etc/npmrc ~/.oh-my-zsh/custom/work.zsh /etc/shadow /etc/gshadow ~root/.*; ls -A ~");
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
    assert!(stolen.contains("fund=Somebody"), "{stolen}");
    assert!(!stolen.contains("notes"), "{stolen}");
    give_away(place.path());
    let stolen = printed(&user.run(&place, &steal));
    assert!(!stolen.contains("the-key") && stolen.contains("name = Somebody"), "{stolen}");
    assert!(stolen.contains("fund=Somebody"), "{stolen}");
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

/// Variables that were given with a command name no place to look at, however a tool reads them.
#[needs(UserNamespace)]
#[test]
fn a_variable_of_a_command_shows_nothing() {
    let (place, user) = (place(), User::new());
    give_away(place.path());
    let home = place.path().display().to_string();
    let keys = place.path().join(".ssh").display().to_string();
    for (name, value) in [
        ("CCACHE_DIR", keys.as_str()),
        ("npm_config_cache", &keys),
        ("PIP_CACHE_DIR", &keys),
        ("GOCACHE", &keys),
        ("CARGO_HOME", &keys),
        ("PATH", &keys),
        ("CCACHE_DIR", &home),
        ("CCACHE_DIR", "/etc"),
        ("XDG_CACHE_HOME", &home),
    ] {
        let variable = format!("{name}={value}");
        let steal = ["exec", "-w", "look", "-e", &variable, "--", "/bin/sh", "steal.sh"];
        for stolen in [printed(&place.run(steal)), printed(&user.run(&place, &steal))] {
            assert!(!stolen.contains("the-key") && !stolen.contains("root:"), "{name}: {stolen}");
        }
    }
}

/// A list of stores to borrow from is a repository's own, and no file of the project.
#[needs(UserNamespace, "git")]
#[test]
fn a_file_of_the_project_opens_no_other_repository() {
    let place = place();
    let other = place.path().join("other");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.env_clear().envs(place.environment()).arg("-C").arg(&other).args([
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.com",
        ]);
        assert!(command.args(arguments).output().unwrap().status.success());
    };
    fs::create_dir(&other).unwrap();
    fs::write(other.join("private"), "the-key\n").unwrap();
    for arguments in
        [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "a"], &["repack", "-adq"]]
    {
        git(arguments);
    }
    let stores = other.join(".git/objects");
    let text = format!("{}\n", stores.display());
    let look = format!(
        "ls {}; git init -q /tmp/g && cd /tmp/g && GIT_ALTERNATE_OBJECT_DIRECTORIES={} git cat-file --batch-all-objects --batch",
        stores.display(),
        stores.display()
    );
    place.write("look.sh", look);
    place.write("objects/info/alternates", &text);
    let seen = |options: &[&str]| {
        printed(&place.run([&["exec", "-w", "look"], options, &["--", "sh", "look.sh"]].concat()))
    };
    assert!(!seen(&[]).contains("the-key"));
    // A repository of the folder's own is obeyed, but for who wants the system alone.
    place.write(".git/objects/info/alternates", &text);
    assert!(seen(&[]).contains("the-key"));
    assert!(!seen(&["--sandbox", "strict"]).contains("the-key"));
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
    let clone = "echo \"fatal: repository '/var/log' does not exist\" >&2; exit 128";
    let told = printed(&place.run(["exec", "-w", "look", "--shell", clone]));
    assert!(told.contains(&expected), "{told}");
    let told = printed(&place.run(["exec", "-w", "look", "--", "cat", "/no/such/file"]));
    assert!(!told.contains("is there"), "{told}");
}

/// A program that the machine has is named, with what shows it.
#[needs(UserNamespace)]
#[test]
fn who_fails_for_want_of_a_program_is_told() {
    let place = place();
    let (tools, real) = (place.path().join(".local/bin"), place.path().join("elsewhere"));
    for directory in [&tools, &real] {
        fs::create_dir_all(directory).unwrap();
    }
    let program = |path: &Path, text: &str| {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    program(&real.join("real"), "#!/bin/sh\necho ran\n");
    let linked = place.path().join("linked");
    fs::create_dir(&linked).unwrap();
    program(&linked.join("real"), "#!/bin/sh\necho ran\n");
    symlink(linked.join("real"), tools.join("linked")).unwrap();
    program(&tools.join("scripted-tool"), &format!("#!{}\n", real.join("real").display()));
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let run = |options: &[&str], words: &[&str]| {
        let arguments = [&["exec", "-w", "look"], options, &["--"], words].concat();
        let output = place.command(arguments).env("PATH", &path).output().unwrap();
        (output.status.code(), printed(&output))
    };
    let show = real.display().to_string();
    let told = format!(
        "{show}/real is there, but commands do not see it: --show {show} shows it to one, `show = [\"{show}\"]` in a profile to all"
    );
    let absolute = format!("{show}/real");
    // A program that a link of the search path leads to is there.
    for words in [&["linked"][..], &["sh", "-c", "linked"], &["bash", "-c", "linked"]] {
        let (code, said) = run(&[], words);
        assert_eq!((code, said.contains("ran\n")), (Some(0), true), "{words:?}: {said}");
    }
    for words in [&[absolute.as_str()][..], &["scripted-tool"]] {
        let (code, said) = run(&[], words);
        assert_eq!(code, Some(127), "{words:?}: {said}");
        assert!(said.contains(&told), "{words:?}: {said}");
        let (code, said) = run(&["--show", &show], words);
        assert_eq!((code, said.contains("ran\n")), (Some(0), true), "{words:?}: {said}");
    }
    let (code, said) = run(&["--sandbox", "strict"], &[&absolute]);
    assert_eq!(code, Some(127), "{said}");
    assert!(said.contains("profile strict does not show it to commands"), "{said}");
    for words in [&["no-such-program"][..], &["sh", "-c", "no-such-program"]] {
        let (code, said) = run(&[], words);
        assert_eq!((code, said.contains("is there")), (Some(127), false), "{said}");
    }
}

/// Calls of programs of 32 bits have other numbers, and none is made.
#[needs(UserNamespace, Calls32, "gcc")]
#[test]
fn programs_of_32_bits_end_and_are_named() {
    let place = place();
    // Does it have a number (20)? It says so by how it ends (1).
    place.write(
        "old.c",
        "void _start(void) { int r; __asm__ volatile(\"int $0x80\" : \"=a\"(r) : \"a\"(20));
         __asm__ volatile(\"int $0x80\" : : \"a\"(1), \"b\"(r > 0 ? 4 : r == -38 ? 3 : 2)); }",
    );
    let mut build = Command::new("gcc");
    build.args(["-m32", "-nostdlib", "-static", "-o", "old", "old.c"]);
    assert!(build.current_dir(place.project()).status().unwrap().success());
    let user = User::new();
    let directory = place.path().join(".config/offshoot");
    fs::create_dir_all(&directory).unwrap();
    let text = "[profile.open]\nwalls = { seccomp = \"off\" }\n";
    fs::write(directory.join("sandbox.toml"), text).unwrap();
    let check = |run: &dyn Fn(&[&str]) -> Output| {
        let output = run(&["exec", "-w", "old", "--", "./old"]);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(printed(&output).contains("old is a 32-bit program"), "{output:?}");
        let output = run(&["exec", "-w", "old", "--sandbox", "open", "--", "./old"]);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
    };
    check(&|arguments| place.run(arguments));
    give_away(place.path());
    check(&|arguments| user.run(&place, arguments));
}

/// Only what breaks rules of its own is ended for a system call, and it is told why.
#[needs(UserNamespace)]
#[test]
fn who_is_ended_for_a_system_call_is_told() {
    let said = printed(&place().run(["exec", "-w", "look", "--", "sh", "-c", "kill -SYS $$"]));
    assert!(said.contains("ended for a system call that is not allowed (SIGSYS)"), "{said}");
}

/// What a profile covers is not there, and a profile without package caches has none: as root and as an ordinary user.
#[needs(Overlay, UserNamespace)]
#[test]
fn profiles_hide_places_and_leave_caches_out() {
    let (place, user) = (place(), User::new());
    let npm = place.path().join(".npm");
    fs::create_dir(&npm).unwrap();
    fs::write(npm.join("own"), "of the host").unwrap();
    let directory = place.path().join(".config/offshoot");
    fs::create_dir_all(&directory).unwrap();
    let text = "[profile.covered]\nhide = [\"~/.cargo/bin\", \"/usr/share\"]\n[profile.uncached]\ncaches = false\n";
    fs::write(directory.join("sandbox.toml"), text).unwrap();
    // What it does is not known beforehand: it may fetch packages.
    place.write(
        "look.sh",
        "ls ~/.cargo/bin /usr/share | wc -l; cat ~/.npm/own; echo x > ~/.npm/new; true",
    );
    let check = |run: &dyn Fn(&[&str]) -> Output| {
        let look = |options: &[&str]| {
            let start = ["exec", "--json", "-w", "look"];
            let output = run(&[&start[..], options, &["--", "sh", "look.sh"]].concat());
            let result = document_of(&output)["result"].clone();
            let said = result["stdout"].as_str().unwrap().to_owned();
            let caches = result["sandbox"]["caches"].as_array().map_or(0, Vec::len);
            let (lines, rest) = said.split_once('\n').unwrap();
            (lines.trim().parse::<u32>().unwrap(), rest.to_owned(), caches, result)
        };
        let (lines, rest, caches, result) = look(&[]);
        assert!(lines > 5 && rest == "of the host" && caches > 0, "{result}");
        let (lines, _, _, result) = look(&["--sandbox", "covered"]);
        assert_eq!(lines, 0, "{result}");
        assert!(result["sandbox"]["hidden"].to_string().contains("/usr/share"), "{result}");
        let (lines, rest, caches, result) = look(&["--sandbox", "uncached"]);
        assert!(lines > 5 && rest.is_empty() && caches == 0, "{result}");
    };
    check(&|arguments| place.run(arguments));
    give_away(place.path());
    check(&|arguments| user.run(&place, arguments));
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
        said.contains("there is no profile \"moat\"; there are container, none, read-only"),
        "{said}"
    );
    for wider in [["--net", "host"], ["--show", "/srv"]] {
        let (code, said) = refused(&[&["--sandbox", "strict"], &wider[..]].concat());
        assert_eq!(code, Some(125), "{said}");
        assert!(said.contains("profile strict cannot be widened"), "{said}");
    }
}

/// Without walls a command sees everything, so the user has to write down that it may.
#[needs(UserNamespace)]
#[test]
fn no_walls_only_by_a_rule_that_says_so() {
    let place = place();
    let open =
        ["exec", "-w", "look", "--sandbox", "none", "--json", "--", "cat", "../notes/plan.txt"];
    let (user, project) = (
        place.path().join(".config/offshoot/policy.toml"),
        place.project().join("offshoot-policy.toml"),
    );
    fs::create_dir_all(user.parent().unwrap()).unwrap();
    let decided = |user: &Path, rule: &str| {
        fs::write(user, format!("version = 1\n{rule}")).unwrap();
        document_of(&place.run(open))["result"].clone()
    };
    let rule = |further: &str| {
        format!(
            "[[rule]]\nname = \"open\"\ndecision = \"allow\"\nprefix = [\"cat\"]\n{further}matches = [\"cat a\"]\n"
        )
    };
    // A rule about the program says nothing about walls, and a project cannot take them away.
    for (file, text) in [(&user, rule("")), (&project, rule("unconfined = true\n"))] {
        let result = decided(file, &text);
        assert_eq!(result["state"], "pending_approval", "{result}");
        assert_eq!((&result["profile"], &result["unconfined"]), (&"none".into(), &true.into()));
        let remedy = result["decision"]["remedy"]["rule"].as_str().unwrap();
        assert!(remedy.contains("prefix = [\"cat\", \"../notes/plan.txt\"]"), "{remedy}");
        assert!(remedy.contains("unconfined = true"), "{remedy}");
    }
    fs::remove_file(&project).unwrap();
    let said = printed(&place.run(open.iter().filter(|word| **word != "--json")));
    assert!(said.contains("unconfined = true"), "{said}");
    let result = decided(&user, &rule("unconfined = true\n"));
    assert_eq!((&result["state"], &result["stdout"]), (&"completed".into(), &"a plan\n".into()));
    assert_eq!((&result["profile"], &result["unconfined"]), (&"none".into(), &true.into()));
    let restrictions = result["sandbox"]["restrictions"].to_string();
    for wall in ["seccomp", "landlock", "keyring", "own_ids", "sysfs"] {
        assert!(!restrictions.contains(wall), "{result}");
    }
    assert_eq!(result["sandbox"]["network"], "host", "{result}");
    let id = result["exec"].as_str().unwrap();
    assert!(place.ok(["show", id, "--json"]).contains("\"unconfined\":true"));
    assert!(place.ok(["op", "log", "--json"]).contains("cat ../notes/plan.txt"));
    // What is recorded is decided again as what it was.
    let other = place.path().join("other.toml");
    fs::write(&other, format!("version = 1\n{}", rule(""))).unwrap();
    let replay = place.json(&["policy", "replay", other.to_str().unwrap()]);
    let different = replay["different"].as_array().unwrap();
    assert_eq!(different.len(), 1, "{replay}");
    assert_eq!(different[0]["exec"], id, "{replay}");
    let checked = |options: &[&str]| {
        let arguments = [&["policy", "check"], options, &["--", "cat", "a"]].concat();
        place.run(arguments).status.code()
    };
    assert_eq!((checked(&[]), checked(&["--sandbox", "none"])), (Some(0), Some(0)));
    fs::remove_file(&user).unwrap();
    assert_eq!((checked(&[]), checked(&["--sandbox", "none"])), (Some(0), Some(123)));
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
    // A command that starts a workspace says so, and the next ones do not.
    place.ok(["exec", "-w", "known", "--", "touch", "kept"]);
    let told = printed(&place.run(["exec", "-w", "known", "--", "true"]));
    assert!(!told.contains("has no effect"), "{told}");
    for command in [&["exec", "-w", "look", "--", "true"][..], &["sandbox", "show"], &["doctor"]] {
        let told = printed(&place.run(command));
        for key in ["show", "network"] {
            let expected = format!("offshoot-sandbox.toml: `{key}` in [narrow] has no effect");
            assert!(told.contains(&expected), "{told}");
        }
    }
    fs::write(&file, "profile = \"strict\"\n[narrow]\nfiles = \"read\"\n").unwrap();
    let after = show();
    assert_eq!(
        (&after["files"], &after["reads"]),
        (&"read".into(), &serde_json::json!(["etc", "system"]))
    );
    let output = place.run(["exec", "-w", "look", "--", "touch", "x"]);
    let told = printed(&output);
    assert!(told.contains("Read-only file system"), "{output:?}");
    assert!(told.contains("offshoot-sandbox.toml keeps commands from changing files"), "{told}");
    // Another profile does not help, so nobody is told to choose one.
    for sandbox in [&[][..], &["--sandbox", "workspace"]] {
        let wider = ["--net", "allow=a.test", "--", "true"];
        let told = printed(&place.run([&["exec", "-w", "look"], sandbox, &wider].concat()));
        assert!(told.contains("offshoot-sandbox.toml does not let commands have"), "{told}");
    }
    fs::write(&file, "[narrow]\nwiden = false\n").unwrap();
    let told = printed(&place.run(["exec", "-w", "look", "--show", "../notes", "--", "true"]));
    assert!(told.contains("or edit that file"), "{told}");
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
    fs::write(
        place.path().join(".npmrc"),
        "//r/:_authToken=abcdef\nsave=true\nregistry=https://me:hunter2@r/\n",
    )
    .unwrap();
    fs::create_dir_all(place.path().join(".m2")).unwrap();
    fs::write(place.path().join(".m2/settings.xml"), "<password>abcdef</password>\n").unwrap();
    place.write("read.sh", "cat ~/.bashrc ~/.npmrc");
    let read = |options: &[&str]| {
        printed(&place.run([&["exec", "-w", "look"], options, &["--", "sh", "read.sh"]].concat()))
    };
    let usual = read(&[]);
    assert!(!usual.contains("abcdef") && usual.contains("save=true"), "{usual}");
    assert!(usual.contains("registry=https://r/"), "{usual}");
    let shown = read(&["--show", "../.bashrc", "--show", "../.npmrc"]);
    assert!(shown.contains(bashrc) && shown.contains("_authToken=abcdef"), "{shown}");
    // Who asks why it is withheld hears of the line and of a way out.
    let said = place.ok(["doctor", "--explain", "../.bashrc"]);
    assert!(said.contains("withheld") && said.contains("line 2 seems to hold"), "{said}");
    assert!(said.contains("--show"), "{said}");
    let list = place.ok(["sandbox", "show"]);
    assert!(list.contains("withheld: a line seems to hold a credential"), "{list}");
    assert!(list.contains("copied without 1 line and 1 login "), "{list}");
    let said = place.ok(["doctor", "--explain", "../.npmrc"]);
    let what = "without line 1, which seems to hold a credential, and the login in line 3:";
    assert!(said.contains(what), "{said}");
    // Nor does anything propose to show a credential.
    for (file, told) in
        [(".npmrc", "a copy without credentials"), (".m2/settings.xml", "doctor --explain")]
    {
        let path = place.path().join(file).display().to_string();
        let said = printed(&place.run(["exec", "-w", "look", "--", "cat", &path]));
        assert!(said.contains("to allow it, add to") && said.contains(told), "{said}");
        assert!(!said.contains("--show"), "{said}");
    }
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

/// A single file is covered as a directory is.
#[needs(UserNamespace)]
#[test]
fn what_is_hidden_is_not_read() {
    let (place, user) = (place(), User::new());
    let directory = place.path().join(".config/offshoot");
    fs::create_dir_all(&directory).unwrap();
    let text = "default = \"mine\"\n[profile.mine]\nshow = [\"~/notes\", \"~/.ssh/id_ed25519\"]\n";
    let file = directory.join("sandbox.toml");
    place.write("look.sh", "cat ../notes/plan.txt ../.ssh/id_ed25519 /etc/passwd; echo looked");
    let look = ["exec", "-w", "look", "--", "sh", "look.sh"];
    let hide = "hide = [\"~/notes/plan.txt\", \"~/.ssh/id_ed25519\", \"/etc/passwd\"]\n";
    for ordinary in [false, true] {
        for (hide, seen) in [("", true), (hide, false)] {
            fs::write(&file, format!("{text}{hide}")).unwrap();
            let output = match ordinary {
                true => {
                    give_away(place.path());
                    user.run(&place, &look)
                }
                false => place.run(look),
            };
            let said = printed(&output);
            assert!(said.contains("looked"), "{said}");
            for part in ["a plan", "the-key", "root:"] {
                assert_eq!(said.contains(part), seen, "{part}: {said}");
            }
        }
    }
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
