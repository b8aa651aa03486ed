//! What a workspace plants in a repository is never run on the host, by nothing that Offshoot does and by no git that follows.

use offshoot_needs::needs;

use crate::git_scene::{HISTORY, project};
use crate::scene::{Scene, Who};

/// Everything that git runs by itself, told to leave a mark.
const PLANT: &str = r#"mark="$1"
    script() { printf '#!/bin/sh\necho %s >> "%s"\ncat\n' "$2" "$mark" > "$1"; chmod +x "$1"; }
    mkdir -p .git/hooks
    for hook in pre-commit post-commit commit-msg prepare-commit-msg post-checkout post-index-change \
        reference-transaction post-merge pre-auto-gc fsmonitor-watchman applypatch-msg; do
        script .git/hooks/$hook hook-$hook
    done
    script evil.sh config
    here="$(pwd)/evil.sh"
    for key in core.fsmonitor core.pager core.editor diff.external filter.evil.clean filter.evil.smudge \
        core.sshCommand gpg.program core.alternateRefsCommand credential.helper pager.status pager.diff; do
        git config $key "$here"
    done
    git config diff.evil.textconv "$here"; git config commit.gpgSign true; git config log.showSignature true
    git config alias.status "!$here"; git config core.hooksPath "$(pwd)/hooks2"
    mkdir hooks2; script hooks2/post-index-change hooks2; script hooks2/pre-commit hooks2
    printf '* filter=evil diff=evil\n' > .gitattributes
    mkdir -p .git/info; printf '* filter=evil diff=evil\n' > .git/info/attributes
    mkdir -p bare/objects bare/refs; echo 'ref: refs/heads/main' > bare/HEAD
    printf '[core]\nrepositoryformatversion = 0\nbare = true\nfsmonitor = %s\n' "$here" > bare/config
    echo changed >> a"#;

fn plant(scene: &Scene, mark: &str) {
    let envelope = scene.exec(&[], &["sh", "-euc", PLANT, "sh", mark]);
    assert_eq!(envelope["result"]["exit_code"], 0, "{envelope:#}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn nothing_planted_runs() {
    let scene = project(Who::Me, HISTORY);
    let mark = scene.place.path().join("mark");
    let config = scene.host("cat .git/config");
    plant(&scene, mark.to_str().unwrap());
    for arguments in [
        &["status"][..],
        &["diff"],
        &["export", "--git", "agent"],
        &["commit", "--dry-run"],
        &["commit", "--git", "-m", "fix"],
    ] {
        scene.done(arguments);
        assert!(!mark.exists(), "{arguments:?} ran {:?}", std::fs::read_to_string(&mark));
    }
    assert_eq!(scene.host("cat .git/config"), config);
    scene.host("test ! -e bare; test ! -e .git/info/attributes; test -z \"$(ls .git/hooks | grep -v sample)\"");
    scene.host("git status; git diff HEAD~1; echo x >> a; git add a; git commit -qm mine; git checkout -q HEAD~1");
    assert!(!mark.exists(), "git ran {:?}", std::fs::read_to_string(&mark));
}

/// Hooks and programs of the person are not run either: what Offshoot does in a repository is not what they are for.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn the_persons_own_hooks_do_not_run() {
    let scene = project(Who::Me, HISTORY);
    let mark = scene.place.path().join("mark");
    scene.host(
        "for hook in pre-commit post-commit post-index-change reference-transaction commit-msg fsmonitor; do
             printf '#!/bin/sh\\necho %s >> ../mark\\n' $hook > .git/hooks/$hook; chmod +x .git/hooks/$hook
         done; git config core.fsmonitor .git/hooks/fsmonitor; rm -f ../mark",
    );
    scene.work("echo two >> a");
    scene.done(&["export", "--git", "agent"]);
    scene.done(&["commit", "--git", "-m", "fix"]);
    assert!(!mark.exists(), "{:?}", std::fs::read_to_string(&mark));
    scene.host("echo x >> a; git commit -qam mine");
    assert!(mark.exists(), "the hooks work");
}

