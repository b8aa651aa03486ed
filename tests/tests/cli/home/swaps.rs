//! Directories, links, files and pipes that take each other's place, on the way home and back.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use offshoot_needs::needs;
use offshoot_tests::product::Place;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::scan::{CompareOptions, Scan, compare, scan};
use offshoot_tests::tier::cases;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{assert_captured, assert_same, folder, fork, read};

/// A directory with things in it, and a link to it.
fn place() -> Place {
    let place = Place::new();
    place.write("real/x", "x\n");
    place.write("real/deep/d", "d\n");
    place.write("other", "other\n");
    symlink("real", place.project().join("l")).unwrap();
    place.ok(["init"]);
    fork(&place, "w");
    place
}

/// What a shell has to do to make in its folder what is in a directory.
fn script(directory: &Path, at: &str, text: &mut String) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let (kind, path) = (entry.file_type().unwrap(), entry.path());
        let name = format!("{at}{}", entry.file_name().to_str().unwrap());
        *text += &if kind.is_symlink() {
            format!("ln -s {} {name};", fs::read_link(&path).unwrap().display())
        } else if kind.is_file() {
            format!("echo {} >{name};", fs::read_to_string(&path).unwrap().trim())
        } else if kind.is_dir() {
            format!("mkdir {name};")
        } else {
            format!("mkfifo {name};")
        };
        if kind.is_dir() {
            script(&path, &format!("{name}/"), text);
        }
    }
}

#[track_caller]
fn assert_content(expected: &Scan, found: &Scan) {
    let differences = compare(expected, found, &CompareOptions::content());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[needs(UserNamespace)]
#[test]
fn a_directory_that_became_a_link_comes_back() {
    let place = place();
    let before = folder(&place);
    place.ok(["exec", "-w", "w", "--", "sh", "-c", "mv real real2; ln -s real2 real"]);
    place.ok(["commit", "-w", "w"]);
    assert_eq!(fs::read_link(place.project().join("real")).unwrap(), Path::new("real2"));
    assert_eq!(read(&place, "real/deep/d"), "d\n");
    let after = folder(&place);
    place.ok(["undo", "-w", "w"]);
    assert_same(&before, &folder(&place));
    place.ok(["redo", "-w", "w"]);
    assert_same(&after, &folder(&place));
    assert_captured(&place);
}

#[test]
fn a_link_that_became_a_directory_comes_home() {
    for target in ["real", "other", "nowhere", ".."] {
        let place = place();
        fs::remove_file(place.project().join("l")).unwrap();
        symlink(target, place.project().join("l")).unwrap();
        place.ok(["pull", "-w", "w"]);
        let before = folder(&place);
        place.ok(["fs", "rm", "/l", "-w", "w"]);
        place.ok_with(["fs", "write", "-p", "/l/deep/new", "-w", "w"], b"n\n");
        place.ok_with(["fs", "write", "/other", "-w", "w"], b"edited\n");
        place.ok(["commit", "-w", "w"]);
        assert_eq!(read(&place, "l/deep/new"), "n\n");
        assert_eq!(read(&place, "other"), "edited\n");
        assert!(!place.project().join("real/deep/new").exists());
        place.ok(["undo", "-w", "w"]);
        assert_same(&before, &folder(&place));
    }
}

/// The person made a link of a directory in which the workspace worked on: either can be kept.
#[test]
fn a_directory_or_the_link_that_somebody_made_of_it_is_chosen() {
    for (side, is_link) in [("--ours", false), ("--side=w", false), ("--theirs", true)] {
        let place = place();
        place.ok_with(["fs", "write", "/real/x", "-w", "w"], b"of the workspace\n");
        fs::remove_dir_all(place.project().join("real")).unwrap();
        place.write("elsewhere/y", "y\n");
        symlink("elsewhere", place.project().join("real")).unwrap();
        let before = folder(&place);
        assert_eq!(place.run(["pull", "-w", "w"]).status.code(), Some(4));
        place.ok(["resolve", side, "--all", "-w", "w"]);
        place.ok(["commit", "-w", "w"]);
        let real = fs::symlink_metadata(place.project().join("real")).unwrap();
        assert_eq!(real.is_symlink(), is_link, "{side}");
        if !is_link {
            assert_eq!(read(&place, "real/x"), "of the workspace\n", "{side}");
            place.ok(["undo", "-w", "w"]);
        }
        assert_same(&before, &folder(&place));
    }
}

const NAMES: [&str; 3] = ["a", "b", "c"];

fn build(rng: &mut Rng, folder: &Path, depth: u32) {
    fs::create_dir_all(folder).unwrap();
    for name in NAMES {
        let path = folder.join(name);
        match rng.below(if depth == 0 { 4 } else { 6 }) {
            0 => {}
            1 => fs::write(&path, format!("{}\n", rng.below(3))).unwrap(),
            2 => mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap(),
            3 => {
                let targets = ["a", "b/c", "../a", ".", "nowhere", "..", "/etc"];
                symlink(rng.pick(&targets).unwrap(), &path).unwrap();
            }
            _ => build(rng, &path, depth - 1),
        }
    }
}

/// After a commit the folder is what the workspace is, after its undo what it was, and a pull brings all of it back.
#[needs(UserNamespace)]
#[test]
fn whatever_becomes_whatever_else() {
    let seed = seed_from_env_or(3);
    for case in 0..cases(3, 300) {
        let mut rng = Rng::new(seed ^ (case << 20));
        println!("case {case} of seed {seed}");
        let place = Place::new();
        build(&mut rng, &place.project(), 2);
        for name in ["new", "third"] {
            build(&mut rng, &place.path().join(name), 2);
        }
        place.ok(["init"]);
        fork(&place, "w");
        let before = folder(&place);
        let mut text = "umask 022; rm -rf a b c;".to_owned();
        script(&place.path().join("new"), "", &mut text);
        place.ok(["exec", "-w", "w", "--", "sh", "-ec", &text]);
        place.ok(["commit", "-w", "w", "-m", "all", "--allow", "trusted", "--take", "*"]);
        let new = scan(&place.path().join("new")).unwrap();
        assert_content(&new, &folder(&place));
        assert_captured(&place);
        let after = folder(&place);
        place.ok(["undo", "-w", "w"]);
        assert_same(&before, &folder(&place));
        place.ok(["redo", "-w", "w"]);
        assert_same(&after, &folder(&place));
        // The person turns everything into something else.
        for name in NAMES {
            let path = place.project().join(name);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => fs::remove_dir_all(&path).unwrap(),
                Ok(_) => fs::remove_file(&path).unwrap(),
                Err(_) => {}
            }
            let third = place.path().join("third").join(name);
            if fs::symlink_metadata(&third).is_ok() {
                fs::rename(third, path).unwrap();
            }
        }
        place.ok(["pull", "-w", "w"]);
        place.ok(["fs", "export", "/", "../pulled", "-w", "w"]);
        assert_content(&folder(&place), &scan(&place.path().join("pulled")).unwrap());
    }
}
