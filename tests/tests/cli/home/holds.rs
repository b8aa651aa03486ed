//! What stays in a workspace unless it is asked for.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use offshoot_needs::needs;
use offshoot_tests::product::Place;
use serde_json::{Value, json};

use super::{assert_captured, assert_same, edit, folder, fork, lines, read};

fn run(place: &Place, script: &str) {
    place.ok(["exec", "-w", "work", "--", "sh", "-c", script]);
}

/// Paths and reasons of what stays, without the directories that hold it.
fn held(document: &Value) -> Vec<(String, String)> {
    let text = |held: &Value, key: &str| held[key].as_str().unwrap().to_owned();
    let held = document["held"].as_array().unwrap().iter();
    held.map(|held| (text(held, "path"), text(held, "reason"))).collect()
}

fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(path, why)| ((*path).to_owned(), (*why).to_owned())).collect()
}

#[test]
fn build_output_stays() {
    let place = lines();
    place.write(".gitignore", "/target\n*.o\n!keep.o\n");
    place.write("sub/.gitignore", "local\n");
    place.ok(["init"]);
    fork(&place, "work");
    run(
        &place,
        "mkdir -p target/debug sub/inner; for f in target/debug/app a.o keep.o sub/inner/local sub/b.c; \
         do echo x >$f; done",
    );
    let document = place.json(&["commit", "-w", "work"]);
    let ignored = named(&[
        ("/a.o", "ignored"),
        ("/sub/inner", "ignored"),
        ("/sub/inner/local", "ignored"),
        ("/target", "ignored"),
        ("/target/debug", "ignored"),
        ("/target/debug/app", "ignored"),
    ]);
    let found = held(&document);
    assert!(found.iter().all(|pair| ignored.contains(pair)), "{found:?}");
    for path in ["a.o", "sub/inner", "target"] {
        assert!(!place.project().join(path).exists(), "{path}");
    }
    assert_eq!(read(&place, "keep.o"), "x\n");
    assert_eq!(read(&place, "sub/b.c"), "x\n");
    assert_captured(&place);
    assert_eq!(place.ok(["fs", "cat", "/target/debug/app", "-w", "work"]), "x\n");
    place.ok(["commit", "-w", "work", "--ignored"]);
    assert_eq!(read(&place, "target/debug/app"), "x\n");
}

/// Neither new rules nor removed ones get anything committed unasked: both the old and the new ones count.
#[test]
fn rules_of_before_and_of_now_count() {
    let place = lines();
    place.write(".gitignore", "old\n");
    place.write(".git/info/exclude", "mine\n");
    place.ok(["init"]);
    fork(&place, "work");
    run(&place, "echo new >.gitignore; for f in old new mine plain; do echo x >$f; done");
    place.ok(["commit", "-w", "work"]);
    for (path, comes) in [("old", false), ("new", false), ("mine", false), ("plain", true)] {
        let there = place.project().join(path).exists() && path != "new";
        assert_eq!(there, comes, "{path}");
    }
    assert_eq!(read(&place, ".gitignore"), "new\n");
}

/// The bits that run a program as somebody else stay; the program itself is committed.
#[test]
fn set_user_bits_stay() {
    let place = lines();
    place.write("known", "1");
    let known = place.project().join("known");
    fs::set_permissions(&known, fs::Permissions::from_mode(0o4755)).unwrap();
    place.ok(["init"]);
    fork(&place, "work");
    run(
        &place,
        "cp /bin/true tool; chmod 6755 tool; chmod 4711 known; mkdir d; chmod 2775 d; touch d/x",
    );
    let document = place.json(&["commit", "-w", "work"]);
    assert_eq!(held(&document), named(&[("/d", "setuid"), ("/tool", "setuid")]));
    let mode = |path: &str| {
        fs::metadata(place.project().join(path)).unwrap().permissions().mode() & 0o7777
    };
    assert_eq!((mode("tool"), mode("known"), mode("d")), (0o755, 0o4711, 0o755));
    assert_captured(&place);
    // Bits that were there stand on other bytes now.
    run(&place, "echo 2 >known; chmod 4711 known");
    let document = place.json(&["commit", "-w", "work"]);
    let all = [("/d", "setuid"), ("/known", "setuid"), ("/tool", "setuid")];
    assert_eq!(held(&document), named(&all));
    assert_eq!((read(&place, "known"), mode("known")), ("2\n".to_owned(), 0o711));
    place.ok(["commit", "-w", "work", "--allow", "setuid"]);
    assert_eq!((mode("tool"), mode("known"), mode("d")), (0o6755, 0o4711, 0o2775));
}