/// Programs that the settings of a repository name, and what a person would type that runs each: so the attacks are real.
const NAMED: &[(&str, &str)] = &[
    ("core.fsmonitor", "git status"),
    ("core.editor", "git commit --allow-empty"),
    ("core.sshCommand", "git ls-remote ssh://nowhere.invalid/x"),
    ("core.gitProxy", "git ls-remote git://nowhere.invalid/x"),
    (
        "credential.helper",
        "printf 'protocol=https\\nhost=x\\n\\n' | GIT_ASKPASS=true git credential fill",
    ),
    ("diff.external", "echo x >> a; git diff"),
    ("diff.evil.command", "echo x >> a; git diff"),
    ("diff.evil.textconv", "echo x >> a; git diff"),
    ("filter.evil.clean", "echo x >> x.f; git add x.f"),
    ("filter.evil.process", "echo x >> x.f; git add x.f"),
    ("filter.evil.smudge", "rm x.f; git checkout x.f"),
    ("filter.a=b.clean", "echo x >> x.g; git add x.g"),
    ("merge.evil.driver", "git merge-tree --write-tree left right"),
    ("gpg.program", "git commit -S --allow-empty -m signed"),
    ("alias.look", "git look"),
];

/// A repository that somebody sent: its own settings, attributes and hooks name a program wherever git would run one.
const SENT: &str = r#"git init -q .; seq 9 > m; echo one > a; echo f > x.f; echo g > x.g
    printf '* diff=evil merge=evil\n*.f filter=evil\n*.g filter=a=b\n' > .gitattributes
    git add -A; git commit -qm first
    for side in left right; do git checkout -q -b $side main; done
    git checkout -q left; echo left > m; git commit -qam left; git checkout -q right; echo right > m; git commit -qam right
    git checkout -q main
    printf '#!/bin/sh\necho "$0 $*" >> ../mark\nexit 1\n' > ../evil.sh; chmod +x ../evil.sh"#;

/// The value that runs the program which leaves a mark.
fn value(key: &str) -> &'static str {
    match key {
        "credential.helper" => "!../evil.sh",
        "alias.look" => "!\"$(pwd)/../evil.sh\"",
        _ => "../evil.sh",
    }
}

