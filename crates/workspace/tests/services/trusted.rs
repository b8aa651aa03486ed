//! Files that something on the host runs or obeys, row by row of the table that says so.

use offshoot_tree::VaultPath;
use offshoot_workspace::{
    HeldReason, PathPattern, Selected, Selection, SelectionStates, TrustedFile, TrustedTable,
    select,
};

use crate::support::Bench;

/// What a commit of a workspace takes and holds back.
fn selected(bench: &Bench, name: &str, selection: &Selection<'_>) -> Selected {
    let (base, workspace) = (bench.root("head"), bench.root(name));
    select(&bench.vault, &SelectionStates { base, workspace, main: base }, selection).unwrap()
}

/// The paths that are held back because something trusts them.
fn trusted(selected: &Selected) -> Vec<String> {
    let is_trusted = |reason| matches!(reason, HeldReason::Trusted(_));
    let held = selected.held.iter().filter(|held| is_trusted(held.reason));
    held.map(|held| held.change.path.to_string()).collect()
}

fn example(at: usize, file: &TrustedFile) -> String {
    format!("/d{at}/{}", file.pattern.replace("/**", "/x").replace('*', "x"))
}

fn comes(bench: &Bench, selected: &Selected, path: &str) -> bool {
    let path = VaultPath::parse(path.as_bytes()).unwrap();
    bench.vault.tree(&selected.root).unwrap().get(&path).unwrap().is_some()
}

/// Each row holds back what it names, and nothing else does.
#[test]
fn a_file_comes_once_its_row_is_gone() {
    let bench = Bench::of(&[("readme", "hello")]);
    let rows: Vec<_> = TrustedTable::built_in().files().collect();
    let fix = bench.fork("fix");
    for (at, row) in rows.iter().enumerate() {
        bench.write(&fix, &example(at, row), "evil");
    }
    let all = selected(&bench, "fix", &Selection::default());
    assert_eq!(trusted(&all).len(), rows.len());
    assert_eq!(all.root, bench.root("head"), "nothing comes");
    // Rows in turns: what has none comes, and what has one stays. That one row holds one file is a matter of the table, and tested there.
    for turn in [0, 1] {
        let gone: Vec<&str> =
            rows.iter().skip(turn).step_by(2).map(|row| row.pattern.as_str()).collect();
        let table = TrustedTable::without(&gone);
        let without = Selection { trusted: &table, ..Selection::default() };
        let paths = rows.iter().enumerate().skip(turn).step_by(2);
        let take = paths.map(|(at, row)| PathPattern::parse(example(at, row).as_bytes()).unwrap());
        let taken = Selection { take: take.collect(), ..Selection::default() };
        for selection in [without, taken] {
            let selected = selected(&bench, "fix", &selection);
            for (at, row) in rows.iter().enumerate() {
                let path = example(at, row);
                assert_eq!(comes(&bench, &selected, &path), at % 2 == turn, "{path}");
            }
        }
    }
}

/// Files of any name, once the settings of the repository name them: the person's, or the workspace's that may come along.
#[test]
fn what_settings_of_git_name_is_held_back() {
    for (key, config, path) in [
        ("core.hookspath", "[core]\nhooksPath = tools/git\n", "/tools/git/pre-commit"),
        ("core.hookspath", "[core]\n\thookspath=\"./tools/git/\" ; said\n", "/tools/git/lib/x"),
        ("include.path", "[include]\npath = ../shared.cfg\n", "/shared.cfg"),
        ("includeif.path", "[includeIf \"gitdir:x\"]\npath = ../shared.cfg\n", "/shared.cfg"),
        ("core.fsmonitor", "[core]\nfsmonitor = tools/watch.sh\n", "/tools/watch.sh"),
        ("filter.clean", "[filter \"x\"]\nclean = sh ./tools/clean.sh %f\n", "/tools/clean.sh"),
        ("diff.textconv", "[diff \"x]\"]\ntextconv = tools/text\n", "/tools/text"),
        ("merge.driver", "[merge \"x\"]\ndriver = \"tools/merge %A %B\"\n", "/tools/merge"),
        ("alias.*", "[alias]\nfix = \"!sh tools/fix.sh\"\n", "/tools/fix.sh"),
        ("core.editor", "[core]\neditor = $PWD/tools/edit.sh\n", "/tools/edit.sh"),
        (
            "core.pager",
            "[core]\npager = \"$(git rev-parse --show-toplevel)/tools/page\"\n",
            "/tools/page",
        ),
    ] {
        for of_workspace in [false, true] {
            let files = [(".git/HEAD", "x"), (".git/config", config), ("tools/known", "1")];
            let bench = Bench::of(if of_workspace { &files[2..] } else { &files });
            let fix = bench.fork("fix");
            bench.write(&fix, path, "evil");
            bench.write(&fix, "/tools/known", "2");
            if of_workspace {
                bench.write(&fix, "/.git/config", config);
            }
            let found = selected(&bench, "fix", &Selection::default());
            assert_eq!(trusted(&found), [path], "{config}");
            let table = TrustedTable::without(&[key]);
            let without = Selection { trusted: &table, ..Selection::default() };
            assert!(comes(&bench, &selected(&bench, "fix", &without), path), "{config}");
            assert!(comes(&bench, &found, "/tools/known"), "{config}");
        }
    }
}