/// Nobody else gets rights in the folder by a commit: neither to write, nor to read what was closed.
#[test]
fn modes_that_open_the_folder_stay() {
    let place = lines();
    place.write("secret", "1");
    place.write("pair", "1");
    place.write("dir/x", "1");
    let set = |path: &str, mode: u32| {
        fs::set_permissions(place.project().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("secret", 0o600);
    set("pair", 0o750);
    set("dir", 0o755);
    set("", 0o700);
    place.ok(["init"]);
    fork(&place, "work");
    run(
        &place,
        "chmod 777 . secret dir; mkdir -m 2777 new; echo >new/f; chmod 666 new/f; mkdir -m 777 empty; chmod g+s dir; \
         chmod 755 pair; ln pair pair2",
    );
    let document = place.json(&["commit", "-w", "work"]);
    let all = ["/", "/dir", "/empty", "/new", "/new/f", "/pair", "/pair2", "/secret"];
    let all = all.map(|path| (path, "setuid"));
    assert_eq!(held(&document), named(&all));
    let mode = |path: &str| {
        fs::metadata(place.project().join(path)).unwrap().permissions().mode() & 0o7777
    };
    assert_eq!((mode(""), mode("secret"), mode("dir")), (0o700, 0o700, 0o755));
    assert_eq!((mode("new"), mode("new/f"), mode("empty")), (0o755, 0o644, 0o755));
    // Names of one file have one mode.
    assert_eq!((mode("pair"), mode("pair2")), (0o750, 0o750));
    assert_captured(&place);
    let said = place.ok(["status", "-w", "work"]);
    assert!(said.contains("8 files (modes that give others more rights"), "{said}");
    place.ok(["commit", "-w", "work", "--take", "secret", "--take", "new"]);
    assert_eq!((mode("secret"), mode("new"), mode("dir")), (0o777, 0o2777, 0o755));
    place.ok(["commit", "-w", "work", "--allow", "setuid"]);
    assert_eq!((mode(""), mode("dir"), mode("empty")), (0o777, 0o2777, 0o777));
}

#[test]
fn what_git_would_run_stays() {
    let place = lines();
    place.write(".git/config", "[core]\n");
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    place.ok(["init"]);
    fork(&place, "work");
    let script = "mkdir -p .git/hooks .git/info .git/objects/info sub/.GIT/hooks .git/refs/heads; \
        for f in .git/hooks/post-checkout .git/config .git/config.worktree .git/info/attributes \
        .git/objects/info/alternates sub/.GIT/hooks/x; do echo x >$f; done; \
        printf '[core]\\n\\tpager = x\\n' >.git/config; echo side >.git/description; \
        mkdir linked; echo 'gitdir: /elsewhere' >linked/.git; \
        mkdir -p bare/objects bare/refs; echo x >bare/HEAD; echo x >bare/config";
    run(&place, script);
    let document = place.json(&["commit", "-w", "work"]);
    let reasons: Vec<_> = held(&document).into_iter().filter(|(_, why)| why == "git").collect();
    for path in [
        "/.git/config",
        "/.git/config.worktree",
        "/.git/hooks/post-checkout",
        "/.git/info/attributes",
        "/.git/objects/info/alternates",
        "/bare/HEAD",
        "/linked/.git",
        "/sub/.GIT/hooks/x",
    ] {
        assert!(reasons.iter().any(|(held, _)| held == path), "{path}: {document}");
        assert!(path == "/.git/config" || !place.project().join(&path[1..]).exists(), "{path}");
    }
    assert_eq!(read(&place, ".git/config"), "[core]\n");
    // Whatever else a repository has that needs what is held back stays with that.
    assert!(!place.project().join(".git/description").exists());
    place.ok(["commit", "-w", "work", "--allow", "git"]);
    assert_eq!(read(&place, ".git/description"), "side\n");
    assert_eq!(read(&place, ".git/config"), "[core]\n\tpager = x\n");
    assert_eq!(read(&place, "linked/.git"), "gitdir: /elsewhere\n");
}

/// Whoever deletes a repository in a workspace deletes no history of the folder's.
#[test]
fn a_deleted_repository_stays() {
    let place = lines();
    for at in ["", "part/", "whole/"] {
        place.write(format!("{at}.git/HEAD"), "ref: refs/heads/main\n");
        place.write(format!("{at}.git/config"), "[core]\n");
        place.write(format!("{at}.git/objects/info/packs"), "\n");
        place.write(format!("{at}.git/refs/heads/.keep"), "");
        place.write(format!("{at}file"), "1\n");
    }
    place.ok(["init"]);
    fork(&place, "work");
    run(&place, "rm -rf .git part/.git whole; echo 2 > file");
    let document = place.json(&["commit", "-w", "work"]);
    assert_eq!(read(&place, "file"), "2\n");
    let kept = [".git/HEAD", "part/.git/config", ".git/refs/heads/.keep", "whole/.git/HEAD"];
    for path in kept {
        assert!(place.project().join(path).exists(), "{path}: {document}");
    }
    assert!(!place.project().join("whole/file").exists());
    assert!(held(&document).contains(&("/.git/HEAD".to_owned(), "git".to_owned())), "{document}");
    // Deleting it is up to whoever it belongs to.
    place.ok(["commit", "-w", "work", "--allow", "git"]);
    kept.iter().for_each(|path| assert!(place.project().join(path).exists(), "{path}"));
}

/// A file with all markers of a conflict is a conflict that nobody decided, wherever it came from.
#[test]
fn markers_stay_unless_they_were_there() {
    let place = lines();
    let marked = "<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n";
    place.write("known", marked);
    place.ok(["init"]);
    fork(&place, "work");
    edit(&place, "work", "/known", format!("{marked}more\n"));
    place.ok(["commit", "-w", "work"]);
    edit(&place, "work", "/new", marked);
    let error = place.json_error(&["commit", "-w", "work"], 4);
    assert!(error["message"].as_str().unwrap().contains("/new"), "{error}");
    assert!(!place.project().join("new").exists());
    place.ok(["commit", "-w", "work", "--allow", "markers"]);
    assert_eq!(read(&place, "new"), marked);
}

/// Build output that both sides have: each keeps its own, and nobody has to decide about it.
#[test]
fn ignored_files_of_both_sides_stay_what_they_are() {
    for (base, theirs, mine) in [
        (Some("before\n"), Some("built in the workspace\n"), Some("built by a person\n")),
        (None, Some("built in the workspace\n"), Some("built by a person\n")),
        (Some("before\n"), Some("built in the workspace\n"), None),
        (Some("before\n"), None, Some("built by a person\n")),
    ] {
        let place = lines();
        place.write(".gitignore", "build\n");
        let out = place.project().join("build/out");
        if let Some(base) = base {
            place.write("build/out", base);
        }
        place.ok(["init"]);
        fork(&place, "work");
        match theirs {
            Some(theirs) => edit(&place, "work", "/build/out", theirs),
            None => drop(place.ok(["fs", "rm", "/build/out", "-w", "work"])),
        }
        edit(&place, "work", "/new", "new");
        match mine {
            Some(mine) => place.write("build/out", mine),
            None => fs::remove_dir_all(place.project().join("build")).unwrap(),
        }
        let document = place.json(&["commit", "-w", "work"]);
        assert_eq!(document["committed"], true, "{document}");
        assert!(document["kept_conflicts"].is_null(), "{document}");
        assert_eq!(fs::read_to_string(&out).ok().as_deref(), mine);
        let shown = place.run(["fs", "cat", "/build/out", "-w", "work"]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert_eq!(shown, theirs.unwrap_or_default());
        // What follows is about the rest alone.
        edit(&place, "work", "/new", "newer");
        place.ok(["commit", "-w", "work"]);
        assert_eq!(read(&place, "new"), "newer");
        assert_eq!(fs::read_to_string(&out).ok().as_deref(), mine);
    }
}

/// The same where the workspace takes in what is in the folder.
#[test]
fn a_pull_leaves_ignored_files_of_both_sides_what_they_are() {
    for (base, theirs, mine) in [
        (Some("before\n"), Some("built in the workspace\n"), Some("built by a person\n")),
        (None, Some("built in the workspace\n"), Some("built by a person\n")),
        (Some("before\n"), Some("built in the workspace\n"), None),
        (Some("before\n"), None, Some("built by a person\n")),
    ] {
        let place = lines();
        place.write(".gitignore", "build\n");
        let out = place.project().join("build/out");
        if let Some(base) = base {
            place.write("build/out", base);
        }
        place.ok(["init"]);
        fork(&place, "work");
        match theirs {
            Some(theirs) => edit(&place, "work", "/build/out", theirs),
            None => drop(place.ok(["fs", "rm", "/build/out", "-w", "work"])),
        }
        match mine {
            Some(mine) => place.write("build/out", mine),
            None => fs::remove_dir_all(place.project().join("build")).unwrap(),
        }
        place.write("build/mine", "of the folder alone\n");
        for turn in ["first", "second"] {
            place.write("other", turn);
            let document = place.json(&["pull", "-w", "work"]);
            assert_eq!(document["conflicts"], json!([]), "{document}");
            assert_eq!(fs::read_to_string(&out).ok().as_deref(), mine);
            let shown = |path| {
                let shown = place.run(["fs", "cat", path, "-w", "work"]);
                String::from_utf8_lossy(&shown.stdout).into_owned()
            };
            assert_eq!(shown("/build/out"), theirs.unwrap_or_default());
            assert_eq!(
                (shown("/other").as_str(), shown("/build/mine").as_str()),
                (turn, "of the folder alone\n")
            );
            assert_eq!(place.json(&["status", "-w", "work"])["behind"], 0);
        }
        // The workspace has nothing to commit by it.
        assert_eq!(place.json(&["commit", "-w", "work"])["committed"], false);
    }
}

/// What git tracks is nobody's build output, whatever the rules say.
#[needs("git")]
#[test]
fn a_pull_merges_ignored_files_that_git_tracks() {
    let place = lines();
    place.write(".gitignore", "build\n");
    place.write("build/out", "before\n");
    for arguments in [&["init", "-q"][..], &["add", "-f", "build/out"]] {
        let git =
            std::process::Command::new("git").args(arguments).current_dir(place.project()).status();
        assert!(git.unwrap().success());
    }
    place.ok(["init"]);
    fork(&place, "work");
    edit(&place, "work", "/build/out", "in the workspace\n");
    place.write("build/out", "by a person\n");
    let output = place.run(["pull", "-w", "work", "--json"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("/build/out"), "{told}");
}

/// What stays does not fit to what was committed: the workspace has it as a conflict, the folder has what was committed. The workspace is the first
/// side, as after a pull.
#[test]
fn what_stays_may_not_fit_any_more() {
    let place = lines();
    place.write("out", "built before\n");
    place.ok(["init"]);
    fork(&place, "work");
    edit(&place, "work", "/out", "built in the workspace\n");
    edit(&place, "work", "/new", "new");
    place.write("out", "built by a person\n");
    let document = place.json(&["commit", "-w", "work", "--exclude", "out"]);
    assert_eq!(document["committed"], true, "{document}");
    assert_eq!(document["kept_conflicts"][0]["path"], "/out", "{document}");
    assert_eq!(read(&place, "out"), "built by a person\n");
    assert_eq!(read(&place, "new"), "new");
    let shown = place.ok(["fs", "cat", "/out", "-w", "work"]);
    assert!(shown.contains("built in the workspace") && shown.contains("built by a person"));
    assert_eq!(place.json(&["status", "-w", "work"])["changes"].as_array().unwrap().len(), 1);
    assert_eq!(json!(place.run(["commit", "-w", "work"]).status.code()), json!(4));
    place.ok(["resolve", "/out", "--ours", "-w", "work"]);
    assert_eq!(place.ok(["fs", "cat", "/out", "-w", "work"]), "built in the workspace\n");
}

/// What is never read from the folder is not brought there either: nobody could tell whether it is still what came.
#[needs(Overlay, UserNamespace)]
#[test]
fn what_is_never_taken_in_never_comes_home() {
    let staged = ".offshoot-apply-01m7jbz8zs8nxw9nxatmgjamn0";
    let place = lines();
    place.write(".offshootignore", "*.secret\n/own/\n");
    place.write("kept.secret", "mine");
    place.ok(["init"]);
    fork(&place, "work");
    run(
        &place,
        &format!(
            "mkdir -p n/{staged} own {staged}; for f in n/1 n/k.secret n/{staged}/f own/f {staged}/f; do echo x >$f; done; \
             echo x >file-{staged}; echo theirs >kept.secret"
        ),
    );
    let before = folder(&place);
    let document = place.json(&["commit", "-w", "work", "--ignored"]);
    let found = held(&document);
    assert!(found.iter().all(|(_, reason)| reason == "excluded"), "{found:?}");
    for path in ["/n/k.secret", "/kept.secret", "/own/f"] {
        assert!(found.contains(&(path.to_owned(), "excluded".to_owned())), "{path}: {found:?}");
    }
    assert!(found.contains(&(format!("/{staged}/f"), "excluded".to_owned())), "{found:?}");
    assert_eq!(read(&place, "kept.secret"), "mine");
    assert_eq!(read(&place, "n/1"), "x\n");
    for path in ["n/k.secret", "own", staged, &format!("n/{staged}")] {
        assert!(!place.project().join(path).exists(), "{path}");
    }
    assert_captured(&place);
    assert_eq!(place.ok(["fs", "cat", "/kept.secret", "-w", "work"]), "theirs\n");
    place.ok(["undo", "-w", "work"]);
    assert_same(&before, &folder(&place));
}

/// Rules that come with a commit count for it: it can be undone.
#[needs(Overlay, UserNamespace)]
#[test]
fn new_rules_hold_what_they_are_about() {
    let place = lines();
    place.write("d/d.txt", "d");
    place.write("a.txt", "a");
    place.ok(["init"]);
    fork(&place, "work");
    run(&place, "echo '*.txt' >.offshootignore; echo w >>a.txt; rm d/d.txt; echo w >other");
    let before = folder(&place);
    let found = held(&place.json(&["commit", "-w", "work", "--take", ".offshootignore"]));
    assert_eq!(found, named(&[("/a.txt", "excluded"), ("/d/d.txt", "excluded")]));
    assert_eq!((read(&place, "a.txt"), read(&place, "d/d.txt")), ("a".to_owned(), "d".to_owned()));
    assert_eq!(read(&place, "other"), "w\n");
    place.ok(["undo", "-w", "work"]);
    assert_same(&before, &folder(&place));
    place.ok(["redo", "-w", "work"]);
    place.ok(["pull", "--head"]);
    edit(&place, "work", "/other", "again");
    place.ok(["commit", "-w", "work"]);
    assert_eq!(place.ok(["fs", "cat", "/a.txt", "-w", "work"]), "aw\n");
}