fn sent(who: Who) -> Scene {
    project(who, SENT)
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn the_programs_that_a_repository_names_do_run_for_a_person() {
    let scene = sent(Who::Me);
    for (key, command) in NAMED {
        scene.host(&format!(
            "git config '{key}' '{}'; rm -f ../mark; ({command}) < /dev/null > /dev/null 2>&1 || :; git config --unset '{key}'",
            value(key)
        ));
        assert!(scene.place.path().join("mark").exists(), "{key} is no attack by {command}");
        scene.host("git checkout -q -f main; git reset -q --hard");
    }
}

fn nothing_named_runs(who: Who) {
    let scene = sent(who);
    let mark = scene.place.path().join("mark");
    for (key, _) in NAMED {
        scene.host(&format!("git config '{key}' '{}'", value(key)));
    }
    scene.host(
        "for key in core.pager pager.status pager.diff core.alternateRefsCommand uploadpack.packObjectsHook \
             core.askPass sequence.editor hook.evil.command trailer.evil.command tar.evil.command \
             submodule.evil.update gpg.ssh.program; do git config $key ../evil.sh; done
         git config hook.evil.event post-index-change; git config filter.evil.required true
         git config commit.gpgSign true; git config tag.gpgSign true; git config log.showSignature true
         git config protocol.ext.allow always; git config remote.origin.url 'ext::../evil.sh'; git config remote.origin.vcs evil
         git config diff.submodule log; git config status.submoduleSummary true
         mkdir ../hooks; for hook in pre-commit post-commit post-index-change reference-transaction post-checkout; do
             cp ../evil.sh ../hooks/$hook; done; git config core.hooksPath ../hooks; touch -d 2001-01-01 m a x.f x.g; rm -f ../mark",
    );
    // The workspace and the folder both commit to one file, so that git has to merge it.
    scene.work("sed -i 1s/.*/theirs/ m; git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c commit.gpgSign=false \
        -c filter.evil.process= -c filter.evil.clean= -c filter.evil.required=false -c filter.a=b.clean= commit -qm theirs m || :; echo new > new; echo two >> a");
    std::fs::remove_file(&mark).ok();
    for arguments in [
        &["status"][..],
        &["diff"],
        &["review", "--list"],
        &["pull"],
        &["export", "--git", "agent"],
        &["commit", "--git", "--dry-run"],
        &["commit", "--git", "-m", "fix"],
        &["undo"],
        &["redo"],
        &["status"],
        &["commit"],
    ] {
        scene.on_workspace(arguments);
        assert!(!mark.exists(), "{arguments:?} ran {:?}", std::fs::read_to_string(&mark));
    }
    scene.offshoot_ok(&["init"]);
    assert!(!mark.exists(), "init ran {:?}", std::fs::read_to_string(&mark));
    assert_eq!(
        scene.host("cat new; git -c core.fsmonitor=false log -1 --format=%s main"),
        "new\nfix\n"
    );
    assert!(!mark.exists());
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn nothing_that_a_repository_names_runs() {
    nothing_named_runs(Who::Me);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn nothing_that_a_repository_names_runs_for_an_ordinary_user() {
    nothing_named_runs(Who::Ordinary);
}

/// A filter that only the repository names does not run, so no commit gets a file without it. One that is the person's own does.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn files_of_filters_are_committed_with_them_or_not_at_all() {
    let history = "git init -q .; echo '*.up filter=up' > .gitattributes; git config filter.up.clean 'tr a-z A-Z'
        echo abc > x.up; echo one > a; git add -A; git commit -qm first";
    let scene = project(Who::Me, history);
    scene.work("echo two >> a");
    scene.done(&["commit", "--git", "-m", "without the filter"]);
    scene.work("echo def >> x.up; echo three >> a");
    let head = scene.host("git rev-parse HEAD; cat a x.up");
    for arguments in [&["commit", "--git"][..], &["export", "--git", "agent"]] {
        let said = scene.refused(arguments, 4);
        assert!(said.contains("x.up has the filter up") && said.contains("--global"), "{said}");
        assert_eq!(scene.host("git rev-parse HEAD; cat a x.up"), head);
    }
    scene.host("git config --global filter.up.clean 'tr a-z A-Z'");
    scene.done(&["commit", "--git", "-m", "with it"]);
    assert_eq!(
        scene.host("git cat-file blob HEAD:x.up; cat x.up; git status --porcelain"),
        "ABC\nDEF\nabc\ndef\n"
    );
}

/// A program in a directory of the project is not found, whatever the search path says.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn programs_of_the_project_are_not_found() {
    let mut scene = project(Who::Me, HISTORY);
    scene.work(
        "mkdir bin; printf '#!/bin/sh\\ntouch ../mark\\nexec %s \"$@\"\\n' \"$(command -v git)\" > bin/git
         chmod +x bin/git",
    );
    scene.done(&["commit", "--git"]);
    let path = format!(
        "{}:bin:{}",
        scene.place.project().join("bin").display(),
        offshoot_machine::search_path().to_string_lossy()
    );
    scene.set("PATH", path);
    scene.work("echo three >> a");
    let mark = scene.place.path().join("mark");
    std::fs::remove_file(&mark).ok();
    scene.done(&["commit", "--git", "-m", "fix"]);
    assert!(!mark.exists(), "git of the project ran");
    scene.host("git status");
    assert!(mark.exists(), "the search path finds it");
}

/// Files that the host would run stay out of git as well: neither `commit --git` nor a commit of the workspace's own brings them.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn trusted_files_stay_out_of_git() {
    let scene = project(Who::Me, HISTORY);
    scene.work("echo evil > .envrc; echo two >> a");
    scene.done(&["commit", "--git", "-m", "fix"]);
    assert_eq!(scene.host("git show --format= --name-only HEAD; git status --porcelain"), "a\n");
    // The branch that is checked out does not move to a commit that has it.
    scene.work("echo three >> a; git add -A; git commit -qm theirs");
    let said = scene.done(&["commit", "--git", "-m", "more"]);
    assert!(said.contains("switching to it brings files that this machine would run"), "{said}");
    assert_eq!(
        scene.host("git ls-files .envrc; git status --porcelain; cat a"),
        "one\nmore\ntwo\nthree\n"
    );
    scene.host("test ! -e .envrc");
    scene.done(&["commit", "--git", "--take", ".envrc", "-m", "taken"]);
    assert_eq!(
        scene.host("cat .envrc; git ls-files .envrc; git status --porcelain"),
        "evil\n.envrc\n"
    );
}

