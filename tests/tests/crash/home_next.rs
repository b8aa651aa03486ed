//! An interrupted commit, and whatever command comes next: git takes nothing of it in, and the folder is whole again with a word
//! about it.

use std::process::{Command, Output};
use std::sync::OnceLock;

use offshoot_needs::needs;
use offshoot_tests::trace::{Call, Fault};

use crate::home::{Expected, Site, Verb, contents, expected};

/// A commit as it goes when nothing is wrong.
pub(crate) fn whole() -> &'static Expected {
    static WHOLE: OnceLock<Expected> = OnceLock::new();
    WHOLE.get_or_init(|| expected(Verb::Commit))
}

/// Whether a call is about something that is staged.
fn is_staged(call: &Call) -> bool {
    let is = |path: &Option<std::path::PathBuf>| {
        path.as_ref().is_some_and(|path| path.to_string_lossy().contains("/.offshoot-apply-"))
    };
    is(&call.path) || is(&call.second)
}

fn is_rename(call: &Call) -> bool {
    call.name.starts_with("rename") && is_staged(call)
}

/// The numbers of calls that are like this, from the first on.
fn calls(which: fn(&Call) -> bool) -> Vec<u64> {
    let numbered = whole().calls.iter().enumerate();
    numbered.filter(|(_, call)| which(call)).map(|(at, _)| at as u64 + 1).collect()
}

/// A commit that was killed when some was staged and nothing was changed.
fn preparing() -> Site {
    let (staged, first) = (calls(is_staged), calls(is_rename)[0]);
    let before: Vec<u64> = staged.into_iter().filter(|n| *n < first).collect();
    // Calls may come in another order each time.
    for n in &before[before.len() / 2..] {
        let site = Site::new(Verb::Commit);
        site.run(Fault::KillAfter(*n));
        if contents(&site.scan()) == whole().before && !staging(&site).is_empty() {
            return site;
        }
    }
    panic!("at no point something is staged and nothing changed");
}

/// A commit that was killed when some of the folder was changed.
pub(crate) fn half_changed() -> Site {
    let renames = calls(is_rename);
    // The first ones only try whether names can be exchanged at all.
    for n in &renames[renames.len() / 2..] {
        let site = Site::new(Verb::Commit);
        site.run(Fault::KillAfter(*n));
        let now = contents(&site.scan());
        if now != whole().before && now != whole().after {
            return site;
        }
    }
    panic!("at no point is the folder half changed");
}

fn staging(site: &Site) -> Vec<Vec<u8>> {
    let all = site.scan().0.into_keys();
    all.filter(|path| path.starts_with(b".offshoot-apply-")).collect()
}

fn git(site: &Site, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    git.env("HOME", site.project().parent().unwrap()).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = git.current_dir(site.project()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// At every moment of the staging, and of the changing.
#[needs(Ptrace, "git")]
#[test]
fn git_takes_in_nothing_of_what_is_staged() {
    let staged = calls(is_staged);
    let mut seen = 0;
    // The first ones make what keeps git away.
    let some = (1..=4).map(|part| staged[part * (staged.len() - 1) / 4]);
    for n in staged[..5].iter().copied().chain(some) {
        let site = Site::new(Verb::Commit);
        site.run(Fault::KillAfter(n));
        git(&site, &["init", "-q"]);
        let nothing = |text: String| assert!(!text.contains("offshoot-apply"), "call {n}: {text}");
        nothing(git(&site, &["status", "--porcelain", "-uall"]));
        git(&site, &["add", "-A"]);
        nothing(git(&site, &["ls-files", "-z"]));
        seen += usize::from(staging(&site).len() > 1);
        // Nor does Offshoot, and what is left is swept.
        site.succeed(&["init"]).unwrap();
        assert_eq!(staging(&site), Vec::<Vec<u8>>::new());
        nothing(site.succeed(&["fs", "tree", "/", "--at", "head"]).unwrap());
    }
    assert!(seen >= 3, "only {seen} times there was something staged");
}

/// What settling says.
fn told(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("interrupted")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    lines[0].to_owned()
}

fn assert_whole(site: &Site, said: &str) {
    let now = contents(&site.scan());
    match said {
        said if said.contains("finished") => assert_eq!(now, whole().after),
        said if said.contains("taken back") => assert_eq!(now, whole().before),
        said => panic!("{said}"),
    }
    assert_eq!(staging(site), Vec::<Vec<u8>>::new());
}

#[needs(Ptrace)]
#[test]
fn whatever_comes_next_settles_it_and_says_so() {
    for command in [
        &["status", "-w", "w"][..],
        &["diff", "-w", "w"],
        &["new", "other"],
        &["workspace", "list"],
        &["log"],
        &["review", "--list", "-w", "w"],
        &["fs", "ls", "/", "-w", "w"],
    ] {
        let site = half_changed();
        let said = told(&site.offshoot(command));
        assert_whole(&site, &said);
        site.succeed(&["vault", "check"]).unwrap();
    }
}

#[needs(Ptrace, UserNamespace)]
#[test]
fn a_command_finds_the_folder_whole() {
    for options in [&["-w", "w"][..], &[]] {
        let site = half_changed();
        let said = told(&site.offshoot(&[&["exec"], options, &["--", "true"]].concat()));
        assert_whole(&site, &said);
    }
}

#[needs(Ptrace)]
#[test]
fn what_had_only_been_prepared_is_swept_with_a_word() {
    for command in [&["status", "-w", "w"][..], &["workspace", "list"], &["commit", "-w", "w"]] {
        let site = preparing();
        let said = told(&site.offshoot(command));
        assert!(said.contains("had not begun"), "{said}");
        assert_eq!(staging(&site), Vec::<Vec<u8>>::new());
    }
}

/// Where only the last of it was left to do, that is said, too.
#[needs(Ptrace)]
#[test]
fn what_was_done_and_not_cleared_up_is_said() {
    let last = calls(is_staged).pop().unwrap();
    let site = Site::new(Verb::Commit);
    site.run(Fault::KillAt(last));
    let said = told(&site.offshoot(&["undo", "-w", "w"]));
    assert!(said.contains("was done and is cleaned up"), "{said}");
    assert_eq!(contents(&site.scan()), whole().before, "it was taken back then");
}