/// A nested repository has settings of its own.
#[test]
fn settings_of_nested_repositories_count() {
    let config = "[core]\nhooksPath = ci\n";
    let bench = Bench::of(&[("lib/.git/HEAD", "x"), ("lib/.git/config", config), ("a", "1")]);
    let fix = bench.fork("fix");
    bench.write(&fix, "/lib/ci/pre-push", "evil");
    bench.write(&fix, "/ci/pre-push", "no hook of this one");
    let found = selected(&bench, "fix", &Selection::default());
    assert_eq!(trusted(&found), ["/lib/ci/pre-push"]);
}

/// Submodules may move and go; an address that is new is looked at.
#[test]
fn submodules_may_move_and_go() {
    let both = "[submodule \"a\"]\n\tpath = a\n\turl = ../a\n[submodule \"b\"]\n\tpath = b\n\turl = ../b\n";
    for (text, is_held) in [
        (both.replace("path = a", "path = moved"), false),
        (both[..both.find("[submodule \"b\"]").unwrap()].to_owned(), false),
        (both.replace("../a", "https://evil.example"), true),
        (format!("{both}[submodule \"c\"]\n\tpath = c\n\turl = ../c\n"), true),
        (both.replace("path = a", "path = a\n\tupdate = !evil"), true),
    ] {
        let bench = Bench::of(&[(".gitmodules", both)]);
        let fix = bench.fork("fix");
        bench.write(&fix, "/.gitmodules", &text);
        let found = trusted(&selected(&bench, "fix", &Selection::default()));
        assert_eq!(!found.is_empty(), is_held, "{text}");
    }
}

/// Of files in JSON that people change for many reasons, only what is loaded or run counts.
#[test]
fn json_counts_by_what_it_loads_and_runs() {
    for (path, before, harmless, evil) in [
        (
            "composer.json",
            r#"{"scripts": {"post-install-cmd": "@cc"}}"#,
            r#"{"require": {"php": "8"}, "scripts": {"test": "x", "post-install-cmd": "@cc"}}"#,
            [
                r#"{"scripts": {"post-install-cmd": ["@cc", "evil"]}}"#,
                r#"{"scripts": {"pre-command-run": "evil"}}"#,
                r#"{"config": {"allow-plugins": true}}"#,
                r#"{"repositories": [{"type": "vcs", "url": "https://evil.example"}]}"#,
            ]
            .as_slice(),
        ),
        (
            "package.json5",
            r#"{"scripts": {"test": "x"}}"#,
            r#"{"scripts": {"test": "y"}}"#,
            &[r#"{"scripts": {"postinstall": "evil"}}"#, "{scripts: {postinstall: 'evil'}}"],
        ),
        (
            "package.json",
            "{}",
            r#"{"version": "2"}"#,
            &[
                r#"{"stylelint": {"plugins": ["./evil"]}}"#,
                r#"{"cspell": {"import": "./evil.js"}}"#,
            ],
        ),
        (
            "cspell.json",
            r#"{"import": ["a"], "words": []}"#,
            r#"{"import": ["a"], "words": ["offshoot"]}"#,
            &[
                r#"{"import": ["a", "./evil.js"]}"#,
                r#"{"pnpFiles": ["evil.js"]}"#,
                r#"{/* evil */ "import": ["./evil.js"]}"#,
            ],
        ),
        (
            ".markdownlint-cli2.jsonc",
            "{}",
            r#"{"config": {"MD013": false}}"#,
            &[r#"{"customRules": ["./evil.cjs"]}"#],
        ),
        (
            "dprint.json",
            r#"{"plugins": []}"#,
            r#"{"plugins": [], "lineWidth": 100}"#,
            &[r#"{"plugins": ["./evil.json"]}"#, r#"{"exec": {"commands": []}}"#],
        ),
        (
            "nx.json",
            "{}",
            r#"{"defaultBase": "main"}"#,
            &[r#"{"plugins": ["./evil.js"]}"#, r#"{"tasksRunnerOptions": {}}"#],
        ),
        (
            "conductor.json",
            "{}",
            r#"{"runScriptMode": "concurrent"}"#,
            &[r#"{"scripts": {"setup": "evil"}}"#],
        ),
    ] {
        let bench = Bench::of(&[(path, before)]);
        let texts = evil.iter().map(|text| (*text, true)).chain([(harmless, false)]);
        for (at, (text, is_held)) in texts.enumerate() {
            let name = format!("fix{at}");
            let fix = bench.fork(&name);
            bench.write(&fix, &format!("/{path}"), text);
            let found = trusted(&selected(&bench, &name, &Selection::default()));
            assert_eq!(!found.is_empty(), is_held, "{path}: {text}");
        }
    }
}