/// Hooks that are kept among the sources: whoever names their directory, the workspace does not write to it unasked.
fn hooks_among_the_sources(who: Who) {
    let scene = project(
        who,
        "git init -q .; mkdir hk inc scripts; for f in hk/pre-commit inc/pre-commit scripts/pre-commit.sh; do
             printf '#!/bin/sh\\nexit 0\\n' > $f; chmod +x $f; done
         printf '[core]\\n\\thooksPath = inc\\n' > .included; git add -A; git commit -qm first
         ln -s ../../scripts/pre-commit.sh .git/hooks/pre-commit",
    );
    let evil = "for f in hk/pre-commit inc/pre-commit scripts/pre-commit.sh; do
        printf '#!/bin/sh\\ntouch ../mark\\n' > $f; done; date +%N > b";
    let mark = scene.place.path().join("mark");
    let top = scene.place.project().to_owned();
    let home = scene.host("echo $HOME");
    let in_home = top.strip_prefix(home.trim()).ok().map(|path| format!("~/{}/hk", path.display()));
    let settings = [
        ("true".to_owned(), "true"),
        (
            format!("git config core.hooksPath {}/hk", top.display()),
            "git config --unset core.hooksPath",
        ),
        (
            "git config --global core.hooksPath hk".to_owned(),
            "git config --global --unset core.hooksPath",
        ),
        ("git config include.path ../.included".to_owned(), "git config --unset include.path"),
    ];
    let tilde = in_home.map(|path| {
        (format!("git config core.hooksPath '{path}'"), "git config --unset core.hooksPath")
    });
    for (set, unset) in settings.into_iter().chain(tilde) {
        scene.host(&set);
        scene.work(evil);
        scene.done(&["commit"]);
        scene.host("git add b; git commit -qm b; git checkout -q .");
        assert!(!mark.exists(), "{set}");
        scene.host(unset);
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn hooks_among_the_sources_stay() {
    hooks_among_the_sources(Who::Me);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn hooks_among_the_sources_stay_for_an_ordinary_user() {
    hooks_among_the_sources(Who::Ordinary);
}

/// Branches, tags and stashes that nobody looks at: what they bring runs once somebody switches to them. A remote's branch moves with a fetch.
fn refs_with_trusted_files(who: Who) {
    let scene = project(
        who,
        "git init -q .; mkdir .husky; printf '#!/bin/sh\\n' > .husky/pre-commit; chmod +x .husky/pre-commit
         echo x > a; git add -A; git commit -qm a; git tag v1; git update-ref refs/remotes/origin/main HEAD
         git config core.hooksPath .husky; git switch -qc dev",
    );
    let refs = "git for-each-ref --format='%(refname) %(objectname)' refs/heads/main refs/heads/feature refs/remotes refs/tags refs/stash";
    let before = scene.host(refs);
    scene.work(
        "git switch -q main; printf '#!/bin/sh\\ntouch ../mark\\n' > .husky/post-checkout; chmod +x .husky/post-checkout
         git add -f .husky; git -c core.hooksPath=/dev/null commit -qm 'fix typo'; e=$(git rev-parse HEAD)
         git update-ref refs/remotes/origin/main $e; git tag -f v1 $e; git tag v2 $e; git branch feature $e; git branch known dev
         git -c core.hooksPath=/dev/null switch -q dev; echo evil > .envrc; git add -f .envrc; git stash -q
         git switch -qc plain; echo y > a; git -c core.hooksPath=/dev/null commit -qam plain; git switch -q dev; echo ok > b",
    );
    let mark = scene.place.path().join("mark");
    let said = scene.done(&["commit"]);
    assert!(said.contains("switching to it brings files that this machine would run"), "{said}");
    assert!(said.contains("only a fetch on this machine says what a remote has"), "{said}");
    assert!(said.contains("branch feature, branch main, the stash, "), "{said}");
    assert!(said.contains("): origin/main\n"), "{said}");
    // What is stored by now brings nothing either, and neither does packing.
    for script in ["echo more >> b", "git pack-refs --all", "echo more >> b"] {
        assert_eq!(scene.host(refs), before, "{said}");
        assert_eq!(
            scene.host("git show plain:a; git rev-parse -q --verify known >/dev/null"),
            "y\n"
        );
        scene.host("git switch -q main; git switch -q dev; ! git stash list | grep .");
        assert!(!mark.exists());
        scene.work(script);
        scene.done(&["commit"]);
    }
    assert_eq!(scene.host(refs), before);
    scene.done(&["commit", "--allow", "git"]);
    assert_ne!(scene.host(refs), before);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn refs_with_trusted_files_stay() {
    refs_with_trusted_files(Who::Me);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn refs_with_trusted_files_stay_for_an_ordinary_user() {
    refs_with_trusted_files(Who::Ordinary);
}

/// Trusted by what a setting or a link of the folder says rather than by a name, a directory that git takes for a repository, and stashes with files
/// that were not tracked.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn refs_with_files_that_are_reached_stay() {
    let make = "git init -q .; mkdir -p hk shared/vs; echo 1 > hk/k; echo 1 > shared/vs/tasks.json; ln -s shared/vs .vscode
         echo x > a; ln -s a/../b up; git add -A; git commit -qm a; git config core.hooksPath hk";
    for (name, script) in [
        ("hook", "printf '#!/bin/sh\\n' > hk/post-checkout; chmod +x hk/post-checkout"),
        ("link", "echo evil > shared/vs/tasks.json"),
        ("crossing", "git rm -rq shared; ln -s a shared"),
        (
            "bare",
            "mkdir -p b/refs; echo 'ref: refs/heads/main' > b/HEAD; echo > b/config; echo > b/refs/k",
        ),
        ("leaving", "ln -s ../../.bashrc out"),
        ("absolute", "mkdir d; ln -s /etc/passwd d/out"),
        ("together", "mkdir d; ln -s .. d/b; ln -s b/../../x d/out"),
        ("others", "git rm -q a; ln -s . a"),
        ("hooks", "ln -s .git/hooks d"),
        (
            "plain",
            "echo y > a; echo z > b; mkdir -p e/f; ln -s ../a e/l; ln -s e d; ln -s ../../e/l e/f/m",
        ),
    ] {
        let scene = project(Who::Me, make);
        scene.work(&format!(
            "git switch -qc {name}; {script}; git add -A; git -c core.hooksPath=/dev/null commit -qm e
             git -c core.hooksPath=/dev/null switch -q main; echo ok > new"
        ));
        scene.done(&["commit"]);
        let found =
            scene.host(&format!("git rev-parse -q --verify {name} >/dev/null && echo found || :"));
        assert_eq!(found.is_empty(), name != "plain", "{name}");
    }
    for (script, left) in [
        ("echo evil > .envrc; echo 2 > a; git stash -qu", ""),
        ("echo evil > .envrc; git stash -qu; echo 3 > a; git stash -q", ""),
        ("echo fine > u; echo 2 > a; git stash -qu", "u\n"),
    ] {
        let scene = project(Who::Me, make);
        scene.work(&format!("{script}; echo ok > new"));
        scene.done(&["commit"]);
        let popped = "while git stash list | grep -q .; do git reset -q --hard; git stash pop -q; done; ls -A .envrc u 2>/dev/null || :";
        assert_eq!(scene.host(popped), left, "{script}");
    }
}

/// The command leaves a branch of its own checked out.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_checkout_with_trusted_files_stays() {
    for script in [
        "git switch -qc evil; echo evil > .envrc; git add -f .envrc; git commit -qm e",
        "git switch -qc evil; echo evil > .envrc; git add -f .envrc; git commit -qm e; git rm -q --cached .envrc; rm .envrc",
        "echo evil > .envrc; git add -f .envrc; git commit -qm e; rm .envrc",
        "echo evil > .envrc; git add -f .envrc; rm .envrc",
    ] {
        let scene = project(Who::Me, HISTORY);
        scene.work(&format!("{script}; echo ok > new"));
        scene.done(&["commit"]);
        let seen = scene.host(
            "git status --porcelain; git symbolic-ref HEAD; git rev-parse -q --verify evil || :",
        );
        assert_eq!(seen, "?? new\nrefs/heads/main\n", "{script}");
        scene.host("git checkout -q .; git reset -q --hard; test ! -e .envrc");
    }
}

/// Git shows what a commit changed, whatever the command told it to overlook.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn changes_are_not_hidden_from_git() {
    let scene = project(Who::Me, HISTORY);
    scene.work(
        "echo evil >> a; git update-index --assume-unchanged a; echo evil >> b; git update-index --skip-worktree b
         mkdir -p .git/info; echo '*.bak' >> .git/info/exclude; echo evil > a.bak",
    );
    let said = scene.done(&["commit"]);
    assert!(said.contains("it hides changes from git status"), "{said}");
    assert_eq!(scene.host("git status --porcelain"), " M a\n M b\n?? a.bak\n");
    scene.done(&["commit", "--allow", "git"]);
    assert_eq!(scene.host("git status --porcelain"), "");
}

/// Files that name remotes as the settings do.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn remotes_of_old_stay() {
    let scene = project(Who::Me, HISTORY);
    scene.work(
        "mkdir -p .git/remotes .git/branches .git/arc; printf 'URL: /evil\\n' > .git/remotes/origin
         echo /evil > .git/branches/up; echo '{}' > .git/arc/config; echo ok > new",
    );
    scene.done(&["commit"]);
    assert_eq!(scene.host("cat new; git remote; ls .git/arc 2>/dev/null || :"), "ok\n");
    scene.host("! git fetch -q origin; ! grep -r evil .git/remotes .git/branches");
}

/// A directory that git takes for a repository, of which two workspaces bring a part each.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_two_workspaces_make_a_repository() {
    let config = "printf '[core]\\nrepositoryformatversion=0\\nbare=false\\nworktree=.\\nfsmonitor=touch ../mark;\\n' > x/config";
    let head = "echo 'ref: refs/heads/main' > x/HEAD";
    let [objects, refs] = ["objects", "refs"].map(|it| format!("mkdir x/{it}; touch x/{it}/k"));
    for parts in [
        [format!("{head}; {config}; {objects}"), refs.clone()],
        [format!("{config}; {objects}; {refs}"), head.to_owned()],
        [format!("{head}; {refs}"), format!("{config}; {objects}")],
    ] {
        let scene = project(Who::Me, HISTORY);
        for name in ["one", "two"] {
            scene.offshoot_ok(&["workspace", "create", name]);
        }
        for (name, part) in ["one", "two"].iter().zip(&parts) {
            let script = format!("mkdir -p x; {part}; echo ok > x/{name}");
            scene.offshoot_ok(&["exec", "-w", name, "--", "sh", "-euc", &script]);
        }
        scene.offshoot_ok(&["commit", "-w", "one"]);
        let said = scene.offshoot_ok(&["commit", "-w", "two"]);
        assert!(said.contains("stays"), "{parts:?}: {said}");
        scene.host(
            "cat x/one x/two; cd x; git status > /dev/null; test ! -e mark; test ! -e ../mark",
        );
    }
}

/// By one name git finds several refs, and takes the first.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_ref_takes_the_place_of_another() {
    let names = [
        "refs/origin/main",
        "refs/other",
        "refs/tags/origin/main",
        "refs/heads/origin/main",
        "refs/tags/HEAD",
        "refs/heads/HEAD",
        "refs/heads/FETCH_HEAD",
        "refs/tags/main",
        "refs/tags/both",
    ];
    let refs = "git for-each-ref --format='%(refname)'";
    let fine = "refs/heads/both\nrefs/heads/main\nrefs/heads/other\nrefs/heads/v1\nrefs/notes/commits\nrefs/remotes/origin/main\nrefs/tags/v1\nrefs/tags/v2\n";
    for pack in ["true", "git pack-refs --all"] {
        let scene = project(
            Who::Me,
            &format!(
                "{HISTORY}; git update-ref refs/remotes/origin/main HEAD; git branch other; git tag v1"
            ),
        );
        scene.work(&format!(
            "h=$(git rev-parse HEAD~1); git branch both; git branch v1; git tag v2; git notes add -m note
             for name in {}; do mkdir -p .git/${{name%/*}}; echo $h > .git/$name; done; {pack}; echo ok > new",
            names.join(" ")
        ));
        let said = scene.done(&["commit"]);
        assert!(said.contains("git would find it in place of another ref"), "{said}");
        assert_eq!(scene.host(refs), fine, "{pack}\n{said}");
        assert_eq!(
            scene.host("git log -1 --format=%s origin/main; git log -1 --format=%s other; cat new"),
            "second\nsecond\nok\n"
        );
        scene.done(&["commit", "--allow", "git"]);
        let all = scene.host(refs);
        // That is no name of a branch.
        let mut names = names.iter().filter(|name| **name != "refs/heads/HEAD");
        assert!(names.all(|name| all.lines().any(|line| line == *name)), "{pack}\n{all}");
    }
}

/// Git, and everybody else, would wait for whoever writes to a pipe.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn named_pipes_stay() {
    let scene = project(Who::Me, HISTORY);
    scene.work(
        "rm a .gitignore; mkfifo a .gitignore pipe .git/SQUASH_MSG .git/info/more; echo ok > new",
    );
    let said = scene.done(&["commit"]);
    assert!(said.contains("a named pipe: whoever reads it waits; --take PATH commits"), "{said}");
    let seen = "find . -type p; timeout 20 git status --porcelain";
    assert_eq!(scene.host(seen), "?? new\n");
    scene.done(&["commit", "--allow", "git", "--allow", "trusted"]);
    assert_eq!(scene.host(seen), "?? new\n");
    scene.done(&["commit", "--take", "pipe", "--take", ".git"]);
    assert_eq!(scene.host("find . -type p"), "./pipe\n");
    // One that is there is like any other file.
    scene.work("chmod 600 pipe");
    scene.done(&["commit"]);
    assert_eq!(scene.host("stat -c %a pipe"), "600\n");
}
